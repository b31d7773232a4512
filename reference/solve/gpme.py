"""Generalised programmed motion equations (GPME): coordinate partition and accelerations.

See Jarzębowska et al. 2023, equation (26).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import qr
from scipy.linalg.lapack import dgesv  # On small matrices, dgetrs is slower than dgesv, because its threads wait.

from ...core.errors import SolveError
from ...core.trajectory import Array
from ...mechanism import Mechanism
from ..constraints.redundancy import scaled as _scaled
from ..kinematics.jet import Number

_ROUNDING = 1e-13  # A matrix with normalised rows is regular if its smallest pivot exceeds this value.
# The Jacobian of the dependent coordinates counts as singular if its smallest pivot is at most this value.
_SINGULAR = 1e-10
# A column of a Jacobian with normalised rows is independent of the others if its pivot exceeds this value.
_RANK = 1e-8


def choose_dependent(mechanism: Mechanism, C: Array) -> tuple[int, ...]:
    """Return the indices of m dependent coordinates for a constraint Jacobian C of shape (m, n).

    QR decomposition with column pivoting selects coordinates with well-conditioned columns. Coordinates
    of joints and of a fixed base are preferred. Other coordinates are chosen only if there are not
    enough suitable joint and base coordinates.

    Raises
    ------
    SolveError
        If C does not have full row rank.
    """
    scaled = _scaled(C)
    roles = {"joint", "base"} if mechanism.base_fixed else {"joint"}
    preferred = [k for k, c in enumerate(mechanism.coordinates) if c.role in roles]
    chosen = _independent(scaled, preferred, [])
    chosen += _independent(scaled, [k for k in range(mechanism.n) if k not in preferred], chosen)
    if len(chosen) < len(C):
        raise SolveError(
            f"the {len(C)} constraint equations have rank {len(chosen)}, so no choice of dependent coordinates is"
            " regular; remove or change redundant constraints, or change the initial values"
        )
    return tuple(sorted(chosen))


def dependent_indices(mechanism: Mechanism, names: Sequence[str], rows: int) -> tuple[int, ...]:
    """Return the indices of the named dependent coordinates in ascending order.

    The argument `rows` is the number of independent equations.

    Raises
    ------
    SolveError
        If a name is unknown, or if the number of names is not `rows`.
    """
    known = [c.name for c in mechanism.coordinates]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SolveError(f"no coordinate is called {', '.join(unknown)}; known are: {', '.join(known)}")
    if len(set(names)) != rows:
        raise SolveError(
            f"expected {rows} dependent coordinates, one per independent constraint equation, found"
            f" {', '.join(names) or 'none'}; known are: {', '.join(known)}"
        )
    return tuple(sorted(known.index(name) for name in names))


def _independent(C: Array, candidates: list[int], chosen: list[int]) -> list[int]:
    """Return the candidate columns of C that extend the span of the chosen columns.

    The best conditioned column comes first.
    """
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
    """Partition of the coordinates into dependent and independent ones.

    Attributes
    ----------
    dependent : ndarray of int
        Indices of the dependent coordinates, one for each independent constraint equation.
    independent : ndarray of int
        Indices of all other coordinates.
    """

    def __init__(self, mechanism: Mechanism, dependent: Sequence[int], row_names: Sequence[str]) -> None:
        self.dependent = np.array(dependent, dtype=int)
        self.independent = np.setdiff1d(np.arange(mechanism.n), self.dependent)
        self._coordinates = [c.name for c in mechanism.coordinates]
        self._rows = ", ".join(row_names)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the dependent coordinates."""
        return tuple(self._coordinates[k] for k in self.dependent)

    @property
    def free_names(self) -> list[str]:
        """Names of the independent coordinates."""
        return [self._coordinates[k] for k in self.independent]

    def determinant(self, C: Array) -> Array:
        """Return det C_d, shape (…), with the Jacobian C_d of the dependent coordinates."""
        return np.asarray(np.linalg.det(C[..., self.dependent]))

    def eliminated(self, C: Array, rhs: Array) -> tuple[Array, Array]:
        """Return C_d⁻¹ rhs, shape (…, m, c), and the smallest pivot of C_d, shape (…).

        C_d contains the columns of the dependent coordinates in C. The rows of C are scaled to length 1, so
        that the pivot measures the distance of C_d from singularity. Without constraint equations, the
        pivot is 1.
        """
        if not C.shape[-2]:
            return np.zeros_like(rhs), np.ones(C.shape[:-2])
        lengths = np.sqrt(np.einsum("...ij,...ij->...i", C, C))[..., None]
        lengths[lengths == 0] = 1.0
        # LAPACK needs at least one right-hand side, so a column of zeros is added.
        right = np.zeros((*rhs.shape[:-1], rhs.shape[-1] + 1))
        right[..., 1:] = rhs
        solution, pivots = _solved(C[..., self.dependent] / lengths, right / lengths)
        return solution[..., 1:], pivots.min(axis=-1)

    def ratios(self, C: Array) -> tuple[Array, Array]:
        """Return D = ∂q̇_d/∂q̇_i = −C_d⁻¹ C_i, shape (…, m, n − m), and the smallest pivot of C_d.

        Indices d and i denote dependent and independent coordinates. If the pivot is too small, the method
        `check` raises an error.
        """
        solution, pivot = self.eliminated(C, C[..., self.independent])
        return -solution, pivot

    def check(self, t: Number, pivot: Array) -> None:
        """Raise SolveError if the smallest pivot of the dependent coordinates' Jacobian is near zero."""
        self.require(t, pivot > _SINGULAR)

    def does(self, pivot: Array) -> bool:
        """Whether the Jacobian of the dependent coordinates is regular in all states, judged by its pivots."""
        return bool(np.all(pivot > _SINGULAR))

    def require(self, t: Number, regular: Any) -> None:
        """Raise SolveError if the Jacobian of the dependent coordinates is singular at some time.

        The argument `regular` is false at the times t, s, with a singular Jacobian. The message contains
        the first of these times.
        """
        if not np.all(regular):
            raise SolveError(self.singular(float(np.min(np.where(regular, np.inf, t)))))

    def solved_for(self, t: Number, C: Array, rhs: Array) -> Array:
        """Return C_d⁻¹ rhs, shape (…, m, c), with the Jacobian C_d of the dependent coordinates.

        Raises
        ------
        SolveError
            If C_d is singular."""
        solution, pivot = self.eliminated(C, rhs)
        self.check(t, pivot)
        return solution

    def completed(self, t: Number, C: Array, nu: Array, qd: Array) -> Array:
        """Return velocities with q̇_i from `qd` and q̇_d = C_d⁻¹(ν − C_i q̇_i), shape (…, n).

        Indices d and i denote dependent and independent coordinates. The right-hand side ν has shape (…,
        m). See Jarzębowska et al. 2020, equation (19).

        Raises
        ------
        SolveError
            If C_d is singular.
        """
        whole, rhs = qd.copy(), nu[..., None] - C[..., self.independent] @ qd[..., self.independent, None]
        whole[..., self.dependent] = self.solved_for(t, C, rhs)[..., 0]
        return whole

    def singular(self, t: float) -> str:
        """Return the error message for a singular Jacobian of the dependent coordinates at time t, s."""
        return (
            f"the constraints {self._rows} cannot be solved for {', '.join(self.names)} at t = {t:.9g} s:"
            " their columns of the constraint Jacobian are singular; choose other dependent coordinates, or change"
            " the motion"
        )

    def accelerations(self, t: Number, D: Array, M: Array, force: Array, C: Array, rhs: Array) -> Array:
        """Return the accelerations q̈, shape (…, n, c), from Vᵀ(M q̈ − force) = 0 and C q̈ = rhs.

        The columns of V span the motions that the constraints allow. Both equations form one n×n system.

        Parameters
        ----------
        t : float or ndarray
            Time, s, for error messages.
        D : ndarray, shape (…, m, n − m)
            Matrix ∂q̇_d/∂q̇_i, see `ratios`.
        M : ndarray, shape (…, n, n)
            Mass matrix.
        force : ndarray, shape (…, n, c)
            Generalised forces minus velocity terms, Q − h.
        C : ndarray, shape (…, m, n)
            Jacobian of the independent constraint equations.
        rhs : ndarray, shape (…, m, c)
            Right-hand side γ − 2αΦ̇ − β²Φ with Baumgarte stabilisation.

        Raises
        ------
        SolveError
            If the system is singular.
        """
        i, d, back = self.independent, self.dependent, D.swapaxes(-2, -1)
        scale = 1 / np.sqrt(np.diagonal(M, axis1=-2, axis2=-1))
        free = len(i)
        A, b = np.empty_like(M), np.empty_like(force)
        A[..., :free, :] = M[..., i, :] + back @ M[..., d, :]
        b[..., :free, :] = force[..., i, :] + back @ force[..., d, :]
        A[..., free:, :], b[..., free:, :] = C, rhs
        return scale[..., None] * solve_scaled(t, A * scale[..., None, :], b, self._coordinates)

    def multipliers(self, C: Array, effort: Array) -> Array:
        """Return the multipliers λ, shape (…, m, c), from the dependent coordinates: C_dᵀ λ = effort_d.

        The effort is M q̈ + h − Q, shape (…, n, c). The dependent coordinates suffice, because a solution
        of the equations of motion satisfies effort = Cᵀ λ in all coordinates.
        """
        if not C.shape[-2]:
            return effort[..., :0, :]
        turned = C[..., self.dependent].swapaxes(-2, -1)
        return np.asarray(np.linalg.solve(turned, effort[..., self.dependent, :]), dtype=np.float64)


def solve_scaled(t: Number, A: Array, b: Array, names: Sequence[str]) -> Array:
    """Return the solution x of A x = b, shape (…, k, c).

    The rows are scaled before the solution.

    The columns are not scaled, so they should have comparable magnitudes. The unknowns have the names
    `names`.

    Raises
    ------
    SolveError
        If A is singular. The message contains the name of an unknown that is not determined.
    """
    lengths = np.sqrt(np.einsum("...ij,...ij->...i", A, A))[..., None]
    solution, pivots = _solved(A / lengths, b / lengths)
    if not pivots.min(initial=1.0) > _ROUNDING:
        *which, k = np.unravel_index(np.argmin(pivots), pivots.shape)
        at, name = float(np.asarray(t)[tuple(which)]), names[int(k)]
        raise SolveError(
            f"the equations of motion are singular at t = {at:.9g} s, where the acceleration"
            f" of {name} is not determined; Euler angles are singular at theta = ±π/2: rotate the joint's frame"
        )
    return solution


def _solved(A: Array, b: Array) -> tuple[Array, Array]:
    if A.ndim == 2:
        factors, _, solution, _ = dgesv(A, b)
        return np.asarray(solution, dtype=np.float64), np.abs(factors.diagonal())
    solution, pivots = np.empty(b.shape), np.empty(b.shape[:-1])
    for k in range(len(A)):
        solution[k], pivots[k] = _solved(A[k], b[k])
    return solution, pivots
