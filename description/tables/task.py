"""Description tables of points, programmed constraints, joint motions, knife edges and applied forces."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Annotated, Literal, TypeAlias

import numpy as np
from pydantic import Field, field_validator, model_validator

from ...core.arithmetic import S
from ..fields.names import Name
from ..fields.numbers import AnyNumber, Positive, Vector3, between, value_of
from ..fields.types import Direction, Expression, KeyProblem, NonNegativePerItem, Order, Part, PositivePerLeg
from ..types.bounds import RAMP
from .frame import Frame

# Function that converts a number of the description to a `float` or to a symbolic expression.
Reader: TypeAlias = Callable[[AnyNumber], S]


class Point(Part):
    """Point on a link, or a frame if `rpy` is present."""

    link: str
    """Name of the link, `base` or `ground`."""
    position: Vector3 = (0.0, 0.0, 0.0)
    """Position: x, y, z in the frame of the undeformed link, m."""
    rpy: Vector3 | None = None
    """Roll, pitch and yaw of the point's own axes in the link frame, rad; [0, 0, 0] for the axes of the
    link. With this key, expressions may use direction cosines: `E.R13` is the x component, world frame,
    of the point's z axis."""


HALF_TURN = -1.0 + 5e-7  # cosine of the largest admissible rotation, 180° − 1e-3 rad
Share = Annotated[AnyNumber, between(RAMP)]


class Path(Part):
    """Path of a point through waypoints.

    The point stops at each waypoint unless the motions before and after the waypoint overlap in
    time.
    """

    point: str
    """Name of the point that follows the path."""
    frame: Frame = Frame()
    """Fixed frame of the path in the world frame."""
    components: tuple[Literal["x", "y", "z"], ...] = ("x", "y", "z")
    """Components in the path frame that are prescribed, each by a constraint equation `<name>_x` and so
    on; the others are free."""
    waypoints: tuple[Vector3, ...] = Field(min_length=2)
    """Waypoints: x, y, z in the path frame, m; the first one at t = 0. The joints must reach all
    waypoints with base and beams in their initial positions."""
    orientations: tuple[Vector3, ...] | None = None
    """Orientation of the point's axes in the path frame at each waypoint: roll, pitch and yaw, rad;
    three more constraint equations `<name>_rx` and so on prescribe the orientation, with a rotation
    about one axis between waypoints. Default: free orientation."""
    leg_time: PositivePerLeg
    """Duration of the legs between waypoints, s: one number, or an array with one duration per leg. The
    point stays at the last waypoint."""
    blend_time: NonNegativePerItem = 0.0
    """Overlap in time of consecutive legs, s: one number, or an array with one overlap per inner
    waypoint. With an overlap, the point rounds the corner without a stop. The overlaps at both ends of
    a leg may not exceed its duration."""
    profile: Literal["quintic", "trapezoidal"] = "quintic"
    """Motion along each leg over relative time τ. `quintic`: 10τ³ − 15τ⁴ + 6τ⁵; `trapezoidal`: speed
    with linear rise, constant part and linear fall."""
    ramp: Share | None = None
    """Fraction of the leg time for the rise of the speed, and for its fall, with `trapezoidal`,
    dimensionless; default 0.25. The smallest accelerations result with 0.5."""

    @field_validator("components")
    @classmethod
    def _distinct(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value or len(set(value)) != len(value):
            raise ValueError(f"expected one to three different components, got {list(value)}")
        return value

    @model_validator(mode="after")
    def _timed(self) -> Path:
        legs = len(self.waypoints) - 1
        for key, count, what in (("leg_time", legs, "leg"), ("blend_time", legs - 1, "waypoint between the ends")):
            given = getattr(self, key)
            if isinstance(given, tuple) and len(given) != count:
                raise KeyProblem(key, f"expected {count} value(s), one per {what}, got {len(given)}")
        for number, (duration, shared) in enumerate(self.blended(value_of), start=1):
            if shared > duration:
                text = f"leg {number} lasts {duration:.6g} s, but its overlaps take {shared:.6g} s in total"
                raise KeyProblem("blend_time", f"{text}; reduce the overlaps or increase the leg time")
        given = self.orientations
        if given is not None and len(given) != legs + 1:
            text = f"expected {legs + 1} values, one rpy per waypoint, got {len(given)}"
            raise KeyProblem("orientations", text)
        for number, (here, there) in enumerate(pairwise(given or ()), start=1):
            if _cosine(here, there) < HALF_TURN:
                text = f"leg {number} turns by 180°, so that its axis is ambiguous; add a waypoint between"
                raise KeyProblem("orientations", text)
        if self.ramp is not None and self.profile != "trapezoidal":
            raise KeyProblem("ramp", f'a ramp requires profile = "trapezoidal", got {self.profile!r}')
        return self

    @property
    def ramp_share(self) -> AnyNumber:
        """Duration of the acceleration phase as a fraction of the duration of a leg.

        A leg is the motion from one waypoint to the next.
        """
        return 0.25 if self.ramp is None else self.ramp

    def legs(self, value: Reader[S]) -> list[tuple[S, S]]:
        """Return the start time and the duration of each leg of the path, s.

        A leg is the motion from one waypoint to the next. The results are numbers or symbolic
        expressions.
        """
        found, begin = [], value(0.0)
        for duration, blend in zip(self._durations(value), [*self.blends(value), value(0.0)], strict=True):
            found.append((begin, duration))
            begin = begin + (duration - blend)
        return found

    def blended(self, value: Reader[S]) -> list[tuple[S, S]]:
        """Return the duration and the overlap time of each leg, s.

        A leg is the motion from one waypoint to the next. The overlap time is the sum of the overlaps
        with the previous and the next leg. Durations are numbers or symbolic expressions.
        """
        between = [value(0.0), *self.blends(value), value(0.0)]
        return [
            (duration, before + after)
            for duration, (before, after) in zip(self._durations(value), pairwise(between), strict=True)
        ]

    def blends(self, value: Reader[S]) -> list[S]:
        """Return the time for which two consecutive legs overlap, at each inner waypoint, s.

        A leg is the motion from one waypoint to the next. The durations are numbers or symbolic
        expressions.
        """
        return _each(self.blend_time, len(self.waypoints) - 2, value)

    def _durations(self, value: Reader[S]) -> list[S]:
        return _each(self.leg_time, len(self.waypoints) - 1, value)


def _cosine(here: Vector3, there: Vector3) -> float:
    """Return the cosine of the angle between two orientations, each given by roll, pitch, yaw in rad."""
    trace = np.trace(Frame(rpy=here).rotation.T @ Frame(rpy=there).rotation)
    return 0.5 * (float(trace) - 1.0)


def _each(given: AnyNumber | tuple[AnyNumber, ...], count: int, value: Reader[S]) -> list[S]:
    return [value(x) for x in (given if isinstance(given, tuple) else (given,) * count)]


class Programmed(Part):
    """Programmed constraint: an expression that the motion keeps at zero, or a path."""

    name: Name
    """Name of the constraint equation. A path has equations `<name>_x` and so on, and `<name>_rx` and
    so on for orientations."""
    expression: str | None = None
    """Expression that the motion keeps at zero."""
    order: Order = 0
    """0: constraint on positions; 1: linear in velocities; 2: linear in accelerations, without stabilisation."""
    path: Path | None = None
    """Waypoints of a point, instead of an expression."""

    @model_validator(mode="after")
    def _one_form(self) -> Programmed:
        if (self.expression is None) == (self.path is None):
            raise ValueError("give either expression or path")
        if self.path is not None and self.order != 0:
            raise KeyProblem("order", "a path always constrains positions; remove the key `order`")
        return self

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the constraint equations.

        An expression defines one constraint equation. A path defines one constraint equation per
        prescribed component, and three further equations if it prescribes orientations.
        """
        if self.path is None:
            return (self.name,)
        turning = ("rx", "ry", "rz") if self.path.orientations is not None else ()
        return tuple(f"{self.name}_{axis}" for axis in (*self.path.components, *turning))


class Motion(Part):
    """Driven joint: a programmed constraint of one coordinate.

    The required effort of the drive is the output `<coordinate>_effort`.
    """

    name: Name
    """Name of the constraint equation."""
    joint: str
    """Coordinate of a joint: the link such as `column`, or `wrist.psi` for a joint with several coordinates."""
    position: Expression | None = None
    """Coordinate over time, rad or m: an expression of t and parameters, such as `table(slew, t)`."""
    input: bool = Field(False, strict=True)
    """Whether the coordinate follows the FMU's input with the name of the motion, through a filter."""
    cutoff: Positive | None = None
    """Frequency of the critically damped second-order filter of the input, Hz."""

    @model_validator(mode="after")
    def _one_form(self) -> Motion:
        if self.input == (self.position is not None):
            raise ValueError("give either position or input = true")
        if self.input and self.cutoff is None:
            raise KeyProblem("cutoff", "the key is missing; expected the frequency of the input filter, Hz")
        if not self.input and self.cutoff is not None:
            raise KeyProblem(
                "cutoff", "the key requires input = true, because a motion by an expression has no filter"
            )
        return self

    @property
    def rows(self) -> tuple[str, ...]:
        """Name of the constraint equation, as a tuple with one member."""
        return (self.name,)


class Nonholonomic(Part):
    """Knife edge: the velocity of a point has no component along a normal that is fixed to the
    link.
    """

    name: Name
    """Name of the constraint equation; the force is the output `<name>_force`."""
    link: str
    """Name of the link, or `base`."""
    point: Vector3 = (0.0, 0.0, 0.0)
    """Position of the knife edge: x, y, z in the frame of the undeformed link, m."""
    normal: Direction
    """Direction in the link frame, of any length, which rotates with the link."""

    @property
    def rows(self) -> tuple[str, ...]:
        """Name of the constraint equation, as a tuple with one member."""
        return (self.name,)


class Force(Part):
    """Applied effort on a joint coordinate, or applied force at a point of a link."""

    name: Name
    """Name of the force, and of its input in the FMU."""
    joint: str | None = None
    """Coordinate of a joint: the link such as `column`, or `wrist.psi` for a joint with several coordinates."""
    effort: Expression | None = None
    """Effort along the coordinate, N·m or N; positive if it accelerates the coordinate positively."""
    link: str | None = None
    """Link that the force acts on, or `base`, instead of a joint."""
    point: Vector3 = (0.0, 0.0, 0.0)
    """Point of action: x, y, z in the frame of the undeformed link, m."""
    force: tuple[Expression, Expression, Expression] | None = None
    """Components x, y, z of the force in the axes of `frame`, N."""
    frame: Literal["world", "link"] = "world"
    """Axes of the components of `force`: world frame, or link frame, which rotates with the link."""
    input: bool = Field(False, strict=True)
    """Whether the values are inputs of the FMU, instead of expressions."""

    @model_validator(mode="after")
    def _one_form(self) -> Force:
        if (self.joint is None) == (self.link is None):
            raise ValueError("give either joint (with effort) or link (with point and force)")
        key, other = ("effort", "force") if self.joint is not None else ("force", "effort")
        if getattr(self, other) is not None:
            raise KeyProblem(
                other, f"the key cannot be combined with a force on a {'joint' if self.joint else 'link'}"
            )
        if self.input == (getattr(self, key) is not None):
            raise ValueError(f"give either {key} or input = true")
        return self

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the scalar values of this load: one for a joint effort, three for the components of a force.

        If the values are inputs of the FMU, the inputs have these names.
        """
        return (self.name,) if self.joint is not None else tuple(f"{self.name}_{axis}" for axis in "xyz")
