"""Building blocks of force laws: inputs, published outputs, efforts and forces of an element."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ..description.fields.elements import Element
from ..language import ir
from ..language.differentiate import substituted
from ..language.ir import Expr


@dataclass(frozen=True)
class Vector:
    """Vector of three scalar expressions along the world axes."""

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
        Time derivative. In a sampled element, the state changes by the rate times the sample time at each
        sample.
    """

    start: Expr
    rate: Expr


class Law:
    """Law of one force element: its observed quantities, states, efforts, forces and energy.

    Parameters
    ----------
    element : Element
        Part of the description that defines the element.
    coordinate : callable
        Function that returns the full name of a joint's coordinate: `column.angle` for `column`.
    expression : callable
        Parser of the description's expressions.
    driven : mapping
        Mapping from the name of each input that a controller drives to the controller's output.

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
        State variables that the law integrates over time. The dictionary keys are names of quantities
        in the element's `details`.
    sampled : dict
        Mapping from the key of an input to the expression that a sampled element reads at its sample
        times. The law refers to the value at the last sample by the name from `own_name`.

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
        self._known: dict[
            str, Expr
        ] = {}  # Expression of each quantity that the element has published, by symbol name.
        self.observed: dict[str, Expr] = {}
        self.efforts: list[tuple[str, Expr]] = []
        self.forces: list[tuple[str, Vector]] = []
        self.energy: Expr | None = None
        self.states: dict[str, LawState] = {}
        self.sampled: dict[str, Expr] = {}

    def number(self, key: str) -> Expr:
        """Return the symbol of the number that the description gives for a key of the element."""
        return ir.symbol(own_name(self._element, key))

    def command(self, key: str) -> Expr:
        """Return the symbol or expression of one of the element's inputs.

        The source of an input is the FMU, an expression of the description, or the output of a controller.
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
        """Whether the description gives a number or an expression for a key of the element."""
        return getattr(self._element, key) is not None

    def state(self, quantity: str) -> Expr:
        """Return the symbol of a state variable; the method `integrate` sets its time derivative."""
        return ir.symbol(f"{self._element.name}.{quantity}")

    def integrate(self, quantity: str, rate: Expr, start: Expr | float = 0.0) -> None:
        """Set the time derivative and the initial value of a state."""
        self.states[quantity] = LawState(ir.lift(start), rate)

    def at_start(self, value: Expr) -> Expr:
        """Return the initial value of an expression of positions, velocities and outputs of
        controllers.
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
        """Publish a quantity of the element and return its symbol."""
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
    """Return the name that the law of an element uses for one of the element's numbers or inputs.

    The name contains a colon, so that it differs from all names in a description.
    """
    return f"{element.name}:{key}"


def own_expressions(element: Element, expression: Callable[..., Expr]) -> list[Expr]:
    """Return the expressions of the description that replace inputs of an element."""
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
