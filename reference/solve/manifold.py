"""States that fulfil all constraints on positions, near to a given one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Array
from ..constraints.redundancy import without_rounding
from ..kinematics.extent import units_of_change
from ..kinematics.quantities import KinematicState
from .model import ReferenceModel

FULFILLED = 1e-9  # of the magnitudes that a row is made of: it holds
_ITERATIONS = 100  # steps after which a search without convergence is given up
_LONGEST = 0.5  # of the extent, of a step in any coordinate
_RANK = 1e-8  # singular values of C relative to the largest: along smaller ones no step is taken
_ROUNDING = 1e-14  # of what rows are made of
_EPSILON = 1e-15  # of the same, by one evaluation
_SHORTEST = 1e-12  # of the extent, of a step: nearer one does not come
_ASIDE = 0.1  # rad or of the extent, towards another configuration
_ANOTHER = 0.1 * _ASIDE  # rad or of the extent: a configuration that is nearer is the same one
_HALVINGS = 8  # of a step that does not reduce the gap
_TINY = 1e-300  # of the extent, keeps a quotient finite
_LATER = 0.37  # of the run's time, when that is looked for: not where something comes round again


@dataclass(frozen=True)
class Nearest:
    """Last iterate of the search for the nearest state that fulfils the constraints.

    gap          the largest |Φ| of a row relative to the magnitudes that it is made of
    uncertainty  of the coordinates, relative to the extent: how far they may go before rounding shows it in the
                 rows. Where these are singular it is far more than rounding, for they hardly change there
    """

    state: KinematicState
    gap: float
    uncertainty: float

    @property
    def fulfilled(self) -> bool:
        """Whether the rows hold."""
        return self.gap <= FULFILLED


class Manifold:
    """Positions where rows of order 0 hold.

    rows    their indices among all rows; default all
    extent  of the mechanism near by, m
    unit    shape (n,), see `extent.units_of_change`
    """

    def __init__(self, model: ReferenceModel, near: KinematicState, rows: Sequence[int] | None = None) -> None:
        self.model = model
        wanted = range(len(model.constraints.names)) if rows is None else rows
        self.rows = np.array([k for k in wanted if model.constraints.orders[k] == 0], dtype=int)
        self.extent, self.unit = units_of_change(model.mechanism, near.posture)
        sizes = model.constraints.sizes(near)
        self._made_of = sizes.C[self.rows]
        lengths = np.linalg.norm(self._made_of * self.unit, axis=1)
        self._lengths = np.where(lengths > 0, lengths, 1.0)
        self._sizes = np.where(sizes.Phi[self.rows] > 0, sizes.Phi[self.rows], 1.0)

    def nearest(self, state: KinematicState) -> Nearest:
        """The nearest state with the same q̇ where the rows vanish.

        Gauss–Newton steps of minimum norm, halved as long as the gap would grow; rows may depend on each other.
        """
        Phi, C = self._gap(state)
        step = self._step(Phi, C)
        for _ in range(_ITERATIONS):
            gap = float(np.linalg.norm(Phi))
            if self._size(Phi) <= _ROUNDING and self._length(step) <= _SHORTEST:
                break
            step *= min(1.0, _LONGEST / max(self._length(step), _TINY))
            for _ in range(_HALVINGS):
                trial = self.model.state(state.t, state.q + step, state.qd, state.segment, state.lag)
                trial_Phi, trial_C = self._gap(trial)
                if np.linalg.norm(trial_Phi) < gap:
                    break
                step = step / 2
            else:
                break
            state, Phi, C = trial, trial_Phi, trial_C
            step = self._step(Phi, C)
        return Nearest(state, self._size(Phi), max(self._length(step), self._uncertainty(C)))

    def _gap(self, state: KinematicState) -> tuple[Array, Array]:
        """Φ and C by coordinates that are lengths, in units of what the rows' derivatives are made of.

        Rows that no motion changes are zero but for rounding, which is no direction to go in and says nothing of
        the coordinates' uncertainty.
        """
        rows = self.model.constraints(state)
        C = without_rounding(rows.C[self.rows], self._made_of, self.unit)
        return rows.Phi[self.rows] / self._lengths, C * self.unit / self._lengths[:, None]

    def _step(self, Phi: Array, C: Array) -> Array:
        return np.asarray(self.unit * -(np.linalg.pinv(C, rcond=_RANK) @ Phi))

    def _uncertainty(self, C: Array) -> float:
        values = np.linalg.svd(C, compute_uv=False) if C.size else np.zeros(0)
        smallest = float(values[values > _RANK * values.max(initial=0.0)].min(initial=np.inf))
        return _EPSILON * float(np.linalg.norm(self._sizes / self._lengths)) / smallest / self.extent

    def _size(self, Phi: Array) -> float:
        return float(np.abs(Phi * self._lengths / self._sizes).max(initial=0.0))

    def _length(self, step: Array) -> float:
        return float(np.abs(step / self.unit).max(initial=0.0)) / self.extent


def elsewhere(model: ReferenceModel, state: KinematicState) -> KinematicState:
    """Another configuration that the position constraints allow, later or now; if none is found, this one."""
    manifold = Manifold(model, state)
    aside = _ASIDE * np.random.default_rng(0).uniform(-1.0, 1.0, len(state.q)) * manifold.unit * manifold.extent
    for t in (_LATER * float(model.mechanism.chain.simulation.stop), 0.0):
        other = manifold.nearest(model.state(t, state.q + aside, state.qd, lag=state.lag))
        moved = np.abs((other.state.q - state.q) / manifold.unit).max() / manifold.extent
        if other.fulfilled and moved > _ANOTHER:
            return other.state
    return state
