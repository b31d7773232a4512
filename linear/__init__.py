"""Linear models of a machine about one state, and what follows from them."""

from .along import along_of, modes_along
from .linearize import linearize, linearized
from .modes import Mode
from .moving import Modes
from .point import Point, Where
from .state_space import StateSpace
from .tracks import ModeTracks
from .trim import trimmed

__all__ = [
    "Mode",
    "ModeTracks",
    "Modes",
    "Point",
    "StateSpace",
    "Where",
    "along_of",
    "linearize",
    "linearized",
    "modes_along",
    "trimmed",
]
