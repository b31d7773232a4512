"""Derivative of the right-hand side by the states, kept over several steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core.trajectory import Array

_STEP = 1e-8  # of a state's magnitude
_REQUESTS = 12  # for which one matrix serves: it changes slowly, and Newton's method needs it roughly


class KeptJacobian:
    """Jacobian by forward differences, for an implicit method that asks for it more often than it changes.

    Parameters
    ----------
    rates : callable
        Right-hand side of time, s, and states, shape (N,).
    sizes : ndarray, shape (N,)
        Magnitudes of the states where they are zero.
    """

    def __init__(self, rates: Callable[[float, Array], Array], sizes: Array) -> None:
        self._rates, self._sizes = rates, sizes
        self._kept: Array | None = None
        self._served, self._latest = 0, -np.inf

    def __call__(self, t: float, y: Array) -> Array:
        """Return the matrix, shape (N, N); a new one where a step is tried again."""
        is_again, self._latest = t <= self._latest, t
        if self._kept is None or is_again or self._served >= _REQUESTS:
            self._kept, self._served = self._differences(t, y), 0
        self._served += 1
        return self._kept

    def _differences(self, t: float, y: Array) -> Array:
        at, steps = self._rates(t, y), _STEP * np.maximum(np.abs(y), self._sizes)
        columns = [(self._rates(t, y + step) - at) / step[k] for k, step in enumerate(np.diag(steps))]
        return np.array(columns).T
