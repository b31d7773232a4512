"""Redundant constraint rows that demand different motions.

Rows that do not depend on each other can be fulfilled near a state where they are; redundant ones only if they
agree. Whether they do is seen by following them through the run's time along a motion of small velocities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...generator.language import expressions
from ...generator.mechanism import Mechanism
from ..constraints.choice import RowChoice
from ..kinematics.quantities import State
from ..solve.manifold import onto
from ..solve.model import Model

Array = NDArray[np.float64]
_STEPS = 40
_HALVINGS = 3
_FULFILLED = 1e-6  # in a row's unit, per second and per second squared
_INVOLVED = 1e-3  # of what is left


@dataclass(frozen=True)
class Contradiction:
    """Rows that cannot hold together at the time t, s.

    what   `positions`, `velocities` or `accelerations`
    left   how much of them stays unfulfilled
    """

    names: tuple[str, ...]
    what: str
    left: float
    t: float


def contradiction(model: Model, start: State, choice: RowChoice) -> Contradiction | None:
    """The first contradiction between redundant rows from the start on, or None.

    A motion that comes to the limit of its reach, where other rows cannot be fulfilled either, is none.

    choice   of rows, made near the start
    """
    if not choice.groups:
        return None
    found = _fulfilled(model, start)
    stop = float(model.mechanism.chain.simulation.stop) if _runs_by_time(model.mechanism) else 0.0
    for t in np.linspace(0.0, stop, _STEPS + 1)[1:].tolist() if stop else ():
        if isinstance(found, Contradiction):
            break
        found = _followed(model, found, t, _HALVINGS)
    if isinstance(found, State):
        return None
    groups = [{model.constraints.names[k] for k in group} for group in choice.groups]
    return found if any(set(found.names) <= group for group in groups) else None


def _runs_by_time(mechanism: Mechanism) -> bool:
    """Whether a programmed constraint depends on time."""
    return any(
        entry.expression is None or "t" in expressions.names(expressions.parse(entry.expression))
        for entry in mechanism.programmed
    )


def _followed(model: Model, state: State, t: float, halvings: int) -> State | Contradiction:
    """The state at t, s, that fulfils all rows, near to where the velocities lead."""
    found = _fulfilled(model, model.state(t, state.q + (t - state.t) * state.qd, state.qd))
    if isinstance(found, State) or not halvings:
        return found
    between = _followed(model, state, 0.5 * (state.t + t), halvings - 1)
    return _followed(model, between, t, halvings - 1) if isinstance(between, State) else between


def _fulfilled(model: Model, near: State) -> State | Contradiction:
    """The state near by that fulfils all rows."""
    state, _ = onto(model, near)
    rows = model.constraints(state)
    if np.linalg.norm(rows.Phi) > _FULFILLED:
        return _left(model, state, "positions", rows.Phi)
    inverse = np.linalg.pinv(rows.C, rcond=1e-8)
    state = model.state(state.t, state.q, state.qd - inverse @ rows.Phi_dot)
    rows = model.constraints(state)
    if np.linalg.norm(rows.Phi_dot) > _FULFILLED:
        return _left(model, state, "velocities", rows.Phi_dot)
    missing = rows.gamma - rows.C @ (inverse @ rows.gamma)
    size = max(1.0, float(np.linalg.norm(rows.gamma)))
    return state if np.linalg.norm(missing) <= _FULFILLED * size else _left(model, state, "accelerations", missing)


def _left(model: Model, state: State, what: str, left: Array) -> Contradiction:
    size = float(np.linalg.norm(left))
    involved = np.abs(left) > _INVOLVED * size
    names = tuple(name for name, used in zip(model.constraints.names, involved, strict=True) if used)
    return Contradiction(names, what, size, state.t)
