"""Comparison of runs with the reference solver.

A run that disagrees is examined further before it counts as wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from .. import analysis
from ..analysis.system import System
from ..core.errors import SolveError
from ..core.progress import Progress, renamed
from ..core.trajectory import Array, Trajectory
from ..mechanism import Mechanism, signal_names
from ..plausibility import Remark
from ..runs.attempts import SOLVER_MARGIN, Attempt
from ..runs.compare.compare import Comparison, compare
from ..runs.compare.scales import scales
from ..runs.compare.sensitivity import CHANGE, FINER, Sensitivity, is_long_enough, judged, sensitivity
from ..runs.compare.singular import ends_at_singular
from .reference_run import simulated

_FINEST = 1e-13  # Smallest tolerance of the finer reference run.
_RANK = 1e-8  # Singular values of the Jacobian below this fraction of the largest one count as zero.


@dataclass(frozen=True)
class Judged:
    """Run with the result of its comparison with the reference solver.

    The comparison is None if the run reached its time limit.
    """

    attempt: Attempt
    comparison: Comparison | None

    @property
    def disagrees(self) -> bool:
        """Whether a signal of the run differs from the reference run by more than the tolerance."""
        return self.attempt.trajectory is not None and self.comparison is not None and not self.comparison.ok


def judge(
    model: System,
    truth: Trajectory,
    attempts: Iterable[Attempt],
    problem: analysis.InitialValueProblem,
    progress: Progress,
) -> list[Judged]:
    """Compare runs with the reference solver, in the order of the attempts.

    A run that disagrees is repeated with a finer tolerance. If the repeated run also disagrees, the
    reference run is repeated to determine how fast small differences of the motion grow, see
    `runs.compare.sensitivity`. If the motion is sensitive, errors that grow like these
    differences are admissible. Admissible errors are proportional to the tolerance of the run.

    Parameters
    ----------
    model
        Mechanism with its equations.
    truth
        Run of the reference solver.
    attempts
        Runs to compare.
    problem
        Equations that the reference solver solves, with the inputs over time.
    progress
        Function that is called with the current activity and the completed fraction.
    """
    found = [_settled(model, truth, attempt, progress) for attempt in attempts]
    if not any(run.disagrees for run in found):
        return found
    known = _sensitivity(model, truth, problem, progress)
    if known is None:
        return found
    usual = min(run.attempt.tolerance for run in found)
    return [_reconsidered(model, truth, run, known.scaled(run.attempt.tolerance / usual)) for run in found]


def sensitive(model: System, comparisons: Iterable[Comparison]) -> Iterator[Remark]:
    """Yield a remark if small changes of the motion grow so fast that late times of runs cannot be compared."""
    begins = [c.sensitive_from for c in comparisons if c.sensitive_from is not None]
    if not begins:
        return
    begin, stop = min(begins), model.chain.simulation.stop
    yield Remark(
        "sensitive_motion",
        "simulation.stop",
        f"the motion is sensitive: comparison is meaningful up to t = {begin:.4g} s of {stop:.4g} s",
        "later values depend on rounding and solver errors; end the run before that time, or compare averages",
        begin,
        "s",
        stop,
        begin,
    )


def _settled(model: System, truth: Trajectory, attempt: Attempt, progress: Progress) -> Judged:
    """Compare a run with the reference run.

    A run that disagrees is repeated with a finer tolerance, and the repeated run is compared. A failed
    run is repeated up to the reference run's first singular configuration, if such a configuration
    exists.
    """
    if attempt.failure and truth.singular and attempt.until is not None:
        return _before_singular(model, truth, attempt, attempt.until, progress)
    first = Judged(attempt, _comparison(model, truth, attempt))
    if not first.disagrees or attempt.finer is None:
        return first
    progress(f"{attempt.name}, again with a finer tolerance", 0.0)
    again = attempt.finer()
    if again.trajectory is None:
        return first
    note = "run again with a finer tolerance, because the first run disagreed"
    again = replace(again, trajectory=replace(again.trajectory, note=note))
    return Judged(again, _comparison(model, truth, again))


def _before_singular(
    model: System, truth: Trajectory, attempt: Attempt, until: Callable[[float], Attempt], progress: Progress
) -> Judged:
    """Repeat a failed run up to the reference run's first singular configuration, and compare the runs.

    Beyond a singular configuration, several branches of the motion fulfil the constraints. A solver may
    then follow a branch that differs from the reference solver's branch. If the repeated run fails or
    would be too short, the result is the comparison of the failed run.
    """
    failed, first = Judged(attempt, _comparison(model, truth, attempt)), truth.singular[0].t
    before = truth.time[truth.time < first - 0.5 * model.chain.simulation.output_step]
    if not is_long_enough(truth.time, float(before[-1]) if len(before) else 0.0):
        return failed
    progress(f"{attempt.name}, again up to the first singular configuration", 0.0)
    again = until(float(before[-1]))
    comparison = _comparison(model, truth, again)
    if again.trajectory is None or comparison is None:
        return failed
    return Judged(again, ends_at_singular(comparison, first, attempt.failure))


def _comparison(model: System, truth: Trajectory, attempt: Attempt) -> Comparison | None:
    if attempt.trajectory is not None:
        return compare(truth, attempt.trajectory, model.units, attempt.tolerance, complete=True)
    return Comparison.failed(attempt.name, attempt.tolerance, attempt.failure) if attempt.failure else None


def _reconsidered(model: System, truth: Trajectory, run: Judged, known: Sensitivity) -> Judged:
    if not run.disagrees or run.comparison is None or run.attempt.trajectory is None:
        return run
    return replace(run, comparison=judged(run.comparison, truth, run.attempt.trajectory, model.units, known))


def _sensitivity(
    model: System, truth: Trajectory, problem: analysis.InitialValueProblem, progress: Progress
) -> Sensitivity | None:
    """Determine from two repetitions of the reference run how fast small differences of the motion grow.

    The first repetition has a finer tolerance. The second repetition begins at a changed initial state.
    The result is None if a repetition fails.
    """
    wanted = model.chain.simulation.tolerance
    try:
        variants = (
            ("finer", problem, max(wanted * SOLVER_MARGIN * FINER, _FINEST)),
            ("from a changed start", replace(problem, start=_changed_start(model, truth)), wanted * SOLVER_MARGIN),
        )
        finer, moved = (
            simulated(
                variant,
                analysis.RunSettings(tolerance=tolerance),
                renamed(progress, f"reference solver, {name}"),
            )
            for name, variant, tolerance in variants
        )
    except SolveError as error:
        progress(f"note: the sensitivity of the motion is unknown: {error}", 1.0)
        return None
    return sensitivity(truth, finer, moved, model.units, wanted)


def _changed_start(model: System, truth: Trajectory) -> tuple[Array, Array]:
    """Return a slightly changed initial state that still fulfils the constraints.

    The changes are small fractions of the coordinates' scales.
    """
    size = scales(truth.signals, model.units, truth.natural)
    mechanism, (q, qd) = model.mechanism, model.start
    C = analysis.evaluate(model.problem, 0.0, q, qd).C
    return q + _free_change(mechanism, size, C, "position"), qd + _free_change(mechanism, size, C, "velocity")


def _free_change(mechanism: Mechanism, size: Mapping[str, float], C: Array, level: str) -> Array:
    """Return a small change of all positions or velocities, shape (n,), that the constraints allow.

    The change fulfils the linearised constraints. Each coordinate or rate changes by a small fraction of its
    scale.

    Parameters
    ----------
    mechanism
        Mechanism with n coordinates.
    size
        Scale of each signal by its name, in the unit of the signal.
    C
        Jacobian of the constraints, shape (m, n).
    level
        `position` to change positions, or `velocity` to change velocities.
    """
    unit = np.array([size[name] for name in signal_names(mechanism.coordinates, level)])
    signs = (-1.0) ** np.arange(len(unit))
    weighted = C * unit
    free: Array = signs - np.linalg.pinv(weighted, rcond=_RANK) @ (weighted @ signs)
    return CHANGE * unit * free
