"""Projection of a state onto the constraints by the smallest mass-weighted change of q and q̇.

An initial state with a large constraint violation is not changed, because it is intended by the
description or results from the static equilibrium.
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

_ITERATIONS = 50  # A projection onto the constraints ends after this many Newton steps.
# Newton's method has converged if a step changes the coordinates by at most this relative amount.
_ROUNDING = 1e-13
# A projected state fulfils a constraint if the residual, in the unit of the constraint, is at most this value.
_LEFT = 1e-9
_RANK = 1e-10  # Singular values of the constraint Jacobian below this fraction of the largest one count as zero.


def project_start(mechanism: Mechanism, q: Array, qd: Array) -> Start:
    """Return the initial state, projected onto the constraints if its violation is within tolerance.

    Coordinates (rad or m) and velocities (rad/s or m/s) have shape (n,) each. If the violation exceeds
    `simulation.violation`, the state is returned unchanged. The verdict then reports the state as
    inconsistent, unless the description permits the violation.
    """
    model = ReferenceModel(mechanism, start=(q, qd))
    constraints = model.constraints
    rows = constraints(model.state(0.0, q, qd))
    violations = rows.Phi[constraints.orders == 0], rows.Phi_dot[constraints.orders <= 1]
    if not max(map(np.linalg.norm, violations)) <= mechanism.chain.simulation.violation:
        return q, qd
    return project(model, q, qd)


def project(model: ReferenceModel, q: Array, qd: Array, t: float = 0.0) -> Start:
    """Return coordinates and velocities that fulfil the constraints at time t, s, near q and qd.

    Coordinates (rad or m) and velocities (rad/s or m/s) have shape (n,) each. Constraints in velocities
    affect the velocities only. Redundant constraints are allowed.

    Raises
    ------
    SolveError
        If no position is found. The message contains the constraint equation with the largest
        violation.
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
    """Return the constraint equations at a state, and the Cholesky factor L of the mass matrix, shape (n, n)."""
    state = model.state(t, q, qd)
    try:
        L = np.asarray(np.linalg.cholesky(model.mass(state.posture)[0]), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise SolveError(
            "the initial state cannot be projected onto the constraints: its mass matrix is singular; change the"
            " initial values, or rotate the frames of joints whose Euler angle theta is ±π/2"
        ) from None
    rows, unit = model.constraints(state), units_of_change(model.mechanism, state.posture)[1]
    return replace(rows, C=without_rounding(rows.C, model.constraints.sizes(state).C, unit)), L


def _smallest(L: Array, C: Array, residual: Array) -> Array:
    """Return the least-squares solution x of C x = residual with the smallest xᵀ M x, shape (n,).

    L is the Cholesky factor of the mass matrix M, and the residual has shape (m,).
    """
    weighted = np.linalg.solve(L, C.T).T
    return np.asarray(np.linalg.solve(L.T, np.linalg.pinv(weighted, rcond=_RANK) @ residual), dtype=np.float64)


def _check(model: ReferenceModel, rows: Rows) -> None:
    if len(rows.Phi) and not np.abs(rows.Phi).max() <= _LEFT:
        worst = int(np.argmax(np.abs(rows.Phi)))
        raise SolveError(
            "the initial state cannot be projected onto the constraints: the residual of"
            f" {model.constraints.names[worst]} remains {rows.Phi[worst]:.3g}; change the initial values, or set"
            " constraints.projection = false"
        )
