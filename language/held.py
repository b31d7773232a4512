"""Assumed values of state variables for the search for short pulses in expressions over time.

In this search, only time varies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from .pace import Pace

Array = NDArray[np.float64]

# If a feature requires smaller steps than this, relative to the searched time, it is short.
_SHORT = 0.02
_LOOKS = 257  # Number of samples of a short feature.
_HALF = 0.5  # Inside a pulse, the change exceeds this fraction of the pulse's height.


def held_values(initial: Sequence[float | None]) -> Iterator[list[float]]:
    """Yield values for the parts of an expression that do not depend on time.

    A short feature of the expression over time can be hidden at the initial values:
    `exp(-((t - 3)/0.01)^2 - x^2)` is tiny far from x = 0. It can also be hidden at zero, as in
    `min(x, exp(-((t - 3)/0.01)^2))`. Several choices of values are therefore tried.

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
    """Whether a short pulse occurs at a time that depends on the values assumed for the time-independent parts.

    No list of step lengths can guarantee that a run resolves such a pulse.

    Parameters
    ----------
    found : sequence of pairs
        Step lengths and function of time for each choice of these values.
    horizon : float
        End of the searched time, s.
    """
    short = [(pace, [*_pulses(pace, function, horizon)]) for pace, function in found]
    met = [(pace, pulses) for pace, pulses in short if pulses]
    return any(_is_missed(times, other) for _, pulses in met for times in pulses for other, _ in met)


def _pulses(pace: Pace, function: Callable[[Array], Array], horizon: float) -> Iterator[Array]:
    """Yield the times inside of each short pulse, s.

    A pulse is a feature after which the function has about its former value. A step-like change is
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
    """Whether the step lengths for another choice of assumed values miss a pulse.

    The array `times`, shape (N,), s, contains times within the pulse. The pulse is missed if, at most
    of these times, the steps are longer than the pulse.
    """
    index = np.maximum(np.searchsorted(other.begins, times, side="right") - 1, 0)
    return bool(np.mean(other.bounds[index] > times[-1] - times[0]) > _HALF)
