"""Marks of the keys in a force element's table: numbers with units, commands, joints and points by name.

Everything else follows from these marks: checks of names, parameters and inputs of the FMU, tables of the report.
In units and texts `{name}` is the element's name; `{length}` and `{effort}` are the units of the coordinate of its
`joint`, m and N or rad and N.m.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from ..types.bounds import ANY, Bounds
from ..types.measures import Measure, measured_by_law
from .names import Name
from .numbers import between
from .types import Expression, Part

T = TypeVar("T")


@dataclass(frozen=True)
class Quantity:
    """Meaning of a number or of what an element publishes: unit, description, bounds."""

    unit: str
    text: str
    bounds: Bounds = ANY

    def of(self, name: str, units: Mapping[str, str]) -> Quantity:
        """Return the same of an element with this name; units of its joint by `length` and `effort`."""
        return Quantity(self.unit.format(**units), self.text.format(name=name), self.bounds)


@dataclass(frozen=True)
class Command(Quantity):
    """Mark of a key that is an input of the FMU, `<name>_<key>`, unless the description gives an expression."""


@dataclass(frozen=True)
class Reference:
    """Mark of a key that names a joint's coordinate, or a point of `[points]`."""

    to: Literal["joint", "point"]


JointName = Annotated[str, Reference("joint")]
PointName = Annotated[str, Reference("point")]


def number(unit: str, text: str, bounds: Bounds = ANY) -> Any:
    """Return the marks of a number that is a parameter of the FMU; for `Annotated[AnyNumber, *number(…)]`."""
    return between(bounds), Quantity(unit, text, bounds)


class Element(Part):
    """Base of the tables of force elements whose law is in `laws`.

    `measures` are what its law publishes: outputs `<name>_<quantity>`, which expressions may name, too.
    """

    measures: ClassVar[Mapping[str, Quantity]] = {}

    name: Name
    """Begins the names of its parameters, inputs and outputs."""

    @classmethod
    def kind(cls) -> str:
        """Return what it is called in headings: `motor`, `two point spring`."""
        return re.sub(r"(?<!^)(?=[A-Z])", " ", cls.__name__).lower()

    @classmethod
    def marked(cls, mark: type[T]) -> dict[str, T]:
        """Return the keys with a mark of this type."""
        fields = cls.model_fields.items()
        return {key: one for key, field in fields for one in field.metadata if type(one) is mark}

    @classmethod
    def spelled(cls, name: str) -> dict[str, str]:
        """Names of an element's measures in expressions → names in the equations: `m_force` → `m.force`."""
        return {f"{name}_{quantity}": f"{name}.{quantity}" for quantity in cls.measures}

    def signals(self, units: Mapping[str, str]) -> dict[str, Measure]:
        """Return what it publishes, by quantity; units as of `Quantity.of`."""
        meanings = {quantity: meaning.of(self.name, units) for quantity, meaning in self.measures.items()}
        return {quantity: measured_by_law(self.name, quantity, m.unit, m.text) for quantity, m in meanings.items()}


__all__ = ["Command", "Element", "Expression", "JointName", "PointName", "Quantity", "Reference", "number"]
