"""Generalised programmed motion equations: partition and accelerations (design 4.4; P0 (26), P2 (20))."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.linalg.lapack import dgesv  # not dgetrs: its threads wait for each other on small matrices

from ...errors import SolveError
from ...generator.mechanism import Mechanism
from ..constraints.redundancy import scaled as _scaled

Array = NDArray[np.float64]
_ROUNDING = 1e-13
_SINGULAR = 1e-10  # of C_d, each row of C scaled to length 1: pivots below leave fewer than six digits


def choose_dependent(mechanism: Mechanism, C: Array) -> tuple[int, ...]:
    """As many coordinates as C, shape (m, n), has rows, so that their columns are well conditioned.

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
    rank = int(np.count_nonzero(diagonal > 1e-8))
    return [candidates[k] for k in order[: min(rank, missing)]]


class Partition:
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

    def determinant(self, C: Array) -> float:
        """det C_d."""
        return float(np.linalg.det(C[:, self.dependent]))

    def eliminated(self, C: Array, wanted: Array) -> tuple[Array, float]:
        """C_d⁻¹ wanted, shape (m, c), and the smallest pivot of C_d, each row of C scaled to length 1.

        The pivot says how far C_d is from being singular; without rows it is 1.
        """
        if not len(C):
            return np.zeros_like(wanted), 1.0
        lengths = np.sqrt(np.einsum("ij,ij->i", C, C))[:, None]
        lengths[lengths == 0] = 1.0
        # a column of zeros in front: where nothing is wanted, LAPACK still has something to solve
        right = np.zeros((len(C), wanted.shape[1] + 1))
        right[:, 1:] = wanted
        factors, _, solution, _ = dgesv(C[:, self.dependent] / lengths, right / lengths)
        return solution[:, 1:], float(np.abs(factors.diagonal()).min())

    def ratios(self, C: Array) -> tuple[Array, float]:
        """D = ∂q̇_d/∂q̇_i = −C_d⁻¹ C_i, shape (m, n − m), and the smallest pivot: to be checked."""
        solution, pivot = self.eliminated(C, C[:, self.independent])
        return -solution, pivot

    def check(self, t: float, pivot: float) -> None:
        """Raises SolveError where C_d is singular, by its smallest pivot."""
        if not pivot > _SINGULAR:
            raise SolveError(self.singular(t))

    def solved_for(self, t: float, C: Array, wanted: Array) -> Array:
        """C_d⁻¹ wanted, for wanted of shape (m,) or (m, c).

        Raises SolveError where C_d is singular.
        """
        solution, pivot = self.eliminated(C, wanted if wanted.ndim == 2 else wanted[:, None])
        self.check(t, pivot)
        return solution.reshape(wanted.shape)

    def completed(self, t: float, C: Array, nu: Array, qd: Array) -> Array:
        """q̇, shape (n,), with q̇_i as in qd and q̇_d = C_d⁻¹(ν − C_i q̇_i), ν of shape (m,) (P2 (19), design 4.5).

        Raises SolveError where C_d is singular.
        """
        whole = qd.copy()
        whole[self.dependent] = self.solved_for(t, C, nu - C[:, self.independent] @ qd[self.independent])
        return whole

    def singular(self, t: float) -> str:
        """What to say where C_d is singular."""
        return (
            f"the constraints {self._rows} cannot be solved for {', '.join(self.names)} at t = {t:.9g} s:"
            " C_d is singular there; choose other dependent coordinates, or change the motion"
        )

    def accelerations(self, t: float, D: Array, M: Array, force: Array, C: Array, wanted: Array) -> Array:
        """q̈, shape (n,), from Vᵀ(M q̈ − force) = 0 and C q̈ = wanted, one n×n system.

        D        shape (m, n − m), see `ratios`
        force    shape (n,): Q − h
        wanted   shape (m,): γ − 2αΦ̇ − β²Φ
        Both may have columns, shape (n, c) and (m, c); q̈ has them, too.
        Raises SolveError where the whole system is singular.
        """
        i, d = self.independent, self.dependent
        A = np.vstack([M[i] + D.T @ M[d], C])
        b = np.concatenate([force[i] + D.T @ force[d], wanted])
        scale = 1 / np.sqrt(np.diag(M))
        return (scale * solve_scaled(t, A * scale, b, self._coordinates).T).T

    def multipliers(self, C: Array, effort: Array) -> Array:
        """λ, shape (m,), from C_dᵀ λ = effort_d, effort = M q̈ + h − Q of shape (n,); or with columns.

        With C q̈ = wanted and the independent equations fulfilled, effort = Cᵀ λ holds for all coordinates.
        """
        if not len(C):
            return np.zeros((0, *effort.shape[1:]))
        return np.asarray(np.linalg.solve(C[:, self.dependent].T, effort[self.dependent]), dtype=np.float64)


def solve_scaled(t: float, A: Array, b: Array, names: Sequence[str]) -> Array:
    """x of A x = b, shape (k,) or (k, c); its rows are scaled, its columns should be comparable.

    Raises SolveError with the unknown's name, one of `names`, for which A is singular.
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", A, A))
    factors, _, solution, _ = dgesv(A / lengths[:, None], (b.T / lengths).T)
    sizes = np.abs(factors.diagonal())
    if not sizes.min(initial=1.0) > _ROUNDING:
        raise SolveError(
            f"the equations of motion are singular at t = {t:.9g} s, where {names[int(np.argmin(sizes))]} has no"
            " acceleration of its own; Euler angles are singular at theta = ±π/2: turn the joint's frame"
        )
    return np.asarray(solution, dtype=np.float64)
