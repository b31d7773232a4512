"""Generalised forces that programmed constraints exert on coordinates without drives.

A programmed constraint exerts the same generalised forces Cᵀ λ as a frictionless guide that moves the
constrained point. These forces also act on the coordinates of the base and of beams, which have no drives.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.trajectory import Array, Trajectory
from ...mechanism import Mechanism
from ...reference.solve.solver import InitialValueProblem
from .balance import evaluations

_INSTANTS = 50  # Forces along a run are evaluated at no more than this many output times.
# A constraint force is reported only if it exceeds this fraction of the largest constraint force.
_IRRELEVANT = 1e-6


def guide_forces(problem: InitialValueProblem, run: Trajectory) -> dict[str, float]:
    """Return the peak generalised forces of programmed constraints on coordinates without drives.

    Parameters
    ----------
    problem : InitialValueProblem
        Equations of motion of the run.
    run : Trajectory
        Simulation result.

    Returns
    -------
    dict
        Largest absolute value, N or N·m, by the full name of the coordinate, such as `base.z`; the
        largest values come first. Empty if drives alone realise the programmed constraints.
    """
    mechanism = problem.mechanism
    free = _without_drives(mechanism)
    if not free:
        return {}
    peaks = np.abs(_constraint_forces(problem, run)).max(axis=0)
    least = _IRRELEVANT * peaks.max()
    found = {mechanism.coordinates[k].name: float(peaks[k]) for k in free if peaks[k] > least}
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _without_drives(mechanism: Mechanism) -> Sequence[int]:
    """Return the coordinates without drives on which a programmed constraint may act."""
    if mechanism.actuated is not None or all(task.joint is not None for task in mechanism.programmed):
        return ()
    return [k for k in range(mechanism.n) if k not in mechanism.driven]


def _constraint_forces(problem: InitialValueProblem, run: Trajectory) -> Array:
    """Return the generalised forces of programmed constraints at N output times, shape (N, n), N or N·m."""
    return np.array([found.drive for _, found in evaluations(problem, run, _INSTANTS)])
