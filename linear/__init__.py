"""Linear models of a mechanism about one state, with modes, frequency responses and trim."""

from .along import along_of as along_of
from .along import modes_along as modes_along
from .initial import InitialModes as InitialModes
from .initial import initial_modes as initial_modes
from .linearize import linearize as linearize
from .linearize import linearized as linearized
from .modes import Mode as Mode
from .moving import Modes as Modes
from .point import OperatingPoint as OperatingPoint
from .point import Plant as Plant
from .state_space import StateSpace as StateSpace
from .tracks import ModeTracks as ModeTracks
from .trim import trimmed as trimmed
