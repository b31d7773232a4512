"""Forward-mode automatic differentiation of scalars, up to the second time derivative."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

Slope: TypeAlias = Any  # A gradient has shape (n,), except that a function of time alone has the gradient 0.0.


class Jet:
    """Scalar with its gradient and time derivatives along a motion.

    Parameters
    ----------
    value : float
        The scalar x.
    slope : ndarray, shape (n,), or 0.0
        Gradient of x with respect to the coordinates, or to their rates if x is a velocity.
    rate : float
        First time derivative dx/dt.
    bias : float
        Second time derivative d²x/dt² for zero accelerations of the coordinates.
    """

    __slots__ = ("bias", "rate", "slope", "value")

    def __init__(self, value: float, slope: Slope = 0.0, rate: float = 0.0, bias: float = 0.0) -> None:
        self.value, self.slope, self.rate, self.bias = float(value), slope, float(rate), float(bias)

    def __add__(self, other: Scalar) -> Jet:
        o = jet(other)
        return Jet(self.value + o.value, self.slope + o.slope, self.rate + o.rate, self.bias + o.bias)

    def __mul__(self, other: Scalar) -> Jet:
        o = jet(other)
        return Jet(
            self.value * o.value,
            self.slope * o.value + self.value * o.slope,
            self.rate * o.value + self.value * o.rate,
            self.bias * o.value + 2.0 * self.rate * o.rate + self.value * o.bias,
        )

    def __neg__(self) -> Jet:
        return self * -1.0

    def __sub__(self, other: Scalar) -> Jet:
        return self + jet(other) * -1.0

    def __rsub__(self, other: Scalar) -> Jet:
        return jet(other) - self

    def __truediv__(self, other: Scalar) -> Jet:
        x = jet(other)
        inverse = 1.0 / x.value
        return self * x.through(inverse, -(inverse**2), 2.0 * inverse**3)

    def __rtruediv__(self, other: Scalar) -> Jet:
        return jet(other) / self

    __radd__ = __add__
    __rmul__ = __mul__

    def through(self, f: float, f1: float, f2: float) -> Jet:
        """Return f(x) for the scalar x by the chain rule.

        Parameters
        ----------
        f, f1, f2 : float
            Value, first derivative and second derivative of the function at x.
        """
        return Jet(f, f1 * self.slope, f1 * self.rate, f1 * self.bias + f2 * self.rate**2)

    def at(self, value: float) -> Jet:
        """Return a copy of this scalar with the given value and unchanged derivatives."""
        return Jet(value, self.slope, self.rate, self.bias)


Scalar: TypeAlias = float | Jet


def jet(x: Scalar) -> Jet:
    return x if isinstance(x, Jet) else Jet(x)


def value(x: Scalar) -> float:
    """Return the numerical value of a jet, or the argument itself if it is a number."""
    return x.value if isinstance(x, Jet) else x


def _smooth(
    f: Callable[[float], float], derivatives: Callable[[float, float], tuple[float, float]]
) -> Callable[[Scalar], Scalar]:
    """Extend a differentiable function of numbers to numbers with derivatives (jets).

    Parameters
    ----------
    f : callable
        Function y = f(x).
    derivatives : callable
        First and second derivative of f as functions of x and y.
    """

    def applied(x: Scalar) -> Scalar:
        y = f(value(x))
        return x.through(y, *derivatives(x.value, y)) if isinstance(x, Jet) else y

    return applied


def power(x: Scalar, y: Scalar) -> Scalar:
    if not isinstance(x, Jet) and not isinstance(y, Jet):
        return _real(x, y)
    if isinstance(y, Jet):
        return exp(y * log(x))
    a = value(x)
    first = y * _real(a, y - 1.0) if y != 0.0 else 0.0
    second = y * (y - 1.0) * _real(a, y - 2.0) if y not in (0.0, 1.0) else 0.0
    return jet(x).through(_real(a, y), first, second)


def _real(x: float, y: float) -> float:
    found = math.pow(x, y)
    if not math.isfinite(found):
        raise OverflowError("too large")
    return found


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """Return the polar angle of the point (x, y), rad, in (−π, π]."""
    angle = math.atan2(value(y), value(x))
    if not isinstance(x, Jet) and not isinstance(y, Jet):
        return angle
    is_flat = abs(value(x)) > abs(value(y))
    turned = jet(atan(jet(y) / x) if is_flat else -atan(jet(x) / y))
    return turned.at(angle)


def quintic(x: Scalar, begin: Scalar, end: Scalar, first: Scalar, last: Scalar) -> Scalar:
    """Return a smooth step function of x, which changes from `first` to `last` between `begin` and `end`.

    Between `begin` and `end`, the function is a polynomial of degree 5. The first and second derivatives
    are zero at both ends. The function is constant for x outside of this interval.
    """
    share = (x - begin) / (end - begin)
    tau = min(max(value(share), 0.0), 1.0)
    s = tau**3 * (10.0 + tau * (-15.0 + 6.0 * tau))
    s1 = 30.0 * tau**2 * (tau - 1.0) ** 2
    s2 = 60.0 * tau * (2.0 * tau - 1.0) * (tau - 1.0)
    return first + (last - first) * (share.through(s, s1, s2) if isinstance(share, Jet) else s)


sin = _smooth(math.sin, lambda x, y: (math.cos(x), -y))
cos = _smooth(math.cos, lambda x, y: (-math.sin(x), -y))
tan = _smooth(math.tan, lambda x, y: (1.0 + y * y, 2.0 * y * (1.0 + y * y)))
asin = _smooth(math.asin, lambda x, y: ((1.0 - x * x) ** -0.5, x * (1.0 - x * x) ** -1.5))
acos = _smooth(math.acos, lambda x, y: (-((1.0 - x * x) ** -0.5), -x * (1.0 - x * x) ** -1.5))
atan = _smooth(math.atan, lambda x, y: (1.0 / (1.0 + x * x), -2.0 * x / (1.0 + x * x) ** 2))
sqrt = _smooth(math.sqrt, lambda x, y: (0.5 / y, -0.25 / (x * y)))
exp = _smooth(math.exp, lambda x, y: (y, y))
log = _smooth(math.log, lambda x, y: (1.0 / x, -1.0 / (x * x)))
tanh = _smooth(math.tanh, lambda x, y: (1.0 - y * y, -2.0 * y * (1.0 - y * y)))

FUNCTIONS: dict[str, Callable[..., Scalar]] = {
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "asin": asin,
    "acos": acos,
    "atan": atan,
    "atan2": atan2,
    "sqrt": sqrt,
    "exp": exp,
    "log": log,
    "tanh": tanh,
    "quintic": quintic,
}


def slope(x: Jet, n: int) -> np.ndarray:
    """Return the gradient of a jet (a value with its derivatives) as an array of shape (n,)."""
    return np.broadcast_to(np.asarray(x.slope, dtype=float), (n,))
