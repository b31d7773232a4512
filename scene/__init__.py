"""Visible parts of a mechanism for pictures and animations.

The parts are bodies, loop closures and forces.
"""

from .aids import Aid as Aid
from .aids import aids_of as aids_of
from .motion import RecordedMotion as RecordedMotion
from .motion import check_coordinates as check_coordinates
from .reach import reach_of as reach_of
from .scene import Bar as Bar
from .scene import Scene as Scene
from .scene import film as film
from .scene import poses_of as poses_of
from .scene import still as still
from .shapes import Solid as Solid
from .skeleton import axes_in_world as axes_in_world
from .skeleton import extent as extent
from .skeleton import frames_of as frames_of
from .skeleton import held_at as held_at
from .skeleton import in_world as in_world
from .swing import Swing as Swing
from .swing import seen_well as seen_well
from .swing import swinging as swinging
