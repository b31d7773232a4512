"""States that fulfil all constraints on positions, near to a given one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kinematics.quantities import State
from .model import Model

Array = NDArray[np.float64]
FULFILLED = 1e-10  # m, rad, or in the unit of a programmed row
_ITERATIONS = 50
_LONGEST = 0.5  # rad or m, of a step in any coordinate
_RANK = 1e-8
_ASIDE = 0.1  # rad or m, towards another configuration
_LATER = 0.37  # of the run's time, when that is looked for: not where something comes round again


def onto(model: Model, state: State) -> tuple[State, float]:
    """The nearest state with the same q̇ where the rows of order 0 vanish, and what is left of them.

    Gauss–Newton steps of minimum norm, halved as long as the gap would grow; rows may depend on each other.
    """
    positions = model.constraints.orders == 0
    Phi, C = _gap(model, state, positions)
    for _ in range(_ITERATIONS):
        gap = float(np.linalg.norm(Phi))
        if gap <= FULFILLED:
            break
        step = -np.linalg.pinv(C, rcond=_RANK) @ Phi
        step *= min(1.0, _LONGEST / float(np.abs(step).max(initial=1e-300)))
        for _ in range(8):
            trial = model.state(state.t, state.q + step, state.qd, state.since)
            trial_Phi, trial_C = _gap(model, trial, positions)
            if np.linalg.norm(trial_Phi) < gap:
                break
            step = step / 2
        else:
            break
        state, Phi, C = trial, trial_Phi, trial_C
    return state, float(np.linalg.norm(Phi))


def elsewhere(model: Model, state: State) -> State:
    """Another configuration that the position constraints allow, later or now; if none is found, this one."""
    aside = _ASIDE * np.random.default_rng(0).uniform(-1.0, 1.0, len(state.q))
    for t in (_LATER * float(model.mechanism.chain.simulation.stop), 0.0):
        other, gap = onto(model, model.state(t, state.q + aside, state.qd))
        if gap <= FULFILLED and np.abs(other.q - state.q).max() > 0.1 * _ASIDE:
            return other
    return state


def _gap(model: Model, state: State, positions: NDArray[np.bool_]) -> tuple[Array, Array]:
    rows = model.constraints(state)
    return rows.Phi[positions], rows.C[positions]
