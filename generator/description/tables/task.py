"""What the mechanism has to do: points, programmed constraints, motions, applied forces."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from ..fields.names import Name
from ..fields.numbers import Positive, Vector3
from ..fields.types import Direction, Expression, KeyProblem, Order, Part
from .frame import Frame


class Point(Part):
    """A point fixed to a link, or with `rpy` a frame there."""

    link: str
    """The link's name, `base` or `ground`."""
    position: Vector3 = (0.0, 0.0, 0.0)
    """x, y, z in the (undeformed) link's frame, m."""
    rpy: Vector3 | None = None
    """Roll, pitch and yaw of its own axes in the link's, rad; [0, 0, 0]: the link's. Then expressions know its
    direction cosines: `E.R13` is component x, in the world, of its axis z."""


class Path(Part):
    """Waypoints that a point passes, at rest at each of them: (28) and (29) of P0."""

    point: str
    """Name of the point that follows the path."""
    frame: Frame = Frame()
    """The path's frame in the world frame; it does not move."""
    components: tuple[Literal["x", "y", "z"], ...] = ("x", "y", "z")
    """Those in the path's frame that are prescribed, one row `<name>_x` and so on each; the others are free."""
    waypoints: tuple[Vector3, ...] = Field(min_length=2)
    """x, y, z in the path's frame, m; the first one belongs to t = 0. The joints must reach them, base and beams
    as at the start."""
    leg_time: Positive
    """From one waypoint to the next, s; after the last one the point stays there."""
    profile: Literal["quintic"] = "quintic"
    """Of the way along each leg over time: 10τ³ − 15τ⁴ + 6τ⁵."""

    @field_validator("components")
    @classmethod
    def _distinct(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value or len(set(value)) != len(value):
            raise ValueError(f"expected one to three different components, got {list(value)}")
        return value


class Programmed(Part):
    """Programmed constraint: an expression that is to be zero, or a path."""

    name: Name
    """Of its row; a path has rows `<name>_x` and so on."""
    expression: str | None = None
    """What is to be zero."""
    order: Order = 0
    """0: of positions; 1: linear in velocities; 2: linear in accelerations, (7) of P0, not stabilised."""
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
        """Names of its constraint rows: its own, or one per component of the path."""
        return tuple(f"{self.name}_{axis}" for axis in self.path.components) if self.path else (self.name,)


class Motion(Part):
    """A joint that is driven: a programmed constraint of its coordinate.

    What the drive has to deliver is the output `<coordinate>_effort`."""

    name: Name
    """Of its row."""
    joint: str
    """The joint's link such as `column`, or `wrist.psi` where the joint has several coordinates."""
    position: Expression
    """Of the coordinate: an expression of t and parameters, such as `table(slew, t)`, rad or m."""

    @property
    def rows(self) -> tuple[str, ...]:
        """Name of its one constraint row."""
        return (self.name,)


class Nonholonomic(Part):
    """Knife edge, (30) of P1: the point's velocity has no component along the normal."""

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
        """Name of its one constraint row."""
        return (self.name,)


class Force(Part):
    """Applied effort on a joint's coordinate, or force at a point of a link."""

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
