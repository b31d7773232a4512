"""Detection of redundant constraints that contradict the independent ones.

A constraint that was omitted as redundant is fulfilled only if it is consistent with the
independent constraints. The residual is therefore checked at states that fulfil the independent
constraints. These states are the state at t = 0, states near the initial position, and states along
a slow motion over time. The nearby states are necessary, because constraints may be linearly
dependent in the initial position only.
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

_STEPS = 40  # number of equal time intervals of the run; constraints are checked after each interval
_HALVINGS = 3  # maximum number of bisections of a time step that fails
_RANK = 1e-8  # largest relative singular value that is treated as zero
_ASIDE = 0.1  # distance between initial and nearby states, rad or relative to the extent


@dataclass(frozen=True)
class SingularStart:
    """Singular initial position: constraints are linearly dependent there, but independent nearby.

    Parameters
    ----------
    opened : Opening or None
        Redundant constraints that are violated nearby.
    here, rank : int
        Rank of all constraints in the initial position (`here`) and at nearby positions (`rank`).
    """

    opened: Opening | None
    here: int
    rank: int


class ManifoldWalk:
    """Sequence of states that fulfil the independent constraints, with checks of the redundant
    ones.
    """

    def __init__(self, model: ReferenceModel, start: KinematicState, choice: RowChoice) -> None:
        nearest = Manifold(model, start).nearest(start)
        self._start = nearest.state if nearest.fulfilled else start
        self._model, self._choice = model, choice
        self.left = LeftOut(model, choice)
        self._manifold = Manifold(model, start, [*self.left.active, *self._implied_by_rates()])
        self._slow = [k for k in self.left.active if model.constraints.orders[k] <= 1]

    def contradiction(self) -> Opening | None:
        """Return the first contradiction between constraints from t = 0 on, or None.

        The search ends without a contradiction if the independent constraints reach a limit of the
        joints' motion.
        """
        found = self._fulfilled(self._start)
        for t in self._times():
            if not isinstance(found, KinematicState):
                break
            found = self._on(found, t, _HALVINGS)
        return found if isinstance(found, Opening) else None

    def singular(self) -> SingularStart | None:
        """Return the initial position with its ranks if the position is singular, otherwise None.

        The position is singular if the constraints have a higher rank nearby, or if constraints that were
        omitted as redundant are violated nearby.
        """
        for beside in self._beside(self._manifold.nearest(self._start).state):
            rank, opened = _rank(self._model, beside), self.left.opened_at(0, beside, beside.qd)
            if opened or rank > self._choice.rank.rank:
                return SingularStart(opened, self._choice.rank.rank, rank)
        return None

    def _implied_by_rates(self) -> list[int]:
        """Return the position constraints that are redundant only because of velocity constraints.

        The independent position constraints alone do not imply these constraints.
        """
        orders, C = self._model.constraints.orders, _comparable(self._model, self._start)
        own = [k for k in self.left.active if orders[k] == 0]
        rank = rank_of(C[own]).rank
        return [k for k in self.left.rows if orders[k] == 0 and rank_of(C[[*own, k]]).rank > rank]

    def _times(self) -> list[float]:
        """Return the times at which constraints are checked, s, with one time between any two
        switching times.
        """
        if not _runs_by_time(self._model.mechanism):
            return []
        stop = float(self._model.mechanism.chain.simulation.stop)
        bounds = np.array([0.0, *self._model.stops(stop), stop])
        within = bounds[:-1] + 0.5 * np.diff(bounds)
        return sorted({*np.linspace(0.0, stop, _STEPS + 1)[1:].tolist(), *within.tolist()})

    def _on(self, state: KinematicState, t: float, halvings: int) -> KinematicState | Opening | None:
        """Return the state at time t, s, that fulfils the independent constraints.

        The given state is extrapolated to time t and projected onto the constraints. If the projection
        fails, intermediate times are tried.

        Returns
        -------
        KinematicState, Opening or None
            The state; a contradiction that was found there; or None if the projection fails.
        """
        found = self._fulfilled(self._model.state(t, state.q + (t - state.t) * state.qd, state.qd, lag=state.lag))
        if found is not None or not halvings:
            return found
        between = self._on(state, 0.5 * (state.t + t), halvings - 1)
        return self._on(between, t, halvings - 1) if isinstance(between, KinematicState) else between

    def _fulfilled(self, near: KinematicState) -> KinematicState | Opening | None:
        """Return the nearest state that fulfils the independent constraints.

        Returns
        -------
        KinematicState, Opening or None
            The state; the violated redundant constraints at the state; or None if no such state is found.
        """
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
        """Yield states near the initial position, in admissible directions, that fulfil the
        independent constraints.
        """
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
