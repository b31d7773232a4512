"""Data classes for the components of a mechanism.

The components are bodies, coordinates, loop closures, force elements and programmed constraints.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Literal

from ..core.arithmetic import S
from ..core.trajectory import Array
from ..description import Description
from ..description.tables.task import Path
from ..description.types.closures import Condition
from ..description.types.joints import Axis, ElementaryMotion, X, Y, Z
from ..description.types.measures import Measure, measures
from ..description.types.origin import Origin, Signal
from ..language.ir import Expr
from .algebra import M, V
from .by_law import LawElement

GROUND = -1  # The ground has this index among the bodies.
# A two-point force element counts as having no length below this fraction of the mechanism's size.
MEETING = 1e-6
# In all backends, this number of Newton steps computes the friction efforts from the joint reactions.
FRICTION_SWEEPS = 6


# Order of the rotations R = Rz(psi)·Ry(theta)·Rx(phi) of spherical joints.
_EULER_ANGLES = {"psi": "first", "theta": "second", "phi": "third"}


@dataclass(frozen=True)
class Friction(Generic[S]):
    """Bristle friction of a coordinate with the effort μ·f_n·arm against the motion.

    Attributes
    ----------
    model : str
        "lugre" with μ = σ0 z + σ1 ż + σ2 q̇, or "dahl" with μ = σ0 z; z is the bristle deflection.
    sigma0, sigma1, sigma2 : scalar
        Stiffness, damping and viscous coefficient of the bristles.
    mu_s, mu_k : scalar
        Static and kinetic friction coefficient; the Dahl model does not use the kinetic one.
    v_s : scalar
        Stribeck velocity of the LuGre model, rad/s or m/s.
    gamma : scalar
        Exponent of the Dahl model.
    arm : scalar
        Radius of the journal (shaft in its bearing), m; 1 for a prismatic joint.
    normal_force : scalar or None
        Normal force f_n, N; None for the normal component of the joint reaction.
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
    """Regularised Coulomb friction of a coordinate, −effort·tanh(q̇/v_s).

    The number `effort` is in N·m or N, and v_s is in rad/s or m/s.
    """

    effort: S
    v_s: S


@dataclass(frozen=True)
class HuntCrossley(Generic[S]):
    """Hunt–Crossley law k·δⁿ·(1 + c·δ̇) of a unilateral element, with the penetration depth δ.

    The attributes are the exponent n and the loss factor c in s/m or s/rad.
    """

    exponent: S
    loss: S


@dataclass(frozen=True)
class EndStops(Generic[S]):
    """Mechanical end stops of a coordinate.

    Attributes
    ----------
    lower, upper : scalar or None
        Positions of the stops, rad or m; None without a stop.
    stiffness, damping : scalar
        Constants of spring and damper, N·m/rad and N·m·s/rad, or N/m and N·s/m.
    law : HuntCrossley or None
        Hunt–Crossley law, which replaces the damper; None for a linear spring-damper.
    """

    lower: S | None
    upper: S | None
    stiffness: S
    damping: S
    law: HuntCrossley[S] | None


@dataclass(frozen=True)
class Coordinate(Generic[S]):
    """Generalised coordinate.

    Attributes
    ----------
    owner, key : str
        Both parts of the coordinate's name: `column` and `angle` for `column.angle`.
    role : str
        "base", "joint", or "elastic" for a coordinate between rigid finite elements.
    motion : ElementaryMotion
        Rotation or translation of the coordinate.
    axis : tuple of float
        Unit vector of the motion, in the joint frame as moved by the preceding motions of the joint.
    position, velocity : float
        Initial values, rad or m, and rad/s or m/s.
    stiffness, rest, damping : scalar or None
        Stiffness of the spring, rest position of the spring, and damping; None if missing.
    friction : Friction or None
        Bristle friction.
    coulomb : CoulombFriction or None
        Regularised Coulomb friction.
    limits : EndStops or None
        Mechanical end stops.
    armature : scalar or None
        Rotor inertia of the drive, kg·m² or kg, which is added to the diagonal of the mass matrix.
    element : str
        "r1" etc. for a coordinate between rigid finite elements, else empty.
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
        """Name of the coordinate in descriptions and messages, such as `column.angle`."""
        return f"{self.owner}.{self.key}"

    @property
    def symbol(self) -> str:
        """Name of the coordinate in Modelica and FMUs, such as `column_angle`."""
        return f"{self.owner}_{self.key}"

    @property
    def unit(self) -> str:
        """Unit of the coordinate, rad or m."""
        return self.motion.unit

    def signal(self, quantity: str) -> Signal:
        """Return the signal of a quantity of the coordinate, such as its position."""
        return Signal(quantity, Origin("coordinate", self.name))

    @property
    def effort_unit(self) -> str:
        """Unit of an effort on the coordinate, N.m or N."""
        return "N.m" if self.unit == "rad" else "N"

    @property
    def sense(self) -> str:
        """Positive direction of the coordinate in words, such as `positive about z of the joint frame`."""
        way = "positive about" if self.motion.kind == "rotation" else "positive along"
        letters = {axis: letter for letter, axis in (("x", X), ("y", Y), ("z", Z))}
        axis = letters.get(self.axis) or f"({', '.join(f'{part:.6g}' for part in self.axis)})"
        frames = {"base": "the world frame", "joint": "the joint frame", "elastic": "the previous beam element"}
        if self.motion.coordinate in _EULER_ANGLES:
            order = _EULER_ANGLES[self.motion.coordinate]
            return f"{order} of the z-y-x Euler angles relative to {frames[self.role]}"
        return f"{way} {axis} of {frames[self.role]}"


def signal_names(coordinates: Iterable[Coordinate], quantity: str) -> list[str]:
    """Return the signal names of one quantity, such as `position`, for all coordinates."""
    return [coordinate.signal(quantity).name for coordinate in coordinates]


@dataclass(frozen=True)
class Body(Generic[S, V, M]):
    """Rigid body, or rigid finite element of a beam.

    Attributes
    ----------
    name, link : str
        Name of the body, and of its link.
    parent : int
        Index of the parent body, or GROUND.
    rotation : matrix, shape (3, 3)
        Axes of the joint frame in the parent's frame; constant unless they depend on parameters.
    offset : vector, shape (3,)
        Origin of the joint frame in the parent's frame, m.
    coordinates : tuple of int
        Indices of the joint's coordinates in order.
    mass, com, inertia : scalar, vector and matrix
        Mass, kg; centre of mass, m; and inertia about the centre of mass, kg·m²; in the body's frame.
    element : str
        "r1" etc. for one of several rigid finite elements, else empty.
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
    """Point that is fixed to a body.

    The attributes are the index of the body, or GROUND, and the position in the body's frame, shape
    (3,), m.
    """

    body: int
    position: V


@dataclass(frozen=True)
class JointFrame(Generic[V, M]):
    """Frame that is fixed to a body.

    The attributes are the origin of the frame, and its axes in the body's frame, shape (3, 3).
    """

    place: Place[V]
    rotation: M


@dataclass(frozen=True)
class LoopClosure(Generic[S, V, M]):
    """Joint between frames a and b that closes a kinematic loop.

    Attributes
    ----------
    conditions : tuple of Condition
        Constraint conditions. If spring-dampers close the loop, they resist deviations from these
        conditions.
    stiffness, damping : tuple of scalars or None
        Stiffness and damping for each condition, N/m and N·s/m or N·m/rad and N·m·s/rad; None for a
        closure by constraints.
    length : scalar or None
        Length of a distance condition, m.
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
        """Indices of the closure's conditions that restrict a relative rotation of its two frames.

        If there are three such conditions, the frames cannot rotate relative to each other.
        """
        return tuple(k for k, condition in enumerate(self.conditions) if condition.unit == "rad")

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the closure's constraint equations; empty for a closure by spring-dampers."""
        return () if self.stiffness is not None else tuple(f"{self.name}_{c.name}" for c in self.conditions)


@dataclass(frozen=True)
class KnifeEdge(Generic[V]):
    """Nonholonomic constraint: a point whose velocity has no component along a body-fixed normal.

    See Wojtyra and Frączek 2013, equation (30).

    Attributes
    ----------
    name : str
        Name of the constraint.
    place : Place
        The point.
    normal : ndarray, shape (3,)
        Constant unit vector in the body's frame.
    """

    name: str
    place: Place[V]
    normal: Array


@dataclass(frozen=True)
class BaseSupport(Generic[S, V]):
    """Spring-damper between base and ground along the world axes.

    The position, m, the stiffness, N/m, and the damping, N·s/m, each have the shape (3,).
    """

    name: str
    one_sided: bool
    position: V
    stiffness: V
    damping: V
    law: HuntCrossley[S] | None

    @property
    def signals(self) -> dict[str, Measure]:
        """Output signals of a unilateral support: gap and normal force. A bilateral support has none."""
        return measures("support", self.name) if self.one_sided else {}


@dataclass(frozen=True)
class AppliedForce(Generic[V]):
    """Applied effort on a coordinate, or force at a point.

    Each component is an expression; None if an FMU input provides it.
    """

    name: str
    coordinate: int | None
    place: Place[V] | None
    in_world: bool
    values: tuple[Expr | None, ...]

    @property
    def symbols(self) -> tuple[str, ...]:
        """Name of the effort, or names of the three force components.

        A component without an expression in the description is an FMU input with the component's name.
        """
        if self.coordinate is not None:
            return (self.name,)
        return tuple(f"{self.name}_{axis}" for axis in "xyz")


@dataclass(frozen=True)
class Filter(Generic[S]):
    """Critically damped second-order filter of an FMU input that drives a coordinate or a rest length.

    Attributes
    ----------
    name, unit : str
        Name and unit of the input.
    cutoff : scalar
        Cutoff frequency, Hz.
    coordinate : int or None
        Index of the driven coordinate; None for the rest length of a two-point force element.
    start : scalar or None
        Initial rest length, m; None for the initial distance of the element's ends.
    command : Expr or None
        Output of the controller that drives the input; None for an input of the FMU.
    """

    name: str
    unit: str
    cutoff: S
    coordinate: int | None
    start: S | None
    command: Expr | None = None

    def signal(self, quantity: str) -> Signal:
        """Return a signal of the filter: `value`, `offset` or `offset_rate`.

        The offset is the difference from the initial value, and `offset_rate` is its time
        derivative.
        """
        return Signal(quantity, Origin("filter", self.name))


@dataclass(frozen=True)
class TwoPointForce(Generic[S, V]):
    """Force along the line between two points, positive in tension.

    Attributes
    ----------
    stiffness, damping : scalar or None
        Spring and damper, N/m and N·s/m.
    rest : Expr
        Rest length as an expression of t, m.
    force : Expr or None
        Expression of the force, N, which replaces spring and damper.
    given : bool
        Whether the force is an FMU input, which replaces spring and damper.
    tension_only : bool
        Whether the element is a rope, which cannot push.
    filter : Filter or None
        Filter whose output is the rest length; None if the rest length is `rest`.
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
        """Output signals of the element: length, its rate, and force."""
        return measures("line", self.name)

    @property
    def direction(self) -> str:
        """Name of the variable that contains the unit vector from end a to end b of the element."""
        return f"u_{self.name}"


@dataclass(frozen=True)
class PlaneContact(Generic[S, V]):
    """Unilateral contact between a point and a plane that is fixed in the world.

    Attributes
    ----------
    name : str
        Name of the contact.
    place : Place
        The point.
    origin : vector, shape (3,)
        A point of the plane in the world frame, m.
    normal : ndarray, shape (3,)
        Constant unit vector towards the free side, in world axes.
    stiffness, damping : scalar
        Constants of spring and damper, N/m and N·s/m.
    law : HuntCrossley or None
        Hunt–Crossley law, which replaces the damper; None for a linear spring-damper.
    mu, v_s : scalar or None
        Friction coefficient and regularising velocity, m/s; None without friction.
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
        """Output signals of the contact: gap and normal force."""
        return measures("contact", self.name)


@dataclass(frozen=True)
class ProgrammedTask(Generic[S]):
    """Programmed constraint on the motion.

    The constraint keeps an expression at zero, moves a point along a path, or makes a coordinate
    follow a filter.

    The attribute `order` is the level of the constraint: 0 for positions, 1 for velocities, 2 for
    accelerations. The attribute `joint` is the index of the coordinate if the constraint drives a
    joint, otherwise None.
    """

    name: str
    order: int
    expression: Expr | None
    path: Path | None
    filter: Filter[S] | None = None
    joint: int | None = None


@dataclass(frozen=True)
class Mechanism(Generic[S, V, M]):
    """All data of a mechanism for the equations of motion, in SI units and rad.

    Attributes
    ----------
    chain : Description
        Description from which the mechanism was built.
    frames : dict
        Frames of the named points for which the description defines axes.
    programmed : tuple of ProgrammedTask
        Programmed constraints and driven joints.
    nonholonomic : tuple of KnifeEdge
        Knife-edge constraints.
    alpha, beta, kappa : scalar
        Coefficients of the constraint stabilisation, 1/s, see `description.settings.Constraints`.
    actuated : tuple of int or None
        Indices of the coordinates with a drive; None if all joints have one.
    """

    chain: Description
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
        """Names of all inputs of the mechanism's FMU."""
        forces = (pair for force in self.forces for pair in zip(force.symbols, force.values, strict=True))
        lines = (line.name for line in self.lines if line.given)
        return (
            *(f.name for f in self.filters if f.command is None),
            *(symbol for symbol, value in forces if value is None),
            *lines,
            *(i.name for e in self.elements for i in e.inputs),
        )

    @property
    def constants(self) -> dict[str, S]:
        """Values of all parameters, by name.

        The constants in the laws of force elements and controllers are included.
        """
        numbers = dict(self.parameters)
        for element in self.elements:
            numbers |= element.numbers
        return numbers

    @property
    def filters(self) -> tuple[Filter[S], ...]:
        """Filters of FMU inputs: first those of driven joints, then those of two-point force elements."""
        found = [task.filter for task in self.programmed] + [line.filter for line in self.lines]
        return tuple(f for f in found if f is not None)

    @property
    def measured(self) -> tuple[BaseSupport[S, V] | TwoPointForce[S, V] | PlaneContact[S, V] | LawElement[S], ...]:
        """Force elements and controllers of the mechanism that have output signals."""
        parts: tuple[BaseSupport[S, V] | TwoPointForce[S, V] | PlaneContact[S, V] | LawElement[S], ...]
        parts = (*self.supports, *self.lines, *self.contacts, *self.elements)
        return tuple(part for part in parts if part.signals)

    @property
    def name(self) -> str:
        """Name of the model and of the FMU."""
        return self.chain.name

    @property
    def n(self) -> int:
        """Number of generalised coordinates of the mechanism."""
        return len(self.coordinates)

    @property
    def formulation(self) -> str:
        """Formulation of the equations of motion: `gpme`, `gpme_reduced` or `lagrange`."""
        return self.chain.constraints.formulation

    @property
    def redundant(self) -> str | tuple[str, ...]:
        """Treatment of redundant constraints: `auto`, `minimum_norm`, or names of equations to omit."""
        return self.chain.constraints.redundant

    @property
    def base_fixed(self) -> bool:
        """Whether constraints keep the base coordinates at zero (Jarzębowska et al. 2023, equation (32))."""
        return self.chain.base is not None and self.chain.base.support == "rigid"

    @property
    def driven(self) -> tuple[int, ...]:
        """Indices of the coordinates whose drive effort, or effort of the base fixture, is an output.

        A joint with a prescribed motion has its own drive. Other programmed constraints are
        realised by drives in all joints, or in the joints `actuated`. The coordinates of a fixed
        base are included if the description does not define `actuated`.
        """
        if self.programmed and self.actuated is not None:
            return self.actuated
        own = {task.joint for task in self.programmed}
        roles = {"joint": None in own, "base": self.base_fixed}
        return tuple(k for k, coordinate in enumerate(self.coordinates) if k in own or roles.get(coordinate.role))

    def coordinate_index(self, name: str) -> int:
        """Return the index of a coordinate by its full name."""
        return next(k for k, coordinate in enumerate(self.coordinates) if coordinate.name == name)

    def ancestors(self, body: int) -> tuple[int, ...]:
        """Return the indices of all coordinates that move a body, from the ground outwards."""
        chain: list[tuple[int, ...]] = []
        while body != GROUND:
            chain.append(self.bodies[body].coordinates)
            body = self.bodies[body].parent
        return tuple(k for coordinates in reversed(chain) for k in coordinates)
