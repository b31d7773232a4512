"""Inputs over time: numbers, or lines between points that may jump."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Array


@dataclass(frozen=True)
class Input:
    """A function of time, straight between points; two points of one time are a jump.

    Parameters
    ----------
    time, values : ndarray, shape (N,)
        Points, s and the input's unit; time does not decrease.
    """

    time: Array
    values: Array

    @property
    def breaks(self) -> list[float]:
        """Times of its points, s."""
        return [float(t) for t in self.time]

    def at(self, t: float, instant: float) -> float:
        """Return its value at t, s, by the line that contains `instant`, s."""
        if len(self.time) == 1:
            return float(self.values[0])
        k = int(np.clip(np.searchsorted(self.time, instant, side="right"), 1, len(self.time) - 1))
        while self.time[k] == self.time[k - 1]:
            k -= 1
        (t0, t1), (u0, u1) = self.time[k - 1 : k + 1], self.values[k - 1 : k + 1]
        return float(u0 + (t - t0) / (t1 - t0) * (u1 - u0))


def constant(number: float) -> Input:
    """Return an input that keeps a value."""
    return Input(np.zeros(1), np.array([number]))
