"""Compiler of expressions in the description, based on Python's own parser.

A compiled expression is a function of a scope. The scope provides values of names (numbers or jets),
the time, and the state of switching conditions. Parameters, initial values and lookup tables are
inserted at compile time.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

from .jets import FUNCTIONS, Scalar, power, value
from .sides import Condition, Sides
from .tables import Lookup

_OPERATIONS: dict[type[ast.operator], Callable[[Scalar, Scalar], Scalar]] = {
    ast.Add: lambda x, y: x + y,
    ast.Sub: lambda x, y: x - y,
    ast.Mult: lambda x, y: x * y,
    ast.Div: lambda x, y: x / y,
    ast.Pow: power,
}


class Scope(Protocol):
    """Source of the values of variables and switching conditions during the evaluation of an expression."""

    @property
    def sides(self) -> Sides:
        """Truth values of the switching conditions."""
        ...

    def number(self, name: str) -> Scalar:
        """Return the value of a variable of expressions, such as the time `t` or the coordinate `E.x`."""
        ...


Compiled: TypeAlias = Callable[[Scope], Scalar]
_numbers = itertools.count()


@dataclass(frozen=True)
class LinearExpression:
    """Linear function a + b·t of time."""

    a: float
    b: float


@dataclass(frozen=True)
class Expression:
    """Compiled expression.

    Parameters
    ----------
    of : callable
        Function that returns the value of the expression in a scope.
    line : LinearExpression or None
        The expression as a + b·t if it is linear in time, otherwise None.
    names : frozenset of str
        Names that the expression uses, including `t`.
    breaks : tuple of float
        Times at which the expression or one of its derivatives may be discontinuous, s.
    roots : tuple of LinearExpression
        Linear functions of time that occur as arguments of nonlinear functions.
    parts : tuple of Expression
        Operands of the expression.
    lookups : tuple
        Pairs of a lookup table and its argument, for all tables whose argument is linear in time.
    is_sum : bool
        Whether the expression is a sum, difference or product. The time scales of such an expression
        are assumed to be those of its operands.
    """

    of: Compiled
    line: LinearExpression | None = None
    names: frozenset[str] = frozenset()
    breaks: tuple[float, ...] = ()
    roots: tuple[LinearExpression, ...] = ()
    parts: tuple[Expression, ...] = ()
    lookups: tuple[tuple[Lookup, LinearExpression], ...] = ()
    is_sum: bool = False

    def __call__(self, scope: Scope) -> Scalar:
        return self.of(scope)

    def timely(self) -> Iterator[Expression]:
        """Yield each nonlinear subexpression that depends on time alone, but not its own subexpressions."""
        if self.names == {"t"}:
            if self.line is None:
                yield self
            return
        for part in self.parts:
            yield from part.timely()

    def mixed(self) -> Iterator[Expression]:
        """Yield the nonlinear subexpressions that depend on both time and states.

        A sum or product itself is not yielded, but its operands are searched.
        """
        if "t" in self.names and len(self.names) > 1:
            if self.roots and not self.is_sum:
                yield self
            for part in self.parts:
                yield from part.mixed()


@dataclass
class Language:
    """Compiler of expressions with the parameters and lookup tables of a description.

    Parameters
    ----------
    parameters : mapping
        Parameter values by name.
    lookups : mapping
        Lookup tables by name.
    renamed : mapping
        Names in expressions, such as `lift_length`, as keys. The values are the names of the same
        quantities in a scope, such as `lift.length`.
    at_start : callable or None
        Function that evaluates a compiled expression at t = 0. With None, expressions are evaluated in
        the initial state only.
    """

    parameters: Mapping[str, float]
    lookups: Mapping[str, Lookup]
    renamed: Mapping[str, str]
    at_start: Callable[[Expression], float] | None = None
    _label: str = field(default="", init=False)
    _eventful: bool = field(default=True, init=False)

    def compile(self, text: str | float, label: str, own: Mapping[str, str] | None = None) -> Expression:
        """Return the compiled form of an expression.

        Parameters
        ----------
        text : str or float
            Expression of the description.
        label : str
            Name under which events of the expression are recorded.
        own : mapping or None
            Short names that only this expression may use. The mapping gives the full name of the variable
            for each short name.
        """
        if not isinstance(text, str):
            return _constant(float(text))
        self._label, self._eventful = label, True
        self._own = dict(own or {})
        line = " ".join(text.split()).replace("^", "**")
        return self._node(ast.parse(line, mode="eval").body)

    def _node(self, node: ast.expr) -> Expression:
        match node:
            case ast.Constant(value=int() | float() as number):
                return _constant(float(number))
            case ast.Name(id=name):
                return self._name(name)
            case ast.Attribute(value=ast.Name(id=owner), attr=quantity):
                return _named(f"{owner}.{quantity}")
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return _combined(lambda x: -x, lambda x: LinearExpression(-x.a, -x.b), self._node(operand))
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self._node(operand)
            case ast.BinOp(left=left, op=op, right=right):
                return _operation(type(op), self._node(left), self._node(right))
            case ast.Call(func=ast.Name(id=function), args=arguments):
                return self._call(function, arguments)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._choice(test, self._node(body), self._node(orelse))
        raise ValueError(f"expected a number, name, operation or function call, got {ast.unparse(node)!r}")

    def _name(self, name: str) -> Expression:
        if name in self.parameters:
            return _constant(self.parameters[name])
        if name == "pi":
            return _constant(math.pi)
        if name == "t":
            return Expression(lambda scope: scope.number("t"), LinearExpression(0.0, 1.0), frozenset({"t"}))
        return _named(self._own.get(name, self.renamed.get(name, name)))

    def _call(self, function: str, arguments: list[ast.expr]) -> Expression:
        if function == "table":
            assert isinstance(arguments[0], ast.Name)
            return _looked_up(self.lookups[arguments[0].id], self._node(arguments[1]))
        if function in ("noevent", "start"):
            return self._without_events(function, arguments[0])
        operands = [self._node(argument) for argument in arguments]
        match function:
            case "min":
                return self._kink("<=", *operands, *operands)
            case "max":
                return self._kink(">=", *operands, *operands)
            case "abs":
                (x,) = operands
                return self._by_sign(x, x, _combined(lambda y: -y, lambda y: LinearExpression(-y.a, -y.b), x))
            case "sign":
                return self._by_sign(operands[0], _constant(1.0), _constant(-1.0))
        found = _combined(FUNCTIONS[function], None, *operands)
        return _with_breaks(found, operands) if function == "quintic" else found

    def _without_events(self, function: str, argument: ast.expr) -> Expression:
        before, self._eventful = self._eventful, False
        inner = self._node(argument)
        self._eventful = before
        if function == "noevent":
            return inner
        return Expression(inner) if self.at_start is None else _constant(self.at_start(inner))

    def _by_sign(self, x: Expression, above: Expression, below: Expression) -> Expression:
        zero = _constant(0.0)
        return self._kink(">", x, zero, above, self._kink("<", x, zero, below, zero))

    def _choice(self, test: ast.expr, then: Expression, other: Expression) -> Expression:
        match test:
            case ast.BoolOp(op=ast.And(), values=values):
                for condition in reversed(values):
                    then = self._choice(condition, then, other)
                return then
            case ast.BoolOp(op=ast.Or(), values=values):
                for condition in reversed(values):
                    other = self._choice(condition, then, other)
                return other
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._choice(operand, other, then)
            case ast.Compare(left=left, ops=ops, comparators=rights):
                sides = [self._node(side) for side in (left, *rights)]
                for k in reversed(range(len(ops))):
                    sign = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}[type(ops[k])]
                    then = self._kink(sign, sides[k], sides[k + 1], then, other)
                return then
        raise ValueError(f"expected comparisons (joined by and, or, not), got {ast.unparse(test)!r}")

    def _kink(
        self, sign: str, left: Expression, right: Expression, then: Expression, other: Expression
    ) -> Expression:
        """Return a conditional expression, which selects one of two branches by the sign of a difference.

        A condition on time alone switches at a fixed time (time event). A change of any other condition
        is a state event.
        """
        difference = _operation(ast.Sub, *((left, right) if sign[0] == ">" else (right, left)))
        closed = sign[-1] == "="
        parts = (difference, then, other)
        if difference.line is not None:
            return _switch(difference.line, closed, parts)
        label, key = self._label, ("condition", next(_numbers))
        eventful = self._eventful

        def chosen(scope: Scope) -> Scalar:
            found = Condition(label, ("is true", "is false"), value(difference(scope)), closed)
            side = scope.sides.decide(key, found) if eventful else found.is_true
            return (then if side else other)(scope)

        return _gathered(chosen, None, parts)


def _gathered(
    of: Compiled, line: LinearExpression | None, parts: tuple[Expression, ...], breaks: tuple[float, ...] = ()
) -> Expression:
    return Expression(
        of,
        line,
        frozenset().union(*(part.names for part in parts)),
        breaks + tuple(time for part in parts for time in part.breaks),
        tuple(root for part in parts for root in part.roots),
        parts,
        tuple(lookup for part in parts for lookup in part.lookups),
    )


def _constant(number: float) -> Expression:
    return Expression(lambda scope: number, LinearExpression(number, 0.0))


def _named(name: str) -> Expression:
    return Expression(lambda scope: scope.number(name), names=frozenset({name}))


def _combined(
    function: Callable[..., Scalar], line: Callable[..., LinearExpression | None] | None, *parts: Expression
) -> Expression:
    """Return the expression f(operands) for a function f.

    Parameters
    ----------
    function : callable
        Function f of the operands' values.
    line : callable or None
        Function that returns f(operands) as a linear function of time if all operands are linear in
        time. None if f is nonlinear.
    *parts : Expression
        Operands.
    """
    lines = [part.line for part in parts]
    straight = None
    if all(found is not None for found in lines):
        if not any(found.b for found in lines if found is not None):
            number = function(*(found.a for found in lines if found is not None))
            return _constant(value(number))
        straight = None if line is None else line(*lines)
    if len(parts) == 1:
        (x,) = parts
        found = _gathered(lambda scope: function(x(scope)), straight, parts)
    else:
        found = _gathered(lambda scope: function(*(part(scope) for part in parts)), straight, parts)
    return found if straight is not None else _with_roots(found, parts)


def _with_roots(found: Expression, parts: tuple[Expression, ...]) -> Expression:
    own = tuple(part.line for part in parts if part.line is not None and part.line.b)
    return Expression(
        found.of, found.line, found.names, found.breaks, found.roots + own, found.parts, found.lookups
    )


def _operation(kind: type[ast.operator], left: Expression, right: Expression) -> Expression:
    def line(x: LinearExpression, y: LinearExpression) -> LinearExpression | None:
        if kind in (ast.Add, ast.Sub):
            sign = 1.0 if kind is ast.Add else -1.0
            return LinearExpression(x.a + sign * y.a, x.b + sign * y.b)
        if kind is ast.Mult and x.b * y.b == 0.0:
            return LinearExpression(x.a * y.a, x.a * y.b + x.b * y.a)
        if kind is ast.Div and y.b == 0.0:
            return LinearExpression(x.a / y.a, x.b / y.a)
        return None

    found = _combined(_OPERATIONS[kind], line, left, right)
    return replace(found, is_sum=kind in (ast.Add, ast.Sub, ast.Mult))


def _with_breaks(found: Expression, operands: list[Expression]) -> Expression:
    """Add breakpoints at the two ends of a quintic step function, where the third derivative jumps."""
    ends = (_operation(ast.Sub, operands[0], operands[k]).line for k in (1, 2))
    breaks = tuple(-line.a / line.b for line in ends if line is not None and line.b)
    return _gathered(found.of, found.line, (found,), breaks)


def _looked_up(lookup: Lookup, argument: Expression) -> Expression:
    line = argument.line
    if line is None or not line.b:

        def at(scope: Scope) -> Scalar:
            x = argument(scope)
            return lookup(x, value(x))

        return _gathered(at, None, (argument,))
    a, b = line.a, line.b
    found = _gathered(lambda scope: lookup(argument(scope), a + b * scope.sides.instant), None, (argument,))
    knots = lookup.time if lookup.jumps_inside else lookup.time[[0, -1]]
    breaks = tuple(((knots - line.a) / line.b).tolist())
    return Expression(
        found.of, None, found.names, breaks, found.roots, found.parts, (*found.lookups, (lookup, line))
    )


def _switch(line: LinearExpression, closed: bool, parts: tuple[Expression, ...]) -> Expression:
    """Return a conditional expression that switches at a fixed time.

    A time inside the time segment that is being integrated determines which branch is active.
    """
    _, then, other = parts
    if line.b == 0.0:
        return then if line.a > 0.0 or (closed and line.a == 0.0) else other
    time = -line.a / line.b

    def chosen(scope: Scope) -> Scalar:
        late = scope.sides.instant > time
        return (then if late == (line.b > 0.0) else other)(scope)

    return _gathered(chosen, None, parts[1:], (time,))
