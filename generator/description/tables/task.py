"""What the mechanism has to do: points, programmed constraints, applied forces."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from .frame import Frame
from .names import Name
from .types import Direction, Expression, KeyProblem, Order, Part, Positive, Vector3


class Point(Part):
    """Named point; position in the (undeformed) link's frame, m."""

    link: str
    position: Vector3 = (0.0, 0.0, 0.0)


class Path(Part):
    """Waypoints that a point passes with rest at each (P0 (28), (29)).

    frame       the path's frame in the world
    components  which components in that frame are prescribed, one constraint row each
    waypoints   in that frame, m
    leg_time    s per leg
    """

    point: str
    frame: Frame = Frame()
    components: tuple[Literal["x", "y", "z"], ...] = ("x", "y", "z")
    waypoints: tuple[Vector3, ...] = Field(min_length=2)
    leg_time: Positive
    profile: Literal["quintic"] = "quintic"

    @field_validator("components")
    @classmethod
    def _distinct(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value or len(set(value)) != len(value):
            raise ValueError(f"expected one to three different components, got {list(value)}")
        return value


class Programmed(Part):
    """Programmed constraint: an expression that is to be zero, or a path.

    order   0: of positions | 1: linear in velocities | 2: linear in accelerations, P0 (7), not stabilised
    """

    name: Name
    expression: str | None = None
    order: Order = 0
    path: Path | None = None

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


class Nonholonomic(Part):
    """Knife edge (P1 (30)): the point's velocity has no component along the normal.

    point    in the (undeformed) link's frame, m
    normal   direction in the link's frame, of any length; turns with the link
    """

    name: Name
    link: str
    point: Vector3 = (0.0, 0.0, 0.0)
    normal: Direction

    @property
    def rows(self) -> tuple[str, ...]:
        """Name of its one constraint row."""
        return (self.name,)


class Force(Part):
    """Applied effort on a joint's coordinate (N or N·m) or force at a point of a link (N).

    joint   `column`, or `wrist.psi` where the joint has several coordinates
    point   in the link's frame, m
    force   three expressions, components in `frame`
    input   the value comes from the FMU's user instead of an expression
    """

    name: Name
    joint: str | None = None
    effort: Expression | None = None
    link: str | None = None
    point: Vector3 = (0.0, 0.0, 0.0)
    force: tuple[Expression, Expression, Expression] | None = None
    frame: Literal["world", "link"] = "world"
    input: bool = Field(False, strict=True)

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
