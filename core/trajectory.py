"""Signals of a run over time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Magnitude:
    """Natural scale of a signal, or with an empty name of all quantities of this unit in the mechanism.

    Parameters:
        signal  FMU variable name
        unit    its unit, as FMUs write it: `rad/s2`, `N.m`
        owner   link, point or base that it belongs to
        size    in the unit, not negative
        least   smallest scale of this one signal: what rounding moves it by is less than a millionth of that
    """

    signal: str
    unit: str
    owner: str
    size: float
    least: float = 0.0


@dataclass(frozen=True)
class Event:
    """A condition that has changed during a run.

    Parameters:
        t      s
        label  what it belongs to, such as `force deck`
        holds  whether it is true from then on
        word   what that means, such as `lifts`
    """

    t: float
    label: str
    holds: bool
    word: str = ""


@dataclass(frozen=True)
class Singular:
    """A singular configuration that a run passes: constraints depend on each other there, and branches meet.

    Parameters:
        t            s
        constraints  names of the constraint equations that depend on each other
        crossed      begin and end of the one step that crosses it, s; None: not crossed in one step
    """

    t: float
    constraints: tuple[str, ...]
    crossed: tuple[float, float] | None = None


@dataclass(frozen=True)
class Trajectory:
    """Signals of one run on its output grid.

    Parameters:
        name     reference | fmu-native-me | fmu-native-cs | modelica-rumoca | …
        time     shape (N,), s, increasing
        signals  FMU variable name → values of shape (N,), in the variable's unit
        wall_s   wall time of the run, s
        steps    accepted steps of the integrator, or 0 where it does not say
        note     what a reader must know, such as a shorter horizon
        extra    further figures by name
        natural  magnitudes of the signals, where they are known by more than their values
        events   in the order of time, from runs that tell
        singular configurations that the run passes, in the order of time, from runs that tell
    """

    name: str
    time: Array
    signals: Mapping[str, Array]
    wall_s: float = 0.0
    steps: int = 0
    note: str = ""
    extra: Mapping[str, float] = field(default_factory=dict)
    natural: tuple[Magnitude, ...] = ()
    events: tuple[Event, ...] = ()
    singular: tuple[Singular, ...] = ()

    def columns(self, names: Iterable[str]) -> Array:
        """Some signals side by side, shape (N, number of names), each in its variable's unit."""
        return np.array([self.signals[name] for name in names], dtype=float).reshape(-1, len(self.time)).T


def rms(time: Array, values: Array) -> float:
    """Root mean square over time; shapes (N,), N ≥ 2: s, and any unit, which is the result's, too."""
    return float(np.sqrt(np.trapezoid(values**2, time) / (time[-1] - time[0])))


def output_grid(stop: float, step: float) -> Array:
    """Output times 0, step, 2·step, …, stop; s."""
    count = int(np.floor(stop / step + 1e-9))
    grid = np.arange(count + 1) * step
    exact = abs(grid[-1] - stop) < 1e-9 * stop
    return np.asarray(grid if exact else np.append(grid, stop), dtype=np.float64)


def rows_at(grid: Array, recorded: Array, rounding: float) -> NDArray[np.intp]:
    """Return indices of the grid's times: the last record up to rounding; at the start, the last equal one."""
    later = np.append(0.0, np.full(len(grid) - 1, rounding))  # what changes right after the start is no part of it
    return np.asarray(np.searchsorted(recorded, grid + later, side="right") - 1)
