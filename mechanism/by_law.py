"""Force elements and controllers that the description defines by expressions.

The description also contains the values of the constants in these expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from ..core.arithmetic import S
from ..description.fields.elements import Element, Quantity
from ..description.types.bounds import POSITIVE
from ..description.types.measures import Measure
from ..language import ir
from ..language.ir import Expr
from ..laws import law
from ..laws.law import LawState, Vector, own_expressions, own_name
from .algebra import Algebra, M, V

# A function of this type maps a joint name to the coordinate's name, the coordinate's unit and the effort's unit.
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
class SampledCommand(ElementInput):
    """Expression of the description that a sampled element evaluates in place of an FMU input."""

    expression: Expr


@dataclass(frozen=True)
class LawElement(Generic[S]):
    """Force element or controller that is defined by a table of `description.elements`.

    Parameters
    ----------
    key : str
        Key of the element's table in the description.
    kind, name : str
        Kind of the element for headings in reports, and name of the element.
    meanings : mapping
        Meaning of each number by its key in the table.
    numbers : mapping
        Numbers by their names in the law, SI units.
    inputs : tuple
        FMU inputs that the law reads.
    given : tuple
        Expressions by which the description replaces FMU inputs.
    sampled : tuple
        Expressions of the description that a sampled element evaluates at its sample times, with
        their names in the law.
    signals : mapping
        Output signal of each quantity and of each state.
    observed : mapping
        Expression of each quantity.
    states : mapping
        State variables: initial value and time derivative of each.
    efforts : tuple
        For each coordinate on which the element acts, its full name and the effort, N or N·m.
    forces : tuple
        For each point on which the element acts, its name and the force in world axes, N.
    energy : Expr or None
        Stored energy, J.
    period : scalar or None
        Sample time, s; None for a continuous element.
    """

    key: str
    kind: str
    name: str
    meanings: Mapping[str, Quantity]
    numbers: Mapping[str, S]
    inputs: tuple[ElementInput, ...]
    given: tuple[Expr, ...]
    sampled: tuple[SampledCommand, ...]
    signals: Mapping[str, Measure]
    observed: Mapping[str, Expr]
    states: Mapping[str, LawState]
    efforts: tuple[tuple[str, Expr], ...]
    forces: tuple[tuple[str, Vector], ...]
    energy: Expr | None
    period: S | None

    @property
    def exerts_force(self) -> bool:
        """Whether the element exerts an effort or a force on the mechanism.

        A controller exerts no force; it only computes an input of another element.
        """
        return bool(self.efforts or self.forces)


def law_element(
    key: str,
    given: Element,
    algebra: Algebra[S, V, M],
    coordinate: Coordinate,
    expression: Callable[..., Expr],
    driven: Mapping[str, str],
) -> LawElement[S]:
    """Return the force element or controller of an entry in the description.

    Parameters
    ----------
    key : str
        Key of the table.
    given : Element
        Contents of the table.
    algebra : Algebra
        Object that creates a symbol or a plain number for each value of the table.
    coordinate : callable
        Function that returns, for the name of a joint, the name of its coordinate and two units: of
        the coordinate and of an effort on it.
    expression : callable
        Parser of the description's expressions.
    driven : mapping
        Mapping from the name of each input that a controller drives to the controller's output.
    """
    units = dict(given.units)
    if hasattr(given, "joint"):
        _, units["length"], units["effort"] = coordinate(given.joint)
    said = law(key, given, lambda joint: coordinate(joint)[0], expression, driven)
    numbers = {part: meaning for part, meaning in given.marked(Quantity).items() if said.has(part)}
    meanings = {part: meaning.of(given.name, units) for part, meaning in numbers.items()}
    commands = {part: meaning.of(given.name, units) for part, meaning in given.commands.items()}
    values = {
        own_name(given, part): algebra.scalar(
            f"{given.name}_{part}", getattr(given, part), meaning.unit, meaning.text, meaning.bounds
        )
        for part, meaning in meanings.items()
    }
    for low, high in given.ascending:
        difference = values[own_name(given, high)] - values[own_name(given, low)]
        algebra.require(difference, f"{given.name}_{high} - {given.name}_{low}", POSITIVE)
    return LawElement(
        key,
        given.kind(),
        given.name,
        meanings,
        values,
        tuple(
            ElementInput(name, own_name(given, part), commands[part].unit, commands[part].text)
            for part, name in given.inputs.items()
            if name not in driven
        ),
        tuple(own_expressions(given, expression)),
        tuple(
            SampledCommand(f"{given.name}_{k}", own_name(given, k), commands[k].unit, commands[k].text, tree)
            for k, tree in said.sampled.items()
        ),
        {quantity: given.published(quantity, units) for quantity in (*said.observed, *said.states)},
        said.observed,
        said.states,
        tuple(said.efforts),
        tuple(said.forces),
        said.energy,
        None if given.sample_key is None else values[own_name(given, given.sample_key)],
    )


def with_initial_values(elements: Sequence[LawElement[S]]) -> tuple[LawElement[S], ...]:
    """Return the elements with rewritten laws, in which `start(…)` contains only positions and velocities.

    The expression `start(x)` is the initial value of x. If x is an output of an element, the
    expression of this output replaces x. If x is a state, the expression for its initial value
    replaces x.
    """
    known = {f"{e.name}.{quantity}": value for e in elements for quantity, value in e.observed.items()}
    known |= {f"{e.name}.{key}": state.start for e in elements for key, state in e.states.items()}
    known |= {command.own: command.expression for e in elements for command in e.sampled}
    return tuple(
        replace(
            element,
            observed={quantity: _settled(value, known) for quantity, value in element.observed.items()},
            states={key: replace(x, rate=_settled(x.rate, known)) for key, x in element.states.items()},
        )
        for element in elements
    )


def _settled(tree: Expr, known: Mapping[str, Expr]) -> Expr:
    if tree.function == "start":
        return ir.call("start", _initial(tree.args[0], known))
    return ir.rebuilt(tree, [_settled(argument, known) for argument in tree.args]) if tree.args else tree


def _initial(tree: Expr, known: Mapping[str, Expr]) -> Expr:
    """Return an expression that gives the initial value of another expression.

    A name in `known` is replaced by the initial value of its expression.
    """
    if tree.op == "symbol" and tree.data in known:
        return _initial(known[tree.data], known)
    return ir.rebuilt(tree, [_initial(argument, known) for argument in tree.args]) if tree.args else tree
