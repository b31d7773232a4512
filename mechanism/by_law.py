"""Force elements with laws that consist of expressions, and their numbers from the description."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic

from ..core.arithmetic import S
from ..description.fields.elements import Command, Element, Quantity
from ..description.types.measures import Measure
from ..language.ir import Expr
from ..laws import law
from ..laws.law import Vector, own_expressions, own_name
from .algebra import Algebra, M, V

# Function of a joint's name that returns its coordinate's full name, its unit, and the unit of the effort.
Coordinate = Callable[[str], tuple[str, str, str]]


@dataclass(frozen=True)
class ElementInput:
    """FMU input of a force element.

    Parameters
    ----------
    name : str
        Name of the input.
    own : str
        Name by which the law of the element refers to the input.
    unit, description : str
        Unit and description in FMU and Modelica.
    """

    name: str
    own: str
    unit: str
    description: str


@dataclass(frozen=True)
class LawElement(Generic[S]):
    """Force element of a table in `description.elements`.

    Parameters
    ----------
    key : str
        Key of the element's table in the description.
    kind, name : str
        Kind of the element, for headings, and name of the element.
    meanings : mapping
        Meaning of each number by its key in the table.
    numbers : mapping
        Numbers by their names in the law, SI units.
    inputs : tuple
        Inputs of the FMU.
    given : tuple
        Expressions of the description that replace FMU inputs.
    signals : mapping
        Published signal of each quantity.
    observed : mapping
        Expression of each quantity.
    efforts : tuple
        Pairs of the full name of a coordinate and the effort on this coordinate, N or N·m.
    forces : tuple
        Pairs of the name of a point and the force on this point, world axes, N.
    energy : Expr or None
        Stored energy, J.
    """

    key: str
    kind: str
    name: str
    meanings: Mapping[str, Quantity]
    numbers: Mapping[str, S]
    inputs: tuple[ElementInput, ...]
    given: tuple[Expr, ...]
    signals: Mapping[str, Measure]
    observed: Mapping[str, Expr]
    efforts: tuple[tuple[str, Expr], ...]
    forces: tuple[tuple[str, Vector], ...]
    energy: Expr | None


def law_element(
    key: str, given: Element, algebra: Algebra[S, V, M], coordinate: Coordinate, expression: Callable[..., Expr]
) -> LawElement[S]:
    """Return the force element that a table of the description defines.

    Parameters
    ----------
    key : str
        Key of the table.
    given : Element
        Contents of the table.
    algebra : Algebra
        Arithmetic that creates numbers.
    coordinate : callable
        Function of a joint's name, see `Coordinate`.
    expression : callable
        Parser of the description's expressions.
    """
    units = {}
    if hasattr(given, "joint"):
        _, units["length"], units["effort"] = coordinate(given.joint)
    said = law(key, given, lambda joint: coordinate(joint)[0], expression)
    meanings = {part: meaning.of(given.name, units) for part, meaning in given.marked(Quantity).items()}
    commands = {part: meaning.of(given.name, units) for part, meaning in given.marked(Command).items()}
    return LawElement(
        key,
        given.kind(),
        given.name,
        meanings,
        {
            own_name(given, part): algebra.scalar(
                f"{given.name}_{part}", getattr(given, part), meaning.unit, meaning.text, meaning.bounds
            )
            for part, meaning in meanings.items()
        },
        tuple(
            ElementInput(f"{given.name}_{part}", own_name(given, part), meaning.unit, meaning.text)
            for part, meaning in commands.items()
            if getattr(given, part) is None
        ),
        tuple(own_expressions(given, expression)),
        given.signals(units),
        said.observed,
        tuple(said.efforts),
        tuple(said.forces),
        said.energy,
    )
