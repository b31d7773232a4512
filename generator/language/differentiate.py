"""Symbolic derivatives of expression trees, and the switching times of their conditions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from .expressions import Apply, Conditional, Name, Number, Tree, children, names

ZERO, ONE, TIME = Number(0.0), Number(1.0), Name("t")


def add(a: Tree, b: Tree) -> Tree:
    """a + b, simplified."""
    if isinstance(a, Number) and isinstance(b, Number):
        return Number(a.value + b.value)
    if a == ZERO:
        return b
    return a if b == ZERO else Apply("+", (a, b))


def sub(a: Tree, b: Tree) -> Tree:
    """a − b, simplified."""
    if isinstance(a, Number) and isinstance(b, Number):
        return Number(a.value - b.value)
    if b == ZERO:
        return a
    return negative(b) if a == ZERO else Apply("-", (a, b))


def mul(a: Tree, b: Tree) -> Tree:
    """a·b, simplified."""
    if isinstance(a, Number) and isinstance(b, Number):
        return Number(a.value * b.value)
    if ZERO in (a, b):
        return ZERO
    if a == ONE:
        return b
    return a if b == ONE else Apply("*", (a, b))


def div(a: Tree, b: Tree) -> Tree:
    """a/b, simplified."""
    if isinstance(a, Number) and isinstance(b, Number) and b != ZERO:
        return Number(a.value / b.value)
    return a if a == ZERO or b == ONE else Apply("/", (a, b))


def negative(a: Tree) -> Tree:
    """−a, simplified."""
    return Number(-a.value) if isinstance(a, Number) else Apply("neg", (a,))


def power(a: Tree, exponent: float) -> Tree:
    """a to a constant exponent, simplified."""
    if exponent == 1.0:
        return a
    return ONE if exponent == 0.0 else Apply("^", (a, Number(exponent)))


def call(function: str, *arguments: Tree) -> Tree:
    """Function of its arguments, as it stands."""
    return Apply(function, arguments)


# Constants must be folded: a rate of (1 − 1)·t that does not look like 0 would become a division by zero.
_ARITHMETIC: dict[str, Callable[..., Tree]] = {"+": add, "-": sub, "*": mul, "/": div, "neg": negative}


def expand(tree: Tree) -> Tree:
    """The tree in the form that `derivative` takes.

    Constants are folded, pi is a number, and `quintic(t, t0, t1, s0, s1)` is expressed by `quintic_0(tau)`, the
    step from 0 to 1 that clamps tau.
    """
    if tree == Name("pi"):
        return Number(math.pi)
    if isinstance(tree, Conditional):
        return Conditional(tree.comparison, *(expand(child) for child in children(tree)))
    if not isinstance(tree, Apply) or tree.function == "start":
        return tree
    arguments = tuple(expand(argument) for argument in tree.arguments)
    if tree.function != "quintic":
        return _ARITHMETIC.get(tree.function, partial(call, tree.function))(*arguments)
    time, t0, t1, s0, s1 = arguments
    return add(s0, mul(sub(s1, s0), call("quintic_0", div(sub(time, t0), sub(t1, t0)))))


def derivative(tree: Tree, name: str) -> Tree:
    """Partial derivative by a name; `start(x)` is a constant. The tree must be expanded."""
    match tree:
        case Name(text):
            return ONE if text == name else ZERO
        case Conditional(comparison, left, right, then, otherwise):
            slopes = derivative(then, name), derivative(otherwise, name)
            return ZERO if slopes == (ZERO, ZERO) else Conditional(comparison, left, right, *slopes)
        case Apply("start", _) | Number():
            return ZERO
        case Apply(function, arguments):
            return _chain_rule(function, arguments, [derivative(a, name) for a in arguments])
    raise TypeError(tree)


def _chain_rule(function: str, arguments: tuple[Tree, ...], slopes: list[Tree]) -> Tree:
    if all(slope == ZERO for slope in slopes):
        return ZERO
    if len(arguments) == 1:
        return mul(_UNARY[function](arguments[0]), slopes[0])
    return _BINARY[function](*arguments, *slopes)


def _power_rule(a: Tree, b: Tree, da: Tree, db: Tree) -> Tree:
    if isinstance(b, Number):
        return mul(mul(b, power(a, b.value - 1.0)), da)
    value = call("^", a, b)
    return add(mul(mul(b, call("^", a, sub(b, ONE))), da), mul(mul(value, call("log", a)), db))


def _square(a: Tree) -> Tree:
    return power(a, 2.0)


def _quintic_3(tau: Tree) -> Tree:
    raise ValueError("quintic can be differentiated twice only")


_UNARY: dict[str, Callable[[Tree], Tree]] = {
    "neg": lambda a: Number(-1.0),
    "sin": lambda a: call("cos", a),
    "cos": lambda a: negative(call("sin", a)),
    "tan": lambda a: add(ONE, _square(call("tan", a))),
    "asin": lambda a: div(ONE, call("sqrt", sub(ONE, _square(a)))),
    "acos": lambda a: negative(div(ONE, call("sqrt", sub(ONE, _square(a))))),
    "atan": lambda a: div(ONE, add(ONE, _square(a))),
    "sqrt": lambda a: div(Number(0.5), call("sqrt", a)),
    "exp": lambda a: call("exp", a),
    "log": lambda a: div(ONE, a),
    "abs": lambda a: call("sign", a),
    "sign": lambda a: ZERO,
    "tanh": lambda a: sub(ONE, _square(call("tanh", a))),
    "quintic_0": lambda a: call("quintic_1", a),
    "quintic_1": lambda a: call("quintic_2", a),
    "quintic_2": _quintic_3,
}

_BINARY: dict[str, Callable[[Tree, Tree, Tree, Tree], Tree]] = {
    "+": lambda a, b, da, db: add(da, db),
    "-": lambda a, b, da, db: sub(da, db),
    "*": lambda a, b, da, db: add(mul(da, b), mul(a, db)),
    "/": lambda a, b, da, db: div(sub(da, mul(db, div(a, b))), b),
    "^": _power_rule,
    "atan2": lambda a, b, da, db: div(sub(mul(b, da), mul(a, db)), add(_square(a), _square(b))),
    "min": lambda a, b, da, db: Conditional("<=", a, b, da, db),
    "max": lambda a, b, da, db: Conditional(">=", a, b, da, db),
}


def switching_time(condition: Conditional, is_constant: Callable[[str], bool]) -> Tree | None:
    """The time at which a condition that is affine in t changes; None if it is not of that form."""
    difference, rate = sub(condition.left, condition.right), slope(condition)
    if rate == ZERO or not all(is_constant(name) for name in names(rate)):
        return None
    if not all(name == "t" or is_constant(name) for name in names(difference)):
        return None
    return div(negative(at_time_zero(difference)), rate)


def slope(condition: Conditional) -> Tree:
    """Rate of `left − right` in time."""
    return derivative(sub(condition.left, condition.right), "t")


def breakpoints(tree: Tree) -> Iterator[Tree]:
    """Times at which a quintic begins or ends, as far as they do not depend on time (expanded tree)."""
    if isinstance(tree, Apply) and tree.function.startswith("quintic_"):
        rate = derivative(tree.arguments[0], "t")
        if rate != ZERO:
            begin = at_time_zero(tree.arguments[0])
            yield div(negative(begin), rate)
            yield div(sub(ONE, begin), rate)
    for child in children(tree):
        yield from breakpoints(child)


def at_time_zero(tree: Tree) -> Tree:
    """The tree with t = 0."""
    return substituted(tree, {TIME.text: ZERO})


def substituted(tree: Tree, values: Mapping[str, Tree]) -> Tree:
    """The tree with values in place of running names; constants are folded."""
    match tree:
        case Name(text):
            return values.get(text, tree)
        case Conditional(comparison):
            return Conditional(comparison, *(substituted(child, values) for child in children(tree)))
        case Apply(function, arguments) if function != "start":
            changed = [substituted(argument, values) for argument in arguments]
            return _ARITHMETIC.get(function, partial(call, function))(*changed)
    return tree
