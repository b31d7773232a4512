"""Expressions of the description, ready to evaluate with numbers or jets.

Compiling puts in everything that is constant during a run (parameters, start values), and turns a
conditional on time into a switch, one on states into a relation: frozen between events, so that no integrator
steps over a jump. abs, min, max and sign are conditionals too. `noevent` asks for what is evaluated as it stands.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from ...core.errors import SolveError
from ...language.ir import Expr
from .curve import Curve
from .jet import OPERATIONS, Number, Value, plain
from .segment import NotVectorisable, Segment, holds_in_all

T = TypeVar("T")

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class NoValue(ValueError):
    """An operation that has no value, or no derivative, at its operands."""


@dataclass(frozen=True)
class Instant:
    """Values of all names at one time, with the present time segment.

    atoms    the values of its names, numbers or jets: `t`, `E.x`, `column.angle`, …
    segment  the present one
    """

    atoms: Mapping[str, Value]
    segment: Segment


class Node(Protocol):
    """A compiled expression."""

    @property
    def children(self) -> tuple[Node, ...]:
        """Operands of the node."""
        ...

    def value(self, at: Instant) -> Value:
        """Return the node's value; raises NoValue outside of its domain."""
        ...


@dataclass(frozen=True)
class Constant:
    """A number."""

    number: float
    children: tuple[Node, ...] = ()

    def value(self, at: Instant) -> Value:
        """Return the constant."""
        del at
        return self.number


@dataclass(frozen=True)
class Atom:
    """A name."""

    name: str
    children: tuple[Node, ...] = ()

    def value(self, at: Instant) -> Value:
        """Return the value of the named quantity."""
        return at.atoms[self.name]


@dataclass(frozen=True)
class Call:
    """An operation or function of its operands."""

    function: str
    children: tuple[Node, ...]

    def value(self, at: Instant) -> Value:
        """Return the function's value; raises NoValue outside of its domain."""
        return self.of(*(child.value(at) for child in self.children))

    def of(self, *operands: Value) -> Value:
        """Return the operation's value for given operands; raises NoValue."""
        try:
            return self.result(*operands)
        except (ValueError, ZeroDivisionError, OverflowError) as error:
            if any(isinstance(plain(operand), np.ndarray) for operand in operands):
                raise NotVectorisable from None  # which of the states it is, is found one by one
            given = ", ".join(f"{plain(operand):.6g}" for operand in operands)
            kind = "too large" if isinstance(error, OverflowError) else "not defined"
            raise NoValue(f"{self.function}({given}), or a derivative of it, is {kind}") from None

    def result(self, *operands: Value) -> Value:
        """Return the result for given operands; errors of Python's arithmetic pass."""
        return OPERATIONS[self.function](*operands)


@dataclass(frozen=True)
class Looked(Call):
    """A table, within its ends where it rests beyond them."""

    curve: Curve

    def result(self, *operands: Value) -> Value:
        """Return the lookup table's value."""
        return self.curve(*operands)


class Choice:
    """A conditional."""

    def chosen(self, at: Instant) -> Node:
        """The operand that holds."""
        raise NotImplementedError

    def value(self, at: Instant) -> Value:
        """Return the value of the branch that holds in the present segment."""
        return self.chosen(at).value(at)


@dataclass(frozen=True)
class Branch(Choice):
    """A conditional on anything but time, evaluated as it stands. Children: left, right, then, otherwise."""

    comparison: str
    children: tuple[Node, ...]

    def chosen(self, at: Instant) -> Node:
        """The operand that holds."""
        left, right, then, otherwise = self.children
        return then if holds_in_all(self.compare(plain(left.value(at)), plain(right.value(at)))) else otherwise

    def compare(self, left: Number, right: Number) -> Any:
        """Return whether the comparison holds, for numbers or element by element."""
        return _COMPARE[self.comparison](left, right)


@dataclass(frozen=True, eq=False)
class Related(Branch):
    """Conditional whose side changes at events."""

    def chosen(self, at: Instant) -> Node:
        """Return the operand of the present side."""
        if self not in at.segment.sides:
            return super().chosen(at)
        return self.children[2 if at.segment.sides[self] else 3]

    @property
    def closed(self) -> bool:
        """Whether it holds where its operands are equal."""
        return self.comparison in ("<=", ">=")

    def margin(self, at: Instant) -> Number:
        """Positive where it holds; nan where its operands have no value.

        Raises Apart where many states have to be evaluated one by one.
        """
        try:
            left, right = (plain(child.value(at)) for child in self.children[:2])
        except NoValue:
            return math.nan
        return left - right if self.comparison in (">", ">=") else right - left


@dataclass(frozen=True)
class _Switch(Choice):
    """A conditional on time that changes at `time`, s. Children: before, after."""

    time: float
    children: tuple[Node, ...]

    def chosen(self, at: Instant) -> Node:
        return self.children[bool(self.time <= at.segment.begin)]


StartValue = Callable[[Node], float]
_NO_TABLES: Mapping[str, Curve] = {}


def compile_tree(
    tree: Expr,
    constants: Mapping[str, float],
    start: StartValue | None,
    tables: Mapping[str, Curve] = _NO_TABLES,
    eventful: bool = True,
) -> Node:
    """The description's expression with its constants put in.

    constants  parameters by name
    tables     by name
    start      value of a compiled expression at the start; None: the present state is the start, start(x) = x
    eventful   whether its conditions and kinks are events
    """
    eventful = eventful and tree.function not in ("noevent", "start")
    if tree.op == "constant":
        return Constant(float(tree.data))
    if tree.op == "symbol":
        known = {"pi": math.pi, **constants}
        return Constant(known[tree.data]) if tree.data in known else Atom(tree.data)
    children = tuple(compile_tree(child, constants, start, tables, eventful) for child in tree.args)
    if tree.op == "table":
        return _table(tree.data[0], tables[tree.data[0]], *children)
    if tree.op == "if":
        return _conditional(tree.data[0], children, eventful)
    if tree.function == "noevent":
        return children[0]
    if eventful and tree.function in _KINKED:
        return _KINKED[tree.function](*children)
    if tree.function == "start":
        return Constant(start(children[0])) if start else children[0]
    return _call(Call(tree.function, children))


def _table(name: str, curve: Curve, argument: Node) -> Node:
    """A curve; where it rests beyond its ends its second derivative jumps there, so these are switches."""
    within = _call(Looked(f"table {name}", (argument,), curve))
    if not curve.rests:
        return within
    first, last, before, after = (Constant(x) for x in (curve.first, curve.last, curve.before, curve.after))
    inner = _conditional(">=", (argument, last, after, within), eventful=False)
    return _conditional("<", (argument, first, before, inner), eventful=False)


def _call(call: Call) -> Node:
    if not all(isinstance(child, Constant) for child in call.children):
        return call
    return Constant(plain(evaluate(call, Instant({}, Segment(0.0)), "a constant expression")))


_ZERO, _ONE, _MINUS = Constant(0.0), Constant(1.0), Constant(-1.0)
_KINKED: dict[str, Callable[..., Node]] = {
    "abs": lambda x: _by_sign(x, x, _call(Call("neg", (x,)))),
    "min": lambda x, y: _conditional("<=", (x, y, x, y)),
    "max": lambda x, y: _conditional(">=", (x, y, x, y)),
    "sign": lambda x: _by_sign(x, _ONE, _MINUS),
}


def _by_sign(x: Node, above: Node, below: Node) -> Node:
    return _conditional(">", (x, _ZERO, above, _conditional("<", (x, _ZERO, below, _ZERO))))


def _conditional(comparison: str, children: tuple[Node, ...], eventful: bool = True) -> Node:
    left, right, then, otherwise = children
    line = affine(Call("-", (left, right)))
    if line is None:
        return (Related if eventful else Branch)(comparison, children)
    offset, slope = line
    holds = _COMPARE[comparison]
    if slope == 0.0:
        return then if holds(offset, 0.0) else otherwise
    before, after = ((then if holds(sign * slope, 0.0) else otherwise) for sign in (-1.0, 1.0))
    return _Switch(-offset / slope, (before, after))


def affine(node: Node) -> tuple[float, float] | None:
    """The pair (a, b) if the node is a + b t with constants a and b, else None."""
    if isinstance(node, Constant):
        return node.number, 0.0
    if isinstance(node, Atom):
        return (0.0, 1.0) if node.name == "t" else None
    if not isinstance(node, Call) or node.function not in ("+", "-", "*", "/", "neg"):
        return None
    lines = [affine(child) for child in node.children]
    known = [line for line in lines if line is not None]
    return _combined(node.function, *known) if len(known) == len(lines) else None


def _combined(
    function: str, x: tuple[float, float], y: tuple[float, float] = (0.0, 0.0)
) -> tuple[float, float] | None:
    (a, b), (c, d) = x, y
    match function:
        case "+":
            return a + c, b + d
        case "-":
            return a - c, b - d
        case "neg":
            return -a, -b
        case "*" if d == 0.0 or b == 0.0:
            return a * c, a * d + b * c
        case "/" if d == 0.0 and c != 0.0:
            return a / c, b / c
    return None


def with_children(node: Node, children: Sequence[Node]) -> Node:
    """Return the node's operation of other operands."""
    assert is_dataclass(node) and not isinstance(node, type)
    return replace(node, children=tuple(children))


def names(node: Node) -> Iterator[str]:
    """Names of the atoms, with repetitions."""
    if isinstance(node, Atom):
        yield node.name
    for child in node.children:
        yield from names(child)


def related(node: Node) -> Iterator[Related]:
    """Yield the relations in an expression, with repetitions."""
    if isinstance(node, Related):
        yield node
    for child in node.children:
        yield from related(child)


def evaluate(node: Node, at: Instant, label: str) -> Value:
    """The node's value.

    Raises SolveError that names `label` and the time where it has none, as sqrt of a negative number.
    """
    return named_errors(label, at, lambda: node.value(at))


def named_errors(label: str, at: Instant, evaluated: Callable[[], T]) -> T:
    """Return the evaluated value; without one, raise SolveError with label and time (many states: Apart)."""
    try:
        return evaluated()
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        if isinstance(at.atoms.get("t"), np.ndarray):
            raise NotVectorisable from None  # which of the states it is, is found one by one
        time = f" at t = {plain(at.atoms['t']):.9g} s" if "t" in at.atoms else ""
        raise SolveError(
            f"{label} has no value{time}: {error}; keep its functions' arguments within their domains, by"
            " noevent(...) where abs, min, max or a condition keeps them there: an integrator looks beyond these"
        ) from None


def stops(node: Node) -> Iterator[float]:
    """Times at which the expression or one of its derivatives may jump, s: switches, breakpoints of
    quintic, and kinks of abs, sign, min and max, as far as they depend on time alone."""
    if isinstance(node, _Switch):
        yield node.time
    if isinstance(node, Call):
        for difference in _breaks(node):
            line = affine(difference)
            if line is not None and line[1] != 0.0:
                yield -line[0] / line[1]
    for child in node.children:
        yield from stops(child)


def _breaks(call: Call) -> tuple[Node, ...]:
    """Differences whose roots are breakpoints of the function."""
    function, x = call.function, call.children
    if isinstance(call, Looked):
        return tuple(Call("-", (*x, Constant(kink))) for kink in call.curve.kinks)
    if function == "quintic":
        return Call("-", (x[0], x[1])), Call("-", (x[0], x[2]))
    if function in ("min", "max"):
        return (Call("-", x),)
    return x if function in ("abs", "sign") else ()


_NEAR = 1e-3  # of what an argument is made of: an end of a domain is near
_DISTANCES: dict[str, Callable[..., float]] = {
    "sqrt": lambda x: x,
    "log": lambda x: x,
    "asin": lambda x: 1.0 - abs(x),
    "acos": lambda x: 1.0 - abs(x),
    "tan": math.cos,
    "/": lambda x, y: y,
    "^": lambda x, y: x if y != round(y) or y < 0 else 1.0,
}


_LIMITED = {"/": slice(1, 2), "^": slice(0, 1)}  # operands that limit the domain, where not all do


def _has_moving_limit(call: Call) -> bool:
    """Whether an operand that limits the domain varies with time or state: a constant divisor comes to no end."""
    limited = call.children[_LIMITED.get(call.function, slice(None))]
    return any(True for operand in limited for _ in names(operand))


def ends(node: Node, at: Instant) -> Iterator[tuple[float, str]]:
    """Functions that are near to the ends of their domains, or to where their derivatives have no bound."""
    if isinstance(node, Choice):
        yield from ends(node.chosen(at), at)
        return
    if isinstance(node, Call) and node.function in _DISTANCES and _has_moving_limit(node):
        distance = abs(_DISTANCES[node.function](*[plain(child.value(at)) for child in node.children]))
        if distance < _NEAR:
            yield distance, node.function
    for child in node.children:
        yield from ends(child, at)
