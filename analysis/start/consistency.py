"""Deviations of the initial state from the description: changed values, and constraints that cannot be met."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...core.trajectory import Array
from ...mechanism import Mechanism
from ...reference.kinematics.extent import units_of_change
from ...reference.solve.manifold import Manifold
from ...reference.solve.solver import InitialValueProblem
from .assembly import assemble
from .statics import described_state

_FAR = 0.1  # rad, or of the extent: a change of the start that is worth a word
_ROUNDING = 1e-12  # of what a value was
_CHANGED = 1e-6  # of the velocities: the same


def start_notes(problem: InitialValueProblem) -> list[str]:
    """Sentences on what was changed of the described start, and on what cannot be fulfilled near it.

    problem  equations with the initial state that `start_state` found
    """
    return [*_moved(problem), *_slowed(problem), *_unreachable(problem)]


def _moved(problem: InitialValueProblem) -> Iterator[str]:
    """Joints that were moved far to close loops."""
    mechanism = problem.mechanism
    if not mechanism.closures:
        return
    extent, unit = units_of_change(mechanism, problem.initial_state.posture)
    given = described_state(mechanism)[0]
    closed = assemble(mechanism, given)
    far = np.flatnonzero(np.abs(closed - given) > _FAR * extent * unit).tolist()
    if far:
        changes = _changes(mechanism, far, given, closed, "")
        yield f"loops were closed by moving joints far: {changes}; give these positions, or see whether links fit"


def _slowed(problem: InitialValueProblem) -> Iterator[str]:
    """Start velocities that constraints do not allow."""
    mechanism, qd = problem.mechanism, problem.initial_state.qd
    given = described_state(mechanism)[1]
    unit = units_of_change(mechanism, problem.initial_state.posture)[1]
    size = float(np.abs(given / unit).max(initial=0.0))
    changed = [k for k in np.flatnonzero(given).tolist() if abs(qd[k] - given[k]) / unit[k] > _CHANGED * size]
    if changed:
        changes = _changes(mechanism, changed, given, qd, "/s")
        yield f"start velocities were changed to what closures, knife edges and rows of order 1 allow: {changes}"


def _changes(mechanism: Mechanism, which: list[int], before: Array, after: Array, per: str) -> str:
    named = [(mechanism.coordinates[k], before[k], _plain(before[k], after[k])) for k in which]
    return ", ".join(f"{c.name} from {a:.4g} to {b:.4g} {c.unit}{per}" for c, a, b in named)


def _plain(before: float, after: float) -> float:
    """The new value, 0 where it is rounding."""
    return after if abs(after) > _ROUNDING * abs(before) else 0.0


def _unreachable(problem: InitialValueProblem) -> Iterator[str]:
    """Rows that cannot be fulfilled anywhere near."""
    model, state = problem.model, problem.initial_state
    nearest = Manifold(model, state).nearest(state)
    if nearest.fulfilled:
        return
    Phi = np.abs(model.constraints(nearest.state).Phi)
    k = int(np.argmax(Phi))
    yield (
        f"the constraint rows cannot be fulfilled near the start: the nearest position misses"
        f" {model.constraints.names[k]} by {Phi[k]:.3g}, so that the motion will end where they become singular"
    )
