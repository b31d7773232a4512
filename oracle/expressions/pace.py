"""Maximum step sizes over time, so that integrators do not miss short features of functions.

A nonlinear function of time is assumed to vary fastest near the roots of its linear arguments. For
example, the argument of tanh(a + b·t) has the root t = −a/b. The function is sampled on both sides of
each root; the distance of each sample from the root is half of the previous distance. If neighbouring
samples differ, integration steps end exactly at the sampled times. Between these times, no step exceeds
half of the distance from the root.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...core.trajectory import Array
from .jets import value
from .language import Expression
from .sides import Sides

# Near a root of its argument, a function is sampled at this many distances on each side of the root.
_HALVINGS = 45
# Neighbouring samples count as equal if they differ by at most this fraction of the function's range of values.
_VARIES = 1e-6
# A step is at most this fraction of the time to the next instant at which a function's argument is zero.
_SHARE = 0.5
# Functions of time and states are also sampled with the initial states increased by this value in SI units.
_ASIDE = 0.3
# Intervals of a lookup table share a step size limit if their lengths differ by less than this factor.
_DENSER = 4.0


@dataclass(frozen=True)
class Limit:
    """Time span from `begin` to `end`, and the longest step within this time span; all values are in s."""

    begin: float
    end: float
    longest: float


@dataclass
class _Clock:
    t: float
    sides: Sides
    held: Callable[[str], float]

    def number(self, name: str) -> float:
        return self.t if name == "t" else self.held(name)


class Pace:
    """Maximum step sizes of a run from 0 to `end`, s.

    The step sizes follow from samples of all functions of time. A function that also depends on states
    is sampled for three sets of state values: initial values, zeros, and shifted initial values.

    Parameters
    ----------
    expressions : sequence of Expression
        Expressions that act during the run.
    end : float
        End time, s.
    initial : callable
        Function that returns the initial value of a variable by name.
    """

    def __init__(self, expressions: Sequence[Expression], end: float, initial: Callable[[str], float]) -> None:
        timely = [part for expression in expressions for part in expression.timely()]
        mixed = [part for expression in expressions for part in expression.mixed()]
        choices = (initial, lambda name: 0.0, lambda name: initial(name) + _ASIDE)
        functions = [(part, initial) for part in timely] + [(part, held) for part in mixed for held in choices]
        found = [
            limit for part, held in functions for limit in _near_roots(part, partial(_value, part, held), end)
        ]
        found += [limit for part in timely for limit in _in_lookups(part)]
        self._limits = [limit for limit in found if limit.begin < end and limit.end > 0.0]

    @property
    def stops(self) -> list[float]:
        """Times at which the maximum step size changes, s."""
        return [time for limit in self._limits for time in (limit.begin, limit.end)]

    def longest(self, t: float) -> float:
        """Return the maximum step size at time t, s."""
        return min((limit.longest for limit in self._limits if limit.begin <= t <= limit.end), default=np.inf)


def _in_lookups(part: Expression) -> Iterator[Limit]:
    """Yield maximum step sizes that follow from the points of lookup tables.

    A step is at most as long as the interval between neighbouring points. Neighbouring intervals of
    similar length share the limit of the shortest one.
    """
    for lookup, line in part.lookups:
        times = np.sort((lookup.time - line.a) / line.b)
        begin, longest = 0, np.inf
        for k, interval in enumerate(np.diff(times).tolist()):
            if not longest / _DENSER < interval < longest * _DENSER and k > begin:
                yield Limit(float(times[begin]), float(times[k]), longest)
                begin, longest = k, interval
            longest = min(longest, interval)
        yield Limit(float(times[begin]), float(times[-1]), longest)


def _near_roots(part: Expression, function: Callable[[float], float], end: float) -> Iterator[Limit]:
    """Yield maximum step sizes around the times at which a function of time may vary quickly.

    These times are the roots of linear arguments, such as t = 2 for tanh(t − 2).
    """
    times = sorted({-line.a / line.b for line in part.roots})
    distances: Array = end * 0.5 ** np.arange(_HALVINGS, dtype=float)
    samples = {time: _samples(function, time, distances, end) for time in times if 0.0 <= time <= end}
    everywhere = [function(t) for t in np.linspace(0.0, end, 257).tolist()]
    known = np.concatenate([everywhere, *(values.ravel() for values in samples.values())])
    finite = known[np.isfinite(known)]
    least = _VARIES * float(np.ptp(finite)) if finite.size else 0.0
    for time, values in samples.items():
        changes = np.nan_to_num(np.abs(np.diff(values, axis=1))).max(axis=0)
        varies = np.flatnonzero(changes > least)
        if not len(varies):
            continue
        finest = float(distances[varies[-1] + 1])
        yield Limit(time - finest, time + finest, _SHARE * finest)
        for k in range(int(varies[0]), int(varies[-1]) + 1):
            far, near = float(distances[k]), float(distances[k + 1])
            yield Limit(time - far, time - near, _SHARE * near)
            yield Limit(time + near, time + far, _SHARE * near)


def _samples(function: Callable[[float], float], time: float, distances: Array, end: float) -> Array:
    """Return samples of a function at `time` + d and `time` − d for all distances d, shape (2, N).

    Times outside of the run are replaced by the beginning or end of the run.
    """
    rows = [np.clip(time + sign * distances, 0.0, end).tolist() for sign in (1.0, -1.0)]
    return np.array([[function(t) for t in row] for row in rows])


def _value(part: Expression, held: Callable[[str], float], t: float) -> float:
    """Return the value of a function of time at t (in s), or nan if the function is undefined at t."""
    try:
        return value(part(_Clock(t, Sides(t), held)))
    except (ValueError, ZeroDivisionError, OverflowError):
        return float("nan")
