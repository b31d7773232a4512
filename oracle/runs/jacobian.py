"""Finite-difference Jacobian of the right-hand side, reused over several steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core.trajectory import Array

_STEP = 1e-8  # Finite differences change a state variable by this fraction of its magnitude.
# The Jacobian is recomputed after this many uses; Newton's method also converges with an old Jacobian.
_REQUESTS = 12


class KeptJacobian:
    """Forward-difference Jacobian that is reused for several requests of an implicit integrator.

    Parameters
    ----------
    rates : callable
        Right-hand side as a function of time, s, and states, shape (N,).
    sizes : ndarray, shape (N,)
        Lower bounds of the states' magnitudes for the choice of difference steps.
    """

    def __init__(self, rates: Callable[[float, Array], Array], sizes: Array) -> None:
        self._rates, self._sizes = rates, sizes
        self._kept: Array | None = None
        self._served, self._latest = 0, -np.inf

    def __call__(self, t: float, y: Array) -> Array:
        """Return the Jacobian, shape (N, N).

        The Jacobian is recomputed after a fixed number of requests, or if the integrator repeats a
        step.
        """
        is_again, self._latest = t <= self._latest, t
        if self._kept is None or is_again or self._served >= _REQUESTS:
            self._kept, self._served = self._differences(t, y), 0
        self._served += 1
        return self._kept

    def _differences(self, t: float, y: Array) -> Array:
        at, steps = self._rates(t, y), _STEP * np.maximum(np.abs(y), self._sizes)
        columns = [(self._rates(t, y + step) - at) / step[k] for k, step in enumerate(np.diag(steps))]
        return np.array(columns).T
