"""What there is to see of a mechanism: shapes on its bodies, what joins them, how all of it moves."""

from .motion import Motion
from .scene import Bar, Scene, film, still
from .shapes import Shape
from .skeleton import frames_of, held_at, in_world

__all__ = ["Bar", "Motion", "Scene", "Shape", "film", "frames_of", "held_at", "in_world", "still"]
