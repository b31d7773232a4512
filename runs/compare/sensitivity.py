"""Sensitive motion: how far the reference differs from itself, and up to when runs can be compared with it.

A chaotic mechanism, or one with many impacts, amplifies any difference: the errors of two right solvers grow until
nothing of them agrees. The reference tells by itself. It is run again with a finer tolerance, and from an initial
state that is changed by a small part; both differences say by what a right run may differ, and from when on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...core.trajectory import Array, Trajectory
from .compare import Comparison, compare, covers, error_over_time

CHANGE = 1e-12  # of each signal's scale: change of the initial state
FINER = 0.01  # of a solver's tolerance, where a run is repeated
_LEAST_ERROR = 1e-9  # relative errors that a right run makes at any time, before the motion amplifies them
_OF_REFERENCE = 100.0  # a right run may differ by so many times what the reference's finer run differs by
_UNRELATED = 1.0  # of the scale: runs that may differ by so much have nothing in common
_EARLIEST = 0.01  # of the horizon: what can be compared for a shorter time is not compared at all
_FEWEST = 10  # output times, the same


@dataclass(frozen=True)
class Sensitivity:
    """Largest error that a right run may have, over time.

    Parameters:
        time     output times of the reference, shape (N,), s
        allowed  error relative to the signals' scales, shape (N,), never falling
    """

    time: Array
    allowed: Array

    def scaled(self, factor: float) -> Sensitivity:
        """Return the errors that a run may have which is granted so many times the error before amplification."""
        return replace(self, allowed=factor * self.allowed)

    def begin(self, tolerance: float) -> float | None:
        """Return the last output time, s, before a right run may exceed a tolerance; None: it never may."""
        beyond = np.flatnonzero(self.allowed > tolerance)
        return float(self.time[max(int(beyond[0]) - 1, 0)]) if len(beyond) else None

    def explains(self, time: Array, error: Array, tolerance: float) -> bool:
        """Whether a run's errors, shape (N,), at its times, s, are no larger than a right run's may be."""
        allowed = self.allowed[np.clip(np.searchsorted(self.time, time, side="right") - 1, 0, None)]
        within = (error <= np.maximum(allowed, tolerance)) | (allowed >= _UNRELATED)
        return bool(np.all(within & np.isfinite(error)))


def sensitivity(
    reference: Trajectory, finer: Trajectory, moved: Trajectory, units: Mapping[str, str], tolerance: float
) -> Sensitivity:
    """Compare the reference with its own repetitions.

    Parameters:
        finer      run with a finer tolerance, at the same output times
        moved      run from an initial state that is changed by `CHANGE`
        units      signal → unit
        tolerance  relative, which the description asks of solvers
    """
    (time, own), (_, amplified) = (_accumulated(reference, run, units) for run in (finer, moved))
    growth = amplified / max(float(amplified[0]), CHANGE)
    return Sensitivity(time, np.maximum(max(tolerance, _LEAST_ERROR) * growth, _OF_REFERENCE * own))


def _accumulated(reference: Trajectory, run: Trajectory, units: Mapping[str, str]) -> tuple[Array, Array]:
    """Times, s, and the largest error up to each of them, shape (N,) each."""
    time, error = error_over_time(reference, run, units)
    return time, np.maximum.accumulate(np.nan_to_num(error, nan=np.inf))


def judged(
    comparison: Comparison, reference: Trajectory, run: Trajectory, units: Mapping[str, str], known: Sensitivity
) -> Comparison:
    """Judge a run that disagrees as far as the motion can be compared.

    The tolerance stays; it holds up to the time when a right run may exceed it. After that time the run may differ
    by as much as the reference's repetitions allow, and by no more.
    """
    begin, covered = known.begin(comparison.tolerance), covers(comparison.horizon, float(reference.time[-1]))
    if begin is None or not covered:
        return comparison
    if not known.explains(*error_over_time(reference, run, units), comparison.tolerance):
        more = f"the motion is sensitive from t = {begin:.4g} s, but the run differs by more than that explains"
        return replace(comparison, note=_joined(comparison.note, more))
    if not is_long_enough(reference.time, begin):
        early = f"sensitive from t = {begin:.4g} s: too early for a comparison"
        return replace(comparison, sensitive_from=begin, note=_joined(comparison.note, early))
    found = compare(reference, run, units, comparison.tolerance, until=begin, complete=True)
    said = f"sensitive: comparison is meaningful up to t = {begin:.4g} s"
    return replace(found, sensitive_from=begin, note=_joined(comparison.note, said))


def is_long_enough(time: Array, begin: float) -> bool:
    """Whether a comparison up to a time, s, is one, with the output times of the whole run, shape (N,), s."""
    return begin >= _EARLIEST * float(time[-1]) and int(np.count_nonzero(time <= begin)) > _FEWEST


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)
