"""First-order system ẏ = f(t, y) of the equations of motion, in the form that integrators use.

The state is y = (q, q̇, z, lag) with coordinates, velocities, bristle deflections z and internal
states of filters and controllers. With the formulation `gpme_reduced`, the state contains
only the independent velocities q̇_i. The dependent velocities follow from the constraints (Krasinskiy
2023, equation (7)). GPME means generalised programmed motion equations.
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
    """Model of a mechanism with a formulation of its equations of motion.

    Attributes
    ----------
    rates : ndarray of int
        Indices of the coordinates whose velocities are state variables.
    size : int
        Number of state variables.
    velocities : slice
        Indices of the velocities among the state variables.
    latest : tuple
        Time, s, and constraint Jacobian, shape (m, n), of the last evaluated state.
    """

    def __init__(self, model: ReferenceModel, form: Gpme) -> None:
        self.model, self.form, self._n = model, form, model.mechanism.n
        fixed = form.fixed if form.reduced else None
        self.rates = np.arange(self._n) if fixed is None else fixed.independent
        self.velocities = slice(self._n, self._n + len(self.rates))
        self._bristles = slice(
            self._n + len(self.rates), self._n + len(self.rates) + len(model.friction.coordinates)
        )
        self.size = self._bristles.stop + model.internal.size
        self.latest = (np.nan, np.zeros((0, self._n)))

    def states(self, q: Array, qd: Array) -> Array:
        """Return the state vector, shape (size,), for coordinates q and velocities qd of shape (n,) each.

        Bristles are undeformed, and internal states have their initial values.
        """
        bristles = np.zeros(len(self.model.friction.coordinates))
        return np.concatenate([q, qd[self.rates], bristles, self.model.internal.start])

    def moment(self, t: Number, y: Array, segment: Segment | None = None) -> tuple[KinematicState, Array]:
        """Return the kinematic state and the bristle deflections, shape (f,), of a state vector y.

        The vector y has shape (size,), or (N, size) for N states.

        Raises
        ------
        SolveError
            If dependent velocities must be computed and the Jacobian C_d of the dependent coordinates is
            singular.
        """
        qd = np.zeros((*y.shape[:-1], self._n))
        qd[..., self.rates] = y[..., self._n : self._n + len(self.rates)]
        state = self.model.state(t, y[..., : self._n], qd, segment, y[..., self._bristles.stop :])
        return self.model.consistent(state, self.form), y[..., self._bristles]

    def held(self, t: float, y: Array, segment: Segment) -> Array:
        """Return the state vector with new outputs of the controllers sampled at time t, s, shape (size,)."""
        state, _ = self.moment(t, y, segment)
        return np.concatenate([y[: self._bristles.stop], self.model.forces.held(state)])

    def advanced(self, t: float, y: Array, segment: Segment) -> Array:
        """Return the state vector with the updated states of the controllers sampled at time t, s.

        Before this call, `held` must have computed the outputs of these controllers in the vector y.
        """
        state, _ = self.moment(t, y, segment)
        return np.concatenate([y[: self._bristles.stop], self.model.forces.advanced(state)])

    def settled(self, t: float, y: Array, segment: Segment, most: float) -> Array:
        """Return the state vector nearest to y that fulfils the constraints at time t, s, shape (size,).

        If a position would change by more than `most`, rad or m, y is returned unchanged. Integration
        errors cannot explain such a large violation of the constraints.
        """
        state, _ = self.moment(t, y, segment)
        q, qd = project(self.model, state.q, state.qd, t)
        if np.abs(q - state.q).max() > most:
            return y
        return np.concatenate([q, qd[self.rates], y[self._bristles.start :]])

    def rate(self, segment: Segment) -> Callable[[Number, Array], Array]:
        """Return the right-hand side f(t, y) for a time segment.

        The function accepts a single state. The function also accepts N states y of shape (N, size) with
        times t of shape (N,).
        """

        def rate(t: Number, y: Array) -> Array:
            state, z = self.moment(t, y, segment)
            found = self.model.rates(state, self.form, z)
            self.latest = (t[-1], found.C[-1]) if state.is_many else (t, found.C)
            parts = (state.qd, found.qdd[..., self.rates], found.z_dot, self.model.internal_rates(state))
            return np.concatenate(parts, axis=-1)

        def whole(t: Number, y: Array) -> Array:
            try:
                return rate(t, y)
            except NotVectorisable:
                return np.array([rate(float(at), one) for at, one in zip(t, y, strict=True)])

        return whole
