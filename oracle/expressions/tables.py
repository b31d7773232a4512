"""Lookup tables over time with linear, monotone cubic or cubic spline interpolation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator, PPoly

from .jets import Jet, Scalar, value

# An argument may lie outside of a lookup table by this fraction of its range, because of rounding errors.
_ROUNDING = 1e-9


class Lookup:
    """Interpolated function of time.

    Parameters
    ----------
    table : mapping
        Description table with the keys `time`, `value`, `interpolation` and `ends`. `time` and `value`
        have the shape (N,). `interpolation` is `cubic`, `pchip` or `linear`. If `ends` is `rest`, the
        function is constant beyond both ends. If `ends` is `free`, an argument beyond an end is an error.
    """

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.time, values = np.array(table["time"], dtype=float), np.array(table["value"], dtype=float)
        self._ends = float(values[0]), float(values[-1])
        kind, self._is_free = table["interpolation"], table["ends"] == "free"
        self.jumps_inside = kind != "cubic"
        if kind == "linear":
            self._curve = PPoly(np.array([np.diff(values) / np.diff(self.time), values[:-1]]), self.time)
        elif kind == "pchip":
            self._curve = _monotone(self.time, values, self._is_free)
        else:
            self._curve = CubicSpline(self.time, values, bc_type="not-a-knot" if self._is_free else "clamped")
        self._derivatives = [self._curve, self._curve.derivative(1), self._curve.derivative(2)]

    def __call__(self, x: Scalar, near: float) -> Scalar:
        """Return the interpolated value at x.

        Parameters
        ----------
        x : float or Jet
            Argument.
        near : float
            Value of the argument at a time inside the time segment that is being integrated. With
            `ends = "rest"`, this value decides whether the interpolation or the constant value beyond
            an end applies.

        Raises
        ------
        ValueError
            If x is outside a table with `ends = "free"`.
        """
        at, (first, last) = value(x), (float(self.time[0]), float(self.time[-1]))
        margin = _ROUNDING * (last - first)
        if self._is_free and not first - margin <= at <= last + margin:
            raise ValueError(
                f"expected an argument between {first:.9g} and {last:.9g} for the lookup table, found {at:.9g}"
            )
        if not self._is_free and not first <= near < last:
            held = self._ends[near >= last]
            return Jet(held) if isinstance(x, Jet) else held
        f, f1, f2 = (float(curve(at)) for curve in self._derivatives)
        return x.through(f, f1, f2) if isinstance(x, Jet) else f


def _monotone(time: np.ndarray, values: np.ndarray, is_free: bool) -> PPoly:
    """Return the monotone cubic interpolation of N values at given times; both arrays have shape (N,).

    If `is_free` is false, an additional point before the first and after the last time repeats the end
    value, so that the slope at both ends is zero.
    """
    if is_free:
        return PchipInterpolator(time, values)
    length = time[-1] - time[0]
    longer = np.concatenate([[time[0] - length], time, [time[-1] + length]])
    return PchipInterpolator(longer, np.concatenate([values[:1], values, values[-1:]]))
