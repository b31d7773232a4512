"""Simulation results: signals over time, events and singular configurations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# A time counts as the time t of an event if it differs from t by at most this value times max(1 s, |t|).
TIME_MARGIN = 2.0**-40


def coincide(event: float, time: float) -> bool:
    """Whether a time event happens at a given time.

    This is the case if the times differ by at most `TIME_MARGIN`. Both times are in s. Generated C code
    uses the same margin.
    """
    return abs(event - time) <= TIME_MARGIN * max(1.0, abs(event))


@dataclass(frozen=True)
class Magnitude:
    """Reference magnitude of a signal: a difference between two runs is divided by this magnitude.

    If the signal name is empty, the magnitude applies to all quantities with this unit.

    Attributes
    ----------
    signal : str
        Name of the FMU variable.
    unit : str
        Unit in FMI notation, such as `rad/s2` or `N.m`.
    owner : str
        Link, point or base to which the signal belongs.
    size : float
        Magnitude in the given unit, at least 0.
    least : float
        Lower bound of the divisor. Rounding errors of the signal are less than 10⁻⁶ times this bound.
    """

    signal: str
    unit: str
    owner: str
    size: float
    least: float = 0.0


@dataclass(frozen=True)
class Event:
    """Event of a run, at which a switching condition becomes true or false.

    Attributes
    ----------
    t : float
        Time, s.
    label : str
        Kind and name of the element with the switching condition, such as `force deck`.
    holds : bool
        Whether the condition is true after the event.
    word : str
        Phrase that describes the event, such as `lifts`.
    """

    t: float
    label: str
    holds: bool
    word: str = ""


@dataclass(frozen=True)
class Singular:
    """Singular configuration on a trajectory, where constraint equations are linearly dependent.

    Several branches of the motion meet at such a configuration.

    Attributes
    ----------
    t : float
        Time, s.
    constraints : tuple of str
        Names of the linearly dependent constraint equations.
    crossed : tuple of float or None
        Begin and end, s, of the large integration step across the configuration; None if there is no such
        step.
    """

    t: float
    constraints: tuple[str, ...]
    crossed: tuple[float, float] | None = None


@dataclass(frozen=True)
class Alternatives:
    """Signals of a run before and after events that nearly coincide with output times.

    Forces and accelerations can jump at an event. Suppose that the event occurs just before an output
    time. Another correct solver may locate the event just after this output time, so that the signals of
    this solver have not jumped yet.

    Attributes
    ----------
    time : ndarray, shape (K,)
        Output times, s, nondecreasing. An output time may occur several times, each with other values.
    signals : mapping
        Values of shape (K,) by FMU variable, in the variable's unit.
    """

    time: Array = field(default_factory=lambda: np.zeros(0))
    signals: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True)
class Trajectory:
    """Signals of a run at its output times.

    Attributes
    ----------
    name : str
        Kind of run, such as `reference`, `fmu-native-me`, `fmu-native-cs` or `modelica-rumoca`.
    time : ndarray, shape (N,)
        Output times, s, increasing.
    signals : mapping
        Values of shape (N,) by FMU variable, in the variable's unit.
    wall_s : float
        Wall time of the run, s.
    steps : int
        Accepted integrator steps; 0 if unknown.
    note : str
        Remark for the reader, such as a shortened time span.
    extra : mapping
        Additional numbers about the run, by name.
    natural : tuple of Magnitude
        Reference magnitudes of signals, by which differences between runs are divided.
    events : tuple of Event
        Events in chronological order; empty if the run does not report events.
    singular : tuple of Singular
        Singular configurations in chronological order; empty if the run does not report them.
    reused : str
        Date and time at which an earlier command made the run; empty for a run of this command.
    alternatives : Alternatives
        Values before and after events that nearly coincide with output times; empty if the run does not
        report them.
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
    reused: str = ""
    alternatives: Alternatives = field(default_factory=Alternatives)

    def columns(self, names: Iterable[str]) -> Array:
        """Return the given signals as columns, shape (N, number of names), each in its variable's
        unit.
        """
        return np.array([self.signals[name] for name in names], dtype=float).reshape(-1, len(self.time)).T


def rms(time: Array, values: Array) -> float:
    """Return the root mean square over time, in the unit of the values.

    `time`, s, and `values` have the shape (N,) with N ≥ 2.
    """
    return float(np.sqrt(np.trapezoid(values**2, time) / (time[-1] - time[0])))


def output_grid(stop: float, step: float) -> Array:
    """Return the output times 0, step, 2·step, …, stop, s."""
    count = int(np.floor(stop / step + 1e-9))
    grid = np.arange(count + 1) * step
    exact = abs(grid[-1] - stop) < 1e-9 * stop
    return np.asarray(grid if exact else np.append(grid, stop), dtype=np.float64)


def rows_at(grid: Array, recorded: Array, rounding: float) -> NDArray[np.intp]:
    """Return the index of the recorded time that belongs to each output time.

    The index is that of the last recorded time at or before the output time. A recorded time that is
    later by less than `rounding` also counts, except for the first output time.
    """
    later = np.append(0.0, np.full(len(grid) - 1, rounding))
    return np.asarray(np.searchsorted(recorded, grid + later, side="right") - 1)
