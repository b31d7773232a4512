"""Comparison of runs, signal by signal, on a common time grid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from ...core.errors import DescriptionError, Problem
from ...core.trajectory import Alternatives, Array, Trajectory
from .scales import VIOLATIONS, scales

_ROUNDING = 1e-12  # Two times count as equal if they differ by at most this fraction of the full time span.
LISTED = 4  # A note lists at most this number of names.
_LACKING = 1e-9  # A run covers the full time span if at most this fraction of the time span is missing.


Span = tuple[float, float]


@dataclass(frozen=True)
class Coverage:
    """Time spans of a run and of the reference run, and the signals that only one of them has.

    Parameters
    ----------
    reference, run : tuple of float
        First and last time of the reference run and of the other run, s.
    missing, extra : tuple of str
        Names of the signals that only the reference run has, and of those that only the other run has.
    """

    reference: Span
    run: Span
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    @property
    def same_span(self) -> bool:
        """Whether both runs cover the same time span, within rounding errors."""
        longest = max(end - begin for begin, end in (self.reference, self.run))
        ends = zip(self.reference, self.run, strict=True)
        return all(abs(first - second) <= _LACKING * longest for first, second in ends)

    @property
    def complete(self) -> bool:
        """Whether both runs cover the same time span and have the same signals."""
        return self.same_span and not self.missing and not self.extra


@dataclass(frozen=True)
class Comparison:
    """Differences between a run and the reference run.

    Parameters
    ----------
    name : str
        Name of the run.
    wall_s : float
        Wall-clock time of the run, s.
    steps : int
        Number of integration steps.
    max_rel_error : float
        Largest relative error of all signals.
    tolerance : float
        Largest admissible relative error.
    ok : bool
        Whether all differences are finite and within the tolerance.
    horizon : float
        Length of the compared time span, s.
    max_abs_error : mapping
        Largest absolute difference of each signal, in the signal's unit.
    rel_error : mapping
        Largest absolute difference of each signal divided by the signal's scale (see `scales`).
    worst_signal : str
        Signal with the largest relative error; empty if there is no difference.
    violation_position, violation_velocity : float or None
        Largest ‖Φ‖, m or rad, and ‖Φ̇‖ of the run; None if the run does not contain this signal.
    note : str
        Further information, such as signals that were not compared.
    sensitive_from : float or None
        Time from which on correct runs may differ by more than the tolerance, s. None if there is no
        such time or if it was not determined.
    singular_from : float or None
        Time of the first singular configuration, s, if the run failed there. The run is then compared
        only up to this time. None if the whole run is compared.
    coverage : Coverage or None
        Time spans of both runs, and the signals that were not compared; None for a run without results.
    """

    name: str
    wall_s: float
    steps: int
    max_rel_error: float
    tolerance: float
    ok: bool
    horizon: float = 0.0
    max_abs_error: Mapping[str, float] = field(default_factory=dict)
    rel_error: Mapping[str, float] = field(default_factory=dict)
    worst_signal: str = ""
    violation_position: float | None = None
    violation_velocity: float | None = None
    note: str = ""
    sensitive_from: float | None = None
    singular_from: float | None = None
    coverage: Coverage | None = None

    @property
    def complete(self) -> bool:
        """Whether all signals of both runs were compared, over the time spans of both runs."""
        return self.coverage is not None and self.coverage.complete

    @property
    def verdict(self) -> str:
        """Verdict in words: `agrees`, `agrees in part` or `disagrees`.

        Runs agree in part if they agree, but cover different time spans or have different signals.
        """
        if not self.ok:
            return "disagrees"
        return "agrees" if self.complete else "agrees in part"

    def __repr__(self) -> str:
        return f"<Comparison {self.name}: {self.verdict}, largest relative error {self.max_rel_error:.2g}>"

    @classmethod
    def failed(cls, name: str, tolerance: float, note: str) -> Comparison:
        """Return a comparison that records the failure of a run without results."""
        return cls(name, wall_s=0.0, steps=0, max_rel_error=np.inf, tolerance=tolerance, ok=False, note=note)


def required_complete(comparison: Comparison) -> Comparison:
    """Return a copy of the comparison; its `ok` is false unless the runs agree completely."""
    return replace(comparison, ok=comparison.ok and comparison.complete)


@dataclass(frozen=True)
class CommonGrid:
    """Signals of two runs at common times.

    Parameters
    ----------
    time : ndarray, shape (N,)
        Common times, s.
    reference : mapping
        Signals of the reference run by name; each has shape (N,).
    run : mapping
        Signals of the other run that the reference run also contains, by name; each has shape (N,).
    interpolated : bool
        Whether the two runs had different output times, so that one run was interpolated.
    rows : ndarray of int, shape (K,)
        Indices of common times that nearly coincide with an event of the reference run.
    beside : mapping
        Further values of the reference run at these times, by signal; each has shape (K,). If `reference`
        contains the value after the event, this array contains the value before the event, and vice
        versa.
    """

    time: Array
    reference: Mapping[str, Array]
    run: Mapping[str, Array]
    interpolated: bool
    rows: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    beside: Mapping[str, Array] = field(default_factory=dict)

    @property
    def compared(self) -> list[str]:
        """Names of the signals that both runs contain; signals of constraint violations are excluded."""
        return [name for name in self.run if name not in VIOLATIONS]

    def differences(self) -> dict[str, Array]:
        """Return the absolute difference between the two runs for each compared signal, shape (N,).

        An event may nearly coincide with a common time, and only one of the runs may have handled this
        event before this time. The run is therefore compared with the reference values before and after
        the event. The smaller difference is returned.
        """
        found = self.differences_of_one_side()
        for name in found.keys() & self.beside.keys():
            other = np.abs(self.run[name][self.rows] - self.beside[name])
            np.fmin.at(found[name], self.rows, other)
        return found

    def differences_of_one_side(self) -> dict[str, Array]:
        """Return the absolute difference between `run` and `reference` for each compared signal.

        The further reference values in `beside` are not used.
        """
        return {name: np.abs(self.run[name] - self.reference[name]) for name in self.compared}

    def crossed(self, allowed: Mapping[str, float]) -> int:
        """Return the number of common times at which a signal of `run` agrees only with `beside`.

        The signal does not agree with `reference` at these times, because only one of the two
        runs has already passed a nearby event. The argument `allowed` contains the admissible absolute
        difference of each signal.
        """
        one, both = self.differences_of_one_side(), self.differences()
        exceeds = [(one[name] > allowed[name]) & (both[name] <= allowed[name]) for name in both]
        return int(np.count_nonzero(np.any(exceeds, axis=0)))

    def up_to(self, time: float) -> CommonGrid:
        """Return the signals at all times up to the given time, s."""
        return self._kept(self.time <= time)

    def outside(self, spans: Iterable[tuple[float, float]]) -> CommonGrid:
        """Return the signals at all times outside of the given time spans, s."""
        within = [(self.time > begin) & (self.time < end) for begin, end in spans]
        return self._kept(~np.any(within, axis=0)) if within else self

    def _kept(self, kept: NDArray[np.bool_]) -> CommonGrid:
        reference, run = (
            {name: values[kept] for name, values in signals.items()} for signals in (self.reference, self.run)
        )
        among, rows = kept[self.rows], np.cumsum(kept) - 1
        beside = {name: values[among] for name, values in self.beside.items()}
        return CommonGrid(self.time[kept], reference, run, self.interpolated, rows[self.rows[among]], beside)


def compare(
    reference: Trajectory,
    run: Trajectory,
    units: Mapping[str, str],
    tolerance: float,
    *,
    horizon: float = 0.0,
    complete: bool = False,
    until: float = np.inf,
) -> Comparison:
    """Return the largest absolute and relative difference of each common signal of two runs.

    A relative error is the largest absolute difference divided by the signal's scale (`scales`). Values
    that are not finite have an infinite error. Steps in which the reference crosses a singular
    configuration are excluded, because accelerations and forces are ill-conditioned there. At an output
    time that nearly coincides with an event, the values before and after the event are both valid.

    Parameters
    ----------
    reference, run : Trajectory
        Runs to compare.
    units : mapping
        Unit of each signal. The scale of a signal depends on other signals with the same unit.
    tolerance : float
        Largest admissible relative error.
    horizon : float
        Time span that the run must cover to agree, s.
    complete : bool
        Whether both runs must have the same signals to agree.
    until : float
        End of the comparison, s; the signals' scales follow from the whole run.

    Raises
    ------
    DescriptionError
        If the runs share no signal or fewer than two output times, or if time does not increase.
    """
    grid = on_common_grid(reference, run)
    scale = scales(grid.reference, units, reference.natural)
    grid = _regular(reference, grid).up_to(until)
    absolute = {name: _largest(values) for name, values in grid.differences().items()}
    relative = {name: float(error / scale[name]) for name, error in absolute.items()}
    worst = max(relative, key=relative.__getitem__)
    span = float(grid.time[-1] - grid.time[0])
    violations = {name: _largest(run.signals[name]) for name in run.signals if name in VIOLATIONS}
    return Comparison(
        name=run.name,
        wall_s=run.wall_s,
        steps=run.steps,
        max_rel_error=relative[worst],
        tolerance=tolerance,
        ok=relative[worst] <= tolerance
        and covers(span, horizon)
        and all(np.isfinite([*violations.values()]))
        and not (complete and set(reference.signals) ^ set(run.signals)),
        horizon=span,
        max_abs_error=absolute,
        rel_error=relative,
        worst_signal=worst if relative[worst] > 0 else "",
        violation_position=violations.get("violation_position"),
        violation_velocity=violations.get("violation_velocity"),
        note=_note(reference, run, grid, {name: tolerance * size for name, size in scale.items()}),
        coverage=_coverage(reference, run),
    )


def _coverage(reference: Trajectory, run: Trajectory) -> Coverage:
    first, second = ((float(t.time[0]), float(t.time[-1])) for t in (reference, run))
    missing = tuple(name for name in reference.signals if name not in run.signals)
    return Coverage(first, second, missing, tuple(name for name in run.signals if name not in reference.signals))


def error_over_time(reference: Trajectory, run: Trajectory, units: Mapping[str, str]) -> tuple[Array, Array]:
    """Return the largest relative error of all signals over time.

    Returns
    -------
    time, error : ndarray, shape (N,)
        Times, s, and largest |difference|/scale of all signals at each time.
    """
    grid = on_common_grid(reference, run)
    scale = scales(grid.reference, units, reference.natural)
    grid = _regular(reference, grid)
    errors = [values / scale[name] for name, values in grid.differences().items()]
    return grid.time, np.max(errors, axis=0)


def _regular(reference: Trajectory, grid: CommonGrid) -> CommonGrid:
    return grid.outside(passed.crossed for passed in reference.singular if passed.crossed is not None)


def on_common_grid(reference: Trajectory, run: Trajectory) -> CommonGrid:
    """Return both runs at the output times of the coarser run within their common time span.

    If the output times differ, the finer run is interpolated by a cubic spline (not-a-knot), without
    extrapolation.

    Raises
    ------
    DescriptionError
        If the runs share no signal or fewer than two output times, or if time does not increase.
    """
    shared = [name for name in reference.signals if name in run.signals]
    if VIOLATIONS.issuperset(shared):
        first, second = (listed(list(trajectory.signals)) or "none" for trajectory in (reference, run))
        raise _unusable(reference, run, f"expected signals of the same name, got {first} and {second}")
    for trajectory in (reference, run):
        _check_time(trajectory)
    inside_reference, inside_run = _overlap(reference.time, run.time)
    if min(np.count_nonzero(inside_reference), np.count_nonzero(inside_run)) < 2:
        raise _unusable(reference, run, _no_shared_time(reference, run))
    coarse = min(reference.time[inside_reference], run.time[inside_run], key=len)
    rows, beside = _beside(reference.alternatives, coarse)
    return CommonGrid(
        time=coarse,
        reference=_sampled(reference, inside_reference, coarse, reference.signals),
        run=_sampled(run, inside_run, coarse, shared),
        interpolated=not _same_times(reference.time[inside_reference], run.time[inside_run]),
        rows=rows,
        beside=beside,
    )


def _beside(alternatives: Alternatives, time: Array) -> tuple[NDArray[np.intp], dict[str, Array]]:
    """Return the indices of the times for which alternative signal values exist, and these values.

    The values are returned by name of the signal.
    """
    rows = np.clip(np.searchsorted(time, alternatives.time), 0, len(time) - 1)
    kept = np.abs(time[rows] - alternatives.time) <= _ROUNDING * (time[-1] - time[0])
    return rows[kept], {name: values[kept] for name, values in alternatives.signals.items()}


def _check_time(trajectory: Trajectory) -> None:
    steps = np.diff(trajectory.time)
    if not np.all(steps > 0):
        at = int(np.argmax(~(steps > 0)))
        earlier, later = trajectory.time[at : at + 2]
        message = f"expected time to increase, got {later:.9g} s after {earlier:.9g} s (sample {at + 2})"
        raise DescriptionError(trajectory.name, [Problem("time", message)])


def _overlap(first: Array, second: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    if not (len(first) and len(second)):
        return np.zeros(len(first), dtype=bool), np.zeros(len(second), dtype=bool)
    start, stop = max(first[0], second[0]), min(first[-1], second[-1])
    margin = _ROUNDING * abs(stop - start)
    inside = [(time >= start - margin) & (time <= stop + margin) for time in (first, second)]
    return inside[0], inside[1]


def _same_times(first: Array, second: Array) -> bool:
    return len(first) == len(second) and bool(np.all(np.abs(first - second) <= _ROUNDING * (first[-1] - first[0])))


def _sampled(
    trajectory: Trajectory, inside: NDArray[np.bool_], time: Array, names: Iterable[str]
) -> dict[str, Array]:
    if _same_times(trajectory.time[inside], time):
        return {name: np.asarray(trajectory.signals[name])[inside] for name in names}
    return {name: _interpolated(trajectory, name, time) for name in names}


def _interpolated(trajectory: Trajectory, name: str, time: Array) -> Array:
    values = np.asarray(trajectory.signals[name], dtype=float)
    if not np.all(np.isfinite(values)):
        return np.full(len(time), np.nan)
    # Rounding errors may put an end of the common time span of two runs slightly outside of one run's times.
    within = np.clip(time, trajectory.time[0], trajectory.time[-1])
    return np.asarray(CubicSpline(trajectory.time, values)(within), dtype=float)


def _largest(values: Array) -> float:
    """Return the largest absolute value; infinite if any value is not finite."""
    largest = float(np.max(np.abs(values)))
    return largest if np.isfinite(largest) else np.inf


def covers(span: float, horizon: float) -> bool:
    """Whether a run of the given length, s, reaches the end of a time span, s, within rounding errors."""
    return span >= horizon * (1.0 - _LACKING)


def _note(reference: Trajectory, run: Trajectory, grid: CommonGrid, allowed: Mapping[str, float]) -> str:
    notes = [run.note] if run.note else []
    span, full = float(grid.time[-1] - grid.time[0]), float(reference.time[-1] - reference.time[0])
    if not covers(span, full):
        notes.append(f"the comparison covers {span:.6g} s of the full {full:.6g} s")
    if grid.interpolated:
        notes.append("the output times of the two runs differ, so values are interpolated by a cubic spline")
    crossed = grid.crossed(allowed)
    if crossed:
        notes.append(
            f"number of output times before which only one of the two runs has handled a nearby event: {crossed}"
        )
    for where, other, first in (("the run", run, reference), ("the reference", reference, run)):
        missing = [name for name in first.signals if name not in other.signals]
        if missing:
            notes.append(f"signals missing from {where}: {listed(missing)}")
    broken = [name for name in grid.run if not np.all(np.isfinite(grid.run[name]))]
    if broken:
        notes.append(f"signals with values that are not finite: {listed(broken)}")
    return "; ".join(notes)


def listed(names: list[str], most: int = LISTED) -> str:
    """Return a text with at most `most` names, followed by the number of omitted names."""
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


def _unusable(reference: Trajectory, run: Trajectory, message: str) -> DescriptionError:
    return DescriptionError(f"{reference.name} and {run.name}", message)


def _no_shared_time(reference: Trajectory, run: Trajectory) -> str:
    spans = [f"{t.time[0]:.6g} to {t.time[-1]:.6g} s" if len(t.time) else "no instants" for t in (reference, run)]
    return f"expected at least two instants in the time span that both cover, got {' and '.join(spans)}"
