"""Symbolic derivatives of scalar expressions, and the times at which conditions in expressions switch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from . import ir
from .expressions import running_names
from .ir import Expr, call, is_zero

ZERO, ONE = ir.constant(0.0), ir.constant(1.0)


def expand(tree: Expr) -> Expr:
    """Return an equal expression in the form that the function `derivative` requires.

    The result is simplified. For example, (1 − 1)·t becomes zero. Without this simplification, t would
    appear in an expression whose time derivative is zero, and a later division by this derivative would
    fail. The name pi is replaced by its numerical value. The function `quintic(t, t0, t1, s0, s1)` is
    expressed by `quintic_0(tau)`, a smooth step from 0 to 1 while tau increases from 0 to 1.
    """
    if tree.op == "symbol" and tree.data == "pi":
        return ir.constant(math.pi)
    if tree.function == "start":
        return tree
    args = [expand(argument) for argument in tree.args]
    if tree.function != "quintic":
        return ir.rebuilt(tree, args)
    time, t0, t1, s0, s1 = args
    return s0 + (s1 - s0) * call("quintic_0", (time - t0) / (t1 - t0))


def derivative(tree: Expr, name: str) -> Expr:
    """Return the partial derivative of an expanded expression with respect to a name.

    The function `start(x)` is treated as a constant.
    """
    if tree.op == "symbol":
        return ONE if tree.data == name else ZERO
    if tree.function == "start":
        return ZERO
    if tree.function == "noevent":
        return _noevent(derivative(tree.args[0], name))
    condition = tree.args[:2] if tree.op == "if" else ()
    slopes = [derivative(argument, name) for argument in tree.args[len(condition) :]]
    if all(map(is_zero, slopes)):
        return ZERO
    if condition:
        return ir.rebuilt(tree, [*condition, *slopes])
    if tree.op == "table":
        name, order, inside = tree.data
        return ir.table(name, tree.args[0], order + 1, inside=inside) * slopes[0]
    if len(slopes) == 1:
        return _UNARY[tree.function](*tree.args) * slopes[0]
    return _BINARY[tree.function](*tree.args, *slopes)


def _noevent(tree: Expr) -> Expr:
    return tree if tree.op == "constant" else call("noevent", tree)


def _power_rule(a: Expr, b: Expr, da: Expr, db: Expr) -> Expr:
    # A constant exponent b has the derivative zero, so the term with the logarithm vanishes.
    return b * ir.power(a, b - 1.0) * da + ir.power(a, b) * call("log", a) * db


def _square(a: Expr) -> Expr:
    return ir.power(a, ir.constant(2.0))


def _quintic_3(tau: Expr) -> Expr:
    raise ValueError("the function quintic can be differentiated at most twice")


_UNARY: dict[str, Callable[[Expr], Expr]] = {
    "neg": lambda a: -ONE,
    "sin": lambda a: call("cos", a),
    "cos": lambda a: -call("sin", a),
    "tan": lambda a: 1.0 + _square(call("tan", a)),
    "asin": lambda a: 1.0 / call("sqrt", 1.0 - _square(a)),
    "acos": lambda a: -(1.0 / call("sqrt", 1.0 - _square(a))),
    "atan": lambda a: 1.0 / (1.0 + _square(a)),
    "sqrt": lambda a: 0.5 / call("sqrt", a),
    "exp": lambda a: call("exp", a),
    "log": lambda a: 1.0 / a,
    "abs": lambda a: call("sign", a),
    "sign": lambda a: ZERO,
    "tanh": lambda a: 1.0 - _square(call("tanh", a)),
    "quintic_0": lambda a: call("quintic_1", a),
    "quintic_1": lambda a: call("quintic_2", a),
    "quintic_2": _quintic_3,
}

_BINARY: dict[str, Callable[[Expr, Expr, Expr, Expr], Expr]] = {
    "+": lambda a, b, da, db: da + db,
    "-": lambda a, b, da, db: da - db,
    "*": lambda a, b, da, db: da * b + a * db,
    "/": lambda a, b, da, db: (da - db * (a / b)) / b,
    "^": _power_rule,
    "atan2": lambda a, b, da, db: (b * da - a * db) / (_square(a) + _square(b)),
    "min": lambda a, b, da, db: ir.choose("<=", a, b, da, db),
    "max": lambda a, b, da, db: ir.choose(">=", a, b, da, db),
}


def switching_time(condition: Expr, is_constant: Callable[[str], bool]) -> Expr | None:
    """Return the time at which a condition changes, if the condition is affine in t, otherwise None."""
    difference, rate = condition.args[0] - condition.args[1], slope(condition)
    names = {*running_names(rate)} | ({*running_names(difference)} - {"t"})
    if is_zero(rate) or not all(map(is_constant, names)):
        return None
    return -at_time_zero(difference) / rate


def slope(condition: Expr) -> Expr:
    """Return the time derivative of the difference, left side minus right side, of a comparison."""
    return derivative(condition.args[0] - condition.args[1], "t")


def breakpoints(tree: Expr) -> Iterator[Expr]:
    """Yield the start and end times of all `quintic` functions in an expanded expression.

    Functions whose argument does not depend on time are omitted.
    """
    if tree.function.startswith("quintic_"):
        rate = derivative(tree.args[0], "t")
        if not is_zero(rate):
            begin = at_time_zero(tree.args[0])
            yield -begin / rate
            yield (1.0 - begin) / rate
    for child in tree.args:
        yield from breakpoints(child)


def at_time_zero(tree: Expr) -> Expr:
    """Return an expression with the time t replaced by zero."""
    return substituted(tree, {"t": ZERO})


def just_after_zero(tree: Expr, is_constant: Callable[[str], bool]) -> Expr:
    """Return an expanded expression at the initial time, as the limit for t → 0 from above.

    A condition that is affine in t has the truth value that applies just after t = 0. All other
    conditions are evaluated at t = 0. A call `start(x)` is replaced by its argument x.

    Parameters
    ----------
    tree : Expr
        Expression that was expanded by `expand`.
    is_constant : callable
        Function that returns whether the value of a name is constant during a run.
    """
    if tree.op == "symbol":
        return ZERO if tree.data == "t" else tree
    if tree.function == "start":
        return just_after_zero(tree.args[0], is_constant)
    if switches_sign(tree, is_constant):
        return just_after_zero(sign_by_conditions(*tree.args), is_constant)
    args = [just_after_zero(argument, is_constant) for argument in tree.args]
    if tree.op == "if" and switching_time(tree, is_constant) is not None:
        rate = just_after_zero(slope(tree), is_constant)
        args[:2] = _nonzero_or(args[0] - args[1], rate), ZERO
    return ir.rebuilt(tree, args)


def _nonzero_or(value: Expr, otherwise: Expr) -> Expr:
    """Return `value` unless it is zero, else `otherwise`."""
    if value.op == "constant":
        return otherwise if is_zero(value) else value
    return ir.choose(">", call("abs", value), ZERO, value, otherwise)


def sign_by_conditions(x: Expr) -> Expr:
    """Return the sign of an expression as conditional expressions with the values 1, 0 and −1."""
    return ir.choose(">", x, ZERO, ONE, ir.choose("<", x, ZERO, -ONE, ZERO))


def switches_sign(tree: Expr, is_constant: Callable[[str], bool]) -> bool:
    """Whether an expression is `sign(x)` with an argument x that is affine in t and not constant."""
    return tree.function == "sign" and switching_time(sign_by_conditions(*tree.args), is_constant) is not None


def substituted(tree: Expr, values: Mapping[str, Expr]) -> Expr:
    """Return a simplified expression in which values replace names.

    The arguments of `start` remain unchanged.
    """
    if tree.op == "symbol":
        return values.get(tree.data, tree)
    if tree.function == "start":
        return tree
    return ir.rebuilt(tree, [substituted(argument, values) for argument in tree.args])
