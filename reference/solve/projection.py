"""Projection of a start onto the constraints: the smallest change of q and q̇, weighted with the masses.

A start that violates constraints is not moved: it is what the description or the static equilibrium says.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...core.errors import SolveError
from ...core.trajectory import Array
from ...mechanism import Mechanism
from ..constraints.redundancy import without_rounding
from ..constraints.rows import Rows
from ..kinematics.extent import units_of_change
from .model import ReferenceModel, Start

_ITERATIONS = 50  # steps after which a search without convergence is given up
_ROUNDING = 1e-13  # relative change of the coordinates at which Newton's method has converged
_LEFT = 1e-9  # of the constraints, in their units
_RANK = 1e-10  # relative: below it, rows depend on each other


def project_start(mechanism: Mechanism, q: Array, qd: Array) -> Start:
    """Project a start, shape (n,) each, rad or m (per s), which fulfils the constraints to `simulation.violation`.

    Any other start is returned as it is: the verdict calls it inconsistent, unless the description permits it.
    """
    model = ReferenceModel(mechanism, start=(q, qd))
    constraints = model.constraints
    rows = constraints(model.state(0.0, q, qd))
    violations = rows.Phi[constraints.orders == 0], rows.Phi_dot[constraints.orders <= 1]
    if not max(map(np.linalg.norm, violations)) <= mechanism.chain.simulation.violation:
        return q, qd
    return project(model, q, qd)


def project(model: ReferenceModel, q: Array, qd: Array, t: float = 0.0) -> Start:
    """(q, qd), each of shape (n,), on the constraints at t, s, from q and qd, shape (n,), rad or m (per s).

    Rows of order 1 take part in the velocities alone. Rows may depend on each other.
    Raises SolveError with the row that is violated most where no position is found.
    """
    q = q.copy()
    on_positions, on_velocities = model.constraints.orders == 0, model.constraints.orders <= 1
    for _ in range(_ITERATIONS):
        rows, L = _at(model, t, q, qd)
        step = _smallest(L, rows.C[on_positions], rows.Phi[on_positions])
        q -= step
        if np.abs(step).max(initial=0.0) <= _ROUNDING * max(1.0, np.abs(q).max()):
            break
    rows, L = _at(model, t, q, qd)
    _check(model, rows)
    return q, qd - _smallest(L, rows.C[on_velocities], rows.Phi_dot[on_velocities])


def _at(model: ReferenceModel, t: float, q: Array, qd: Array) -> tuple[Rows, Array]:
    """The rows, and L of shape (n, n) with M = L Lᵀ."""
    state = model.state(t, q, qd)
    try:
        L = np.asarray(np.linalg.cholesky(model.mass(state.posture)[0]), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise SolveError(
            "the start cannot be projected onto the constraints: the mass matrix is singular there; change the"
            " start values, or turn the frames of joints whose Euler angle theta is ±π/2"
        ) from None
    rows, unit = model.constraints(state), units_of_change(model.mechanism, state.posture)[1]
    return replace(rows, C=without_rounding(rows.C, model.constraints.sizes(state).C, unit)), L


def _smallest(L: Array, C: Array, residual: Array) -> Array:
    """x of least xᵀ M x, shape (n,), with C x = residual, of shape (m,), as nearly as possible."""
    weighted = np.linalg.solve(L, C.T).T
    return np.asarray(np.linalg.solve(L.T, np.linalg.pinv(weighted, rcond=_RANK) @ residual), dtype=np.float64)


def _check(model: ReferenceModel, rows: Rows) -> None:
    if len(rows.Phi) and not np.abs(rows.Phi).max() <= _LEFT:
        worst = int(np.argmax(np.abs(rows.Phi)))
        raise SolveError(
            f"the start cannot be projected onto the constraints: {model.constraints.names[worst]} keeps a value"
            f" of {rows.Phi[worst]:.3g}; change the start values, or set constraints.projection = false"
        )
