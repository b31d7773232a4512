"""Generalised programmed motion equations: partition and accelerations (design 4.4; P0 (26), P2 (20))."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.linalg.lapack import dgesv  # not dgetrs: its threads wait for each other on small matrices

from ..errors import SolveError
from ..generator.mechanism import Mechanism

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
        raise SolveError(f"expected {rows} dependent coordinates, one per constraint row, got {', '.join(names)}")
    return tuple(sorted(known.index(name) for name in names))


def _scaled(C: Array) -> Array:
    lengths = np.linalg.norm(C, axis=1, keepdims=True)
    return C / np.where(lengths > 0, lengths, 1.0)


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

    dependent  indices, as many as constraint rows
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

    def determinant(self, C: Array) -> float:
        """det C_d."""
        return float(np.linalg.det(C[:, self.dependent]))

    def ratios(self, t: float, C: Array) -> Array:
        """D = ∂q̇_d/∂q̇_i = −C_d⁻¹ C_i, shape (m, n − m).

        Raises SolveError where C_d is singular.
        """
        if not len(C):
            return np.zeros((0, len(self.independent)))
        scaled = _scaled(C)
        # a column of zeros in front: where nothing is independent, LAPACK still has something to solve
        right = np.insert(scaled[:, self.independent], 0, 0.0, axis=1)
        factors, _, solution, _ = dgesv(scaled[:, self.dependent], right)
        if not np.abs(np.diag(factors)).min() > _SINGULAR:
            raise SolveError(self.singular(t))
        return -np.asarray(solution)[:, 1:]

    def singular(self, t: float) -> str:
        """What to say where C_d is singular."""
        return (
            f"the constraints {self._rows} cannot be solved for {', '.join(self.names)} at t = {t:.9g} s:"
            " C_d is singular there; choose other dependent coordinates, or change the motion"
        )

    def accelerations(self, t: float, M: Array, force: Array, C: Array, wanted: Array) -> Array:
        """q̈, shape (n,), from Vᵀ(M q̈ − force) = 0 and C q̈ = wanted, one n×n system.

        force    shape (n,): Q − h
        wanted   shape (m,): γ − 2αΦ̇ − β²Φ
        Both may have columns, shape (n, c) and (m, c); q̈ has them, too.
        Raises SolveError where C_d or the whole system is singular.
        """
        if not (np.isfinite(force).all() and np.isfinite(wanted).all()):
            raise SolveError(f"the motion has diverged at t = {t:.9g} s: forces or constraints are not finite")
        D, i, d = self.ratios(t, C), self.independent, self.dependent
        A = np.vstack([M[i] + D.T @ M[d], C])
        b = np.concatenate([force[i] + D.T @ force[d], wanted])
        return self._solved(t, A, b, 1 / np.sqrt(np.diag(M))) if len(b) else b

    def multipliers(self, C: Array, effort: Array) -> Array:
        """λ, shape (m,), from C_dᵀ λ = effort_d, effort = M q̈ + h − Q of shape (n,); or with columns.

        With C q̈ = wanted and the independent equations fulfilled, effort = Cᵀ λ holds for all coordinates.
        """
        if not len(C):
            return np.zeros((0, *effort.shape[1:]))
        return np.asarray(np.linalg.solve(C[:, self.dependent].T, effort[self.dependent]), dtype=np.float64)

    def _solved(self, t: float, A: Array, b: Array, scale: Array) -> Array:
        """x of A x = b, shape (n,) or (n, c); scale makes the columns comparable."""
        A = A * scale
        lengths = np.linalg.norm(A, axis=1)
        factors, _, solution, _ = dgesv(A / lengths[:, None], (b.T / lengths).T)
        sizes = np.abs(np.diag(factors))
        if not sizes.min() > _ROUNDING:
            name = self._coordinates[int(np.argmin(sizes))]
            raise SolveError(
                f"the equations of motion are singular at t = {t:.9g} s, where {name} has no acceleration of its"
                " own; Euler angles are singular at theta = ±π/2: turn the joint's frame"
            )
        return np.asarray((scale * solution.T).T, dtype=np.float64)
