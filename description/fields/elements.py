"""Annotations for the keys of force elements: numbers with units, inputs, joint and point names.

Checks of names, the parameters and inputs of the FMU, and the tables of the report are generated
from these annotations. In units and descriptions, `{name}` stands for the name of the element.
Likewise, `{length}` and `{effort}` stand for the units of the joint coordinate and its effort: m
and N, or rad and N.m.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from ..types.bounds import ANY, Bounds
from ..types.measures import Measure, measured_by_law
from .names import PartName
from .numbers import between
from .types import Expression, Part

T = TypeVar("T")


@dataclass(frozen=True)
class Quantity:
    """Unit, description and bounds of a number, or of a quantity that a force element computes."""

    unit: str
    text: str
    bounds: Bounds = ANY

    def of(self, name: str, units: Mapping[str, str]) -> Quantity:
        """Return this quantity for one element, with the element's name and the joint's units inserted.

        Parameters
        ----------
        name
            Name of the element.
        units
            Units of the joint's coordinate and effort, by the keys `length` and `effort`.
        """
        return Quantity(self.unit.format(**units), self.text.format(name=name), self.bounds)


@dataclass(frozen=True)
class Command(Quantity):
    """Annotation of a key whose value is an expression.

    Without an expression, the value is the FMU input `<name>_<key>`.
    """


@dataclass(frozen=True)
class Reference:
    """Annotation of a key whose value is the name of a joint coordinate, or of a point in
    `[points]`.
    """

    to: Literal["joint", "point"]


JointName = Annotated[str, Reference("joint")]
PointName = Annotated[str, Reference("point")]


def number(unit: str, text: str, bounds: Bounds = ANY) -> Any:
    """Return the annotations of a key whose number is a parameter of the FMU.

    The result is used in `Annotated[AnyNumber, *number(…)]`.
    """
    return between(bounds), Quantity(unit, text, bounds)


class Element(Part):
    """Base class of the tables of force elements that the package `laws` defines.

    The force law computes the quantities in `measures`. Each quantity is an output `<name>_<quantity>`
    of the FMU, and expressions may use this name.
    """

    measures: ClassVar[Mapping[str, Quantity]] = {}

    name: PartName
    """Name of the element, which the names of its parameters, inputs and outputs begin with."""

    @classmethod
    def kind(cls) -> str:
        """Return the element type for headings, such as `motor` or `two point spring`."""
        return re.sub(r"(?<!^)(?=[A-Z])", " ", cls.__name__).lower()

    @classmethod
    def marked(cls, mark: type[T]) -> dict[str, T]:
        """Return the keys that have an annotation of the given type."""
        fields = cls.model_fields.items()
        return {key: one for key, field in fields for one in field.metadata if type(one) is mark}

    @classmethod
    def spelled(cls, name: str) -> dict[str, str]:
        """Return a mapping of published quantities: name in expressions to name in equations.

        An example is `m_force` to `m.force`.
        """
        return {f"{name}_{quantity}": f"{name}.{quantity}" for quantity in cls.measures}

    def signals(self, units: Mapping[str, str]) -> dict[str, Measure]:
        """Return the published quantities of this element by name.

        The argument `units` contains the units of the joint's coordinate and effort; see `Quantity.of`.
        """
        meanings = {quantity: meaning.of(self.name, units) for quantity, meaning in self.measures.items()}
        return {quantity: measured_by_law(self.name, quantity, m.unit, m.text) for quantity, m in meanings.items()}


__all__ = ["Command", "Element", "Expression", "JointName", "PointName", "Quantity", "Reference", "number"]
