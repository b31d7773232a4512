"""Notes on initial values that were changed, and on constraints that cannot be fulfilled."""

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

# A change of an initial position is reported above this limit, rad or fraction of the characteristic length.
_FAR = 0.1
# An initial value is set to zero if it is at most this fraction of the value in the description.
_ROUNDING = 1e-12
_CHANGED = 1e-6  # A change of an initial velocity is reported above this fraction of the largest initial velocity.


def start_notes(problem: InitialValueProblem) -> list[str]:
    """Return notes on initial values that were changed, and on constraints that cannot be fulfilled.

    Parameters
    ----------
    problem : InitialValueProblem
        Equations of motion with their initial state.
    """
    return [*_moved(problem), *_slowed(problem), *_unreachable(problem)]


def _moved(problem: InitialValueProblem) -> Iterator[str]:
    """Yield a note if the loop closure moved joints far from their described positions."""
    mechanism = problem.mechanism
    if not mechanism.closures:
        return
    extent, unit = units_of_change(mechanism, problem.initial_state.posture)
    given = described_state(mechanism)[0]
    closed = assemble(mechanism, given)
    far = np.flatnonzero(np.abs(closed - given) > _FAR * extent * unit).tolist()
    if far:
        changes = _changes(mechanism, far, given, closed, "")
        yield (
            f"closing the loops moved joints far: {changes}; enter these positions, or check the links' dimensions"
        )


def _slowed(problem: InitialValueProblem) -> Iterator[str]:
    """Yield a note if constraints have changed the described initial velocities."""
    mechanism, qd = problem.mechanism, problem.initial_state.qd
    given = described_state(mechanism)[1]
    unit = units_of_change(mechanism, problem.initial_state.posture)[1]
    size = float(np.abs(given / unit).max(initial=0.0))
    changed = [k for k in np.flatnonzero(given).tolist() if abs(qd[k] - given[k]) / unit[k] > _CHANGED * size]
    if changed:
        changes = _changes(mechanism, changed, given, qd, "/s")
        yield (
            f"initial velocities were changed to fulfil closures, knife edges and velocity constraints: {changes}"
        )


def _changes(mechanism: Mechanism, which: list[int], before: Array, after: Array, per: str) -> str:
    named = [(mechanism.coordinates[k], before[k], _plain(before[k], after[k])) for k in which]
    return ", ".join(f"{c.name} from {a:.4g} to {b:.4g} {c.unit}{per}" for c, a, b in named)


def _plain(before: float, after: float) -> float:
    """Return the value `after`, or 0 if this value is only a rounding error of the value `before`."""
    return after if abs(after) > _ROUNDING * abs(before) else 0.0


def _unreachable(problem: InitialValueProblem) -> Iterator[str]:
    """Yield a note if the constraints cannot be fulfilled near the initial state."""
    model, state = problem.model, problem.initial_state
    nearest = Manifold(model, state).nearest(state)
    if nearest.fulfilled:
        return
    Phi = np.abs(model.constraints(nearest.state).Phi)
    k = int(np.argmax(Phi))
    yield (
        f"the constraint equations cannot be fulfilled near the initial state: the nearest position violates"
        f" {model.constraints.names[k]} by {Phi[k]:.3g}, so that the motion will end at a singular position"
    )
