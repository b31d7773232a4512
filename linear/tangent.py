"""Tangent of the constraint manifold: derivatives of all signals by the independent ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from .. import analysis
from ..analysis.prepared import Prepared
from ..core.errors import SolveError
from ..core.trajectory import Array
from ..fmu.code.residuals import Residual

_SINGULAR = 1e-8  # a pivot, rows having length 1


@dataclass(frozen=True)
class Tangent:
    """Tangent space of the constraint manifold in w = (q, q̇, others): δw = basis δξ, ξ independent entries of w.

    Parameters:
        independent  indices in w of the k entries of ξ
        basis        shape (len(w), k)
        drift        shape (len(w),): ∂w/∂t for ξ held, where the rows depend on time; per s
    """

    independent: tuple[int, ...]
    basis: Array
    drift: Array


def tangent(model: Prepared, position: Residual, velocity: Residual, size: int) -> Tangent:
    """Tangent of the independent constraint equations at the state of the residuals; size: length of w.

    Rows on velocities alone, such as knife edges, leave a machine more coordinates than rates. Raises SolveError
    where the rows are singular.
    """
    kept, n = [model.rows.index(name) for name in model.solvability.independent], model.mechanism.n
    parts = [(level, [i for i in kept if i in level.rows]) for level in (position, velocity)]
    rates = _dependent(model, velocity.slopes[parts[1][1], n : 2 * n])
    places = _columns(model, position.slopes[parts[0][1], :n], rates)
    dependent = [*places, *(n + k for k in rates)]
    independent = [k for k in range(size) if k not in dependent]
    G = np.vstack([level.slopes[rows] for level, rows in parts])
    in_time = np.concatenate([level.in_time[rows] for level, rows in parts])
    basis, drift = np.zeros((size, len(independent))), np.zeros(size)
    basis[independent] = np.eye(len(independent))
    if dependent:
        solution = np.linalg.solve(G[:, dependent], np.column_stack([G[:, independent], in_time]))
        basis[dependent], drift[dependent] = -solution[:, :-1], -solution[:, -1]
    return Tangent(tuple(independent), basis, drift)


def _dependent(model: Prepared, C: Array) -> list[int]:
    """Coordinates whose rates follow from C q̇ = ν: the description's, or those that are best here."""
    named = model.chain.constraints.dependent
    if named == "auto":
        return list(analysis.choose_dependent(model.mechanism, C))
    return _columns(model, C, [model.mechanism.coordinate_index(name) for name in named])


def _columns(model: Prepared, C: Array, candidates: Sequence[int]) -> list[int]:
    """Choose m of the candidate columns of C, shape (m, n), by pivoting for the best conditioning."""
    m = len(C)
    if not m:
        return []
    scaled = C / np.linalg.norm(C, axis=1, keepdims=True)
    triangle, order = qr(scaled[:, candidates], mode="r", pivoting=True)
    pivots = np.abs(np.diag(triangle))
    if len(pivots) < m or not pivots[m - 1] > _SINGULAR:
        names = ", ".join(model.mechanism.coordinates[k].name for k in candidates)
        raise SolveError(
            f"the constraints cannot be solved for {names} in this state: a pivot is"
            f" {pivots.min(initial=1.0):.2g}, rows having length 1; choose other dependent ones, or another state"
        )
    return sorted(candidates[k] for k in order[:m])
