"""Whether runs agree with the reference: disagreement is looked into before a run is called wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from .. import analysis
from ..analysis.prepared import Prepared
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

_FINEST = 1e-13  # tolerance of the reference's finer run
_RANK = 1e-8  # relative: smaller singular values of the constraints' Jacobian are rounding


@dataclass(frozen=True)
class Judged:
    """A run and how it compares with the reference; None: it came to nothing in its limit of time."""

    attempt: Attempt
    comparison: Comparison | None

    @property
    def disagrees(self) -> bool:
        """Whether the run has signals that differ from the reference's."""
        return self.attempt.trajectory is not None and self.comparison is not None and not self.comparison.ok


def judge(
    model: Prepared,
    truth: Trajectory,
    attempts: Iterable[Attempt],
    problem: analysis.InitialValueProblem,
    progress: Progress,
) -> list[Judged]:
    """Compare runs with the reference, in the order of the attempts.

    A run that disagrees is repeated with a finer tolerance. If it still disagrees, the reference is repeated
    to see how sensitive the motion is, see `fmu.compare.sensitivity`. A run that is granted more than others, as
    rumoca's is, may differ by as much more.

    Parameters:
        truth   run of the reference solver
        problem equations that it solves, with the inputs over time
    """
    found = [_settled(model, truth, attempt, progress) for attempt in attempts]
    if not any(run.disagrees for run in found):
        return found
    known = _sensitivity(model, truth, problem, progress)
    if known is None:
        return found
    usual = min(run.attempt.tolerance for run in found)
    return [_reconsidered(model, truth, run, known.scaled(run.attempt.tolerance / usual)) for run in found]


def sensitive(model: Prepared, comparisons: Iterable[Comparison]) -> Iterator[Remark]:
    """Remark on a motion that can be compared for a part of the time only."""
    begins = [c.sensitive_from for c in comparisons if c.sensitive_from is not None]
    if not begins:
        return
    begin, stop = min(begins), model.chain.simulation.stop
    yield Remark(
        "sensitive_motion",
        "simulation.stop",
        f"the motion is sensitive: comparison is meaningful up to t = {begin:.4g} s of {stop:.4g} s",
        "later values follow from rounding and solver errors; end the run before, or compare averages",
        begin,
        "s",
        stop,
        begin,
    )


def _settled(model: Prepared, truth: Trajectory, attempt: Attempt, progress: Progress) -> Judged:
    """Judge an attempt; the finer one counts if the first one disagrees.

    An attempt that came to no end counts up to the first singular configuration, if there is one.
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
    note = "run again with a finer tolerance, since it disagreed"
    again = replace(again, trajectory=replace(again.trajectory, note=note))
    return Judged(again, _comparison(model, truth, again))


def _before_singular(
    model: Prepared, truth: Trajectory, attempt: Attempt, until: Callable[[float], Attempt], progress: Progress
) -> Judged:
    """Judge an attempt that came to no end up to the first singular configuration of the reference's run.

    From there on the constraints do not determine the branch of the motion, and a solver may lose it.
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


def _comparison(model: Prepared, truth: Trajectory, attempt: Attempt) -> Comparison | None:
    if attempt.trajectory is not None:
        return compare(truth, attempt.trajectory, model.units, attempt.tolerance, complete=True)
    return Comparison.failed(attempt.name, attempt.tolerance, attempt.failure) if attempt.failure else None


def _reconsidered(model: Prepared, truth: Trajectory, run: Judged, known: Sensitivity) -> Judged:
    if not run.disagrees or run.comparison is None or run.attempt.trajectory is None:
        return run
    return replace(run, comparison=judged(run.comparison, truth, run.attempt.trajectory, model.units, known))


def _sensitivity(
    model: Prepared, truth: Trajectory, problem: analysis.InitialValueProblem, progress: Progress
) -> Sensitivity | None:
    """Run the reference again, finer and from a changed start; None where one of these runs ends early."""
    wanted = model.chain.simulation.tolerance
    try:
        variants = (
            ("finer", problem, max(wanted * SOLVER_MARGIN * FINER, _FINEST)),
            ("from a changed start", replace(problem, start=_changed_start(model, truth)), wanted * SOLVER_MARGIN),
        )
        finer, moved = (
            analysis.simulate(
                variant,
                analysis.RunSettings(tolerance=tolerance),
                renamed(progress, f"reference solver, {name}"),
            )
            for name, variant, tolerance in variants
        )
    except SolveError as error:
        progress(f"note: how sensitive the motion is could not be found: {error}", 1.0)
        return None
    return sensitivity(truth, finer, moved, model.units, wanted)


def _changed_start(model: Prepared, truth: Trajectory) -> tuple[Array, Array]:
    """Initial state that is changed by a small part of each coordinate's scale, as far as constraints allow."""
    size = scales(truth.signals, model.units, truth.natural)
    mechanism, (q, qd) = model.mechanism, model.start
    C = analysis.evaluate(model.problem, 0.0, q, qd).C
    return q + _free_change(mechanism, size, C, "position"), qd + _free_change(mechanism, size, C, "velocity")


def _free_change(mechanism: Mechanism, size: Mapping[str, float], C: Array, level: str) -> Array:
    """Change of positions or velocities, shape (n,), that constraints with the Jacobian C, (m, n), do not see."""
    unit = np.array([size[name] for name in signal_names(mechanism.coordinates, level)])
    signs = (-1.0) ** np.arange(len(unit))
    weighted = C * unit
    free: Array = signs - np.linalg.pinv(weighted, rcond=_RANK) @ (weighted @ signs)
    return CHANGE * unit * free
