"""Two-point force elements: spring-dampers, cylinders and ropes between two points."""

from __future__ import annotations

from typing import Annotated

from pydantic import Discriminator, Field, Tag, model_validator

from ..fields.names import Name, PartName, identifier
from ..fields.numbers import NonNegative, Plain, Positive, Vector3
from ..fields.types import Expression, KeyProblem, Part

OWN_NAMES = (
    "length",
    "rate",
)  # names that the expression of an element's force may use, such as `length`


class LineEnd(Part):
    """Attachment point of a two-point force element on a link."""

    link: str
    """Name of the link, `base` or `ground`."""
    point: Vector3 = (0.0, 0.0, 0.0)
    """Attachment point: x, y, z in the frame of the undeformed link, m."""


class Followed(Part):
    """Input of the FMU that sets the unstretched length through a critically damped second-order
    filter.
    """

    input: Name
    """Name of the FMU's input, m."""
    cutoff: Positive
    """Frequency of the filter, Hz."""
    start: NonNegative | None = None
    """Initial length, m, with zero rate; default: the distance of the two points in the description."""


def _rest(value: object) -> str:
    return "text" if isinstance(value, str) else "table" if isinstance(value, dict | Followed) else "number"


Rest = Annotated[
    Annotated[str, Tag("text")] | Annotated[Plain, Tag("number")] | Annotated[Followed, Tag("table")],
    Discriminator(_rest),
]


class Line(Part):
    """Two-point force element; a positive force pulls the two points together."""

    name: PartName
    """Name of the element, for the outputs `<name>_length`, `<name>_rate` and `<name>_force`, and for an input."""
    a: LineEnd
    """First attachment point."""
    b: LineEnd
    """Second attachment point."""
    stiffness: NonNegative = 0.0
    """Spring stiffness, N/m."""
    damping: NonNegative = 0.0
    """Damping against the rate of the elongation, length minus `rest`, N·s/m."""
    rest: Rest = 0.0
    """Unstretched length, m: a number, an expression of t and parameters, or a table with an input that
    sets the length."""
    force: Expression | None = None
    """Force, N, instead of spring and damper: an expression, which may use the element's `length` and `rate`."""
    input: bool = Field(False, strict=True)
    """Whether the force, N, is an input of the FMU."""
    tension_only: bool = Field(False, strict=True)
    """Whether the element pulls only, like a rope."""

    @model_validator(mode="after")
    def _one_form(self) -> Line:
        springs = [key for key in ("stiffness", "damping", "rest") if key in self.model_fields_set]
        if self.force is not None and self.input:
            raise KeyProblem("force", "expected either force or input = true, got both")
        if self.input:
            identifier(self.name)  # the name must be valid for an FMU input
        if springs and (self.force is not None or self.input):
            raise KeyProblem(
                springs[0],
                f"the key cannot be combined with {'force' if self.force is not None else 'input = true'}",
            )
        if self.force is None and not self.input and not (self.stiffness or self.damping):
            raise ValueError("the element has no force; give stiffness, damping or force, or set input = true")
        return self
