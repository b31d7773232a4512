"""Comparison of coupling methods and step lengths for one system, by errors and computing times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..core.errors import GpmelicaError
from ..core.progress import Progress, silent
from ..core.trajectory import Array
from .compared_run import ComparedRun
from .comparison import away_from_events, relative_errors
from .master import Record, Settings
from .rehearsal import MethodChoice, held_order, rehearse
from .stepping import HERMITE, MEAN, PIN, SEQUENTIAL
from .system import CoupledSystem
from .verdict import (
    Coupled,
    Options,
    compared_rows,
    output_times,
    settings_of,
    simulated,
)

# The compared runs have communication steps of these multiples of the step in the user's run.
_STEPS = (4.0, 2.0, 1.0, 0.5, 0.25)
# The compared runs have tolerances of these multiples of the tolerance in the user's run.
_TOLERANCES = (10.0, 1.0, 0.1)
# The error of the reference run should be this fraction of the error of the compared run with the shortest step.
_BIAS = 1.0 / 16.0
_METHODS: tuple[tuple[str, int | None], ...] = (
    (SEQUENTIAL, 0),
    (SEQUENTIAL, 1),
    (SEQUENTIAL, 2),
    (HERMITE, None),
    (MEAN, None),
)


@dataclass(frozen=True)
class _Reference:
    """Reference signals from which the errors of the compared runs are computed.

    Parameters
    ----------
    name : source of the signals, such as `uncut mechanism`
    values : values at the output times, by index of the output
    record : run that computed the values; None if the values are those of the uncut mechanism
    """

    name: str
    values: dict[int, Array]
    record: Record | None


def compare(
    system: CoupledSystem, options: Options, judged: Coupled, progress: Progress = silent
) -> list[ComparedRun]:
    """Simulate a system by several coupling methods and steps, and measure errors and computing times.

    Errors are differences to a reference. The uncut mechanism (the whole mechanism as one FMU) is
    the reference if the archive contains it and if cut and uncut mechanism have the same equations.
    Otherwise the reference is a run with the coupling methods of the user's run and a shorter step.
    The compared signals are the same for all runs.

    Parameters
    ----------
    system : the coupled system
    options : settings that the user has chosen
    judged : user's finished run with its verdict, from which step lengths and signal ranges are
        taken
    progress : function that is called with each method
    """
    scales = np.asarray(np.ptp(np.array(judged.record.values)[:, : judged.network.n_y], axis=0))
    settings = replace(settings_of(system, options), scales=scales, stop=float(judged.time[-1]))
    steps = _steps(judged, options.step)
    chosen = list(judged.choices)
    plans = [(method, order, _choices(system, settings, method, order)) for method, order in _methods(judged)]
    reference = _reference(system, settings, judged, min(steps))
    rows = _common_rows(judged, [found for _, _, found in plans if isinstance(found, list)], reference)
    runs: list[ComparedRun] = []
    for method, order, found in plans:
        progress(f"comparing {method}", 0.0)
        for step in steps:
            run = ComparedRun(method, order, step, None, None, None, None, reference.name)
            fixed = replace(settings, step=step)
            runs.append(_measured(run, judged, found, fixed, reference, rows))
    for factor in _TOLERANCES if _controls_steps(judged) else ():
        progress("comparing tolerances", 0.0)
        tolerance = factor * judged.tolerance
        run = ComparedRun(_name(judged), None, None, tolerance, None, None, None, reference.name)
        runs.append(_measured(run, judged, chosen, replace(settings, tolerance=tolerance), reference, rows))
    return runs


def _steps(judged: Coupled, fixed: float | None) -> list[float]:
    """Return the fixed communication steps of the compared runs, s.

    If the user's run has a fixed step, all steps are multiples of this step. Otherwise, all steps
    are multiples of the mean step of the user's run. The mean step is rounded to 1, 2 or 5 times a
    power of ten.
    """
    record = judged.record
    mean = (record.times[-1] - record.times[0]) / len(record.pieces)
    decade = 10.0 ** math.floor(math.log10(mean))
    middle = fixed or decade * min((1.0, 2.0, 5.0, 10.0), key=lambda digit: abs(math.log(decade * digit / mean)))
    return [factor * middle for factor in _STEPS]


def _methods(judged: Coupled) -> Sequence[tuple[str, int | None]]:
    if judged.network.pins:
        return [(PIN, None)]
    return _METHODS if any(group.loops for group in judged.network.groups) else [(SEQUENTIAL, 2)]


def _choices(
    system: CoupledSystem, settings: Settings, method: str, order: int | None
) -> list[MethodChoice] | GpmelicaError:
    try:
        return rehearse(system.network, settings, method, order)[0]
    except GpmelicaError as error:
        return error


def _reference(system: CoupledSystem, settings: Settings, judged: Coupled, shortest: float) -> _Reference:
    whole, network = judged.whole, judged.network
    if whole is not None and whole.exact:
        rows = {".".join(port): row for row, port in enumerate(network.outputs)}
        return _Reference("uncut mechanism", {rows[name]: values for name, values in whole.signals.items()}, None)
    step = shortest * _BIAS ** (1.0 / _order(judged))
    name = f"run with a step of {step:.3g} s"
    try:
        record = simulated(network, judged.choices, replace(settings, step=step), silent)
    except GpmelicaError:  # An FMU may reject the short communication steps of the reference run.
        assert judged.finer is not None
        record, name = judged.finer, "finer run of the verdict"
    values = record.sample(output_times(settings))[: network.n_y]
    return _Reference(name, dict(enumerate(values)), record)


def _order(judged: Coupled) -> int:
    """Return the expected order of convergence of the user's run.

    The order is the lowest order of all groups of FMUs that form loops, and at most 4. It is at
    most 2 for a group with an FMU that keeps its inputs constant during a step.
    """
    orders = [4]
    for choice, group in zip(judged.choices, judged.network.groups, strict=True):
        if group.loops:
            sequential = choice.method == SEQUENTIAL
            orders.append(min(choice.order + 1, held_order(judged.network, group)) if sequential else choice.order)
    return min(orders)


def _common_rows(judged: Coupled, plans: Sequence[list[MethodChoice]], reference: _Reference) -> list[int]:
    """Return the indices of the outputs whose errors are computed for all runs.

    The reference contains these outputs, and all methods compute them accurately. If there is no such
    output, the result contains the outputs that the methods of the user's run compute accurately.
    """
    known = set(reference.values)
    common = known.intersection(*(compared_rows(judged.network, choices) for choices in plans))
    return sorted(common or known.intersection(compared_rows(judged.network, judged.choices)))


def _controls_steps(judged: Coupled) -> bool:
    methods = {c.method for c, g in zip(judged.choices, judged.network.groups, strict=True) if g.loops}
    return bool(methods & {HERMITE, PIN}) and MEAN not in methods


def _name(judged: Coupled) -> str:
    looping = zip(judged.choices, judged.network.groups, strict=True)
    return " and ".join(dict.fromkeys(choice.method for choice, group in looping if group.loops))


def _measured(
    run: ComparedRun,
    judged: Coupled,
    choices: list[MethodChoice] | GpmelicaError,
    settings: Settings,
    reference: _Reference,
    rows: Sequence[int],
) -> ComparedRun:
    if isinstance(choices, GpmelicaError):
        return replace(run, failure=str(choices))
    try:
        record = simulated(judged.network, choices, settings, silent)
    except GpmelicaError as error:
        return replace(run, failure=str(error))
    if record.ended_by:
        return replace(run, failure=f"{record.ended_by} has ended the run at t = {record.times[-1]:.9g} s")
    count = len(record.pieces)
    step = run.step if run.tolerance is None else (settings.stop - settings.start) / count
    largest = _error(judged, settings, record, reference, rows)
    return replace(run, step=step, steps=count, wall_s=record.wall_s, error=largest)


def _error(
    judged: Coupled, settings: Settings, record: Record, reference: _Reference, rows: Sequence[int]
) -> float | None:
    """Return the largest error of a run, relative to the ranges of the signals.

    The result is None if there are no signals to compare, or no output times at which the signals
    can be compared. Signals cannot be compared near events.
    """
    grid = output_times(settings)
    kept = np.ones(len(grid), dtype=bool)
    if reference.record is not None:
        kept = away_from_events(record, reference.record, grid)
    if not rows:
        return None
    found, expected = record.sample(grid)[[*rows]], np.array([reference.values[row] for row in rows])
    kept &= np.isfinite(expected).all(axis=0)
    if not kept.any():
        return None
    signals = [judged.network.signals[row] for row in rows]
    span = settings.stop - settings.start
    return float(np.max(relative_errors(found[:, kept], expected[:, kept], signals, span)))
