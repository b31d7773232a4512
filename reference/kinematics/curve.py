"""Tables of the description as SciPy evaluates them, with their first two derivatives."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.interpolate import CubicSpline

from ...generator.description.tables.table import Table
from .jet import Value, along, plain

_MARGIN = 1e-9  # of the span: how far rounding may lead beyond a table that no run may leave


class Curve:
    """A table as a function.

    first, last   s: its span; before, after: what it holds beyond it
    kinks         times, s, at which an integrator stops
    rests         whether it is constant beyond its ends, where its second derivative jumps
    """

    def __init__(self, table: Table) -> None:
        time, values = table.points
        self.first, self.last = table.span
        self.before, self.after = table.end_values
        self.is_free = table.ends == "free"
        self.kinks = time.tolist() if table.has_kinks else []
        self.rests = table.interpolation == "cubic" and not self.is_free
        if table.interpolation == "linear":
            self._derivatives: list[Callable[[float], float]] = [
                lambda x: float(np.interp(x, time, values)),
                lambda x: 0.0,  # nothing asks for it
                lambda x: 0.0,
            ]
        else:
            spline = CubicSpline(time, values, bc_type="not-a-knot" if self.is_free else "clamped")
            self._derivatives = [partial(_value, spline, k) for k in range(3)]

    def __call__(self, x: Value) -> Value:
        """Its value; raises ValueError outside of a table that no run may leave."""
        at, margin = plain(x), _MARGIN * (self.last - self.first)
        if self.is_free and not self.first - margin <= at <= self.last + margin:
            raise ValueError(f"the table goes from {self.first:.9g} to {self.last:.9g} s, got {at:.9g} s")
        return along(x, *(derivative(at) for derivative in self._derivatives))


def _value(spline: CubicSpline, order: int, x: float) -> float:
    return float(spline(x, order))
