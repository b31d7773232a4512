"""Decay of constraint violations: Baumgarte's roots, and the straight part of a logarithmic plot."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Array

_LEAST = 5  # samples that make a line
_SCATTER = 0.003  # of the natural logarithm about the line, root mean square: 0.3 % of the value
_DROP = math.log(2.0)  # what stays above half of its first value does not decay
_EQUAL = 1e-6  # of alpha: roots that differ by less count as one, whose formula loses no digits


@dataclass(frozen=True)
class Decay:
    """A straight part of ln(values) over time: values ≈ first·exp(rate·(t − begin)).

    rate in 1/s, negative; begin and end in s; first and last are the line's values at these times.
    """

    rate: float
    begin: float
    end: float
    first: float
    last: float


def baumgarte_roots(alpha: float, beta: float) -> tuple[float, float]:
    """Real parts of the roots of s² + 2αs + β² = 0, the slow one first, 1/s (Jarzębowska et al. 2023, (26)).

    The slow root is −α + √(α² − β²); both are −α where β > α.
    """
    fast = -alpha - cmath.sqrt(alpha**2 - beta**2)
    # By the product of the roots: the formula above loses all digits where β ≪ α.
    slow = beta**2 / fast if fast else 0.0
    return slow.real, fast.real


def free_decay(time: Array, alpha: float, beta: float) -> tuple[Array, Array]:
    """Solutions x and ẋ of ẍ + 2α ẋ + β² x = 0, shape (2, N) each: from x = 1, ẋ = 0, and from x = 0, ẋ = 1."""
    root = cmath.sqrt(alpha**2 - beta**2)
    if abs(root) <= _EQUAL * alpha:  # twice the same root
        left = np.exp(-alpha * time)
        ones = ((1 + alpha * time) * left, -(alpha**2) * time * left)
        return np.array(ones), np.array([time * left, (1 - alpha * time) * left])
    slow, fast = beta**2 / (-alpha - root), -alpha - root
    slowly, quickly, apart = np.exp(slow * time), np.exp(fast * time), slow - fast
    position = np.array([slow * quickly - fast * slowly, slow * fast * (quickly - slowly)]) / apart
    velocity = np.array([slowly - quickly, slow * slowly - fast * quickly]) / apart
    return position.real, velocity.real


def straight_part(time: Array, values: Array, begin: float) -> Decay | None:
    """Longest part from `begin` (s) on where the logarithm falls along a straight line; None if there is none.

    Least squares; straight means that the values scatter about the line by 0.3 % (root mean square), and that
    they fall to less than half over five samples or more. Shapes (N,): s, and any unit; zeros are left out.
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
    """Slope, value at t = 0 and scatter of the line through the first 1, 2, …, N samples, each of shape (N,)."""
    count = np.arange(1, len(t) + 1)
    mean_t, mean_y = np.cumsum(t) / count, np.cumsum(y) / count
    tt, ty, yy = (np.cumsum(product) / count for product in (t * t, t * y, y * y))
    tt, ty, yy = tt - mean_t**2, ty - mean_t * mean_y, yy - mean_y**2
    slope = np.divide(ty, tt, out=np.zeros_like(ty), where=tt > 0)
    return slope, mean_y - slope * mean_t, np.sqrt(np.maximum(yy - slope * ty, 0.0))
