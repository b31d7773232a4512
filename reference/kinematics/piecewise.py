"""Inputs as piecewise linear functions of time, from tables of values.

The functions have kinks and jumps only at the times in the table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Array

# Two times count as equal if they differ by at most this fraction of the function's time span.
_SAME = 1e-12


@dataclass(frozen=True)
class PiecewiseLinear:
    """Piecewise linear function of time, extrapolated linearly beyond both ends.

    Attributes
    ----------
    time : ndarray, shape (N,)
        Times of the points, s, N ≥ 2, not decreasing. A repeated time is a jump.
    values : ndarray, shape (N,)
        Function values at these times.
    """

    time: Array
    values: Array

    def at(self, t: float, since: float) -> float:
        """Return the function value at time `t` on the linear piece that begins at or contains time `since`.

        The argument `since` is the beginning of the current time segment; both times are in s. The choice
        of the piece does not depend on t. An integrator therefore sees a smooth function even if its
        stages reach beyond a kink or a jump.
        """
        margin = _SAME * (self.time[-1] - self.time[0])
        after = int(np.searchsorted(self.time, since + margin, side="right"))
        k = self._piece(min(max(after, 1), len(self.time) - 1))
        (t0, t1), (u0, u1) = self.time[k - 1 : k + 1].tolist(), self.values[k - 1 : k + 1].tolist()
        return float(u0 + (t - t0) / (t1 - t0) * (u1 - u0))

    def _piece(self, end: int) -> int:
        """Return the index of the first table point that has the same time as the point `end`.

        At a jump, several points have the same time. The linear piece before the jump ends at the first
        of these points.
        """
        while self.time[end] == self.time[end - 1]:
            end -= 1
        return end

    def stops(self) -> list[float]:
        """Return the times at which an integrator has to stop and restart, s."""
        return [float(t) for t in self.time]
