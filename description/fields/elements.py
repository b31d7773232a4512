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
        """Return a copy of this quantity for one element.

        In the copy, the name of the element and the units of its joint replace the placeholders.

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

    If the key is absent, the FMU input `<name>_<key>` provides the value.
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
    """Return the annotations of a key whose value is a number and becomes a parameter of the FMU.

    The result is used in `Annotated[AnyNumber, *number(…)]`.
    """
    return between(bounds), Quantity(unit, text, bounds)


class Element(Part):
    """Base class of the tables of force elements that the package `laws` defines.

    The law of an element publishes the quantities in `measures`. Each quantity is an output
    `<name>_<quantity>` of the FMU, and expressions can use this name. The law may also have states
    and further outputs, whose meanings are in `details`. These quantities are also outputs of the
    FMU, but expressions cannot use them.
    """

    measures: ClassVar[Mapping[str, Quantity]] = {}
    details: ClassVar[Mapping[str, Quantity]] = {}

    name: PartName
    """Name of the element, which the names of its parameters, inputs and outputs begin with."""

    @classmethod
    def kind(cls) -> str:
        """Return the element type for headings, such as `motor` or `two point spring`."""
        return re.sub(r"(?<!^)(?=[A-Z])", " ", cls.__name__).lower()

    @classmethod
    def marked(cls, mark: type[T]) -> dict[str, T]:
        """Return the keys of this table that have an annotation of the given type, with their annotations."""
        fields = cls.model_fields.items()
        return {key: one for key, field in fields for one in field.metadata if type(one) is mark}

    @classmethod
    def spelled(cls, name: str) -> dict[str, str]:
        """Return the names of published quantities in equations, by their names in expressions.

        For example, `m_force` in expressions is `m.force` in equations.
        """
        return {f"{name}_{quantity}": f"{name}.{quantity}" for quantity in cls.measures}

    @property
    def commands(self) -> dict[str, Command]:
        """Annotations of the keys that define command signals of the element, by key.

        An expression defines a command signal. Without an expression, the signal is an input of the
        FMU.
        """
        return self.marked(Command)

    @property
    def inputs(self) -> dict[str, str]:
        """Names of the FMU inputs of this element, by key of the command signal.

        A command signal without an expression is an FMU input.
        """
        return {key: f"{self.name}_{key}" for key in self.commands if getattr(self, key) is None}

    @property
    def direct_commands(self) -> tuple[str, ...]:
        """Keys of the command signals with direct feedthrough to a published quantity of the element."""
        return tuple(self.commands)

    @property
    def initial_commands(self) -> tuple[str, ...]:
        """Keys of the command signals whose values at t = 0 determine the initial states of the element."""
        return ()

    @property
    def ascending(self) -> tuple[tuple[str, str], ...]:
        """Pairs of keys whose numbers must ascend.

        The number of the first key must be smaller than the number of the second key.
        """
        return ()

    @property
    def drives_input(self) -> str | None:
        """Name of the FMU input that receives this element's quantity `output`; None if no input receives it."""
        return None

    @property
    def sample_key(self) -> str | None:
        """Key whose value is the sample time, s; None for an element that is not sampled."""
        return None

    @property
    def units(self) -> dict[str, str]:
        """Units that replace placeholders, such as `{gain}`, in the units of the element's quantities.

        The dictionary keys are the names of the placeholders. The placeholders `length` and `effort` are
        not included, because their units depend on the joint.
        """
        return {}

    def published(self, quantity: str, units: Mapping[str, str]) -> Measure:
        """Return name, unit and meaning of a state or an output quantity of this element.

        The argument `units` contains the units of the joint coordinate and of its effort; see
        `Quantity.of`.
        """
        meaning = {**self.measures, **self.details}[quantity].of(self.name, units)
        return measured_by_law(self.name, quantity, meaning.unit, meaning.text)


__all__ = ["Command", "Element", "Expression", "JointName", "PointName", "Quantity", "Reference", "number"]
