"""Assumed values of state variables, for the search for short pulses in expressions.

The search varies only the time, and keeps the state variables at the assumed values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from .pace import Pace

Array = NDArray[np.float64]

# Steps in a time interval count as short if all are below this fraction of the searched time span.
_SHORT = 0.02
_LOOKS = 257  # A short feature of a function, such as a pulse, is examined at this number of equidistant times.
_HALF = 0.5  # A pulse lasts while a function's deviation exceeds this fraction of the largest deviation.


def held_values(initial: Sequence[float | None]) -> Iterator[list[float]]:
    """Yield lists of assumed values for those subexpressions that do not depend on time.

    Each list has one value per subexpression. Several lists are yielded, because a single list can hide
    a short pulse of the whole expression. The pulse `exp(-((t - 3)/0.01)^2 - x^2)` is tiny if the
    initial value of x is far from 0. The pulse in `min(x, exp(-((t - 3)/0.01)^2))` is invisible if x =
    0.

    Parameters
    ----------
    initial : sequence of float or None
        Value of each subexpression at t = 0; None if the value is unknown.
    """
    known = np.array([0.0 if value is None else value for value in initial])
    known[~np.isfinite(known)] = 0.0
    moved = known + (1.0 + np.abs(known)) * np.random.default_rng(33).uniform(0.1, 0.5, len(known))
    yield from np.unique([known, np.zeros_like(known), moved], axis=0).tolist()


def wanders(found: Sequence[tuple[Pace, Callable[[Array], Array]]], horizon: float) -> bool:
    """Whether the times of short pulses in an expression depend on its state variables.

    The search for pulses replaces the state variables by assumed values. If the times of the pulses
    depend on these values, the times in a run are unknown in advance. No limit of the step length can
    then guarantee that a run resolves the pulses.

    Parameters
    ----------
    found : sequence of pairs
        One pair for each list of assumed values: the admissible step lengths, and the expression with
        the assumed values inserted. This expression depends on time only.
    horizon : float
        End of the time span in which pulses are searched for, s.
    """
    short = [(pace, [*_pulses(pace, function, horizon)]) for pace, function in found]
    met = [(pace, pulses) for pace, pulses in short if pulses]
    return any(_is_missed(times, other) for _, pulses in met for times in pulses for other, _ in met)


def _pulses(pace: Pace, function: Callable[[Array], Array], horizon: float) -> Iterator[Array]:
    """Yield for each short pulse of a function an array of times within the pulse, s.

    A pulse is a short feature after which the function nearly returns to its earlier value. A step to a
    new value is not a pulse, because every solver notices the new value.
    """
    ends = np.append(pace.begins[1:], horizon)
    is_short = np.concatenate([[False], pace.bounds < _SHORT * horizon, [False]])
    edges = np.flatnonzero(np.diff(is_short.astype(int)))
    for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        begins, finish = pace.begins[first:last], float(ends[last - 1])
        times = np.unique(np.concatenate([begins, np.linspace(begins[0], finish, _LOOKS)]))
        values = function(times)
        change = np.abs(values - values[0])
        if change[-1] < _HALF * change.max():
            yield times[change > _HALF * change.max()]


def _is_missed(times: Array, other: Pace) -> bool:
    """Whether integration steps of the lengths `other` can miss a pulse.

    The pulse and the step lengths were found with different assumed values of the state variables. The
    array `times`, shape (N,), s, contains times within the pulse. The pulse counts as missed if the
    admissible step is longer than the pulse at more than half of these times.
    """
    index = np.maximum(np.searchsorted(other.begins, times, side="right") - 1, 0)
    return bool(np.mean(other.bounds[index] > times[-1] - times[0]) > _HALF)
