"""The first-order system that integrators see: ẏ = f(t, y).

y = (q, q̇, z, lag), or with `gpme_reduced` (q, q̇_i, z, lag): q̇_d by the constraints (Krasinskiy 2023, (7)).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core.trajectory import Array
from ..kinematics.jet import Number
from ..kinematics.quantities import KinematicState
from ..kinematics.segment import NotVectorisable, Segment
from ..solve.formulations import Gpme
from ..solve.model import ReferenceModel
from ..solve.projection import project


class FormulatedModel:
    """A model with its formulation.

    rates   indices of the coordinates whose velocities are states
    size    number of states
    velocities  their place among the states
    latest  time, s, and C, shape (m, n), of the last state whose rates were evaluated
    """

    def __init__(self, model: ReferenceModel, form: Gpme) -> None:
        self.model, self.form, self._n = model, form, model.mechanism.n
        fixed = form.fixed if form.reduced else None
        self.rates = np.arange(self._n) if fixed is None else fixed.independent
        self.velocities = slice(self._n, self._n + len(self.rates))
        self._bristles = slice(
            self._n + len(self.rates), self._n + len(self.rates) + len(model.friction.coordinates)
        )
        self.size = self._bristles.stop + model.filters.size
        self.latest = (np.nan, np.zeros((0, self._n)))

    def states(self, q: Array, qd: Array) -> Array:
        """y, shape (size,), at q and qd, shape (n,) each, with undeformed bristles and filters at rest."""
        return np.concatenate([q, qd[self.rates], np.zeros(self.size - self._bristles.start)])

    def moment(self, t: Number, y: Array, segment: Segment | None = None) -> tuple[KinematicState, Array]:
        """The mechanism's state and z, shape (f,), or many, from y of shape (N, size); see `Model.state`.

        Raises SolveError where q̇_d is needed and C_d is singular.
        """
        qd = np.zeros((*y.shape[:-1], self._n))
        qd[..., self.rates] = y[..., self._n : self._n + len(self.rates)]
        state = self.model.state(t, y[..., : self._n], qd, segment, y[..., self._bristles.stop :])
        return self.model.consistent(state, self.form), y[..., self._bristles]

    def settled(self, t: float, y: Array, segment: Segment, most: float) -> Array:
        """State on the constraints next to y, shape (size,), at t, s; y if that is further away than errors are.

        most  errors of a run: largest change of a position, rad or m
        """
        state, _ = self.moment(t, y, segment)
        q, qd = project(self.model, state.q, state.qd, t)
        if np.abs(q - state.q).max() > most:
            return y
        return np.concatenate([q, qd[self.rates], y[self._bristles.start :]])

    def rate(self, segment: Segment) -> Callable[[Number, Array], Array]:
        """f, for a time segment; of one state, or at once of many, shape (N, size), with t of shape (N,)."""

        def rate(t: Number, y: Array) -> Array:
            state, z = self.moment(t, y, segment)
            found = self.model.rates(state, self.form, z)
            self.latest = (t[-1], found.C[-1]) if state.is_many else (t, found.C)
            parts = (state.qd, found.qdd[..., self.rates], found.z_dot, self.model.filters.rates(state))
            return np.concatenate(parts, axis=-1)

        def whole(t: Number, y: Array) -> Array:
            try:
                return rate(t, y)
            except NotVectorisable:
                return np.array([rate(float(at), one) for at, one in zip(t, y, strict=True)])

        return whole
