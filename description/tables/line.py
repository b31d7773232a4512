"""Two-point force elements: spring-dampers, cylinders and ropes between two points."""

from __future__ import annotations

from typing import Annotated

from pydantic import Discriminator, Field, Tag, model_validator

from ..fields.names import Name
from ..fields.numbers import NonNegative, Plain, Positive, Vector3
from ..fields.types import Expression, KeyProblem, Part

OWN_NAMES = ("length", "rate")  # of a line, in its own expression


class LineEnd(Part):
    """Attachment point of a two-point force element on a link."""

    link: str
    """The link's name, `base` or `ground`."""
    point: Vector3 = (0.0, 0.0, 0.0)
    """x, y, z in the (undeformed) link's frame, m."""


class Followed(Part):
    """Input of the FMU that sets the unstretched length through a critically damped second-order
    filter.
    """

    input: Name
    """What the FMU's user gives, m: the input's name."""
    cutoff: Positive
    """The filter's frequency, Hz."""
    start: NonNegative | None = None
    """What the length begins with, m, at rest; without it the distance of the line's ends as described."""


def _rest(value: object) -> str:
    return "text" if isinstance(value, str) else "table" if isinstance(value, dict | Followed) else "number"


Rest = Annotated[
    Annotated[str, Tag("text")] | Annotated[Plain, Tag("number")] | Annotated[Followed, Tag("table")],
    Discriminator(_rest),
]


class Line(Part):
    """Two-point force element; a positive force pulls the two points together."""

    name: Name
    """Of its outputs `<name>_length`, `<name>_rate` and `<name>_force`; an input is called so in the FMU."""
    a: LineEnd
    """One end."""
    b: LineEnd
    """The other end."""
    stiffness: NonNegative = 0.0
    """Of a spring about the length `rest`, N/m."""
    damping: NonNegative = 0.0
    """Of a damper, against the rate of the length beyond that of `rest`, N·s/m."""
    rest: Rest = 0.0
    """Length at which the spring is undeformed, m: a number, an expression of t and parameters, or a table with an
    input that it follows."""
    force: Expression | None = None
    """In place of spring and damper: an expression, N, that may use its own `length` and `rate`."""
    input: bool = Field(False, strict=True)
    """Whether the FMU's user gives the force, N."""
    tension_only: bool = Field(False, strict=True)
    """Whether it does not push, as a rope."""

    @model_validator(mode="after")
    def _one_form(self) -> Line:
        springs = [key for key in ("stiffness", "damping", "rest") if key in self.model_fields_set]
        if self.force is not None and self.input:
            raise KeyProblem("force", "does not go with input = true")
        if springs and (self.force is not None or self.input):
            raise KeyProblem(
                springs[0], f"does not go with {'force' if self.force is not None else 'input = true'}"
            )
        if self.force is None and not self.input and not (self.stiffness or self.damping):
            raise ValueError("gives no force; give stiffness or damping, or force, or input = true")
        return self
