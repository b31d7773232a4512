"""Constraint rows that are left out although the others do not imply them.

Rows that do not depend on each other can be fulfilled near a state where they are; what is left out is fulfilled
only if it agrees with the others. That is seen where the rows that are kept hold: at the start, aside from it
(rows may depend on each other at the start alone) and through the run's time along a motion of small velocities.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import null_space

from ...core.trajectory import Array
from ...language import expressions
from ...mechanism import Mechanism
from ...reference.constraints.choice import RowChoice
from ...reference.constraints.redundancy import comparable, rank_of
from ...reference.kinematics.extent import units_of_change
from ...reference.kinematics.quantities import KinematicState
from ...reference.solve.manifold import Manifold
from ...reference.solve.model import ReferenceModel
from .left_out import LeftOut, Opening

_STEPS = 40  # parts of the run, at whose ends the rows are looked at
_HALVINGS = 3  # of a part whose end the constraints do not lead to
_RANK = 1e-8  # singular values relative to the largest: smaller ones count as zero
_ASIDE = 0.1  # rad, or of the extent


@dataclass(frozen=True)
class SingularStart:
    """A start where rows depend on each other, but not beside it.

    opened      what does not hold beside it, if anything
    here, rank  of all rows at the start and beside it
    """

    opened: Opening | None
    here: int
    rank: int


class ManifoldWalk:
    """The states that the rows which are kept lead to, and what is left out there."""

    def __init__(self, model: ReferenceModel, start: KinematicState, choice: RowChoice) -> None:
        nearest = Manifold(model, start).nearest(start)
        self._start = nearest.state if nearest.fulfilled else start
        self._model, self._choice = model, choice
        self.left = LeftOut(model, choice)
        self._manifold = Manifold(model, start, [*self.left.active, *self._implied_by_rates()])
        self._slow = [k for k in self.left.active if model.constraints.orders[k] <= 1]

    def contradiction(self) -> Opening | None:
        """The first contradiction from the start on.

        A motion that comes to the limit of its reach, where rows that are kept cannot be fulfilled, is none.
        """
        found = self._fulfilled(self._start)
        for t in self._times():
            if not isinstance(found, KinematicState):
                break
            found = self._on(found, t, _HALVINGS)
        return found if isinstance(found, Opening) else None

    def singular(self) -> SingularStart | None:
        """Whether rows are left out at the start that are needed beside it."""
        for beside in self._beside(self._manifold.nearest(self._start).state):
            rank, opened = _rank(self._model, beside), self.left.opened_at(0, beside, beside.qd)
            if opened or rank > self._choice.rank.rank:
                return SingularStart(opened, self._choice.rank.rank, rank)
        return None

    def _implied_by_rates(self) -> list[int]:
        """Rows of positions that are left out because of rows of velocities: positions alone would open them."""
        orders, C = self._model.constraints.orders, _comparable(self._model, self._start)
        own = [k for k in self.left.active if orders[k] == 0]
        rank = rank_of(C[own]).rank
        return [k for k in self.left.rows if orders[k] == 0 and rank_of(C[[*own, k]]).rank > rank]

    def _times(self) -> list[float]:
        """Times to look at, s: within each segment between switches, too."""
        if not _runs_by_time(self._model.mechanism):
            return []
        stop = float(self._model.mechanism.chain.simulation.stop)
        bounds = np.array([0.0, *self._model.stops(stop), stop])
        within = bounds[:-1] + 0.5 * np.diff(bounds)
        return sorted({*np.linspace(0.0, stop, _STEPS + 1)[1:].tolist(), *within.tolist()})

    def _on(self, state: KinematicState, t: float, halvings: int) -> KinematicState | Opening | None:
        """The state at t, s, near to where the velocities lead."""
        found = self._fulfilled(self._model.state(t, state.q + (t - state.t) * state.qd, state.qd, lag=state.lag))
        if found is not None or not halvings:
            return found
        between = self._on(state, 0.5 * (state.t + t), halvings - 1)
        return self._on(between, t, halvings - 1) if isinstance(between, KinematicState) else between

    def _fulfilled(self, near: KinematicState) -> KinematicState | Opening | None:
        """The state near by where the rows that are kept hold, what is open there, or None: there is none."""
        nearest = self._manifold.nearest(near)
        if not nearest.fulfilled:
            return None
        state, unit = nearest.state, self._manifold.unit
        rows = self._model.constraints(state)
        inverse = unit[:, None] * np.linalg.pinv(rows.C[self._slow] * unit, rcond=_RANK)
        qd = state.qd - inverse @ rows.Phi_dot[self._slow]
        state = self._model.state(state.t, state.q, qd, state.segment, state.lag)
        rows, kept = self._model.constraints(state), self.left.active
        qdd = unit * (np.linalg.pinv(rows.C[kept] * unit, rcond=_RANK) @ rows.gamma[kept])
        opened = (self.left.opened_at(level, state, qdd) for level in range(3))
        return next((found for found in opened if found), state)

    def _beside(self, start: KinematicState) -> Iterator[KinematicState]:
        """States beside the start where the rows that are kept hold, in directions that they allow."""
        C = self._model.constraints(start).C[self._manifold.rows] * self._manifold.unit
        allowed = null_space(C, rcond=_RANK) if len(C) else np.eye(len(start.q))
        if not allowed.shape[1]:
            return
        rng = np.random.default_rng(0)
        for sign in (1.0, -1.0, 1.0):
            direction = allowed @ rng.normal(size=allowed.shape[1])
            step = sign * _ASIDE * self._manifold.extent * direction / np.abs(direction).max()
            q = start.q + self._manifold.unit * step
            aside = self._model.state(start.t, q, start.qd, start.segment, start.lag)
            nearest = self._manifold.nearest(aside)
            if nearest.fulfilled:
                yield nearest.state


def _rank(model: ReferenceModel, state: KinematicState) -> int:
    return rank_of(_comparable(model, state)).rank


def _comparable(model: ReferenceModel, state: KinematicState) -> Array:
    unit = units_of_change(model.mechanism, state.posture)[1]
    return comparable(model.constraints(state).C, model.constraints.sizes(state).C, unit)


def _runs_by_time(mechanism: Mechanism) -> bool:
    """Whether a programmed constraint depends on time."""
    return any(
        entry.expression is None or "t" in expressions.names(entry.expression) for entry in mechanism.programmed
    )
