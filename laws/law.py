"""Words of laws: what an element reads, what it publishes, and what it exerts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..description.fields.elements import Command, Element
from ..language import ir
from ..language.differentiate import substituted
from ..language.ir import Expr


@dataclass(frozen=True)
class Vector:
    """Three scalars along the world's axes."""

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


class Law:
    """Everything that one element says of itself.

    Parameters
    ----------
    element : Element
        Its table.
    coordinate : callable
        Full name of the coordinate that a joint's name stands for: `column.angle` for `column`.
    expression : callable
        Expression that a text of the description is.

    Attributes
    ----------
    observed : dict
        Quantity to its expression.
    efforts, forces : list
        Effort on each coordinate, by its full name, N or N·m; force at each point of `[points]`, world axes, N.
    energy : Expr or None
        Energy that it stores, J; its forces then hold the negative gradient of it.
    """

    def __init__(
        self, element: Element, coordinate: Callable[[str], str], expression: Callable[..., Expr]
    ) -> None:
        self._element, self._coordinate, self._expression = element, coordinate, expression
        self._known: dict[str, Expr] = {}  # what symbols of published values stand for
        self.observed: dict[str, Expr] = {}
        self.efforts: list[tuple[str, Expr]] = []
        self.forces: list[tuple[str, Vector]] = []
        self.energy: Expr | None = None

    def number(self, key: str) -> Expr:
        """Return a number of the table."""
        return ir.symbol(own_name(self._element, key))

    def command(self, key: str) -> Expr:
        """Return an input, or the description's expression in its place."""
        given = getattr(self._element, key)
        return ir.symbol(own_name(self._element, key)) if given is None else self._expression(given)

    def position(self, joint: str) -> Expr:
        """Return the coordinate of a joint, rad or m."""
        return ir.symbol(self._coordinate(joint))

    def rate(self, joint: str) -> Expr:
        """Return the rate of a joint's coordinate, rad/s or m/s."""
        return ir.symbol(f"{self._coordinate(joint)}_dot")

    def place(self, point: str) -> Vector:
        """Return the position of a point, world, m."""
        return Vector(*(ir.symbol(f"{point}.{axis}") for axis in "xyz"))

    def velocity(self, point: str) -> Vector:
        """Return the velocity of a point, world, m/s."""
        return Vector(*(ir.symbol(f"{point}.v{axis}") for axis in "xyz"))

    def observe(self, quantity: str, value: Expr) -> Expr:
        """Publish a value, and return what stands for it."""
        symbol = ir.symbol(f"{self._element.name}.{quantity}")
        self.observed[quantity] = value
        self._known[symbol.data] = substituted(value, self._known)
        return symbol

    def effort(self, joint: str, value: Expr) -> None:
        """Drive a joint's coordinate up, N or N·m."""
        self.efforts.append((self._coordinate(joint), value))

    def force(self, point: str, value: Vector) -> None:
        """Act on a point, N."""
        self.forces.append((point, value))

    def stores(self, energy: Expr) -> None:
        """Hold an energy of positions, J, beside what other calls have said."""
        found = substituted(energy, self._known)
        self.energy = found if self.energy is None else self.energy + found


def own_name(element: Element, key: str) -> str:
    """Return what a law calls a number or an input of an element; no name of a description has a colon."""
    return f"{element.name}:{key}"


def own_expressions(element: Element, expression: Callable[..., Expr]) -> list[Expr]:
    """Return the expressions that stand in place of inputs."""
    given = (getattr(element, key) for key in element.marked(Command))
    return [expression(text) for text in given if text is not None]


def between(low: Expr, value: Expr, high: Expr) -> Expr:
    """Return a value, or the bound that it is beyond; events are where it meets them."""
    return ir.choose(">", value, high, high, ir.choose("<", value, low, low, value))


def root(value: Expr) -> Expr:
    """Return the square root."""
    return ir.call("sqrt", value)
