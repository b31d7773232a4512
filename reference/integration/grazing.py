"""Search for relations that change and change back within a step.

Distances of relations from their changes are looked at in the extrema of a Chebyshev polynomial over the step: as
many of them as it takes for the last coefficients of the series through them to be small (Trefethen, Approximation
Theory and Approximation Practice, 2013, chapters 3 and 8). The parabola through three neighbours says where a
distance may be least. That place is looked at, and parabolas through what has been found there go on from it
(successive parabolic interpolation: Brent, Algorithms for Minimization without Derivatives, 1973, chapter 5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.fft import dct

from ...core.trajectory import Array

_LAST = 3  # coefficients of a series, which say how far it is from what it stands for
_SMALL = 1e-3  # of the greatest distance in a step: last coefficients are
_NOISE = 1e-10  # of the greatest distance in a run: the same
_NEAR = 0.5  # of the lesser distance next to it: a least one below is looked at
_LOOKS = 20  # at a least distance; after them it counts as positive
_SHORT = 1e-12  # of the step


def instants(before: float, after: float, count: int) -> Array:
    """Extrema of a Chebyshev polynomial between two times, s, and these, shape (count + 1,)."""
    share = 0.5 - 0.5 * np.cos(np.pi * np.arange(count + 1) / count)
    times = before + (after - before) * share
    times[-1] = after
    return np.asarray(times)


def is_resolved(distances: Array, greatest: Array) -> bool:
    """Whether distances at `instants`, shape (N, m), tell their course between; greatest ones in the run, (m,)."""
    known = distances[:, np.isfinite(distances).all(axis=0)]
    last = np.abs(dct(known, type=1, axis=0)[-_LAST:]).max(axis=0) / (len(known) - 1)
    sizes = np.abs(known).max(axis=0)
    noise = _NOISE * greatest[np.isfinite(distances).all(axis=0)]
    return bool((last <= np.maximum(_SMALL * sizes, noise)).all())


def suspected(times: Array, distances: Array) -> list[tuple[int, int]]:
    """(i, k) where distance k may vanish near instant i, and is there before, at and after it, in their order.

    times      s, shape (N,)
    distances  shape (N, m)
    """
    t, d = (times[:-2, None], times[1:-1, None], times[2:, None]), (distances[:-2], distances[1:-1], distances[2:])
    with np.errstate(all="ignore"):  # of lines, and of conditions without values
        time, least = _vertex(t, d)
        lesser = np.minimum(np.minimum(d[0], d[1]), d[2])
        found = (time > t[0]) & (time < t[2]) & (least < _NEAR * lesser) & (lesser >= 0.0)
    return [(i + 1, k) for i, k in np.argwhere(found).tolist()]


def lowest(distance: Callable[[float], float], times: Sequence[float], distances: Sequence[float]) -> float | None:
    """A time between the outer ones of three, s, at which the distance is below 0; None: there is none."""
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
    """Time and value of the parabola's least point; nan or inf where it has none."""
    first, second = (d[1] - d[0]) / (t[1] - t[0]), (d[2] - d[1]) / (t[2] - t[1])
    curvature = np.asarray((second - first) / (t[2] - t[0]), dtype=float)
    curvature = np.where(curvature > 0.0, curvature, np.nan)
    time = 0.5 * (t[1] + t[2]) - 0.5 * second / curvature
    return time, d[2] + (time - t[2]) * (second + curvature * (time - t[1]))
