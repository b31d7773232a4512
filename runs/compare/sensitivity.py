"""Time span over which runs of a sensitive motion can be compared.

Chaotic motions and motions with many impacts amplify errors until even two correct solvers disagree.
The reference run is therefore repeated twice: with a tighter tolerance, and from a slightly changed
initial state. The differences between these runs show how large the error of a correct run may become.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...core.trajectory import Array, Trajectory
from .compare import Comparison, compare, covers, error_over_time

CHANGE = 1e-12  # The initial state is changed by this fraction of each signal's scale.
FINER = 0.01  # For a repeated run, the tolerance of the solver is multiplied by this factor.
# A correct run is assumed to begin with at least this relative error, which the motion may amplify.
_LEAST_ERROR = 1e-9
# A run may deviate from the reference run by this multiple of the estimated error of the reference run.
_OF_REFERENCE = 100.0
# Values are not compared if the expected relative error of a correct run is at least this value.
_UNRELATED = 1.0
_EARLIEST = 0.01  # A comparison is meaningful if it covers at least this fraction of the full time span.
_FEWEST = 10  # A comparison is meaningful only if it covers more than this number of output times.


@dataclass(frozen=True)
class Sensitivity:
    """Largest error that a correct run may have, as a function of time.

    Parameters
    ----------
    time : ndarray, shape (N,)
        Output times of the reference, s.
    allowed : ndarray, shape (N,)
        Admissible error relative to the signals' scales, nondecreasing.
    """

    time: Array
    allowed: Array

    def scaled(self, factor: float) -> Sensitivity:
        """Return a copy of this object in which all admissible errors are multiplied by a factor."""
        return replace(self, allowed=factor * self.allowed)

    def begin(self, tolerance: float) -> float | None:
        """Return the last output time, s, up to which the error of every correct run is within the tolerance.

        The result is None if this is the case up to the end of the run.
        """
        beyond = np.flatnonzero(self.allowed > tolerance)
        return float(self.time[max(int(beyond[0]) - 1, 0)]) if len(beyond) else None

    def explains(self, time: Array, error: Array, tolerance: float) -> bool:
        """Whether a correct run may have the given relative errors at the given times, s.

        Both arrays have shape (N,).
        """
        allowed = self.allowed[np.clip(np.searchsorted(self.time, time, side="right") - 1, 0, None)]
        within = (error <= np.maximum(allowed, tolerance)) | (allowed >= _UNRELATED)
        return bool(np.all(within & np.isfinite(error)))


def sensitivity(
    reference: Trajectory, finer: Trajectory, moved: Trajectory, units: Mapping[str, str], tolerance: float
) -> Sensitivity:
    """Compare the reference run with its repetitions.

    Parameters
    ----------
    reference : Trajectory
        Reference run.
    finer : Trajectory
        Run with a tighter tolerance, at the same output times.
    moved : Trajectory
        Run from an initial state that is changed by the fraction `CHANGE` of the signals' scales.
    units : mapping
        Unit of each signal.
    tolerance : float
        Relative solver tolerance of the description.
    """
    (time, own), (_, amplified) = (_accumulated(reference, run, units) for run in (finer, moved))
    growth = amplified / max(float(amplified[0]), CHANGE)
    return Sensitivity(time, np.maximum(max(tolerance, _LEAST_ERROR) * growth, _OF_REFERENCE * own))


def _accumulated(reference: Trajectory, run: Trajectory, units: Mapping[str, str]) -> tuple[Array, Array]:
    """Return N times, s, and the largest error up to each time; both arrays have shape (N,)."""
    time, error = error_over_time(reference, run, units)
    return time, np.maximum.accumulate(np.nan_to_num(error, nan=np.inf))


def judged(
    comparison: Comparison, reference: Trajectory, run: Trajectory, units: Mapping[str, str], known: Sensitivity
) -> Comparison:
    """Compare a disagreeing run over the time span in which the motion is predictable.

    The motion is predictable as long as the errors of correct runs are within the tolerance. After
    this time, the errors of the run must stay below a limit, which follows from the differences
    between the reference run and its repetitions.
    """
    begin, covered = known.begin(comparison.tolerance), covers(comparison.horizon, float(reference.time[-1]))
    if begin is None or not covered:
        return comparison
    if not known.explains(*error_over_time(reference, run, units), comparison.tolerance):
        more = f"the motion is sensitive from t = {begin:.4g} s, but the run differs by more than this explains"
        return replace(comparison, note=_joined(comparison.note, more))
    if not is_long_enough(reference.time, begin):
        early = f"sensitive from t = {begin:.4g} s: too early for a comparison"
        return replace(comparison, sensitive_from=begin, note=_joined(comparison.note, early))
    found = compare(reference, run, units, comparison.tolerance, until=begin, complete=True)
    said = f"sensitive: a comparison is meaningful up to t = {begin:.4g} s"
    return replace(found, sensitive_from=begin, note=_joined(comparison.note, said))


def is_long_enough(time: Array, begin: float) -> bool:
    """Whether a comparison from t = 0 to `begin` covers enough output times to be meaningful.

    The output times `time` of the whole run have shape (N,). All times are in s.
    """
    return begin >= _EARLIEST * float(time[-1]) and int(np.count_nonzero(time <= begin)) > _FEWEST


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)
