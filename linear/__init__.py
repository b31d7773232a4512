"""Linear models of a machine about one state, and what follows from them."""

from .linearize import linearize, linearized
from .modes import Mode
from .moving import Modes
from .point import Point, Where
from .state_space import StateSpace
from .trim import trimmed

__all__ = ["Mode", "Modes", "Point", "StateSpace", "Where", "linearize", "linearized", "trimmed"]
