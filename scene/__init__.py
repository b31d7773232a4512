"""What there is to see of a mechanism: shapes on its bodies, what joins them, how all of it moves."""

from .motion import Motion, check_coordinates
from .reach import reach_of
from .scene import Bar, Scene, bars_of, film, still
from .shapes import Shape
from .skeleton import axes_in_world, extent, frames_of, held_at, in_world
from .swing import Swing, seen_well, swinging

__all__ = [
    "Bar",
    "Motion",
    "Scene",
    "Shape",
    "Swing",
    "axes_in_world",
    "bars_of",
    "check_coordinates",
    "extent",
    "film",
    "frames_of",
    "held_at",
    "in_world",
    "reach_of",
    "seen_well",
    "still",
    "swinging",
]
