"""Tangent space of the constraint manifold: derivatives with respect to the independent states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import qr

from .. import analysis
from ..analysis.system import System
from ..core.errors import SolveError
from ..core.trajectory import Array
from ..fmu.code.residuals import Residual, residual

# Right-hand time derivatives at t are evaluated at a time that is later by this value times max(|t|, 1 s).
_AHEAD = 1e-9
_SINGULAR = 1e-8  # A constraint Jacobian with normalised rows is regular if its smallest pivot exceeds this value.


@dataclass(frozen=True)
class Tangent:
    """Tangent space of the constraint manifold: δw = basis δξ.

    The vector w contains the coordinates q, the rates q̇ and all further states.

    Parameters
    ----------
    independent : tuple of int
        Indices in w of its k independent elements ξ.
    basis : ndarray, shape (len(w), k)
        Basis of the tangent space.
    drift : ndarray, shape (len(w),)
        Derivative ∂w/∂t for constant ξ, nonzero if constraints depend on time; per s.
    """

    independent: tuple[int, ...]
    basis: Array
    drift: Array


def shortly_after(t: float) -> float:
    """Return a time shortly after t, s, for the evaluation of right-hand time derivatives at t."""
    return t + _AHEAD * max(1.0, abs(t))


def residuals(model: System, t: float, at: Mapping[str, float]) -> tuple[Residual, Residual]:
    """Return the constraint residuals at position and velocity level with their derivatives.

    Derivatives with respect to time are right-hand derivatives.

    Parameters
    ----------
    model : System
        Mechanism with its equations.
    t : float
        Time, s.
    at : mapping
        Values of the coordinates, their rates and all further states by signal name.
    """
    program, start = model.native_program, model.start_values()

    def both(level: str) -> Residual:
        here, later = (residual(program, level, start, time, at) for time in (t, shortly_after(t)))
        return replace(here, in_time=later.in_time)

    return both("position"), both("velocity")


def tangent(model: System, position: Residual, velocity: Residual, size: int) -> Tangent:
    """Return the tangent space of the independent constraint equations.

    Constraints on velocities alone, such as knife edges, reduce the number of independent rates. The
    number of independent coordinates does not change.

    Parameters
    ----------
    model : System
        Mechanism with its equations.
    position, velocity : Residual
        Constraint residuals with derivatives at position and velocity level.
    size : int
        Length of the vector w, which contains the coordinates q, the rates q̇ and all further states.

    Raises
    ------
    SolveError
        If the constraints are singular.
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


def _dependent(model: System, C: Array) -> list[int]:
    """Return the coordinates whose rates follow from the velocity constraints C q̇ = ν.

    If the description does not name dependent coordinates, QR decomposition with pivoting selects
    coordinates with a well-conditioned Jacobian.
    """
    named = model.chain.constraints.dependent
    if named == "auto":
        return list(analysis.choose_dependent(model.mechanism, C))
    return _columns(model, C, [model.mechanism.coordinate_index(name) for name in named])


def _columns(model: System, C: Array, candidates: Sequence[int]) -> list[int]:
    """Choose m well-conditioned columns of C, shape (m, n), among the candidates.

    The choice uses QR decomposition with pivoting.
    """
    m = len(C)
    if not m:
        return []
    scaled = C / np.linalg.norm(C, axis=1, keepdims=True)
    triangle, order = qr(scaled[:, candidates], mode="r", pivoting=True)
    pivots = np.abs(np.diag(triangle))
    if len(pivots) < m or not pivots[m - 1] > _SINGULAR:
        names = ", ".join(model.mechanism.coordinates[k].name for k in candidates)
        raise SolveError(
            f"the constraints cannot be solved for {names} in this state: the smallest pivot of the normalised"
            f" Jacobian is {pivots.min(initial=1.0):.2g}; choose other dependent coordinates, or another state"
        )
    return sorted(candidates[k] for k in order[:m])
