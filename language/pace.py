"""Largest integration steps as a function of time, with which integrators resolve very short pulses.

The step-size control of an integrator evaluates a function at few times per step. A step of a
mechanism at rest could therefore skip an impact of a few milliseconds. The time is divided into
intervals in which the function is linear or close to a polynomial of degree 4. No step is longer
than the interval in which the step begins. A step may extend into the next interval, but not beyond
the end of the next interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# A function is sampled at this number of times; a pulse of 1/100,000 of the searched time span contains 5 samples.
CELLS = 2**19
_FEW = 65  # A polynomial between two breakpoints is sampled at this number of times.
_NODES = 5  # An interpolating polynomial of degree 4 has this number of nodes.
# The interpolation error is admissible up to this fraction of the function's deviation from a straight line.
_RESOLVED = 0.01
# A function is linear in an interval if its deviation from a line is below this fraction of the function's range.
_QUIET = 1e-7
# After this number of intervals of similar length, the step-size control of an integrator has adapted its step.
_AWAKE = 4
# Samples are shifted from an equidistant grid by at most this fraction of half the grid spacing.
_SCATTER = 0.8
# The fractional parts of multiples of the golden ratio are nearly evenly distributed in [0, 1].
_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
# The samples resolve a function if unresolved intervals cover at most this fraction of the searched time span.
_UNRESOLVED = 0.01
_SAME = 1e-9  # Two times count as equal if their relative difference is at most this value.
# After a short step, the step-size control of an integrator needs about this many step lengths to take long steps.
_MEMORY = 16.0


@dataclass(frozen=True)
class Pace:
    """Largest admissible integration step as a function of time, given in intervals.

    Parameters
    ----------
    begins : ndarray, shape (K,)
        Beginning of each interval, s, in ascending order. The first interval also covers all earlier
        times.
    bounds : ndarray, shape (K,)
        Longest admissible step in each interval, s; infinite if there is no limit.
    known : ndarray, shape (L,)
        Beginnings of intervals that are not marked in `marks`, s. Either solvers end a step at such a
        time in any case, or no feature that a solver can miss begins there.
    is_resolved : bool
        False if a function changes faster than the search samples it, so that a feature can be missed.
    """

    begins: Array
    bounds: Array
    known: Array = field(default_factory=lambda: np.zeros(0))
    is_resolved: bool = True

    @property
    def is_steady(self) -> bool:
        """Whether steps of any length resolve the function, so that no interval has a step limit."""
        return not bool(np.isfinite(self.bounds).any())

    @cached_property
    def following(self) -> Array:
        """Latest end time, s, that later intervals admit for a step, shape (K,).

        Element k applies to steps that begin in interval k. It follows from the step limits of all
        intervals after interval k.
        """
        latest = np.minimum.accumulate((self.begins + self.bounds)[::-1])[::-1]
        return np.append(latest[1:], np.inf)

    @cached_property
    def marks(self) -> NDArray[np.bool_]:
        """Boolean array, shape (K,): whether interval k begins with a short pulse that a solver can miss.

        A solver can miss a pulse if its steps before the pulse are longer than the pulse.
        """
        found = np.zeros(len(self.begins), dtype=bool)
        margin = _SAME * float(np.abs(self.begins).max())
        for k in range(1, len(self.begins)):
            bound = float(self.bounds[k])
            first = int(np.searchsorted(self.begins, self.begins[k] - _MEMORY * bound))
            wakes = np.count_nonzero(self.bounds[first:k] <= 2.0 * bound) < _AWAKE
            found[k] = wakes and not np.any(np.abs(self.known - self.begins[k]) <= margin)
        return found

    def end(self, t: float) -> float:
        """Return the latest admissible end, s, of an integration step that begins at time t, s."""
        k = max(int(np.searchsorted(self.begins, t, side="right")) - 1, 0)
        return min(t + float(self.bounds[k]), float(self.following[k]))

    def pieces(self, begin: float, end: float) -> Iterator[tuple[float, float]]:
        """Yield the start and end, s, of all intervals in the time span from `begin` to `end`.

        The first interval starts at `begin`, and the last interval ends at `end`.
        """
        inside = self.begins[(self.begins > begin) & (self.begins < end)].tolist()
        return pairwise([begin, *inside, end])

    def refined(self, times: Sequence[float]) -> Iterator[float]:
        """Yield the given times, s, and intermediate times, such that all steps between them are admissible.

        The times are in ascending order.
        """
        yield times[0]
        for begin, end in pairwise(times):
            t = begin
            while t < end:
                t = min(self.end(t), end)
                yield t


STEADY = Pace(np.zeros(1), np.full(1, np.inf))


def merged(paces: Sequence[Pace]) -> Pace:
    """Combine the step limits of several functions: at each time, the smallest limit applies."""
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
    """Return the step lengths that resolve a function of time, determined from samples of the function.

    Parameters
    ----------
    function : callable
        Function with two arguments. The first contains times, shape (N,), s. The second is the
        beginning of the smooth piece that contains these times, s.
    span : tuple of float
        Begin and end of the time span in which features are searched for, s.
    breaks : sequence of float
        Times, s, at which solvers end a step in any case. Between these times the function is smooth.
    smooth : bool
        Whether the function is a polynomial between breaks and points. A polynomial has no short
        pulses.
    points : sequence of float
        Additional sample times, s.
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
    """Return irregularly spaced times between two times, s.

    With regular spacing, a fast oscillation could have equal values at all samples (aliasing).
    """
    index = np.arange(count, dtype=float)
    index[1:-1] += _SCATTER * (np.mod(_GOLDEN * index[1:-1], 1.0) - 0.5)
    return np.asarray(begin + (end - begin) * index / (count - 1))


def sampled(time: Array, values: Array) -> Pace:
    """Return the longest steps with which an integrator resolves a function that is given by samples.

    Arguments and values have shape (N,) each. The samples must be sufficiently dense.
    """
    allowed = _QUIET * float(np.ptp(values))
    return _paced([*_cut(time, values, allowed)], allowed)


@dataclass(frozen=True)
class _Interval:
    """Interval between the times `begin` and `end`, s, in which a function was sampled.

    Attributes
    ----------
    slope : float or None
        Slope of the function if the function is linear in the interval, otherwise None.
    is_resolved : bool
        Whether the samples are dense enough to resolve the function in the interval.
    """

    begin: float
    end: float
    slope: float | None
    is_resolved: bool = True


def _cut(time: Array, values: Array, allowed: float) -> Iterator[_Interval]:
    """Divide a smooth piece of a function into intervals that an integrator can cross in one step each.

    In each interval, the function is linear or close to a polynomial of degree 4. If an interval has
    too few samples to decide this, the interval is marked as not resolved.
    """
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
    """Return the length of each interval as the limit of the step length in this interval.

    If the function is linear over the whole time, steps are not limited.
    """
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
    """Whether the slope of a piecewise linear function is equal in two adjacent intervals."""
    if before.slope is None or after.slope is None:
        return False
    return abs(after.slope - before.slope) * (after.end - after.begin) <= allowed


def _bent(time: Array, values: Array) -> Array:
    """Return the deviations of samples from the straight line through the first and the last sample."""
    share = (time - time[0]) / (time[-1] - time[0])
    return np.asarray(values - values[0] - share * (values[-1] - values[0]))


def _deviation(time: Array, values: Array) -> float:
    """Return the largest deviation of samples from a polynomial of degree 4 through five of them."""
    nodes = np.linspace(0, len(time) - 1, _NODES).round().astype(int)
    x = (time - time[0]) / (time[-1] - time[0])
    found = np.zeros_like(values)
    for i in nodes:
        others = [x[j] for j in nodes if j != i]
        found += values[i] * np.prod([(x - other) / (x[i] - other) for other in others], axis=0)
    return float(np.abs(found - values).max())
