"""Input signals over time: constants, or piecewise linear functions with jumps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Array


@dataclass(frozen=True)
class Input:
    """Piecewise linear function of time; two points at the same time define a jump.

    Parameters
    ----------
    time, values : ndarray, shape (N,)
        Times, s, in nondecreasing order, and values in the input's unit.
    """

    time: Array
    values: Array

    @property
    def breaks(self) -> list[float]:
        """Times of the interpolation points, s."""
        return [float(t) for t in self.time]

    def at(self, t: float, instant: float) -> float:
        """Return the value at time t, s.

        `instant` is a time, s, inside the time segment that is being integrated. At a jump, it selects the value
        before or after the jump.
        """
        if len(self.time) == 1:
            return float(self.values[0])
        k = int(np.clip(np.searchsorted(self.time, instant, side="right"), 1, len(self.time) - 1))
        while self.time[k] == self.time[k - 1]:
            k -= 1
        (t0, t1), (u0, u1) = self.time[k - 1 : k + 1], self.values[k - 1 : k + 1]
        return float(u0 + (t - t0) / (t1 - t0) * (u1 - u0))


def constant(number: float) -> Input:
    return Input(np.zeros(1), np.array([number]))
