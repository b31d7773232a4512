"""Forward-mode automatic differentiation: first derivatives by all variables, second ones along a motion of these.

Every operation of the expression language takes plain numbers and jets alike; plain numbers have no derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Jet:
    """A value with its derivatives by k variables, which move.

    gradient   shape (k,)
    rate       first derivative with respect to time
    second     second derivative with respect to time
    """

    value: float
    gradient: Array
    rate: float
    second: float


Value: TypeAlias = Jet | float


@cache
def _unit(k: int) -> list[Array]:
    unit = np.eye(k)
    unit.flags.writeable = False
    return list(unit)


def variables(
    values: Sequence[float], rates: Sequence[float] | None = None, seconds: Sequence[float] | None = None
) -> list[Jet]:
    """The k independent variables; rates, seconds: how they move, default not at all and without acceleration."""
    none = [0.0] * len(values)
    return [Jet(*parts) for parts in zip(values, _unit(len(values)), rates or none, seconds or none, strict=True)]


def hessian(function: Callable[[list[Jet]], Value], values: Sequence[float]) -> Array:
    """Second derivatives of a function of k variables, shape (k, k): from those along e_i and along e_i + e_j."""
    unit = np.eye(len(values))

    def along(direction: Array) -> float:
        return constant(function(variables(values, direction.tolist())), len(values)).second

    own = [along(e) for e in unit]
    both = [[along(e + f) for f in unit] for e in unit]
    # e_i + e_i is twice e_i
    return np.asarray(0.5 * (np.array(both).reshape(unit.shape) - np.add.outer(own, own)))


def constant(value: Value, k: int) -> Jet:
    """The value as a jet of k variables."""
    return value if isinstance(value, Jet) else Jet(value, np.zeros(k), 0.0, 0.0)


def plain(x: Value) -> float:
    """The value without its derivatives."""
    return x.value if isinstance(x, Jet) else x


def _of_one(x: Jet, f: float, f1: float, f2: float) -> Jet:
    """f(x) by the chain rule; f1, f2 are f' and f''."""
    return Jet(f, f1 * x.gradient, f1 * x.rate, f1 * x.second + f2 * x.rate * x.rate)


def along(x: Value, f: float, f1: float, f2: float) -> Value:
    """f(x) of a function whose value and derivatives are known there."""
    return _of_one(x, f, f1, f2) if isinstance(x, Jet) else f


def _of_two(x: Value, y: Value, f: float, first: tuple[float, float], second: tuple[float, float, float]) -> Jet:
    """f(x, y) by the chain rule; derivatives (f_x, f_y) and (f_xx, f_xy, f_yy)."""
    k = len((x if isinstance(x, Jet) else constant(y, 0)).gradient)
    a, b = constant(x, k), constant(y, k)
    (f_x, f_y), (f_xx, f_xy, f_yy) = first, second
    curved = f_xx * a.rate * a.rate + 2.0 * f_xy * a.rate * b.rate + f_yy * b.rate * b.rate
    return Jet(
        f,
        f_x * a.gradient + f_y * b.gradient,
        f_x * a.rate + f_y * b.rate,
        f_x * a.second + f_y * b.second + curved,
    )


def _scaled(x: Jet, factor: float) -> Jet:
    return Jet(x.value * factor, x.gradient * factor, x.rate * factor, x.second * factor)


def _add(x: Value, y: Value) -> Value:
    if isinstance(x, Jet):
        if isinstance(y, Jet):
            return Jet(x.value + y.value, x.gradient + y.gradient, x.rate + y.rate, x.second + y.second)
        return Jet(x.value + y, x.gradient, x.rate, x.second)
    return _add(y, x) if isinstance(y, Jet) else x + y


def _negative(x: Value) -> Value:
    return Jet(-x.value, -x.gradient, -x.rate, -x.second) if isinstance(x, Jet) else -x


def _subtract(x: Value, y: Value) -> Value:
    return _add(x, _negative(y))


def _multiply(x: Value, y: Value) -> Value:
    if isinstance(x, Jet) and isinstance(y, Jet):
        return _of_two(x, y, x.value * y.value, (y.value, x.value), (0.0, 1.0, 0.0))
    if isinstance(x, Jet):
        return _scaled(x, plain(y))
    return _multiply(y, x) if isinstance(y, Jet) else x * y


def _divide(x: Value, y: Value) -> Value:
    a, b = plain(x), plain(y)
    if isinstance(y, Jet):
        return _of_two(x, y, a / b, (1 / b, -a / b**2), (0.0, -1 / b**2, 2 * a / b**3))
    return Jet(a / y, x.gradient / y, x.rate / y, x.second / y) if isinstance(x, Jet) else a / y


def _power(x: Value, y: Value) -> Value:
    if isinstance(y, Jet):
        return _exp(_multiply(y, _log(x)))
    value = math.pow(plain(x), y)
    if not isinstance(x, Jet):
        return value
    # A factor that is zero says that the derivative vanishes, also where 0 has no such power.
    f1 = y * math.pow(x.value, y - 1) if y else 0.0
    f2 = y * (y - 1) * math.pow(x.value, y - 2) if y * (y - 1) else 0.0
    return _of_one(x, value, f1, f2)


def _atan2(y: Value, x: Value) -> Value:
    b, a = plain(y), plain(x)
    if not isinstance(y, Jet) and not isinstance(x, Jet):
        return math.atan2(b, a)
    s = a * a + b * b
    return _of_two(
        y, x, math.atan2(b, a), (a / s, -b / s), (-2 * a * b / s**2, (b * b - a * a) / s**2, 2 * a * b / s**2)
    )


def _quintic(t: Value, t0: Value, t1: Value, s0: Value, s1: Value) -> Value:
    """s0 before t0, s1 after t1, between them s0 + (s1 − s0)(10τ³ − 15τ⁴ + 6τ⁵), τ = (t − t0)/(t1 − t0)."""
    tau = _divide(_subtract(t, t0), _subtract(t1, t0))
    x = min(max(plain(tau), 0.0), 1.0)
    profile: Value = x**3 * (10 - 15 * x + 6 * x * x)
    if isinstance(tau, Jet):
        # The clamp needs no case of its own: both derivatives vanish where it acts.
        profile = _of_one(tau, plain(profile), 30 * (x * (1 - x)) ** 2, 60 * x * (1 - x) * (1 - 2 * x))
    return _add(s0, _multiply(_subtract(s1, s0), profile))


_Function: TypeAlias = Callable[[float], float]


def _unary(f: _Function, f1: _Function, f2: _Function) -> Callable[[Value], Value]:
    def apply(x: Value) -> Value:
        return _of_one(x, f(x.value), f1(x.value), f2(x.value)) if isinstance(x, Jet) else f(x)

    return apply


def _sign(x: float) -> float:
    return float(x > 0) - float(x < 0)


def _zero(x: float) -> float:
    del x
    return 0.0


_exp = _unary(math.exp, math.exp, math.exp)
_log = _unary(math.log, lambda x: 1 / x, lambda x: -1 / x**2)

OPERATIONS: dict[str, Callable[..., Value]] = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _divide,
    "^": _power,
    "neg": _negative,
    "sin": _unary(math.sin, math.cos, lambda x: -math.sin(x)),
    "cos": _unary(math.cos, lambda x: -math.sin(x), lambda x: -math.cos(x)),
    "tan": _unary(math.tan, lambda x: 1 / math.cos(x) ** 2, lambda x: 2 * math.tan(x) / math.cos(x) ** 2),
    "asin": _unary(math.asin, lambda x: (1 - x * x) ** -0.5, lambda x: x * (1 - x * x) ** -1.5),
    "acos": _unary(math.acos, lambda x: -((1 - x * x) ** -0.5), lambda x: -x * (1 - x * x) ** -1.5),
    "atan": _unary(math.atan, lambda x: 1 / (1 + x * x), lambda x: -2 * x / (1 + x * x) ** 2),
    "sqrt": _unary(math.sqrt, lambda x: 0.5 * x**-0.5, lambda x: -0.25 * x**-1.5),
    "tanh": _unary(
        math.tanh,
        lambda x: 1 - math.tanh(x) ** 2,
        lambda x: -2 * math.tanh(x) * (1 - math.tanh(x) ** 2),
    ),
    "exp": _exp,
    "log": _log,
    "abs": _unary(abs, _sign, _zero),
    "sign": _unary(_sign, _zero, _zero),
    "atan2": _atan2,
    "min": lambda x, y: x if plain(x) <= plain(y) else y,
    "max": lambda x, y: x if plain(x) >= plain(y) else y,
    "quintic": _quintic,
}
