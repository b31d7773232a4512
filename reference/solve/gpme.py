"""Generalised programmed motion equations: partition, accelerations (Jarzębowska et al. 2023, equation (26))."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import qr
from scipy.linalg.lapack import dgesv  # not dgetrs: its threads wait for each other on small matrices

from ...core.errors import SolveError
from ...core.trajectory import Array
from ...mechanism import Mechanism
from ..constraints.redundancy import scaled as _scaled
from ..kinematics.jet import Number

_ROUNDING = 1e-13  # pivots of a matrix with rows of length 1: below it, the matrix is singular
_SINGULAR = 1e-10  # of C_d, each row of C scaled to length 1: pivots below leave fewer than six digits
_RANK = 1e-8  # the same: columns with smaller pivots depend on those before them


def choose_dependent(mechanism: Mechanism, C: Array) -> tuple[int, ...]:
    """Return as many coordinates as C, shape (m, n), has rows, so that their columns are well conditioned.

    Column-pivoted QR among the joints' coordinates and, with a fixed base, the base's; others only where
    these alone leave C_d singular. Returned in the order of `mechanism.coordinates`.
    Raises SolveError if C has not full row rank.
    """
    scaled = _scaled(C)
    roles = {"joint", "base"} if mechanism.base_fixed else {"joint"}
    preferred = [k for k, c in enumerate(mechanism.coordinates) if c.role in roles]
    chosen = _independent(scaled, preferred, [])
    chosen += _independent(scaled, [k for k in range(mechanism.n) if k not in preferred], chosen)
    if len(chosen) < len(C):
        raise SolveError(
            f"the {len(C)} constraint rows have rank {len(chosen)}, so no choice of dependent coordinates is"
            " regular; remove or change constraints that depend on each other, or change the start values"
        )
    return tuple(sorted(chosen))


def dependent_indices(mechanism: Mechanism, names: Sequence[str], rows: int) -> tuple[int, ...]:
    """Indices of the named dependent coordinates.

    Raises SolveError if a name is unknown or their number is not `rows`.
    """
    known = [c.name for c in mechanism.coordinates]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SolveError(f"no coordinate is called {', '.join(unknown)}; known are: {', '.join(known)}")
    if len(set(names)) != rows:
        raise SolveError(
            f"expected {rows} dependent coordinates, one per independent constraint row, got"
            f" {', '.join(names) or 'none'}; known are: {', '.join(known)}"
        )
    return tuple(sorted(known.index(name) for name in names))


def _independent(C: Array, candidates: list[int], chosen: list[int]) -> list[int]:
    """Candidates whose columns extend the chosen ones' span, best conditioned first."""
    missing = len(C) - len(chosen)
    if not missing or not candidates:
        return []
    span = qr(C[:, chosen], mode="economic")[0] if chosen else np.zeros((len(C), 0))
    columns = C[:, candidates] - span @ (span.T @ C[:, candidates])
    triangle, order = qr(columns, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    rank = int(np.count_nonzero(diagonal > _RANK))
    return [candidates[k] for k in order[: min(rank, missing)]]


class CoordinatePartition:
    """Dependent and independent coordinates.

    dependent  indices, as many as independent constraint rows
    row_names  of the rows that have a say
    """

    def __init__(self, mechanism: Mechanism, dependent: Sequence[int], row_names: Sequence[str]) -> None:
        self.dependent = np.array(dependent, dtype=int)
        self.independent = np.setdiff1d(np.arange(mechanism.n), self.dependent)
        self._coordinates = [c.name for c in mechanism.coordinates]
        self._rows = ", ".join(row_names)

    @property
    def names(self) -> tuple[str, ...]:
        """The dependent coordinates."""
        return tuple(self._coordinates[k] for k in self.dependent)

    @property
    def free_names(self) -> list[str]:
        """The independent coordinates."""
        return [self._coordinates[k] for k in self.independent]

    def determinant(self, C: Array) -> Array:
        """det C_d, shape (…)."""
        return np.asarray(np.linalg.det(C[..., self.dependent]))

    def eliminated(self, C: Array, wanted: Array) -> tuple[Array, Array]:
        """C_d⁻¹ wanted, shape (…, m, c), and the smallest pivot of C_d, (…), each row of C scaled to length 1.

        The pivot says how far C_d is from being singular; without rows it is 1.
        """
        if not C.shape[-2]:
            return np.zeros_like(wanted), np.ones(C.shape[:-2])
        lengths = np.sqrt(np.einsum("...ij,...ij->...i", C, C))[..., None]
        lengths[lengths == 0] = 1.0
        # a column of zeros in front: where nothing is wanted, LAPACK still has something to solve
        right = np.zeros((*wanted.shape[:-1], wanted.shape[-1] + 1))
        right[..., 1:] = wanted
        solution, pivots = _solved(C[..., self.dependent] / lengths, right / lengths)
        return solution[..., 1:], pivots.min(axis=-1)

    def ratios(self, C: Array) -> tuple[Array, Array]:
        """D = ∂q̇_d/∂q̇_i = −C_d⁻¹ C_i, shape (…, m, n − m), and the smallest pivot: to be checked."""
        solution, pivot = self.eliminated(C, C[..., self.independent])
        return -solution, pivot

    def check(self, t: Number, pivot: Array) -> None:
        """Raises SolveError where C_d is singular, by its smallest pivot, shape (…)."""
        self.require(t, pivot > _SINGULAR)

    def does(self, pivot: Array) -> bool:
        """Whether C_d is regular in all states."""
        return bool(np.all(pivot > _SINGULAR))

    def require(self, t: Number, regular: Any) -> None:
        """Raises SolveError with the first of the times, s, shape (…), at which C_d is not regular."""
        if not np.all(regular):
            raise SolveError(self.singular(float(np.min(np.where(regular, np.inf, t)))))

    def solved_for(self, t: Number, C: Array, wanted: Array) -> Array:
        """C_d⁻¹ wanted, shape (…, m, c); raises SolveError where C_d is singular."""
        solution, pivot = self.eliminated(C, wanted)
        self.check(t, pivot)
        return solution

    def completed(self, t: Number, C: Array, nu: Array, qd: Array) -> Array:
        """q̇, (…, n): q̇_i as in qd, q̇_d = C_d⁻¹(ν − C_i q̇_i), ν: (…, m) (Jarzębowska et al. 2020, equation (19)).

        Raises SolveError where C_d is singular.
        """
        whole, wanted = qd.copy(), nu[..., None] - C[..., self.independent] @ qd[..., self.independent, None]
        whole[..., self.dependent] = self.solved_for(t, C, wanted)[..., 0]
        return whole

    def singular(self, t: float) -> str:
        """Return the error message for a singular C_d."""
        return (
            f"the constraints {self._rows} cannot be solved for {', '.join(self.names)} at t = {t:.9g} s:"
            " C_d is singular there; choose other dependent coordinates, or change the motion"
        )

    def accelerations(self, t: Number, D: Array, M: Array, force: Array, C: Array, wanted: Array) -> Array:
        """q̈, shape (…, n, c), from Vᵀ(M q̈ − force) = 0 and C q̈ = wanted, one n×n system.

        D        shape (…, m, n − m), see `ratios`
        force    shape (…, n, c): Q − h
        wanted   shape (…, m, c): γ − 2αΦ̇ − β²Φ
        Raises SolveError where the whole system is singular.
        """
        i, d, back = self.independent, self.dependent, D.swapaxes(-2, -1)
        scale = 1 / np.sqrt(np.diagonal(M, axis1=-2, axis2=-1))
        free = len(i)
        A, b = np.empty_like(M), np.empty_like(force)
        A[..., :free, :] = M[..., i, :] + back @ M[..., d, :]
        b[..., :free, :] = force[..., i, :] + back @ force[..., d, :]
        A[..., free:, :], b[..., free:, :] = C, wanted
        return scale[..., None] * solve_scaled(t, A * scale[..., None, :], b, self._coordinates)

    def multipliers(self, C: Array, effort: Array) -> Array:
        """λ, shape (…, m, c), from C_dᵀ λ = effort_d, effort = M q̈ + h − Q of shape (…, n, c).

        With C q̈ = wanted and the independent equations fulfilled, effort = Cᵀ λ holds for all coordinates.
        """
        if not C.shape[-2]:
            return effort[..., :0, :]
        turned = C[..., self.dependent].swapaxes(-2, -1)
        return np.asarray(np.linalg.solve(turned, effort[..., self.dependent, :]), dtype=np.float64)


def solve_scaled(t: Number, A: Array, b: Array, names: Sequence[str]) -> Array:
    """x of A x = b, shape (…, k, c); its rows are scaled, its columns should be comparable.

    Raises SolveError with the unknown's name, one of `names`, for which A is singular.
    """
    lengths = np.sqrt(np.einsum("...ij,...ij->...i", A, A))[..., None]
    solution, pivots = _solved(A / lengths, b / lengths)
    if not pivots.min(initial=1.0) > _ROUNDING:
        *which, k = np.unravel_index(np.argmin(pivots), pivots.shape)
        at, name = float(np.asarray(t)[tuple(which)]), names[int(k)]
        raise SolveError(
            f"the equations of motion are singular at t = {at:.9g} s, where {name} has no"
            " acceleration of its own; Euler angles are singular at theta = ±π/2: turn the joint's frame"
        )
    return solution


def _solved(A: Array, b: Array) -> tuple[Array, Array]:
    """x of A x = b, shape (…, k, c), and the pivots' magnitudes, shape (…, k)."""
    if A.ndim == 2:
        factors, _, solution, _ = dgesv(A, b)
        return np.asarray(solution, dtype=np.float64), np.abs(factors.diagonal())
    solution, pivots = np.empty(b.shape), np.empty(b.shape[:-1])
    for k in range(len(A)):
        solution[k], pivots[k] = _solved(A[k], b[k])
    return solution, pivots
