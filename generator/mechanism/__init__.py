"""The mechanism: bodies, coordinates, springs and supports, placed in order.

Built from the description with plain numbers (for the reference solver), or with symbols for its
parameters (for the generator): the same code, another `Algebra`.
"""

from .algebra import Algebra, Numbers
from .builder import build, placement_order
from .parts import (
    FRICTION_SWEEPS,
    GROUND,
    AppliedForce,
    Body,
    Closure,
    Contact,
    Coordinate,
    Filter,
    Friction,
    JointFrame,
    KnifeEdge,
    Line,
    Mechanism,
    Place,
    ProgrammedTask,
    Support,
    signal_names,
)

__all__ = [
    "FRICTION_SWEEPS",
    "GROUND",
    "Algebra",
    "AppliedForce",
    "Body",
    "Closure",
    "Contact",
    "Coordinate",
    "Filter",
    "Friction",
    "JointFrame",
    "KnifeEdge",
    "Line",
    "Mechanism",
    "Numbers",
    "Place",
    "ProgrammedTask",
    "Support",
    "build",
    "placement_order",
    "signal_names",
]
