"""Search for pairs of events: a switching condition changes and changes back within one step.

Event indicators are sampled at the extrema of a Chebyshev polynomial over the step. The number of
samples is increased until the last coefficients of the interpolating series are small (Trefethen,
Approximation Theory and Approximation Practice, 2013, chapters 3 and 8). The parabola through three
neighbouring samples estimates a minimum of the indicator. Successive parabolic interpolation
refines this estimate (Brent, Algorithms for Minimization without Derivatives, 1973, chapter 5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.fft import dct

from ...core.trajectory import Array

_LAST = 3  # The error of a Chebyshev series is estimated from this many trailing coefficients.
# The error of an indicator's Chebyshev series may reach this fraction of the indicator's peak in the step.
_SMALL = 1e-3
# The error of an indicator's Chebyshev series may reach this fraction of the indicator's peak in the run.
_NOISE = 1e-10
# A minimum is searched for if the vertex of a parabola is below this fraction of the smallest sample.
_NEAR = 0.5
# The search for a negative value near a minimum of an event indicator ends after this many evaluations.
# If no evaluation of an event indicator yields a negative value, the minimum counts as positive.
_LOOKS = 20
# The search for a minimum ends if the search interval is shorter than this fraction of the initial interval.
_SHORT = 1e-12


def instants(before: float, after: float, count: int) -> Array:
    """Return the Chebyshev points of a time span from `before` to `after`, s, shape (count + 1,).

    These points are the extrema of a Chebyshev polynomial, including both ends of the span.
    """
    share = 0.5 - 0.5 * np.cos(np.pi * np.arange(count + 1) / count)
    times = before + (after - before) * share
    times[-1] = after
    return np.asarray(times)


def is_resolved(distances: Array, greatest: Array) -> bool:
    """Whether a polynomial through the samples of the event indicators represents the indicators accurately.

    Parameters
    ----------
    distances : ndarray, shape (N, m)
        Samples of m event indicators at the times that `instants` returns.
    greatest : ndarray, shape (m,)
        Largest magnitude of each indicator in the run so far.
    """
    known = distances[:, np.isfinite(distances).all(axis=0)]
    last = np.abs(dct(known, type=1, axis=0)[-_LAST:]).max(axis=0) / (len(known) - 1)
    sizes = np.abs(known).max(axis=0)
    noise = _NOISE * greatest[np.isfinite(distances).all(axis=0)]
    return bool((last <= np.maximum(_SMALL * sizes, noise)).all())


def suspected(times: Array, distances: Array) -> list[tuple[int, int]]:
    """Return pairs (i, k) such that event indicator k may become zero near sample i, in the order of time.

    The indicator k is nonnegative at sample i and at both neighbouring samples. Times have shape (N,),
    s, and indicators have shape (N, m).
    """
    t, d = (times[:-2, None], times[1:-1, None], times[2:, None]), (distances[:-2], distances[1:-1], distances[2:])
    # A parabola without a minimum has the vertex nan, which needs no NumPy warning.
    with np.errstate(all="ignore"):
        time, least = _vertex(t, d)
        lesser = np.minimum(np.minimum(d[0], d[1]), d[2])
        found = (time > t[0]) & (time < t[2]) & (least < _NEAR * lesser) & (lesser >= 0.0)
    return [(i + 1, k) for i, k in np.argwhere(found).tolist()]


def lowest(distance: Callable[[float], float], times: Sequence[float], distances: Sequence[float]) -> float | None:
    """Return a time at which an event indicator is negative, s, or None if none is found.

    The search starts with three increasing times, s, and the indicator's values there.
    """
    (low, middle, high), values = times, list(distances)
    shortest = _SHORT * (high - low)
    for _ in range(_LOOKS):
        time, least = (float(x) for x in _vertex((low, middle, high), values))
        if not (low < time < high and time != middle and least < _NEAR * values[1]) or high - low < shortest:
            return None
        value = distance(time)
        if value < 0.0:
            return time
        points = sorted([(low, values[0]), (middle, values[1]), (high, values[2]), (time, value)])
        inner = 1 if points[1][1] < points[2][1] else 2
        (low, middle, high), values = (list(part) for part in zip(*points[inner - 1 : inner + 2], strict=True))
    return None


def _vertex(t: Sequence[Array | float], d: Sequence[Array | float]) -> tuple[Array, Array]:
    """Return time and value of the lowest point of a parabola through three points.

    Time and value are nan if the parabola has no lowest point.
    """
    first, second = (d[1] - d[0]) / (t[1] - t[0]), (d[2] - d[1]) / (t[2] - t[1])
    curvature = np.asarray((second - first) / (t[2] - t[0]), dtype=float)
    curvature = np.where(curvature > 0.0, curvature, np.nan)
    time = 0.5 * (t[1] + t[2]) - 0.5 * second / curvature
    return time, d[2] + (time - t[2]) * (second + curvature * (time - t[1]))
