"""Relations that change and change back within one step: what both ends of it do not show.

The parabola through the distances at the ends of this step and the one before, or at the ends and in the middle of
the first one after an event, says where the distance may be least. That place is looked at, and parabolas through
what has been found there go on from it (successive parabolic interpolation: Brent, Algorithms for Minimization
without Derivatives, 1973, chapter 5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_NEAR = (
    0.5  # of the lesser distance at a step's ends, of the one in the middle later: a least one below is looked at
)
_BESIDE = 0.25  # of the step: how far from it the least distance may seem to be
_LOOKS = 20
_SHORT = 1e-12  # of the step


def suspected(places: Sequence[tuple[float, Array]], before: float) -> list[int]:
    """Indices of distances that may have vanished in a step, and are there again at its end.

    places  three times, s, the last of them the step's end, with the distances there, shape (m,) each
    before  s, the begin of the step
    """
    times, (d0, d1, d2) = zip(*places, strict=True)
    beside = _BESIDE * (times[2] - before)
    with np.errstate(all="ignore"):  # of lines, and of conditions without values
        time, least = _vertex(times, (d0, d1, d2))
        is_near = (time > before - beside) & (time < times[2] + beside) & (least < _NEAR * np.minimum(d1, d2))
    return np.flatnonzero((is_near | (d1 < 0.0)) & (d2 >= 0.0)).tolist()


def lowest(distance: Callable[[float], float], before: float, after: float) -> float | None:
    """A time between both, s, at which the distance is below 0; None: there is none."""
    (low, high), middle = (before, after), 0.5 * (before + after)
    values = [distance(t) for t in (low, middle, high)]
    for _ in range(_LOOKS):
        if values[1] < 0.0:
            return middle
        time, least = (float(x) for x in _vertex((low, middle, high), values))
        if not (low < time < high and least < _NEAR * values[1]) or high - low < _SHORT * (after - before):
            return None
        value = distance(time)
        points = sorted([(low, values[0]), (middle, values[1]), (high, values[2]), (time, value)])
        inner = 1 if points[1][1] < points[2][1] else 2
        (low, middle, high), values = (list(part) for part in zip(*points[inner - 1 : inner + 2], strict=True))
    return None


def _vertex(t: Sequence[float], d: Sequence[Array | float]) -> tuple[Array, Array]:
    """Time and value of the parabola's least point; nan or inf where it has none."""
    first, second = (d[1] - d[0]) / (t[1] - t[0]), (d[2] - d[1]) / (t[2] - t[1])
    curvature = np.asarray((second - first) / (t[2] - t[0]), dtype=float)
    curvature = np.where(curvature > 0.0, curvature, np.nan)
    time = 0.5 * (t[1] + t[2]) - 0.5 * second / curvature
    return time, d[2] + (time - t[2]) * (second + curvature * (time - t[1]))
