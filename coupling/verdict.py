"""Verdict on a coupled simulation, from a comparison with a coarser and a finer run.

The finding `agrees` means that the estimated error is within the tolerance. The finding `holds`
means that rigid connections remain closed and that no connection creates or loses energy. Remarks
report further facts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

import numpy as np

from ..core.errors import DescriptionError, SolveError
from ..core.progress import Progress, silent
from ..core.trajectory import Array, output_grid
from .claims import wrong_claims
from .compared_run import ComparedRun
from .comparison import bounded_ranges, difference, observed_order
from .energy import EnergyResidual, residuals
from .equal_steps import equal_steps, equal_steps_remark
from .master import Master, Record, Settings
from .modes import ResolvedModes
from .network import Network
from .participant import ClaimFailed
from .ports import forget_rounding, note_rounding, positions
from .rehearsal import MethodChoice, rehearse
from .run_remarks import end_remarks, energy_remarks, late_event_remarks, noise_remarks, sample_remarks
from .stepping import GOLDEN, MEAN, METHODS, SEQUENTIAL, Stepper
from .system import CoupledSystem, CouplingRemark
from .unreported import unreported_events
from .whole import WholeDifference, compare_whole

_OUTPUTS = 1000  # The output times of a run divide its duration into this number of equal intervals.
# Rigidly connected positions may differ by at most this fraction of the positions' range.
_GAP = 1e-9
# The difference of two rigidly connected positions is divided by at least this length, m, or angle, rad.
_REST = 1e-6
# If the estimated error exceeds the tolerance, step and tolerance are reduced at most this number of times.
_REFINEMENTS = 2
# This relative error is admissible if neither the user nor the SSP archive specifies a tolerance.
_USUAL = 1e-4
# The error is estimated from a finer run, whose tolerance is smaller by this factor.
_FINER = 10.0
# To confirm the assumed ranges of the signals, the coupled system is simulated at most this number of times.
_TRIALS = 3
# An assumed range of a signal is confirmed if it is at most this many times the signal's range in the run.
_CONFIRMED = 2.0
_NOT_COMPARED = (
    "the archive contains the uncut mechanism, but no signal could be compared with it: connections from outside"
    " drive its inputs, or the parts and the uncut mechanism have no outputs in common"
)


@dataclass(frozen=True)
class Options:
    """Settings of a coupled simulation that the user chooses.

    Parameters
    ----------
    tolerance : admissible error, relative to the range of each signal
    method : coupling method `sequential`, `hermite`, `mean_force` or `pin`; or `auto`, which
        chooses a method for each group of FMUs
    step : fixed communication step, s
    order : degree of extrapolation of the sequential method, 0, 1 or 2
    stop : final time, s
    """

    tolerance: float | None = None
    method: str = "auto"
    step: float | None = None
    order: int | None = None
    stop: float | None = None

    def __post_init__(self) -> None:
        if self.method not in ("auto", *METHODS):
            raise DescriptionError("method", f"expected one of auto, {', '.join(METHODS)}, got {self.method}")
        for name in ("tolerance", "step", "stop"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0.0):
                raise DescriptionError(name, f"expected a number above 0, got {value}")
        if self.order is not None and self.order not in (0, 1, 2):
            raise DescriptionError("order", f"expected 0, 1 or 2, got {self.order}")


@dataclass(frozen=True, eq=False)
class Coupled:
    """Result of a coupled simulation with its verdict.

    Parameters
    ----------
    name : name of the system
    network : FMUs and their connections
    choices : coupling method of each group of dependent FMUs
    record : values at the communication points, and times of events
    time : output times, s, shape (N,)
    signals : values of each output at the output times, shape (N,), by name `FMU.variable`
    units : unit of each output
    tolerance : admissible error, relative to the range of each signal
    error : estimated error of the signal `worst`, relative to the range of this signal
    worst : output with the largest error
    order : observed order of convergence; None if rounding errors hide it
    residuals : energy that each connection creates or loses
    gap : largest difference of two rigidly connected positions, relative to the range of the
        positions
    remarks : remarks for the user
    whole : difference to the uncut mechanism (whole mechanism as one FMU), or None if the archive
        does not contain this FMU
    finer : run with smaller tolerance and step, from which the error was estimated
    comparison : runs with other methods and steps, if requested
    modes : vibration modes of the uncut mechanism; None if the archive does not contain them
    """

    name: str
    network: Network
    choices: Sequence[MethodChoice]
    record: Record
    time: Array
    signals: dict[str, Array]
    units: dict[str, str]
    tolerance: float
    error: float
    worst: str
    order: float | None
    residuals: Sequence[EnergyResidual]
    gap: float
    remarks: Sequence[CouplingRemark] = field(default_factory=tuple)
    whole: WholeDifference | None = None
    finer: Record | None = None
    comparison: Sequence[ComparedRun] = ()
    modes: ResolvedModes | None = None

    @property
    def energy_residual(self) -> float:
        """Largest relative energy residual of all connections.

        The energy residual of a connection is the energy that the numerical coupling creates or
        destroys. The relative residual is divided by the energy that the connection transmits.
        """
        return float(np.max([0.0, *(abs(r.relative) for r in self.residuals)]))

    @property
    def rejected_steps(self) -> int:
        """Number of communication steps that were rejected and repeated."""
        return self.record.rejected

    @property
    def complete(self) -> bool:
        """Whether all runs on which the verdict is based have reached the final time.

        These are the run itself and the finer run, from which its error is estimated. A run ends
        early if an FMU asks to end the simulation.
        """
        return not self.ended_by

    @property
    def ended_by(self) -> str:
        """Name of the FMU that ended the run early; an empty text if no FMU did so.

        If the run is complete, the name refers to the finer run, from which the error is estimated.
        """
        return self.record.ended_by or (self.finer.ended_by if self.finer else "")

    @property
    def agrees(self) -> bool:
        """Whether the estimated error is within the tolerance.

        The archive may contain the whole mechanism as one FMU. If cut and uncut mechanism have the
        same equations, the difference to this FMU must also be within the tolerance.
        """
        different = 0.0 if self.whole is None or not self.whole.exact else self.whole.difference
        return self.error <= self.tolerance and different <= self.tolerance

    @property
    def holds(self) -> bool:
        """Whether rigid connections remain closed and the energy residuals are within tolerance.

        The energy residual of a connection is the energy that the numerical coupling creates or
        destroys.
        """
        return self.gap <= _GAP and self.energy_residual <= max(10.0 * self.tolerance, 1e-9)

    @property
    def ok(self) -> bool:
        """Whether the run is complete, the error is within the tolerance, and the connections are accurate.

        The attributes `complete`, `agrees` and `holds` contain these three results.
        """
        return self.complete and self.agrees and self.holds

    def data(self) -> dict[str, Any]:
        """Return the verdict as the content of `result.json`."""
        names = [[self.network.parts[k].name for k in group.parts] for group in self.network.groups]
        return {
            "system": self.name,
            "groups": [
                {"fmus": fmus, "method": c.method, "order": c.order, "reason": c.reason}
                for fmus, c in zip(names, self.choices, strict=True)
            ],
            "tolerance": self.tolerance,
            "consistent": True,
            "complete": self.complete,
            "agrees": self.agrees,
            "holds": self.holds,
            "ok": self.ok,
            "error": self.error,
            "worst_signal": self.worst,
            "observed_order": self.order,
            "whole": None if self.whole is None else self.whole.data(),
            "modes": None if self.modes is None else self.modes.data(),
            "energy_residual": self.energy_residual,
            "connections": [
                {"where": r.where, "created": r.created, "turned_over": r.turned_over} for r in self.residuals
            ],
            "gap": self.gap,
            "steps": len(self.record.pieces),
            "rejected_steps": self.rejected_steps,
            "events": self.record.events,
            "wall_s": self.record.wall_s,
            "seconds": self.record.seconds,
            "plausible": [{"id": r.id, "where": r.where, "text": r.text} for r in self.remarks],
            "comparison": [vars(r) for r in self.comparison],
        }


@dataclass(frozen=True)
class Estimate:
    """Estimated error of a coupled run, from a comparison with coarser and finer runs.

    Parameters
    ----------
    tolerance : admissible error, relative to the range of each signal
    error : estimated error of the signal `worst`, relative to the range of this signal
    worst : name of the signal with the largest error
    order : observed order of convergence; None if rounding errors hide it
    whole : difference to the uncut mechanism (whole mechanism as one FMU); None if it is not
        compared
    finer : results of the run with smaller tolerance and step
    """

    tolerance: float
    error: float
    worst: str
    order: float | None
    whole: WholeDifference | None
    finer: Record


def couple(system: CoupledSystem, options: Options, progress: Progress = silent) -> Coupled:
    """Simulate a coupled system and judge the result by comparison with coarser and finer runs.

    If an FMU declares a capability that it does not have, all runs are repeated without this
    capability.

    Raises
    ------
    DescriptionError : if the final time is not known
    SolveError : if the coupling is unstable or an FMU fails
    """
    # The loop terminates, because each pass corrects one more wrong capability flag of an FMU.
    while True:
        try:
            return _couple(system, options, progress)
        except ClaimFailed as failure:
            failure.correct()


def _couple(system: CoupledSystem, options: Options, progress: Progress) -> Coupled:
    forget_rounding(system.network)
    settings = equal_steps(system.network, settings_of(system, options))
    choices, remarks = rehearse(system.network, settings, options.method, options.order)
    remarks = [*system.remarks, *remarks, *sample_remarks(system.network, settings)]
    settings = _with_mean_force(settings, choices)
    tolerance, stop = settings.tolerance, settings.stop
    rows = compared_rows(system.network, choices)
    coarse = _coarse(system.network, choices, settings)
    settings, run = _scaled(system.network, choices, settings, coarse, progress)
    note_rounding(system.network, np.array(run.values))
    # All runs are compared at the output times that follow from the settings of the first run.
    asked, trials = settings, []
    for left in range(_REFINEMENTS, -1, -1):
        fine = simulated(system.network, choices, _finer(settings), progress)
        grid = _grid(_shared(asked, run, fine), system.network)
        error, worst = difference(system.network, rows, run, fine, grid)
        trials.append((error, worst, settings, (coarse, run, fine)))
        if error <= tolerance or options.step is not None or not left:
            break
        coarse, run, settings = run, fine, _finer(settings)
    # The run with the smallest error is chosen, because shorter steps can increase errors inside an FMU.
    error, worst, settings, (coarse, run, fine) = min(trials, key=itemgetter(0))
    settings = _shared(settings, run, fine)
    remarks += end_remarks(run.ended_by or fine.ended_by, settings.stop, stop)
    order = None if coarse is None else _order(system.network, rows, (coarse, run, fine), error, asked)
    whole = None
    if system.whole is not None:
        # If bushings replace joints, the finer of the two coupled runs is compared with the uncut mechanism.
        chosen = run if system.whole.exact else fine
        whole = compare_whole(system.whole, system.network, rows, chosen, settings, output_times(settings))
        remarks += wrong_claims(system.whole.part)
        if whole is None:
            remarks.append(CouplingRemark("whole_not_compared", system.whole.part.name, _NOT_COMPARED))
    remarks += equal_steps_remark(system.network, run, options.step)
    remarks += unreported_events(system.network, rows, run, fine)
    return _judged(system, choices, settings, run, Estimate(tolerance, error, worst, order, whole, fine), remarks)


def _shared(settings: Settings, *runs: Record) -> Settings:
    """Return settings with a final time that all given runs have reached.

    If an FMU has ended one of the runs early, the final time is reduced.
    """
    return replace(settings, stop=min(settings.stop, *(run.times[-1] for run in runs if run.ended_by), math.inf))


def compared_rows(network: Network, choices: Sequence[MethodChoice]) -> list[int]:
    """Return the indices of the outputs in which two runs are compared.

    The result contains the outputs that the coupling methods compute accurately. If no such output
    exists, it contains all outputs.
    """
    pairs = positions(network)
    resolved = [
        row
        for group, choice in zip(network.groups, choices, strict=True)
        for row in Stepper(network, group, choice.method, 0, pairs).resolved
    ]
    return resolved or [*range(network.n_y)]


def settings_of(system: CoupledSystem, options: Options) -> Settings:
    """Return the settings of a run, from the options of the user and the SSP archive.

    Raises
    ------
    DescriptionError : if the final time is not known
    """
    stop = options.stop or system.stop
    if stop is None or stop <= system.start:
        raise DescriptionError(system.name, "expected a final time in the archive, found none; give --stop")
    tolerance = options.tolerance or system.tolerance or _USUAL
    nominal = options.step or system.step or (stop - system.start) / 1000.0
    return Settings(system.start, stop, tolerance, options.step, nominal, 2)


def _with_mean_force(s: Settings, choices: Sequence[MethodChoice]) -> Settings:
    """Return settings with a nominal step that suits the mean-force method and the tolerance.

    The mean-force method uses a constant step, and its error is proportional to the square of the
    step. The nominal step is therefore scaled with the square root of the tolerance. The settings
    are unchanged if they contain a fixed step, or if no group of FMUs uses this method.
    """
    if s.step is not None or not _takes_nominal(choices):
        return s
    # The error of the mean-force method is proportional to the square of the step.
    return replace(s, nominal=s.nominal * (s.tolerance / _USUAL) ** 0.5)


def _takes_nominal(choices: Sequence[MethodChoice]) -> bool:
    return any(choice.method == MEAN for choice in choices)


def _coarser(s: Settings) -> Settings:
    return _refined(s, 1.0 / GOLDEN, _FINER)


def _finer(s: Settings) -> Settings:
    return _refined(s, GOLDEN, 1.0 / _FINER)


def _refined(s: Settings, length: float, tolerance: float) -> Settings:
    """Return the settings of a coarser or finer run.

    A fixed step is multiplied by `length`. Without a fixed step, the nominal step is multiplied by
    `length` and the tolerance by `tolerance`.
    """
    if s.step is not None:
        return replace(s, step=length * s.step)
    return replace(s, tolerance=tolerance * s.tolerance, nominal=length * s.nominal)


def _coarse(network: Network, choices: Sequence[MethodChoice], settings: Settings) -> Record | None:
    try:
        return simulated(network, choices, _coarser(settings), silent)
    # An FMU may reject the longer communication steps of the coarser run.
    except (SolveError, ClaimFailed):
        return None


def _scaled(
    network: Network,
    choices: Sequence[MethodChoice],
    settings: Settings,
    coarse: Record | None,
    progress: Progress,
) -> tuple[Settings, Record]:
    """Return the settings of a run, with the ranges of all signals, and the results of the run.

    Errors are divided by these ranges. The first ranges are taken from a coarser run. If the
    coarser run diverged, its ranges are too large, and every error would seem small. In this case,
    the simulation is repeated with the ranges of the present run.
    """
    known = coarse
    for _ in range(_TRIALS):
        settings = replace(settings, scales=None if known is None else _ranges(known, network))
        run = simulated(network, choices, settings, progress)
        if settings.scales is not None and _confirmed(settings.scales, run, network):
            break
        known = run
    return settings, run


def _confirmed(scales: Array, run: Record, network: Network) -> bool:
    """Return whether the assumed range of each signal is at most twice its range in the run."""
    return bool(np.all(scales <= _CONFIRMED * bounded_ranges(run, network)))


def simulated(network: Network, choices: Sequence[MethodChoice], settings: Settings, progress: Progress) -> Record:
    """Simulate a coupled system with the given coupling methods; return results without a verdict.

    Raises
    ------
    SolveError : if the coupling is unstable or an FMU fails
    """
    if settings.step is None and _takes_nominal(choices):
        settings = replace(settings, step=settings.nominal)
    settings = equal_steps(network, settings)
    pairs = positions(network)
    steppers = [
        Stepper(network, group, choice.method, min(choice.order, 2), pairs)
        for group, choice in zip(network.groups, choices, strict=True)
    ]
    looping = [choice for choice, group in zip(choices, network.groups, strict=True) if group.loops]
    order = min((choice.order for choice in looping if choice.method == SEQUENTIAL), default=2)
    return Master(network, steppers, replace(settings, order=order)).run(progress)


def _grid(settings: Settings, network: Network) -> Array:
    """Return the times at which runs are compared, s: output times and communication points.

    If an FMU is sampled, the result also contains the midpoints between these times. Without the
    midpoints, all times could be sample times, which are events. Values at events are not compared.
    """
    points = settings.start + output_grid(settings.stop - settings.start, settings.step or settings.nominal)
    found = np.union1d(points, output_times(settings))
    if any(part.abilities.period is not None for part in network.parts):
        found = np.union1d(found, 0.5 * (found[1:] + found[:-1]))
    return found


def output_times(settings: Settings) -> Array:
    """Return the output times of a run, s."""
    span = settings.stop - settings.start
    return settings.start + output_grid(span, span / _OUTPUTS)


def _ranges(record: Record, network: Network) -> Array:
    values = np.array(record.values)[:, : network.n_y]
    return np.asarray(np.ptp(values, axis=0))


def _judged(
    system: CoupledSystem,
    choices: Sequence[MethodChoice],
    settings: Settings,
    run: Record,
    estimate: Estimate,
    remarks: Sequence[CouplingRemark],
) -> Coupled:
    network = system.network
    time = output_times(settings)
    values = run.sample(time)
    names = [".".join(port) for port in network.outputs]
    found = residuals(network, run)
    remarks = [
        *remarks,
        *energy_remarks(found, estimate.tolerance),
        *late_event_remarks(run),
        *noise_remarks(network, run),
    ]
    return Coupled(
        name=system.name,
        network=network,
        choices=choices,
        record=run,
        time=time,
        signals=dict(zip(names, values, strict=False)),
        units={name: signal.unit for name, signal in zip(names, network.signals, strict=True)},
        residuals=found,
        gap=_gap(network, run),
        remarks=remarks,
        modes=ResolvedModes(system.modes, float(np.max(np.diff(run.times)))) if system.modes else None,
        **vars(estimate),
    )


def _order(
    network: Network, rows: Sequence[int], runs: tuple[Record, Record, Record], error: float, settings: Settings
) -> float | None:
    """Return the observed order of convergence of three runs.

    The result is None if rounding errors or nearly equal steps make the order meaningless.
    """
    coarse, run, fine = runs
    outer, _ = difference(network, rows, coarse, fine, _grid(_shared(settings, *runs), network))
    counts = [len(r.pieces) for r in (coarse, run, fine)]
    if error < 1e-12 or not math.isfinite(outer) or outer <= error or counts[1] <= 1.05 * counts[0]:
        return None
    return observed_order((outer / error, counts[1] / counts[0]), counts[1] / counts[2])


def _gap(network: Network, run: Record) -> float:
    """Return the largest difference of two rigidly connected positions, relative to their range.

    All communication points after the start are considered.
    """
    if not len(network.pairs):
        return 0.0
    values = np.array(run.values)
    first, second = values[:, network.pairs[:, 0]], values[:, network.pairs[:, 1]]
    spread = float(np.max(np.maximum(np.ptp(first, axis=0), 1e-3 * np.max(np.abs(first), axis=0))))
    return float(np.max(np.abs(first - second)[1:])) / max(spread, _REST)
