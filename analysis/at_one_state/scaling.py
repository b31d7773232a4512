"""Scales of the states of a linear model, so that thresholds do not depend on units."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...core.trajectory import Array

_SWEEPS = 50  # largest number of passes over all states
_SETTLED = 0.1  # a scale is settled if it changes by less than this fraction


def fastest_rate(A: Array) -> float:
    """Return the largest magnitude of an eigenvalue of a state matrix, 1/s, or 1 per second if that is larger."""
    return max(1.0, float(np.abs(np.linalg.eigvals(A)).max(initial=0.0)))


def state_scales(A: Array, rates: NDArray[np.bool_], coordinates: NDArray[np.bool_]) -> Array:
    """Return the scale of each state for a comparison of the entries of a state matrix.

    The scaled matrix is A[i, j] s[j]/s[i] with the scales s. The scale of a coordinate is 1, and the
    scale of a velocity is the largest |λ| of the matrix. The scale of another state k, such as the
    integral of a controller, balances the scaled matrix: row k and column k have equal largest
    magnitudes outside of the diagonal. The scaled matrix therefore depends neither on the unit of mass
    nor on that of an effort.

    Parameters
    ----------
    A : ndarray, shape (k, k)
        State matrix.
    rates, coordinates : ndarray of bool, shape (k,)
        Whether each state is a velocity of a coordinate, and whether the state is a coordinate.
    """
    fastest = fastest_rate(A)
    scales = np.where(rates & ~coordinates, fastest, 1.0)
    others = np.flatnonzero(~rates & ~coordinates).tolist()
    for _ in range(_SWEEPS):
        factors = [_rescaled(A, scales, k, fastest) for k in others]
        if all(abs(factor - 1.0) < _SETTLED for factor in factors):
            break
    return scales


def _rescaled(A: Array, scales: Array, k: int, fastest: float) -> float:
    """Change the scale of state k in place, and return the factor of the change."""
    others = np.arange(len(A)) != k
    onto = float(np.abs(A[k, others] * scales[others]).max(initial=0.0)) / scales[k]
    influence = float(np.abs(A[others, k] / scales[others]).max(initial=0.0)) * scales[k]
    factor = 1.0
    if onto and influence:
        factor = np.sqrt(onto / influence)
    elif onto or influence:
        factor = onto / fastest if onto else fastest / influence
    scales[k] *= factor
    return float(factor)
