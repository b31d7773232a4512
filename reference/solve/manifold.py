"""Search for the nearest state that fulfils all position constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Array
from ..constraints.redundancy import without_rounding
from ..kinematics.extent import units_of_change
from ..kinematics.quantities import KinematicState
from .model import ReferenceModel

FULFILLED = 1e-9  # A constraint is fulfilled if its value is at most this fraction of the magnitude of its terms.
_ITERATIONS = 100  # The search for a state that fulfils the constraints ends after this many Gauss–Newton steps.
# A Gauss–Newton step changes a coordinate by at most this value, rad or fraction of the characteristic length.
_LONGEST = 0.5
_RANK = 1e-8  # A Gauss–Newton step ignores singular values of the Jacobian below this fraction of the largest one.
# A constraint value counts as zero if it is at most this fraction of the magnitude of its terms.
_ROUNDING = 1e-14
# One evaluation of a constraint has this rounding error, relative to the magnitude of the constraint's terms.
_EPSILON = 1e-15
# The search has converged if a step is at most this value, rad or fraction of the characteristic length.
_SHORTEST = 1e-12
# The search begins with random displacements up to this value, rad or fraction of the characteristic length.
_ASIDE = 0.1
# Two configurations count as equal up to this difference, rad or fraction of the characteristic length.
_ANOTHER = 0.1 * _ASIDE
_HALVINGS = 8  # A Gauss–Newton step that does not reduce the constraint values is halved at most this many times.
_TINY = 1e-300  # A denominator is at least this value, which prevents division by zero.
# The search for another configuration starts when the run has reached this fraction of its duration.
# The time at 37 % of a run is hardly ever a multiple of a motion's period.
_LATER = 0.37


@dataclass(frozen=True)
class Nearest:
    """Last iterate of the search for the nearest state that fulfils the position constraints.

    Attributes
    ----------
    state : KinematicState
        State of the last iteration.
    gap : float
        Largest constraint value |Φ| relative to the magnitude of its terms.
    uncertainty : float
        Error of the coordinates, relative to the mechanism's characteristic length. Smaller changes of
        the coordinates cannot be distinguished from rounding errors of the constraint values. The error
        is large near a singular configuration, because the constraint values hardly change there.
    """

    state: KinematicState
    gap: float
    uncertainty: float

    @property
    def fulfilled(self) -> bool:
        """Whether the state fulfils the position constraints."""
        return self.gap <= FULFILLED


class Manifold:
    """Set of all configurations that fulfil the position constraints.

    Attributes
    ----------
    rows : ndarray of int
        Indices of the position constraints among all equations.
    extent : float
        Characteristic length of the mechanism near the given state, m.
    unit : ndarray, shape (n,)
        Scale of each coordinate, see `extent.units_of_change`.
    """

    def __init__(self, model: ReferenceModel, near: KinematicState, rows: Sequence[int] | None = None) -> None:
        self.model = model
        candidates = range(len(model.constraints.names)) if rows is None else rows
        self.rows = np.array([k for k in candidates if model.constraints.orders[k] == 0], dtype=int)
        self.extent, self.unit = units_of_change(model.mechanism, near.posture)
        sizes = model.constraints.sizes(near)
        self._made_of = sizes.C[self.rows]
        lengths = np.linalg.norm(self._made_of * self.unit, axis=1)
        self._lengths = np.where(lengths > 0, lengths, 1.0)
        self._sizes = np.where(sizes.Phi[self.rows] > 0, sizes.Phi[self.rows], 1.0)

    def nearest(self, state: KinematicState) -> Nearest:
        """Return the nearest state with unchanged velocities that fulfils the position constraints.

        The search takes minimum-norm Gauss–Newton steps. A step is halved while it would increase the
        constraint values. Redundant constraints are allowed.
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
        """Return scaled constraint values Φ and Jacobian C, with all coordinates in units of length.

        Rows of C that contain only rounding errors are set to zero. Otherwise such a row would count as a
        constraint on the motion.
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
    """Return another configuration that fulfils the position constraints.

    The search is made first at a later time, then at t = 0.

    If no other configuration is found, the given state is returned.
    """
    manifold = Manifold(model, state)
    aside = _ASIDE * np.random.default_rng(0).uniform(-1.0, 1.0, len(state.q)) * manifold.unit * manifold.extent
    for t in (_LATER * float(model.mechanism.chain.simulation.stop), 0.0):
        other = manifold.nearest(model.state(t, state.q + aside, state.qd, lag=state.lag))
        moved = np.abs((other.state.q - state.q) / manifold.unit).max() / manifold.extent
        if other.fulfilled and moved > _ANOTHER:
            return other.state
    return state
