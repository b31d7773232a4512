"""Bodies, coordinates, springs, closures and forces: everything the equations need to know of a mechanism."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Literal

from ..core.arithmetic import S
from ..core.trajectory import Array
from ..description import Chain
from ..description.tables.task import Path
from ..description.types.closures import Condition
from ..description.types.joints import Axis, ElementaryMotion, X, Y, Z
from ..description.types.measures import Measure, measures
from ..description.types.origin import Origin, Signal
from ..language.ir import Expr
from .algebra import M, V
from .by_law import LawElement

GROUND = -1
MEETING = 1e-6  # of the mechanism's extent: ends of a line that come nearer meet
FRICTION_SWEEPS = 6  # Newton steps of the loop between friction and joint load, the same in every backend


@dataclass(frozen=True)
class Friction(Generic[S]):
    """Friction on a coordinate: effort μ·f_n·arm against its motion.

    model         lugre: μ = σ0 z + σ1 ż + σ2 q̇ | dahl: μ = σ0 z
    arm           half the journal's diameter, m, or 1 where the coordinate is a length
    normal_force  f_n, N, or None: the normal component of the joint's load
    mu_k, v_s     of LuGre; gamma of Dahl
    """

    model: Literal["lugre", "dahl"]
    sigma0: S
    sigma1: S
    sigma2: S
    mu_s: S
    mu_k: S
    v_s: S
    gamma: S
    arm: S
    normal_force: S | None


@dataclass(frozen=True)
class CoulombFriction(Generic[S]):
    """Friction effort·tanh(q̇/v_s) on a coordinate; effort in N·m or N, v_s in rad/s or m/s."""

    effort: S
    v_s: S


@dataclass(frozen=True)
class HuntCrossley(Generic[S]):
    """Law k·δⁿ·(1 + c·δ̇) of what presses: exponent n, and loss c, s/m or s/rad."""

    exponent: S
    loss: S


@dataclass(frozen=True)
class EndStops(Generic[S]):
    """Stops of a coordinate, rad or m, None: no stop; N·m/rad or N/m, and per second."""

    lower: S | None
    upper: S | None
    stiffness: S
    damping: S
    law: HuntCrossley[S] | None


@dataclass(frozen=True)
class Coordinate(Generic[S]):
    """One generalised coordinate.

    owner, key          `column`, `angle`: the name is `column.angle`
    role                base | joint | elastic (between rigid finite elements)
    motion, axis        its elementary motion; unit vector in the frame that the motions before it have reached
    position, velocity  start values in the motion's unit (and per second)
    stiffness, rest, damping   spring about `rest` and damper on this coordinate, or None
    armature            kg·m² or kg, on its diagonal entry of M alone, or None
    element             `r1` of a coordinate between rigid finite elements, else empty
    """

    owner: str
    key: str
    role: Literal["base", "joint", "elastic"]
    motion: ElementaryMotion
    axis: Axis
    position: float
    velocity: float
    stiffness: S | None = None
    rest: S | None = None
    damping: S | None = None
    friction: Friction[S] | None = None
    coulomb: CoulombFriction[S] | None = None
    limits: EndStops[S] | None = None
    armature: S | None = None
    element: str = ""

    @property
    def name(self) -> str:
        """The name in descriptions and messages."""
        return f"{self.owner}.{self.key}"

    @property
    def symbol(self) -> str:
        """The name in Modelica and FMUs."""
        return f"{self.owner}_{self.key}"

    @property
    def unit(self) -> str:
        """Rad or m."""
        return self.motion.unit

    def signal(self, quantity: str) -> Signal:
        """Return the signal of a state or output of the coordinate."""
        return Signal(quantity, Origin("coordinate", self.name))

    @property
    def effort_unit(self) -> str:
        """N.m or N."""
        return "N.m" if self.unit == "rad" else "N"

    @property
    def sense(self) -> str:
        """Return the positive direction, such as `right-handed about z of the joint frame`."""
        way = "right-handed about" if self.motion.kind == "rotation" else "along"
        letters = {axis: letter for letter, axis in (("x", X), ("y", Y), ("z", Z))}
        axis = letters.get(self.axis) or f"({', '.join(f'{part:.6g}' for part in self.axis)})"
        frame = {"base": "the world frame", "joint": "the joint frame", "elastic": "the preceding element"}[
            self.role
        ]
        one_of_several = self.motion.kind == "rotation" and self.motion.axis is not None
        return f"{way} {axis} of {frame}{' after preceding rotations' if one_of_several else ''}"


def signal_names(coordinates: Iterable[Coordinate], quantity: str) -> list[str]:
    """Return the names of one quantity of each coordinate: `position`, `velocity`, …"""
    return [coordinate.signal(quantity).name for coordinate in coordinates]


@dataclass(frozen=True)
class Body(Generic[S, V, M]):
    """A rigid body, or rigid finite element.

    parent        index of the parent body, or GROUND
    rotation      shape (3, 3), axes of the joint frame in the parent body's frame; numbers, unless they depend on
                  parameters
    offset        shape (3,), origin of the joint frame in the parent body's frame, m
    coordinates   indices of its coordinates, in order
    com, inertia  shapes (3,), m, and (3, 3), kg·m², about the com; both in the body's frame
    element       `r1` of a rigid finite element that is one of several, else empty
    """

    name: str
    link: str
    parent: int
    rotation: M
    offset: V
    coordinates: tuple[int, ...]
    mass: S
    com: V
    inertia: M
    element: str = ""


@dataclass(frozen=True)
class Place(Generic[V]):
    """A point fixed to a body: its index (or GROUND) and the position in its frame, shape (3,), m."""

    body: int
    position: V


@dataclass(frozen=True)
class JointFrame(Generic[V, M]):
    """A frame fixed to a body: its origin, and shape (3, 3), its axes in the body's frame (as of `Body`)."""

    place: Place[V]
    rotation: M


@dataclass(frozen=True)
class LoopClosure(Generic[S, V, M]):
    """The last joint of a loop between frames a and b.

    conditions           constraint rows, or with springs the deformations that have a stiffness or damping
    stiffness, damping   one per condition, N/m or N·m/rad and per second; None: conditions are constraints
    length               m, of a distance condition
    """

    name: str
    a: JointFrame[V, M]
    b: JointFrame[V, M]
    conditions: tuple[Condition, ...]
    stiffness: tuple[S, ...] | None
    damping: tuple[S, ...] | None
    length: S | None

    @property
    def turning(self) -> tuple[int, ...]:
        """Positions of the conditions on rotations; three resist rotations about all axes."""
        return tuple(k for k, condition in enumerate(self.conditions) if condition.unit == "rad")

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of its constraint rows; none for springs."""
        return () if self.stiffness is not None else tuple(f"{self.name}_{c.name}" for c in self.conditions)


@dataclass(frozen=True)
class KnifeEdge(Generic[V]):
    """A point whose velocity has no component along a normal (Wojtyra and Frączek 2013, equation (30)).

    normal  shape (3,), unit vector in the body's frame (constant numbers)
    """

    name: str
    place: Place[V]
    normal: Array


@dataclass(frozen=True)
class BaseSupport(Generic[S, V]):
    """Base spring-damper; see the description. Shapes (3,): m, N/m, N·s/m."""

    name: str
    one_sided: bool
    position: V
    stiffness: V
    damping: V
    law: HuntCrossley[S] | None

    @property
    def signals(self) -> dict[str, Measure]:
        """Gap and force, if it is one-sided."""
        return measures("support", self.name) if self.one_sided else {}


@dataclass(frozen=True)
class AppliedForce(Generic[V]):
    """An effort on a coordinate, or a force at a place; values are expressions, or None for FMU inputs."""

    name: str
    coordinate: int | None
    place: Place[V] | None
    in_world: bool
    values: tuple[Expr, ...] | None

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of its components, also the FMU's inputs."""
        if self.coordinate is not None:
            return (self.name,)
        return tuple(f"{self.name}_{axis}" for axis in "xyz")


@dataclass(frozen=True)
class Filter(Generic[S]):
    """An FMU input that is followed through a critically damped filter of two states.

    cutoff      its frequency, Hz
    coordinate  index of the coordinate that follows it; None: a line's rest length does
    start       what the length begins with, m; None: the distance of its ends as described
    """

    name: str
    unit: str
    cutoff: S
    coordinate: int | None
    start: S | None

    def signal(self, quantity: str) -> Signal:
        """Return the signal of `value`, `offset` from the initial value, or `offset_rate`."""
        return Signal(quantity, Origin("filter", self.name))


@dataclass(frozen=True)
class TwoPointForce(Generic[S, V]):
    """A force along the line between two places, positive where it pulls them together.

    stiffness, damping   N/m, N·s/m; None: there is none
    rest                 expression of t, m
    force                expression, N, in place of spring and damper
    given                whether the force is an FMU input instead
    filter               what the length at rest follows, in place of `rest`
    """

    name: str
    a: Place[V]
    b: Place[V]
    stiffness: S | None
    damping: S | None
    rest: Expr
    force: Expr | None
    given: bool
    tension_only: bool
    filter: Filter[S] | None = None

    @property
    def signals(self) -> dict[str, Measure]:
        """Length, its rate, and force."""
        return measures("line", self.name)

    @property
    def direction(self) -> str:
        """Name of the unit vector from a to b in the equations."""
        return f"u_{self.name}"


@dataclass(frozen=True)
class PlaneContact(Generic[S, V]):
    """A place on a plane that presses and never pulls.

    origin, normal  shape (3,): a point of the plane, world, m; unit vector to its free side, world, numbers
    mu, v_s         of its friction, m/s; None: there is none
    """

    name: str
    place: Place[V]
    origin: V
    normal: Array
    stiffness: S
    damping: S
    law: HuntCrossley[S] | None
    mu: S | None
    v_s: S | None

    @property
    def signals(self) -> dict[str, Measure]:
        """Gap and force."""
        return measures("contact", self.name)


@dataclass(frozen=True)
class ProgrammedTask(Generic[S]):
    """A programmed constraint: an expression that is to be zero, of this order, a path, or what a filter leads."""

    name: str
    order: int
    expression: Expr | None
    path: Path | None
    filter: Filter[S] | None = None


@dataclass(frozen=True)
class Mechanism(Generic[S, V, M]):
    """Everything the equations need; angles in rad, SI units, world frame 0.

    alpha, beta, kappa   1/s, see `description.settings.Constraints`
    actuated             indices of the coordinates that have a drive; None: all joints have one
    frames               of those points that have axes of their own
    """

    chain: Chain
    gravity: V
    parameters: dict[str, S]
    bodies: tuple[Body[S, V, M], ...]
    coordinates: tuple[Coordinate[S], ...]
    supports: tuple[BaseSupport[S, V], ...]
    points: dict[str, Place[V]]
    frames: dict[str, JointFrame[V, M]]
    closures: tuple[LoopClosure[S, V, M], ...]
    programmed: tuple[ProgrammedTask[S], ...]
    nonholonomic: tuple[KnifeEdge[V], ...]
    forces: tuple[AppliedForce[V], ...]
    lines: tuple[TwoPointForce[S, V], ...]
    contacts: tuple[PlaneContact[S, V], ...]
    elements: tuple[LawElement[S], ...]
    alpha: S
    beta: S
    kappa: S
    actuated: tuple[int, ...] | None

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the FMU's inputs."""
        forces = (symbol for force in self.forces if force.values is None for symbol in force.symbols)
        lines = (line.name for line in self.lines if line.given)
        return (
            *(f.name for f in self.filters),
            *forces,
            *lines,
            *(i.name for e in self.elements for i in e.inputs),
        )

    @property
    def constants(self) -> dict[str, S]:
        """Numbers that expressions name: parameters, and those of elements with a law."""
        numbers = dict(self.parameters)
        for element in self.elements:
            numbers |= element.numbers
        return numbers

    @property
    def filters(self) -> tuple[Filter[S], ...]:
        """Filters of driven joints, then of lines."""
        found = [task.filter for task in self.programmed] + [line.filter for line in self.lines]
        return tuple(f for f in found if f is not None)

    @property
    def measured(self) -> tuple[BaseSupport[S, V] | TwoPointForce[S, V] | PlaneContact[S, V] | LawElement[S], ...]:
        """Force elements that have signals."""
        parts: tuple[BaseSupport[S, V] | TwoPointForce[S, V] | PlaneContact[S, V] | LawElement[S], ...]
        parts = (*self.supports, *self.lines, *self.contacts, *self.elements)
        return tuple(part for part in parts if part.signals)

    @property
    def name(self) -> str:
        """Name of the model and of the FMU."""
        return self.chain.name

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    @property
    def formulation(self) -> str:
        """`gpme`, `gpme_reduced` or `lagrange`."""
        return self.chain.constraints.formulation

    @property
    def redundant(self) -> str | tuple[str, ...]:
        """`auto`, `minimum_norm`, or names of the rows to leave out."""
        return self.chain.constraints.redundant

    @property
    def base_fixed(self) -> bool:
        """Whether q_base = 0 is a constraint (Jarzębowska et al. 2023, equation (32))."""
        return self.chain.base is not None and self.chain.base.support == "rigid"

    @property
    def driven(self) -> tuple[int, ...]:
        """Indices of the coordinates whose effort is an output: what drives, or a fixed base's fixture, exert.

        With programmed constraints the chosen drives alone, or those of all joints.
        """
        if self.programmed and self.actuated is not None:
            return self.actuated
        roles = {"joint": bool(self.programmed), "base": self.base_fixed}
        return tuple(k for k, coordinate in enumerate(self.coordinates) if roles.get(coordinate.role))

    def coordinate_index(self, name: str) -> int:
        """Position of a coordinate by its full name."""
        return next(k for k, coordinate in enumerate(self.coordinates) if coordinate.name == name)

    def ancestors(self, body: int) -> tuple[int, ...]:
        """Indices of all coordinates that move the body, ground side first."""
        chain: list[tuple[int, ...]] = []
        while body != GROUND:
            chain.append(self.bodies[body].coordinates)
            body = self.bodies[body].parent
        return tuple(k for coordinates in reversed(chain) for k in coordinates)
