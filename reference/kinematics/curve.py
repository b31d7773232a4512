"""Evaluation of the description's lookup tables, with first and second time derivatives.

SciPy computes the coefficients of cubic splines.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicHermiteSpline, CubicSpline, PchipInterpolator

from ...description.tables.table import Table
from .jet import Number, Value, along, plain
from .segment import holds_in_all

# Times may exceed the ends of a lookup table by this fraction of its time span, because of rounding errors.
_MARGIN = 1e-9


class Curve:
    """Lookup table as a function of time: piecewise linear, a monotone cubic or a cubic spline.

    Attributes
    ----------
    first, last : float
        Ends of the table's time span, s.
    before, after : float
        Constant value before the table's first point, and constant value after the last point.
    kinks : list of float
        Times, s, at which the first or second derivative jumps. An integrator ends a step there.
    points : ndarray, shape (N,)
        Times of the table's points, where its polynomial pieces meet, s.
    rests : bool
        Whether the table is cubic and continues with a constant beyond its ends. The second derivative
        of such a table jumps at both ends.
    """

    def __init__(self, table: Table) -> None:
        time, values = table.points
        self.first, self.last = table.span
        self.before, self.after = table.end_values
        self.is_free = table.ends == "free"
        self.kinks = time.tolist() if table.has_kinks else []
        self.rests = table.interpolation != "linear" and not self.is_free
        self._holds = table.interpolation == "linear"
        # SciPy computes only the spline's coefficients, because SciPy's evaluation at a single time is slow.
        pieces = _PIECES[table.interpolation](time, values, self.is_free)
        self.points = time
        self._begins, self._coefficients = time[:-1], pieces
        self._times, self._pieces = time.tolist(), pieces.T.tolist()

    def __call__(self, x: Value) -> Value:
        """Return the table's value at time x, as a number, an array or a jet with derivatives.

        Raises
        ------
        ValueError
            If x lies outside of the table's time span, and the table is not continued beyond its ends.
        """
        at, margin = plain(x), _MARGIN * (self.last - self.first)
        if self.is_free and not holds_in_all((self.first - margin <= at) & (at <= self.last + margin)):
            farthest = float(
                np.asarray(at).flat[np.argmax(np.abs(np.asarray(at) - 0.5 * (self.first + self.last)))]
            )
            raise ValueError(
                f"expected a time within the table, from {self.first:.9g} to {self.last:.9g} s,"
                f" found {farthest:.9g} s"
            )
        if self._holds:
            many = isinstance(at, np.ndarray)
            at = np.clip(at, self.first, self.last) if many else min(max(at, self.first), self.last)
        (d, c, b, a), s = self._piece(at)
        return along(x, a + s * (b + s * (c + s * d)), b + s * (2.0 * c + s * 3.0 * d), 2.0 * c + s * 6.0 * d)

    def _piece(self, at: Number) -> tuple[Any, Number]:
        """Return the coefficients of the polynomial piece at a time, and the time since the piece began, s.

        The coefficient of the highest power comes first. The argument is one time or an array of times, s.
        """
        last = len(self._pieces) - 1
        if isinstance(at, np.ndarray):
            each = np.maximum(np.searchsorted(self._begins, at, side="right") - 1, 0)
            return self._coefficients[:, each], at - self._begins[each]
        k = min(max(bisect_right(self._times, at) - 1, 0), last)
        return self._pieces[k], at - self._times[k]


Numbers: TypeAlias = NDArray[np.float64]


def _spline(time: Numbers, values: Numbers, is_free: bool) -> Numbers:
    return np.asarray(CubicSpline(time, values, bc_type="not-a-knot" if is_free else "clamped").c)


def _monotone(time: Numbers, values: Numbers, is_free: bool) -> Numbers:
    slopes = PchipInterpolator(time, values)(time, 1)
    if not is_free:
        slopes[[0, -1]] = 0.0
    return np.asarray(CubicHermiteSpline(time, values, slopes).c)


def _lines(time: Numbers, values: Numbers, is_free: bool) -> Numbers:
    none = np.zeros(len(time) - 1)
    return np.array([none, none, np.diff(values) / np.diff(time), values[:-1]])


# Each function returns the coefficients of cubic polynomials, highest power first, shape (4, N − 1) for N points.
_PIECES = {"cubic": _spline, "pchip": _monotone, "linear": _lines}
