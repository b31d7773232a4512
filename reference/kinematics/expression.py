"""Expressions of the description, compiled for evaluation with numbers or jets.

A jet is a value with its derivatives.

Compilation inserts all parameters and initial values, because they are constant during a run. A
conditional expression becomes a switch at a known time if its condition is linear in time and
contains no state variables. Otherwise it becomes a switching condition. Switches and switching
conditions keep their branch between two events, so that no integrator steps over a jump. The
functions abs, min, max and sign are compiled as conditional expressions. The function `noevent`
exempts its argument from event handling: conditions in it are evaluated at each state.
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
    """Error of an operation that has no value or no derivative at its operands."""


@dataclass(frozen=True)
class Instant:
    """Values of all names that an expression can use, at one time, with the current time segment.

    Attributes
    ----------
    atoms : mapping of str to number or jet
        Value of each name: `t`, `E.x`, `column.angle`, …
    segment : Segment
        Current time segment, from the last event to the next.
    """

    atoms: Mapping[str, Value]
    segment: Segment


class Node(Protocol):
    """Node of a compiled expression tree."""

    @property
    def children(self) -> tuple[Node, ...]:
        """Operands of the expression node."""
        ...

    def value(self, at: Instant) -> Value:
        """Return the value of the expression node for given values of all names in the expression.

        Raises NoValue outside of the node's domain.
        """
        ...


@dataclass(frozen=True)
class Constant:
    """Expression node that is a number."""

    number: float
    children: tuple[Node, ...] = ()

    def value(self, at: Instant) -> Value:
        del at
        return self.number


@dataclass(frozen=True)
class Atom:
    """Expression node that is the name of a quantity."""

    name: str
    children: tuple[Node, ...] = ()

    def value(self, at: Instant) -> Value:
        return at.atoms[self.name]


@dataclass(frozen=True)
class Call:
    """Expression node that applies an operation or a function to its operands."""

    function: str
    children: tuple[Node, ...]

    def value(self, at: Instant) -> Value:
        """Return the function value for given values of all names in the expression.

        Raises NoValue outside of the function's domain.
        """
        return self.of(*(child.value(at) for child in self.children))

    def of(self, *operands: Value) -> Value:
        """Return the operation's value for the operands.

        Raises
        ------
        NoValue
            If the operation or a derivative of it is undefined at the operands, or overflows.
        NotVectorisable
            If the operation has no value in at least one of many states that are evaluated together.
        """
        try:
            return self.result(*operands)
        except (ValueError, ZeroDivisionError, OverflowError) as error:
            if any(isinstance(plain(operand), np.ndarray) for operand in operands):
                # A later evaluation of each single state finds the state that fails.
                raise NotVectorisable from None
            given = ", ".join(f"{plain(operand):.6g}" for operand in operands)
            kind = "too large" if isinstance(error, OverflowError) else "not defined"
            raise NoValue(f"{self.function}({given}), or a derivative of it, is {kind}") from None

    def result(self, *operands: Value) -> Value:
        """Return the operation's value for the operands; an arithmetic error is raised unchanged."""
        return OPERATIONS[self.function](*operands)


@dataclass(frozen=True)
class Looked(Call):
    """Expression node that evaluates a lookup table inside its time span."""

    curve: Curve

    def result(self, *operands: Value) -> Value:
        return self.curve(*operands)


class Choice:
    """Expression node that selects one of its operands by a condition."""

    def chosen(self, at: Instant) -> Node:
        """Return the operand that the condition selects, for given values of all names in the expression."""
        raise NotImplementedError

    def value(self, at: Instant) -> Value:
        """Return the value of the conditional expression's branch that is active in the current time segment."""
        return self.chosen(at).value(at)


@dataclass(frozen=True)
class Branch(Choice):
    """Conditional expression that is evaluated at each state, without events.

    The node has four children. The first two children are the two sides of the comparison. The last two
    children are the values for a true and for a false comparison.
    """

    comparison: str
    children: tuple[Node, ...]

    def chosen(self, at: Instant) -> Node:
        left, right, then, otherwise = self.children
        return then if holds_in_all(self.compare(plain(left.value(at)), plain(right.value(at)))) else otherwise

    def compare(self, left: Number, right: Number) -> Any:
        """Return the truth value of the comparison, element by element for arrays."""
        return _COMPARE[self.comparison](left, right)


@dataclass(frozen=True, eq=False)
class Related(Branch):
    """Conditional expression that changes its branch at state events only."""

    def chosen(self, at: Instant) -> Node:
        """Return the branch that is active in the current time segment.

        If the segment does not fix the branch, a comparison of the operands selects it.
        """
        if self not in at.segment.sides:
            return super().chosen(at)
        return self.children[2 if at.segment.sides[self] else 3]

    @property
    def closed(self) -> bool:
        """Whether the condition is true if both sides of its comparison are equal."""
        return self.comparison in ("<=", ">=")

    def margin(self, at: Instant) -> Number:
        """Return the event indicator of the condition, which is positive if the condition is true.

        The event indicator is the difference between the two sides of the comparison. If one side has no
        value, the result is nan.

        Raises
        ------
        NotVectorisable
            If many states have to be evaluated one by one.
        """
        try:
            left, right = (plain(child.value(at)) for child in self.children[:2])
        except NoValue:
            return math.nan
        return left - right if self.comparison in (">", ">=") else right - left


@dataclass(frozen=True)
class _Switch(Choice):
    """Conditional expression that changes its branch at the known time `time`, s.

    The children are the values before and after this time.
    """

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
    """Return the compiled form of an expression of the description, with its constants inserted.

    Parameters
    ----------
    tree : Expr
        Parsed expression.
    constants : mapping of str to float
        Parameters by name.
    start : callable or None
        Function that returns the initial value of a compiled expression. Without such a function, the current
        state counts as the initial state, so that start(x) = x.
    tables : mapping of str to Curve
        Lookup tables by name.
    eventful : bool
        Whether the conditions and kinks of the expression are events.
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
    if tree.function in _KINKED and (eventful or _switches_sign(tree.function, children)):
        return _KINKED[tree.function](*children)
    if tree.function == "start":
        return Constant(start(children[0])) if start else children[0]
    return _call(Call(tree.function, children))


def _table(name: str, curve: Curve, argument: Node) -> Node:
    """Return the expression node of a lookup table.

    If a spline is constant beyond its ends, the expression has separate branches for the constant
    parts. The reason is that the second derivative jumps at each end.
    """
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


def _switches_sign(function: str, operands: tuple[Node, ...]) -> bool:
    """Whether a function is the sign of an expression that is affine in time.

    The sign then jumps at a known time. This time is an event even inside `noevent(...)` or `start(...)`.
    """
    return function == "sign" and affine(operands[0]) is not None


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
    """Return (a, b) if the expression equals a + b t with constants a and b, else None."""
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
    """Return a copy of an expression node with other operands."""
    assert is_dataclass(node) and not isinstance(node, type)
    return replace(node, children=tuple(children))


def names(node: Node) -> Iterator[str]:
    """Yield the names that an expression uses; a name that occurs twice is yielded twice."""
    if isinstance(node, Atom):
        yield node.name
    for child in node.children:
        yield from names(child)


def related(node: Node) -> Iterator[Related]:
    """Yield the switching conditions of an expression; a condition that occurs twice is yielded twice."""
    if isinstance(node, Related):
        yield node
    for child in node.children:
        yield from related(child)


def evaluate(node: Node, at: Instant, label: str) -> Value:
    """Return the value of an expression for given values of all names in the expression.

    Raises
    ------
    SolveError
        If the expression has no value, such as the root of a negative number. The message contains
        `label` and the time.
    """
    return named_errors(label, at, lambda: node.value(at))


def named_errors(label: str, at: Instant, evaluated: Callable[[], T]) -> T:
    """Return the result of the function `evaluated`, and replace an arithmetic error by another exception.

    Raises
    ------
    SolveError
        If an arithmetic error occurs for a single state. The message contains `label` and the time.
    NotVectorisable
        If an arithmetic error occurs while many states are evaluated together.
    """
    try:
        return evaluated()
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        if isinstance(at.atoms.get("t"), np.ndarray):
            raise NotVectorisable from None  # A later evaluation of each single state finds the state that fails.
        time = f" at t = {plain(at.atoms['t']):.9g} s" if "t" in at.atoms else ""
        raise SolveError(
            f"{label} has no value{time}: {error}; keep the arguments of its functions within their domains. If"
            " abs, min, max or a condition keeps an argument within its domain, write noevent(...) around the abs,"
            " min, max or condition, because without noevent they switch too late for the integrator"
        ) from None


def stops(node: Node) -> Iterator[float]:
    """Yield the times at which an expression or one of its derivatives can jump, s.

    At such times, a condition on time changes, or the function `quintic` has a breakpoint, or a
    lookup table has a kink. Kinks of abs, sign, min and max are included if they depend on time
    alone.
    """
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
    """Return expressions whose roots are the breakpoints of a function, such as t − t0 for `quintic`."""
    function, x = call.function, call.children
    if isinstance(call, Looked):
        return tuple(Call("-", (*x, Constant(kink))) for kink in call.curve.kinks)
    if function == "quintic":
        return Call("-", (x[0], x[1])), Call("-", (x[0], x[2]))
    if function in ("min", "max"):
        return (Call("-", x),)
    return x if function in ("abs", "sign") else ()


# An argument is near the end of a function's domain if the distance, in the argument's unit, is below this value.
_NEAR = 1e-3
_DISTANCES: dict[str, Callable[..., float]] = {
    "sqrt": lambda x: x,
    "log": lambda x: x,
    "asin": lambda x: 1.0 - abs(x),
    "acos": lambda x: 1.0 - abs(x),
    "tan": math.cos,
    "/": lambda x, y: y,
    "^": lambda x, y: x if y != round(y) or y < 0 else 1.0,
}


# A divisor must not be zero, and the base of a power may have to be positive.
_LIMITED = {"/": slice(1, 2), "^": slice(0, 1)}


def _has_moving_limit(call: Call) -> bool:
    """Whether an operand with a limited domain depends on time or states.

    A divisor is an operand with a limited domain, because it must not be zero. A constant divisor cannot
    become zero during a run.
    """
    limited = call.children[_LIMITED.get(call.function, slice(None))]
    return any(True for operand in limited for _ in names(operand))


def ends(node: Node, at: Instant) -> Iterator[tuple[float, str]]:
    """Yield the functions whose arguments are close to the end of their domain or to a singularity.

    A singularity is a point at which the derivative does not exist. Each item contains two values: the
    distance to this point or end, in the unit of the argument, and the name of the function.
    """
    if isinstance(node, Choice):
        yield from ends(node.chosen(at), at)
        return
    if isinstance(node, Call) and node.function in _DISTANCES and _has_moving_limit(node):
        distance = abs(_DISTANCES[node.function](*[plain(child.value(at)) for child in node.children]))
        if distance < _NEAR:
            yield distance, node.function
    for child in node.children:
        yield from ends(child, at)
