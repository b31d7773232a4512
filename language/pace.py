"""Longest steps over time that resolve what functions of time do, however short a pulse is.

The step-size control of an integrator sees a function at its stages alone: at rest, a step may cross a blow of
some milliseconds. Here the time is cut into intervals, in each of which the function is straight or a polynomial
of degree 4, except for a small part of what it deviates from a straight line there. No step is longer than the
interval in which it begins, nor does it reach further into a later one than that one is long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

CELLS = 2**19  # of the searched time: what lasts a hundred-thousandth of it is met by several samples
_FEW = 65  # samples of a polynomial between two breakpoints
_NODES = 5  # of the polynomial of degree 4
_RESOLVED = 0.01  # of what a function deviates from a straight line in an interval: what the polynomial may leave
_QUIET = 1e-7  # of the function's range: smaller deviations from a straight line are nothing
_AWAKE = 4  # intervals of one length, after which a step-size control has adapted itself to it
_SCATTER = 0.8  # of a sample's distance: how far it is moved
_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0  # multiples of it are evenly spread over a unit, and never repeat
_UNRESOLVED = 0.01  # of the searched time: jumps and single narrow features take less of it
_SAME = 1e-9  # of the times: what differs by less is one time
_MEMORY = 16.0  # of an interval's length: how far back this is looked for


@dataclass(frozen=True)
class Pace:
    """Longest steps, by intervals.

    Parameters
    ----------
    begins : ndarray, shape (K,)
        Where intervals begin, s, increasing; the first one holds before its begin, too.
    bounds : ndarray, shape (K,)
        Longest step in each, s; infinite where nothing ever happens.
    known : ndarray, shape (L,)
        Times, s, at which solvers stop anyhow, or at which nothing can be missed.
    is_resolved : bool
        False if a function changes faster than it was searched, so that something may be missed.
    """

    begins: Array
    bounds: Array
    known: Array = field(default_factory=lambda: np.zeros(0))
    is_resolved: bool = True

    @property
    def is_steady(self) -> bool:
        """Whether any step is short enough."""
        return not bool(np.isfinite(self.bounds).any())

    @cached_property
    def following(self) -> Array:
        """Latest end, s, of a step from each interval, by the intervals after it; shape (K,)."""
        latest = np.minimum.accumulate((self.begins + self.bounds)[::-1])[::-1]
        return np.append(latest[1:], np.inf)

    @cached_property
    def marks(self) -> NDArray[np.bool_]:
        """Whether an interval begins something that a solver which has adapted itself to longer ones may miss."""
        found = np.zeros(len(self.begins), dtype=bool)
        margin = _SAME * float(np.abs(self.begins).max())
        for k in range(1, len(self.begins)):
            bound = float(self.bounds[k])
            first = int(np.searchsorted(self.begins, self.begins[k] - _MEMORY * bound))
            wakes = np.count_nonzero(self.bounds[first:k] <= 2.0 * bound) < _AWAKE
            found[k] = wakes and not np.any(np.abs(self.known - self.begins[k]) <= margin)
        return found

    def end(self, t: float) -> float:
        """Latest end, s, of a step from the time t, s."""
        k = max(int(np.searchsorted(self.begins, t, side="right")) - 1, 0)
        return min(t + float(self.bounds[k]), float(self.following[k]))

    def pieces(self, begin: float, end: float) -> Iterator[tuple[float, float]]:
        """The intervals between two times, s: begins and ends."""
        inside = self.begins[(self.begins > begin) & (self.begins < end)].tolist()
        return pairwise([begin, *inside, end])

    def refined(self, times: Sequence[float]) -> Iterator[float]:
        """Increasing times, s, and further ones between them, so that no step is too long."""
        yield times[0]
        for begin, end in pairwise(times):
            t = begin
            while t < end:
                t = min(self.end(t), end)
                yield t


STEADY = Pace(np.zeros(1), np.full(1, np.inf))


def merged(paces: Sequence[Pace]) -> Pace:
    """The pace that all of them allow."""
    moving = [pace for pace in paces if not pace.is_steady]
    if not moving:
        return STEADY
    begins = np.unique(np.concatenate([pace.begins for pace in moving]))
    each = [pace.bounds[np.maximum(np.searchsorted(pace.begins, begins, side="right") - 1, 0)] for pace in moving]
    return Pace(
        begins,
        np.min(each, axis=0),
        np.concatenate([pace.known for pace in moving]),
        all(pace.is_resolved for pace in moving),
    )


def searched(
    function: Callable[[Array, float], Array],
    span: tuple[float, float],
    breaks: Sequence[float],
    *,
    smooth: bool,
    points: Sequence[float] = (),
) -> Pace:
    """Pace of a function of time.

    Parameters
    ----------
    function : callable
        Values at times of shape (N,), s, of a piece that begins at a time, s.
    span : tuple of float
        Time that is searched, s.
    breaks : sequence of float
        Times, s, at which solvers stop anyhow; the function is smooth between them.
    smooth : bool
        Whether it is a polynomial between the breaks and points, which has no pulses.
    points : sequence of float
        Further times, s, to look at.
    """
    inside = sorted({time for time in breaks if span[0] < time < span[1]})
    known = np.unique(np.asarray(points, dtype=float))
    pieces = []
    for begin, end in pairwise([span[0], *inside, span[1]]):
        count = _FEW if smooth else max(int(CELLS * (end - begin) / (span[1] - span[0])), _FEW - 1) + 1
        further = known[(known > begin) & (known < end)]
        time = np.unique(np.concatenate([_scattered(begin, end, count), further]))
        pieces.append((time, np.asarray(function(time, begin), dtype=float)))
    values = np.concatenate([found for _, found in pieces])
    allowed = _QUIET * float(np.ptp(values))
    intervals = [cut for time, found in pieces for cut in _cut(time, found, allowed)]
    found_pace = _paced(intervals, allowed)
    unresolved = sum(cut.end - cut.begin for cut in intervals if not cut.is_resolved)
    return replace(
        found_pace,
        known=found_pace.begins if smooth else np.array(inside),
        is_resolved=unresolved <= _UNRESOLVED * (span[1] - span[0]),
    )


def _scattered(begin: float, end: float, count: int) -> Array:
    """Times between two, s, at irregular distances, so that no fast oscillation looks like a slow one."""
    index = np.arange(count, dtype=float)
    index[1:-1] += _SCATTER * (np.mod(_GOLDEN * index[1:-1], 1.0) - 0.5)
    return np.asarray(begin + (end - begin) * index / (count - 1))


def sampled(time: Array, values: Array) -> Pace:
    """Pace of a function that is known at enough points, shape (N,) each: a few of each piece of a spline."""
    allowed = _QUIET * float(np.ptp(values))
    return _paced([*_cut(time, values, allowed)], allowed)


@dataclass(frozen=True)
class _Interval:
    """Part of the time, s; slope of a straight line there, or None; whether the samples show the function."""

    begin: float
    end: float
    slope: float | None
    is_resolved: bool = True


def _cut(time: Array, values: Array, allowed: float) -> Iterator[_Interval]:
    """Intervals of one piece, in each of which the function is straight, or simple enough for one step."""
    waiting = [(0, len(time) - 1)]
    while waiting:
        first, last = waiting.pop()
        part = slice(first, last + 1)
        begin, end = float(time[first]), float(time[last])
        bent = _bent(time[part], values[part])
        spread = float(np.ptp(bent))
        if spread <= allowed:
            yield _Interval(begin, end, float(values[last] - values[first]) / (end - begin))
        elif last - first < _NODES:
            yield _Interval(begin, end, None, is_resolved=False)
        elif _deviation(time[part], bent) <= max(allowed, _RESOLVED * spread):
            yield _Interval(begin, end, None)
        else:
            middle = (first + last) // 2
            waiting += [(middle, last), (first, middle)]


def _paced(intervals: Sequence[_Interval], allowed: float) -> Pace:
    """Steps as long as intervals; of a single straight one any."""
    kept = [intervals[0]]
    for interval in intervals[1:]:
        if _goes_on(kept[-1], interval, allowed):
            kept[-1] = _Interval(kept[-1].begin, interval.end, kept[-1].slope)
        else:
            kept.append(interval)
    if len(kept) == 1 and kept[0].slope is not None:
        return STEADY
    return Pace(np.array([each.begin for each in kept]), np.array([each.end - each.begin for each in kept]))


def _goes_on(before: _Interval, after: _Interval, allowed: float) -> bool:
    """Whether a straight line has no kink between two intervals."""
    if before.slope is None or after.slope is None:
        return False
    return abs(after.slope - before.slope) * (after.end - after.begin) <= allowed


def _bent(time: Array, values: Array) -> Array:
    """Deviation from the straight line between both ends."""
    share = (time - time[0]) / (time[-1] - time[0])
    return np.asarray(values - values[0] - share * (values[-1] - values[0]))


def _deviation(time: Array, values: Array) -> float:
    """From the polynomial through some of the points, evenly chosen."""
    nodes = np.linspace(0, len(time) - 1, _NODES).round().astype(int)
    x = (time - time[0]) / (time[-1] - time[0])
    found = np.zeros_like(values)
    for i in nodes:
        others = [x[j] for j in nodes if j != i]
        found += values[i] * np.prod([(x - other) / (x[i] - other) for other in others], axis=0)
    return float(np.abs(found - values).max())
