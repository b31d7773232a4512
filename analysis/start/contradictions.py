"""Detection of redundant constraints that contradict the independent ones.

Constraints are called redundant if they are linearly dependent at t = 0. Such constraints are
omitted from the equations of motion, but may contradict the remaining constraints in other states.
Their residuals are therefore checked at t = 0 in the initial position and in nearby positions, and
in a sequence of positions at later times. All these states fulfil the independent constraints.
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

# The run is divided into this many equal time intervals, and the constraints are checked at their ends.
_STEPS = 40
_HALVINGS = 3  # A time step that fails is halved at most this many times.
_RANK = 1e-8  # Singular values of the Jacobian up to this fraction of the largest one count as zero.
# Test states differ from the initial position by this amount, rad or fraction of the characteristic length.
_ASIDE = 0.1


@dataclass(frozen=True)
class SingularStart:
    """Singular initial position: constraints are linearly dependent there, but independent nearby.

    Parameters
    ----------
    opened : Opening or None
        Redundant constraints that are violated at positions near the initial position; None if no
        redundant constraint is violated there.
    here, rank : int
        Rank of all constraints in the initial position (`here`) and at nearby positions (`rank`).
    """

    opened: Opening | None
    here: int
    rank: int


class ManifoldWalk:
    """Check of the redundant constraints in states that fulfil the independent constraints."""

    def __init__(self, model: ReferenceModel, start: KinematicState, choice: RowChoice) -> None:
        nearest = Manifold(model, start).nearest(start)
        self._start = nearest.state if nearest.fulfilled else start
        self._model, self._choice = model, choice
        self.left = LeftOut(model, choice)
        self._manifold = Manifold(model, start, [*self.left.active, *self._implied_by_rates()])
        self._slow = [k for k in self.left.active if model.constraints.orders[k] <= 1]

    def contradiction(self) -> Opening | None:
        """Return the first contradiction between constraints from t = 0 on, or None if none is found.

        If the independent constraints cannot be fulfilled beyond some time, the search ends at that time,
        because the motion has reached a limit.
        """
        found = self._fulfilled(self._start)
        for t in self._times():
            if not isinstance(found, KinematicState):
                break
            found = self._on(found, t, _HALVINGS)
        return found if isinstance(found, Opening) else None

    def singular(self) -> SingularStart | None:
        """Return the ranks of the constraints if the initial position is singular, otherwise None.

        The position is singular in two cases: the constraints have a higher rank at nearby positions, or
        nearby positions violate constraints that are redundant in the initial position.
        """
        for beside in self._beside(self._manifold.nearest(self._start).state):
            rank, opened = _rank(self._model, beside), self.left.opened_at(0, beside, beside.qd)
            if opened or rank > self._choice.rank.rank:
                return SingularStart(opened, self._choice.rank.rank, rank)
        return None

    def _implied_by_rates(self) -> list[int]:
        """Return the position constraints that are redundant only because of velocity constraints.

        Among the position constraints alone, these constraints would not be redundant.
        """
        orders, C = self._model.constraints.orders, _comparable(self._model, self._start)
        own = [k for k in self.left.active if orders[k] == 0]
        rank = rank_of(C[own]).rank
        return [k for k in self.left.rows if orders[k] == 0 and rank_of(C[[*own, k]]).rank > rank]

    def _times(self) -> list[float]:
        """Return the times at which constraints are checked, s; empty if no constraint depends on time.

        The list contains equidistant times, and one time between each two successive time events.
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
        fails, the interval is halved up to `halvings` times.

        Returns
        -------
        KinematicState, Opening or None
            The state found. If this state violates redundant constraints, these constraints are returned
            instead. If the projection fails, the result is None.
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
            The state found. If this state violates redundant constraints, these constraints are returned
            instead. If no state is found, the result is None.
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
        """Yield states near the initial position that fulfil the independent constraints."""
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
    return any(
        entry.expression is None or "t" in expressions.names(entry.expression) for entry in mechanism.programmed
    )
