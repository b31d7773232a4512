"""Mechanism: bodies, coordinates, force elements and tasks in the order of the kinematic tree.

The reference solver builds the mechanism from the description with plain numbers. The generator
builds it with symbols of the parameters. Both use the same code with different arithmetic, see
`Algebra`.
"""

from .algebra import Algebra as Algebra
from .algebra import Numbers as Numbers
from .builder import build as build
from .builder import placement_order as placement_order
from .by_law import LawElement as LawElement
from .parts import FRICTION_SWEEPS as FRICTION_SWEEPS
from .parts import GROUND as GROUND
from .parts import MEETING as MEETING
from .parts import AppliedForce as AppliedForce
from .parts import BaseSupport as BaseSupport
from .parts import Body as Body
from .parts import Coordinate as Coordinate
from .parts import EndStops as EndStops
from .parts import Filter as Filter
from .parts import Friction as Friction
from .parts import HuntCrossley as HuntCrossley
from .parts import JointFrame as JointFrame
from .parts import KnifeEdge as KnifeEdge
from .parts import LoopClosure as LoopClosure
from .parts import Mechanism as Mechanism
from .parts import Place as Place
from .parts import PlaneContact as PlaneContact
from .parts import ProgrammedTask as ProgrammedTask
from .parts import TwoPointForce as TwoPointForce
from .parts import signal_names as signal_names
