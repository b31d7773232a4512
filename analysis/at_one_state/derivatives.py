"""Derivatives of the equations of motion with respect to the states, at the initial state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Array
from ...reference.integration.events import Events
from ...reference.integration.motion import FormulatedModel
from ...reference.kinematics.extent import units_of_change
from ...reference.solve.solver import InitialValueProblem

# Central differences change each state variable by this increment, in its SI unit.
# In mechanisms smaller than 1 m, this increment of displacements is a fraction of the characteristic length.
_DIFFERENCE = 1e-6


@dataclass(frozen=True)
class RateDerivatives:
    """Partial derivatives of the time derivative ẇ of the vector w = (q, q̇, z) with respect to the states.

    The vector w contains the coordinates q, their rates q̇, and all further state variables z.

    Parameters
    ----------
    by_state : ndarray, shape (len(w), k)
        Partial derivatives of ẇ with respect to the k states.
    states : tuple of int
        Indices in w of the k states. With `gpme_reduced`, dependent rates are not states.
    """

    by_state: Array
    states: tuple[int, ...]


def rate_derivatives(problem: InitialValueProblem) -> RateDerivatives:
    """Return the derivatives of the equations of motion at the initial state, by central differences.

    Switching conditions keep their initial values. Friction states are zero.

    Parameters
    ----------
    problem : InitialValueProblem
        Equations of motion with their initial state.

    Raises
    ------
    SolveError
        If the Jacobian C_d of the dependent coordinates is singular.
    """
    model, first, n = problem.model, problem.initial_state, problem.mechanism.n
    motion = FormulatedModel(model, problem.form)
    x = motion.states(first.q, first.qd)
    segment = Events(motion).segment(0.0, x, 0.0)

    def rates(x: Array) -> Array:
        state, z = motion.moment(0.0, x, segment)
        found = model.rates(state, problem.form, z)
        return np.concatenate([state.qd, found.qdd, found.z_dot, model.internal_rates(state)])

    shifts = np.diag(_increments(problem, motion))
    columns = np.array([(rates(x + shift) - rates(x - shift)) / (2 * shift.max()) for shift in shifts])
    others = range(2 * n, 2 * n + len(x) - n - len(motion.rates))
    by_state = columns.reshape(len(x), 2 * n + len(others)).T
    return RateDerivatives(by_state, (*range(n), *(n + motion.rates).tolist(), *others))


def _increments(problem: InitialValueProblem, motion: FormulatedModel) -> Array:
    """Return the increment of each state variable for central differences, shape (size,)."""
    extent, _ = units_of_change(problem.mechanism, problem.initial_state.posture)
    coordinates = problem.mechanism.coordinates
    each = np.array([1.0 if c.unit == "rad" else min(1.0, extent) for c in coordinates])
    others = np.ones(motion.size - len(each) - len(motion.rates))
    return _DIFFERENCE * np.concatenate([each, each[motion.rates], others])
