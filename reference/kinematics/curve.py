"""Tables of the description as SciPy evaluates them, with their first two derivatives."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from ...description.tables.table import Table
from .jet import Number, Value, along, plain
from .segment import holds_in_all

_MARGIN = 1e-9  # of the span: how far rounding may lead beyond a table that no run may leave


class Curve:
    """A table as a function.

    first, last   s: its span; before, after: what it holds beyond it
    kinks         times, s, at which an integrator stops
    points        shape (N,), s, where its pieces meet
    rests         whether it is constant beyond its ends, where its second derivative jumps
    """

    def __init__(self, table: Table) -> None:
        time, values = table.points
        self.first, self.last = table.span
        self.before, self.after = table.end_values
        self.is_free = table.ends == "free"
        self.kinks = time.tolist() if table.has_kinks else []
        self.rests = table.interpolation == "cubic" and not self.is_free
        self._holds = table.interpolation == "linear"
        # SciPy makes the spline; to call it for one number takes as long as all else in a right-hand side
        pieces = (
            _lines(time, values)
            if table.interpolation == "linear"
            else CubicSpline(time, values, bc_type="not-a-knot" if self.is_free else "clamped").c
        )
        self.points = time
        self._begins, self._coefficients = time[:-1], pieces
        self._times, self._pieces = time.tolist(), pieces.T.tolist()

    def __call__(self, x: Value) -> Value:
        """Return the table's value; raises ValueError outside of a table that no run may leave."""
        at, margin = plain(x), _MARGIN * (self.last - self.first)
        if self.is_free and not holds_in_all((self.first - margin <= at) & (at <= self.last + margin)):
            farthest = float(
                np.asarray(at).flat[np.argmax(np.abs(np.asarray(at) - 0.5 * (self.first + self.last)))]
            )
            raise ValueError(f"the table goes from {self.first:.9g} to {self.last:.9g} s, got {farthest:.9g} s")
        if self._holds:
            many = isinstance(at, np.ndarray)
            at = np.clip(at, self.first, self.last) if many else min(max(at, self.first), self.last)
        (d, c, b, a), s = self._piece(at)
        return along(x, a + s * (b + s * (c + s * d)), b + s * (2.0 * c + s * 3.0 * d), 2.0 * c + s * 6.0 * d)

    def _piece(self, at: Number) -> tuple[Any, Number]:
        """Coefficients of the cubic at a number or each of many, highest first, and how far in its piece it is."""
        last = len(self._pieces) - 1
        if isinstance(at, np.ndarray):
            each = np.maximum(np.searchsorted(self._begins, at, side="right") - 1, 0)
            return self._coefficients[:, each], at - self._begins[each]
        k = min(max(bisect_right(self._times, at) - 1, 0), last)
        return self._pieces[k], at - self._times[k]


def _lines(time: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coefficients of the lines between points as those of cubics, highest first, shape (4, N − 1)."""
    none = np.zeros(len(time) - 1)
    return np.array([none, none, np.diff(values) / np.diff(time), values[:-1]])
