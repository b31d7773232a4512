"""Decay of constraint violations: characteristic roots, and fitted decay rates.

The characteristic roots are those of Baumgarte stabilisation.
"""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Array

_LEAST = 5  # A fit of an exponential decay requires at least this many samples.
# A decay is exponential if its logarithm deviates from a line by at most this root-mean-square value.
_SCATTER = 0.003
# A signal counts as decaying if its logarithm decreases by at least log 2, i.e. if the signal halves.
_DROP = math.log(2.0)
_EQUAL = 1e-6  # The characteristic roots −α ± d count as a double root if |d| is at most this fraction of α.


@dataclass(frozen=True)
class Decay:
    """Exponential part of a decay: values ≈ first·exp(rate·(t − begin)).

    Parameters
    ----------
    rate : float
        Decay rate, 1/s, negative.
    begin, end : float
        Time span of the fit, s.
    first, last : float
        Fitted values at the beginning and the end.
    """

    rate: float
    begin: float
    end: float
    first: float
    last: float


def baumgarte_roots(alpha: float, beta: float) -> tuple[float, float]:
    """Return the real parts of the roots of s² + 2αs + β² = 0, the slow one first, 1/s.

    For α ≥ β, the slow root is −α + √(α² − β²). For α < β, both real parts are −α (Jarzębowska et
    al. 2023, equation 26).
    """
    fast = -alpha - cmath.sqrt(alpha**2 - beta**2)
    # For β ≪ α, −α + √(α² − β²) would lose all digits, so the slow root is β² divided by the fast root.
    slow = beta**2 / fast if fast else 0.0
    return slow.real, fast.real


def free_decay(time: Array, alpha: float, beta: float) -> tuple[Array, Array]:
    """Return the solutions of ẍ + 2α ẋ + β² x = 0 for unit initial values.

    Parameters
    ----------
    time : ndarray, shape (N,)
        Times, s.
    alpha, beta : float
        Parameters of Baumgarte stabilisation, 1/s.

    Returns
    -------
    position, velocity : ndarray, shape (2, N)
        x and ẋ for x(0) = 1, ẋ(0) = 0, and for x(0) = 0, ẋ(0) = 1.
    """
    root = cmath.sqrt(alpha**2 - beta**2)
    if abs(root) <= _EQUAL * alpha:
        left = np.exp(-alpha * time)
        ones = ((1 + alpha * time) * left, -(alpha**2) * time * left)
        return np.array(ones), np.array([time * left, (1 - alpha * time) * left])
    slow, fast = beta**2 / (-alpha - root), -alpha - root
    slowly, quickly, apart = np.exp(slow * time), np.exp(fast * time), slow - fast
    position = np.array([slow * quickly - fast * slowly, slow * fast * (quickly - slowly)]) / apart
    velocity = np.array([slowly - quickly, slow * slowly - fast * quickly]) / apart
    return position.real, velocity.real


def straight_part(time: Array, values: Array, begin: float) -> Decay | None:
    """Fit an exponential decay to the longest possible initial part of a signal, or return None.

    A straight line is fitted to the logarithm by least squares. The root-mean-square deviation of the
    logarithm must be at most 0.003. The initial part must contain at least five samples, and the fitted
    values must fall to at most half over this part. Otherwise, the result is None.

    Parameters
    ----------
    time, values : ndarray, shape (N,)
        Times, s, and positive values; zeros are ignored.
    begin : float
        Time at which the fit begins, s.
    """
    kept = (time >= begin) & (values > 0)
    t, y = time[kept], np.log(values[kept])
    if len(t) < _LEAST:
        return None
    slope, level, scatter = _lines(t - t[0], y - y[0])
    straight = scatter[_LEAST - 1 :] <= _SCATTER
    if not straight.any():
        return None
    end = _LEAST - 1 + int(np.flatnonzero(straight)[-1])
    rate, span = float(slope[end]), float(t[end] - t[0])
    if -rate * span < _DROP:
        return None
    first = math.exp(y[0] + level[end])
    return Decay(rate, float(t[0]), float(t[end]), first, first * math.exp(rate * span))


def _lines(t: Array, y: Array) -> tuple[Array, Array, Array]:
    """Fit N regression lines: line k is fitted to the first k of N samples.

    The three results have shape (N,): slopes, values at t = 0, and root-mean-square deviations.
    """
    count = np.arange(1, len(t) + 1)
    mean_t, mean_y = np.cumsum(t) / count, np.cumsum(y) / count
    tt, ty, yy = (np.cumsum(product) / count for product in (t * t, t * y, y * y))
    tt, ty, yy = tt - mean_t**2, ty - mean_t * mean_y, yy - mean_y**2
    slope = np.divide(ty, tt, out=np.zeros_like(ty), where=tt > 0)
    return slope, mean_y - slope * mean_t, np.sqrt(np.maximum(yy - slope * ty, 0.0))
