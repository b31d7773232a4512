"""Class `Law`, with which each module of this package states the law of a force element or controller.

A law uses inputs and defines published quantities, states, efforts and forces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ..description.fields.elements import Element
from ..language import ir
from ..language.differentiate import substituted
from ..language.ir import Expr


@dataclass(frozen=True)
class Vector:
    """Vector with three scalar expressions as components along the world axes."""

    x: Expr
    y: Expr
    z: Expr

    def __iter__(self) -> Iterator[Expr]:
        return iter((self.x, self.y, self.z))

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vector) -> Vector:
        return self + -other

    def __neg__(self) -> Vector:
        return Vector(-self.x, -self.y, -self.z)

    def __mul__(self, factor: Expr) -> Vector:
        return Vector(self.x * factor, self.y * factor, self.z * factor)

    def __matmul__(self, other: Vector) -> Expr:
        return self.x * other.x + self.y * other.y + self.z * other.z


@dataclass(frozen=True)
class LawState:
    """State variable of a force element or controller.

    Parameters
    ----------
    start : Expr
        Initial value: the symbol of a number, or a constant.
    rate : Expr
        Time derivative of the state. In a sampled element, the state increases at each sample by the
        rate times the sample time.
    """

    start: Expr
    rate: Expr


class Law:
    """Law of one force element or controller: published quantities, states, efforts, forces and energy.

    Parameters
    ----------
    element : Element
        Entry of the description that defines the element.
    coordinate : callable
        Function that returns the full name of a joint's coordinate: `column.angle` for `column`.
    expression : callable
        Parser of the description's expressions.
    driven : mapping
        Inputs that are connected to controllers: mapping from the name of the input to the name of the
        controller's output.

    Attributes
    ----------
    observed : dict
        Expression of each published quantity.
    efforts : list
        Pairs of the full name of a coordinate and the effort on this coordinate, N or N·m.
    forces : list
        Pairs of the name of a point in `[points]` and the force on this point, world axes, N.
    energy : Expr or None
        Stored energy, J. The forces must include the negative gradient of this energy.
    states : dict
        State variables that the law integrates over time. The keys are names of quantities that the
        element lists in `details`.
    sampled : dict
        Inputs of a sampled element: mapping from the key of the input to its expression, which is
        evaluated at each sample time. The function `own_name` returns the name by which the law uses
        the sampled value.

    If the element is sampled, its quantities are computed at the sample times and are constant in
    between.
    """

    def __init__(
        self,
        element: Element,
        coordinate: Callable[[str], str],
        expression: Callable[..., Expr],
        driven: Mapping[str, str],
    ) -> None:
        self._element, self._coordinate, self._expression = element, coordinate, expression
        self._driven = driven
        # Expressions of the quantities that the law has defined so far, by symbol name.
        self._known: dict[str, Expr] = {}
        self.observed: dict[str, Expr] = {}
        self.efforts: list[tuple[str, Expr]] = []
        self.forces: list[tuple[str, Vector]] = []
        self.energy: Expr | None = None
        self.states: dict[str, LawState] = {}
        self.sampled: dict[str, Expr] = {}

    def number(self, key: str) -> Expr:
        """Return the symbol that represents the value of one of the element's keys."""
        return ir.symbol(own_name(self._element, key))

    def command(self, key: str) -> Expr:
        """Return the symbol or expression of one of the element's inputs.

        The value of this input comes from an input of the FMU, from an expression of the description,
        or from the output of a controller.
        """
        given, own = getattr(self._element, key), ir.symbol(own_name(self._element, key))
        if given is None:
            driven = self._driven.get(self._element.inputs[key])
            return own if driven is None else ir.symbol(driven)
        if self._element.sample_key is None:
            return self._expression(given)
        self.sampled[key] = self._expression(given)
        return own

    def has(self, key: str) -> bool:
        """Whether the description specifies a value for this key of the element."""
        return getattr(self._element, key) is not None

    def state(self, quantity: str) -> Expr:
        """Return the symbol of a state variable; the method `integrate` sets its time derivative."""
        return ir.symbol(f"{self._element.name}.{quantity}")

    def integrate(self, quantity: str, rate: Expr, start: Expr | float = 0.0) -> None:
        """Set the time derivative and the initial value of a state."""
        self.states[quantity] = LawState(ir.lift(start), rate)

    def at_start(self, value: Expr) -> Expr:
        """Return an expression for the initial value of the given expression, i.e. its value at t = 0.

        The given expression may contain positions, velocities and outputs of controllers.
        """
        return ir.call("start", value)

    def position(self, joint: str) -> Expr:
        """Return the coordinate of a joint, rad or m."""
        return ir.symbol(self._coordinate(joint))

    def rate(self, joint: str) -> Expr:
        """Return the time derivative of a joint's coordinate, rad/s or m/s."""
        return ir.symbol(f"{self._coordinate(joint)}_dot")

    def place(self, point: str) -> Vector:
        """Return the position of a named point in the world frame, m."""
        return Vector(*(ir.symbol(f"{point}.{axis}") for axis in "xyz"))

    def velocity(self, point: str) -> Vector:
        """Return the velocity of a named point in the world frame, m/s."""
        return Vector(*(ir.symbol(f"{point}.v{axis}") for axis in "xyz"))

    def observe(self, quantity: str, value: Expr) -> Expr:
        """Add a quantity to the element's published quantities, and return the symbol of the quantity."""
        symbol = ir.symbol(f"{self._element.name}.{quantity}")
        self.observed[quantity] = value
        self._known[symbol.data] = substituted(value, self._known)
        return symbol

    def effort(self, joint: str, value: Expr) -> None:
        """Add an effort on a joint's coordinate, N or N·m.

        A positive effort acts in the positive direction of the coordinate.
        """
        self.efforts.append((self._coordinate(joint), value))

    def force(self, point: str, value: Vector) -> None:
        """Add a force on a named point in world axes, N."""
        self.forces.append((point, value))

    def stores(self, energy: Expr) -> None:
        """Add a stored energy, J, which must depend on positions only."""
        found = substituted(energy, self._known)
        self.energy = found if self.energy is None else self.energy + found


def own_name(element: Element, key: str) -> str:
    """Return the symbol name by which a law refers to a number or an input of its own element.

    The name contains a colon, so that it differs from all names in a description.
    """
    return f"{element.name}:{key}"


def own_expressions(element: Element, expression: Callable[..., Expr]) -> list[Expr]:
    """Return the expressions that the description specifies for inputs of an element."""
    given = (getattr(element, key) for key in element.commands)
    return [expression(text) for text in given if text is not None]


def between(low: Expr | None, value: Expr, high: Expr | None) -> Expr:
    """Return a value limited to an interval; an event occurs when the value reaches a limit.

    If an end of the interval is None, the interval is unbounded on this side.
    """
    raised = value if low is None else ir.choose("<", value, low, low, value)
    return raised if high is None else ir.choose(">", value, high, high, raised)


def root(value: Expr) -> Expr:
    return ir.call("sqrt", value)
