"""Forward-mode automatic differentiation with jets: gradients, and second derivatives along a motion.

Each operation of the expression language accepts both numbers and jets; a number has zero
derivatives. If many states are evaluated together, values are arrays of shape (N,) and gradients
have shape (k, N). The setting `numpy.errstate` then decides whether an undefined value raises an
error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np

from ...core.trajectory import Array
from .segment import holds_in_all

Number: TypeAlias = Any  # A number is a float for one state, or an array of shape (N,) for N states.


@dataclass(frozen=True, slots=True)
class Jet:
    """Value of a function of k variables that vary with time, with its derivatives.

    Attributes
    ----------
    value : float or ndarray
        Function value.
    gradient : ndarray, shape (k,)
        Partial derivatives with respect to the k variables.
    rate : float or ndarray
        First time derivative of the function value along the motion.
    second : float or ndarray
        Second time derivative of the function value along the motion.
    """

    value: Number
    gradient: Array
    rate: Number
    second: Number


Value: TypeAlias = Jet | Number


@cache
def _unit(k: int, many: bool) -> list[Array]:
    unit = np.eye(k)
    unit.flags.writeable = False
    return list(unit[:, :, None] if many else unit)


def variables(
    values: Sequence[Number], rates: Sequence[Number] | None = None, seconds: Sequence[Number] | None = None
) -> list[Jet]:
    """Return the k independent variables as jets, that is, with their derivatives.

    Parameters
    ----------
    values : sequence of float or ndarray
        Values of the variables.
    rates, seconds : sequence of float or ndarray, optional
        First and second time derivatives of the variables; zero by default.
    """
    none, many = [0.0] * len(values), any(isinstance(value, np.ndarray) for value in values)
    parts = zip(values, _unit(len(values), many), rates or none, seconds or none, strict=True)
    return [Jet(*part) for part in parts]


def hessian(function: Callable[[list[Jet]], Value], values: Sequence[float]) -> Array:
    """Return the Hessian matrix of a function of k variables, shape (k, k).

    The entries follow from second derivatives along the unit vectors e_i and along the sums e_i + e_j.
    """
    unit = np.eye(len(values))

    def along(direction: Array) -> float:
        return float(constant(function(variables(values, direction.tolist())), len(values)).second)

    own = [along(e) for e in unit]
    both = [[along(e + f) for f in unit] for e in unit]
    # The formula is also valid for i = j, because the second derivative along 2 e_i is four times that along e_i.
    return np.asarray(0.5 * (np.array(both).reshape(unit.shape) - np.add.outer(own, own)))


def constant(value: Value, k: int) -> Jet:
    """Return a value as a jet, that is, with its derivatives with respect to k variables and time.

    The derivatives of a number are zero.
    """
    return value if isinstance(value, Jet) else Jet(value, np.zeros(k), 0.0, 0.0)


def plain(x: Value) -> Number:
    """Return the value of a jet without its derivatives; return a number unchanged."""
    return x.value if isinstance(x, Jet) else x


def _of_one(x: Jet, f: Number, f1: Number, f2: Number) -> Jet:
    """Return f(x) with its derivatives by the chain rule, for a value x with its derivatives (jet).

    The arguments f, f1 and f2 are the values of f, f' and f'' at x.
    """
    return Jet(f, f1 * x.gradient, f1 * x.rate, f1 * x.second + f2 * x.rate * x.rate)


def along(x: Value, f: Number, f1: Number, f2: Number) -> Value:
    """Return the function value f(x); if x is a jet, return f(x) with its derivatives by the chain rule.

    A jet is a value with its derivatives. The arguments f, f1 and f2 are the values of f, f' and f''
    at x.
    """
    return _of_one(x, f, f1, f2) if isinstance(x, Jet) else f


def _of_two(
    x: Value, y: Value, f: Number, first: tuple[Number, Number], second: tuple[Number, Number, Number]
) -> Jet:
    """Return f(x, y) with its derivatives by the chain rule, for values x and y with derivatives (jets).

    The argument `first` contains the partial derivatives f_x and f_y, and `second` contains f_xx,
    f_xy and f_yy.
    """
    still = np.zeros_like((x if isinstance(x, Jet) else y).gradient)
    a, b = (part if isinstance(part, Jet) else Jet(part, still, 0.0, 0.0) for part in (x, y))
    (f_x, f_y), (f_xx, f_xy, f_yy) = first, second
    curved = f_xx * a.rate * a.rate + 2.0 * f_xy * a.rate * b.rate + f_yy * b.rate * b.rate
    return Jet(
        f,
        f_x * a.gradient + f_y * b.gradient,
        f_x * a.rate + f_y * b.rate,
        f_x * a.second + f_y * b.second + curved,
    )


def _scaled(x: Jet, factor: Number) -> Jet:
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
    pow_ = _functions(plain(x)).pow
    value = pow_(plain(x), y)
    if not isinstance(x, Jet):
        return value
    # If the factor y or y·(y − 1) is zero, the derivative is zero, although the power may be undefined at x = 0.
    f1 = y * pow_(x.value, y - 1) if y else 0.0
    f2 = y * (y - 1) * pow_(x.value, y - 2) if y * (y - 1) else 0.0
    return _of_one(x, value, f1, f2)


def _atan2(y: Value, x: Value) -> Value:
    b, a = plain(y), plain(x)
    angle = _functions(a + b).atan2(b, a)
    if not isinstance(y, Jet) and not isinstance(x, Jet):
        return angle
    s = a * a + b * b
    return _of_two(y, x, angle, (a / s, -b / s), (-2 * a * b / s**2, (b * b - a * a) / s**2, 2 * a * b / s**2))


def _quintic(t: Value, t0: Value, t1: Value, s0: Value, s1: Value) -> Value:
    """Return a smooth transition from s0 at time t0 to s1 at time t1, constant outside of [t0, t1].

    In [t0, t1], the value is s0 + (s1 − s0)(10τ³ − 15τ⁴ + 6τ⁵) with τ = (t − t0)/(t1 − t0).
    """
    tau = _divide(_subtract(t, t0), _subtract(t1, t0))
    x = _functions(plain(tau)).clip(plain(tau))
    profile: Value = x**3 * (10 - 15 * x + 6 * x * x)
    if isinstance(tau, Jet):
        # Outside of 0 ≤ τ ≤ 1, both derivatives of the profile are zero without a special case.
        profile = _of_one(tau, plain(profile), 30 * (x * (1 - x)) ** 2, 60 * x * (1 - x) * (1 - 2 * x))
    return _add(s0, _multiply(_subtract(s1, s0), profile))


# Elementary functions of scalars are in `math`, and those of arrays are in NumPy, some with other names.
_NAMES = ("sin", "cos", "tan", "sqrt", "tanh", "exp", "log")
_RENAMED = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power"}
_ONE = SimpleNamespace(
    **{name: getattr(math, name) for name in (*_NAMES, *_RENAMED)},
    sign=lambda x: float(x > 0) - float(x < 0),
    clip=lambda x: min(max(x, 0.0), 1.0),
)
_MANY = SimpleNamespace(
    **{name: getattr(np, name) for name in (*_NAMES, "sign")},
    **{name: getattr(np, other) for name, other in _RENAMED.items()},
    clip=lambda x: np.clip(x, 0.0, 1.0),
)
_Function: TypeAlias = Callable[[Any, Number], Number]


def _functions(x: Number) -> Any:
    return _MANY if isinstance(x, np.ndarray) else _ONE


def _unary(f: _Function, f1: _Function, f2: _Function) -> Callable[[Value], Value]:
    """Return a function that accepts both numbers and jets. A jet is a value with its derivatives.

    The arguments f, f1 and f2 are functions for the value and the first two derivatives. Each of these
    functions has two arguments. The first argument is a namespace of elementary functions, either for
    scalars or for arrays. The second argument is the number.
    """

    def apply(x: Value) -> Value:
        of, at = _functions(plain(x)), plain(x)
        return _of_one(x, f(of, at), f1(of, at), f2(of, at)) if isinstance(x, Jet) else f(of, at)

    return apply


def _zero(of: Any, x: Number) -> float:
    del of, x
    return 0.0


def _tanh_slope(of: Any, x: Number) -> Number:
    return 1 - of.tanh(x) ** 2


_exp = _unary(*[lambda of, x: of.exp(x)] * 3)
_log = _unary(lambda of, x: of.log(x), lambda of, x: 1 / x, lambda of, x: -1 / x**2)

OPERATIONS: dict[str, Callable[..., Value]] = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _divide,
    "^": _power,
    "neg": _negative,
    "sin": _unary(lambda of, x: of.sin(x), lambda of, x: of.cos(x), lambda of, x: -of.sin(x)),
    "cos": _unary(lambda of, x: of.cos(x), lambda of, x: -of.sin(x), lambda of, x: -of.cos(x)),
    "tan": _unary(
        lambda of, x: of.tan(x), lambda of, x: 1 / of.cos(x) ** 2, lambda of, x: 2 * of.tan(x) / of.cos(x) ** 2
    ),
    "asin": _unary(
        lambda of, x: of.asin(x), lambda of, x: (1 - x * x) ** -0.5, lambda of, x: x * (1 - x * x) ** -1.5
    ),
    "acos": _unary(
        lambda of, x: of.acos(x), lambda of, x: -((1 - x * x) ** -0.5), lambda of, x: -x * (1 - x * x) ** -1.5
    ),
    "atan": _unary(
        lambda of, x: of.atan(x), lambda of, x: 1 / (1 + x * x), lambda of, x: -2 * x / (1 + x * x) ** 2
    ),
    "sqrt": _unary(lambda of, x: of.sqrt(x), lambda of, x: 0.5 * x**-0.5, lambda of, x: -0.25 * x**-1.5),
    "tanh": _unary(lambda of, x: of.tanh(x), _tanh_slope, lambda of, x: -2 * of.tanh(x) * _tanh_slope(of, x)),
    "exp": _exp,
    "log": _log,
    "abs": _unary(lambda of, x: abs(x), lambda of, x: of.sign(x), _zero),
    "sign": _unary(lambda of, x: of.sign(x), _zero, _zero),
    "atan2": _atan2,
    "min": lambda x, y: x if holds_in_all(plain(x) <= plain(y)) else y,
    "max": lambda x, y: x if holds_in_all(plain(x) >= plain(y)) else y,
    "quintic": _quintic,
}
