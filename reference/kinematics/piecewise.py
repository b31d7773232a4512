"""Inputs given by a table: linear between its instants, with kinks, or jumps, at them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Array

_SAME = 1e-12  # of the function's time span: an instant that is so near has been reached, but for rounding


@dataclass(frozen=True)
class PiecewiseLinear:
    """A function of time, linear between instants and beyond them.

    time    shape (N,), N ≥ 2, s, not decreasing; an instant given twice is a jump
    values  shape (N,)
    """

    time: Array
    values: Array

    def at(self, t: float, since: float) -> float:
        """Value at t, s, of the line that holds where the present time segment began, at `since`, s.

        So an integrator whose stages reach beyond a kink, or whose last one is at a jump, sees a smooth function.
        """
        margin = _SAME * (self.time[-1] - self.time[0])
        after = int(np.searchsorted(self.time, since + margin, side="right"))
        k = self._piece(min(max(after, 1), len(self.time) - 1))
        (t0, t1), (u0, u1) = self.time[k - 1 : k + 1].tolist(), self.values[k - 1 : k + 1].tolist()
        return float(u0 + (t - t0) / (t1 - t0) * (u1 - u0))

    def _piece(self, end: int) -> int:
        """Index of the end of a piece that has a length: `end`, or where that is a jump the last one before it."""
        while self.time[end] == self.time[end - 1]:
            end -= 1
        return end

    def stops(self) -> list[float]:
        """Instants at which an integrator has to stop and start anew, s."""
        return [float(t) for t in self.time]
