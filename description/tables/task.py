"""Points, programmed constraints, motions, knife edges and applied forces."""

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

Reader: TypeAlias = Callable[[AnyNumber], S]  # from a number of the description to what stands for it


class Point(Part):
    """Point on a link, or a frame if `rpy` is present."""

    link: str
    """The link's name, `base` or `ground`."""
    position: Vector3 = (0.0, 0.0, 0.0)
    """x, y, z in the (undeformed) link's frame, m."""
    rpy: Vector3 | None = None
    """Roll, pitch and yaw of its own axes in the link's, rad; [0, 0, 0]: the link's. Then expressions know its
    direction cosines: `E.R13` is component x, in the world, of its axis z."""


HALF_TURN = -1.0 + 5e-7  # cosine of 180° less 1e-3 rad
Share = Annotated[AnyNumber, between(RAMP)]


class Path(Part):
    """Waypoints of a point.

    The point stops at each waypoint unless consecutive legs overlap in time.
    """

    point: str
    """Name of the point that follows the path."""
    frame: Frame = Frame()
    """The path's frame in the world frame; it does not move."""
    components: tuple[Literal["x", "y", "z"], ...] = ("x", "y", "z")
    """Those in the path's frame that are prescribed, one row `<name>_x` and so on each; the others are free."""
    waypoints: tuple[Vector3, ...] = Field(min_length=2)
    """x, y, z in the path's frame, m; the first one belongs to t = 0. The joints must reach them, base and beams
    as at the start."""
    orientations: tuple[Vector3, ...] | None = None
    """Of the point's axes in the path's frame at each waypoint: roll, pitch and yaw, rad; three more rows,
    `<name>_rx` and so on, hold them; between waypoints they turn about one axis. Without the key they are free."""
    leg_time: PositivePerLeg
    """From one waypoint to the next, s, or an array, one time per leg; after the last the point stays there."""
    blend_time: NonNegativePerItem = 0.0
    """By which each leg begins before the one before it ends, s, or an array, one per waypoint but the first and
    the last: the point does not stop there and rounds the corner. Both ends of a leg share its time."""
    profile: Literal["quintic", "trapezoidal"] = "quintic"
    """Of the way along each leg over time: 10τ³ − 15τ⁴ + 6τ⁵; or a speed that rises evenly, stays, and falls."""
    ramp: Share | None = None
    """Of `trapezoidal`: the share of a leg's time in which the speed rises, and again that in which it falls,
    dimensionless, 0.25 without it; the accelerations are least with 0.5."""

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
                text = f"leg {number} lasts {duration:.6g} s, but its ends blend for {shared:.6g} s together"
                raise KeyProblem("blend_time", f"{text}; expected no more than it lasts")
        given = self.orientations
        if given is not None and len(given) != legs + 1:
            text = f"expected {legs + 1} values, one rpy per waypoint, got {len(given)}"
            raise KeyProblem("orientations", text)
        for number, (here, there) in enumerate(pairwise(given or ()), start=1):
            if _cosine(here, there) < HALF_TURN:
                text = (
                    f"leg {number} turns by 180°, and there is no saying about which axis; add a waypoint between"
                )
                raise KeyProblem("orientations", text)
        if self.ramp is not None and self.profile != "trapezoidal":
            raise KeyProblem("ramp", f'goes with profile = "trapezoidal" alone, got {self.profile!r}')
        return self

    @property
    def ramp_share(self) -> AnyNumber:
        """Fraction of the leg time in which the speed rises."""
        return 0.25 if self.ramp is None else self.ramp

    def legs(self, value: Reader[S]) -> list[tuple[S, S]]:
        """Return begin and duration of each leg, s, as numbers or symbolic expressions."""
        found, begin = [], value(0.0)
        for duration, blend in zip(self._durations(value), [*self.blends(value), value(0.0)], strict=True):
            found.append((begin, duration))
            begin = begin + (duration - blend)
        return found

    def blended(self, value: Reader[S]) -> list[tuple[S, S]]:
        """Return duration of each leg and total blend time at its two ends, s, as numbers or
        symbolic expressions.
        """
        between = [value(0.0), *self.blends(value), value(0.0)]
        return [
            (duration, before + after)
            for duration, (before, after) in zip(self._durations(value), pairwise(between), strict=True)
        ]

    def blends(self, value: Reader[S]) -> list[S]:
        """Return the overlap of consecutive legs at each inner waypoint, s, as numbers or symbolic
        expressions.
        """
        return _each(self.blend_time, len(self.waypoints) - 2, value)

    def _durations(self, value: Reader[S]) -> list[S]:
        return _each(self.leg_time, len(self.waypoints) - 1, value)


def _cosine(here: Vector3, there: Vector3) -> float:
    """Return the cosine of the rotation angle between two orientations, each roll, pitch and yaw in
    rad.
    """
    trace = np.trace(Frame(rpy=here).rotation.T @ Frame(rpy=there).rotation)
    return 0.5 * (float(trace) - 1.0)


def _each(given: AnyNumber | tuple[AnyNumber, ...], count: int, value: Reader[S]) -> list[S]:
    return [value(x) for x in (given if isinstance(given, tuple) else (given,) * count)]


class Programmed(Part):
    """Programmed constraint: an expression that the motion keeps at zero, or a path."""

    name: Name
    """Of its row; a path has rows `<name>_x` and so on, and `<name>_rx` of orientations."""
    expression: str | None = None
    """What is to be zero."""
    order: Order = 0
    """0: of positions; 1: linear in velocities; 2: linear in accelerations, not stabilised."""
    path: Path | None = None
    """In place of an expression: waypoints for a point."""

    @model_validator(mode="after")
    def _one_form(self) -> Programmed:
        if (self.expression is None) == (self.path is None):
            raise ValueError("give either expression or path")
        if self.path is not None and self.order != 0:
            raise KeyProblem("order", "a path is a constraint on positions; leave the key out")
        return self

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the constraint equations: the constraint's name, or one per component of the
        path.
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
    """Of its row."""
    joint: str
    """The joint's link such as `column`, or `wrist.psi` where the joint has several coordinates."""
    position: Expression | None = None
    """Of the coordinate: an expression of t and parameters, such as `table(slew, t)`, rad or m."""
    input: bool = Field(False, strict=True)
    """Whether the FMU's user gives it, as the input of the motion's name, which is followed through a filter."""
    cutoff: Positive | None = None
    """Of an input's filter, critically damped and of order 2: its frequency, Hz."""

    @model_validator(mode="after")
    def _one_form(self) -> Motion:
        if self.input == (self.position is not None):
            raise ValueError("give either position or input = true")
        if self.input and self.cutoff is None:
            raise KeyProblem("cutoff", "is missing: the frequency of the filter that follows the input, Hz")
        if not self.input and self.cutoff is not None:
            raise KeyProblem("cutoff", "is for input = true; an expression is followed as it is")
        return self

    @property
    def rows(self) -> tuple[str, ...]:
        """Name of the constraint equation, as a tuple."""
        return (self.name,)


class Nonholonomic(Part):
    """Knife edge: the velocity of a point has no component along a normal that is fixed to the
    link.
    """

    name: Name
    """Of its row; its force is the output `<name>_force`."""
    link: str
    """The link's name, or `base`."""
    point: Vector3 = (0.0, 0.0, 0.0)
    """x, y, z in the (undeformed) link's frame, m."""
    normal: Direction
    """Direction in the link's frame, of any length; turns with the link."""

    @property
    def rows(self) -> tuple[str, ...]:
        """Name of the constraint equation, as a tuple."""
        return (self.name,)


class Force(Part):
    """Applied effort on a joint coordinate, or applied force at a point of a link."""

    name: Name
    """Of the force; an input is called so in the FMU."""
    joint: str | None = None
    """The joint's link such as `column`, or `wrist.psi` where the joint has several coordinates."""
    effort: Expression | None = None
    """Along the coordinate, positive where it drives the coordinate up, N·m or N."""
    link: str | None = None
    """In place of a joint: the link that the force acts on, or `base`."""
    point: Vector3 = (0.0, 0.0, 0.0)
    """Where it acts: x, y, z in the (undeformed) link's frame, m."""
    force: tuple[Expression, Expression, Expression] | None = None
    """Its components x, y, z in `frame`, N."""
    frame: Literal["world", "link"] = "world"
    """Whose axes the components of `force` have; those of the link turn with it."""
    input: bool = Field(False, strict=True)
    """Whether the FMU's user gives the values, instead of expressions."""

    @model_validator(mode="after")
    def _one_form(self) -> Force:
        if (self.joint is None) == (self.link is None):
            raise ValueError("give either joint (with effort) or link (with point and force)")
        key, other = ("effort", "force") if self.joint is not None else ("force", "effort")
        if getattr(self, other) is not None:
            raise KeyProblem(other, f"does not go with a force on a {'joint' if self.joint else 'link'}")
        if self.input == (getattr(self, key) is not None):
            raise ValueError(f"give either {key} or input = true")
        return self
