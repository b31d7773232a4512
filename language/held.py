"""Assumed values of state variables, for the search for short pulses in expressions.

The search varies only the time, and keeps the state variables at the assumed values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from .pace import Pace

Array = NDArray[np.float64]

# A feature of a function is short if it requires steps below this fraction of the searched time span.
_SHORT = 0.02
_LOOKS = 257  # Number of equidistant samples with which a short feature of a function is examined.
_HALF = 0.5  # Within a pulse, the change of the function exceeds this fraction of the pulse's height.


def held_values(initial: Sequence[float | None]) -> Iterator[list[float]]:
    """Yield lists of assumed values, one value for each part of an expression that does not depend on time.

    Several lists are tried, because a single list can hide a short pulse. The pulse `exp(-((t -
    3)/0.01)^2 - x^2)` is tiny if the initial value of x is far from 0. The pulse in `min(x, exp(-((t -
    3)/0.01)^2))` is invisible if x = 0.

    Parameters
    ----------
    initial : sequence of float or None
        Value of each part at t = 0; None if it is unknown.
    """
    known = np.array([0.0 if value is None else value for value in initial])
    known[~np.isfinite(known)] = 0.0
    moved = known + (1.0 + np.abs(known)) * np.random.default_rng(33).uniform(0.1, 0.5, len(known))
    yield from np.unique([known, np.zeros_like(known), moved], axis=0).tolist()


def wanders(found: Sequence[tuple[Pace, Callable[[Array], Array]]], horizon: float) -> bool:
    """Whether the time of a short pulse depends on the values that are assumed for state variables.

    State variables change during a run, so the time of the pulse is then unknown in advance. No
    limit of the step length over time can therefore guarantee that a run resolves the pulse.

    Parameters
    ----------
    found : sequence of pairs
        One pair for each choice of assumed values: admissible step lengths, and function of time.
    horizon : float
        End of the searched time, s.
    """
    short = [(pace, [*_pulses(pace, function, horizon)]) for pace, function in found]
    met = [(pace, pulses) for pace, pulses in short if pulses]
    return any(_is_missed(times, other) for _, pulses in met for times in pulses for other, _ in met)


def _pulses(pace: Pace, function: Callable[[Array], Array], horizon: float) -> Iterator[Array]:
    """Yield for each short pulse an array of times within the pulse, s.

    A pulse is a short feature after which the function returns nearly to the value before it. A step is
    excluded, because every solver notices the new value.
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
    """Whether the step lengths `other` miss a pulse.

    The pulse and the step lengths were found with different assumed values of the state variables. The
    array `times`, shape (N,), s, contains times within the pulse. The pulse is missed if the admissible
    step is longer than the pulse at more than half of these times.
    """
    index = np.maximum(np.searchsorted(other.begins, times, side="right") - 1, 0)
    return bool(np.mean(other.bounds[index] > times[-1] - times[0]) > _HALF)
