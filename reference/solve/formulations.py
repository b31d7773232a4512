"""Three formulations of the equations of motion that yield accelerations q̈ and multipliers λ.

The formulations are compared in Krasinskiy 2023. Each formulation uses r independent combinations
of the constraint equations. The combination matrix E, from the module `redundancy`, yields the
Jacobian E C of the combinations. If λ' are the multipliers of the combinations, those of all
equations are λ = Eᵀ λ'.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.errors import SolveError
from ...core.trajectory import Array
from ...mechanism import Mechanism
from ..constraints.choice import RowChoice
from ..kinematics.jet import Number
from ..kinematics.segment import NotVectorisable
from .gpme import CoordinatePartition, choose_dependent, solve_scaled

# Dependent coordinates are chosen again if a pivot falls below this fraction of its value at the last choice.
_WORN = 0.5


@dataclass(frozen=True)
class StateEquations:
    """Linear system M q̈ = force + Cᵀ λ and C q̈ = rhs at one time or at many times.

    Each of the c columns of the right-hand sides yields one column of q̈ and one column of λ.

    Attributes
    ----------
    t : float or ndarray
        Time, s.
    M : ndarray, shape (…, n, n)
        Mass matrix.
    force : ndarray, shape (…, n, c)
        Generalised forces minus velocity terms, Q − h.
    C : ndarray, shape (…, m, n)
        Constraint Jacobian.
    rhs : ndarray, shape (…, m, c)
        Right-hand sides of the constraints at acceleration level.
    """

    t: Number
    M: Array
    force: Array
    C: Array
    rhs: Array


class Gpme:
    """Generalised programmed motion equations (GPME): 2n state variables, without multipliers.

    C_d contains the columns of the dependent coordinates in the constraint Jacobian. The coordinate
    partition either is fixed, or is chosen again when C_d becomes ill-conditioned (Jarzębowska et
    al. 2023, equation (26)). The motion does not depend on the partition (Wojtyra and Frączek 2013,
    equation (14)).

    Attributes
    ----------
    fixed : CoordinatePartition or None
        Coordinate partition for the whole run; None if the partition may change during the run.
    """

    reduced = False

    def __init__(self, mechanism: Mechanism, choice: RowChoice, fixed: tuple[int, ...] | None) -> None:
        self.choice, self._mechanism = choice, mechanism
        self.fixed = None if fixed is None else CoordinatePartition(mechanism, fixed, choice.kept_names)
        self._last: CoordinatePartition | None = None
        self._worn = 0.0

    def partition(self, C: Array) -> CoordinatePartition:
        """Return the coordinate partition that is used with the constraint Jacobian C, shape (m, n)."""
        return self._current(self.choice.basis(C) @ C)[0]

    def _current(self, rows: Array) -> tuple[CoordinatePartition, Array, Array]:
        """Return the coordinate partition, the matrix D = ∂q̇_d/∂q̇_i, and the smallest pivot of C_d.

        Indices d and i denote dependent and independent coordinates. The argument `rows`, shape (…, r,
        n), is the Jacobian of the independent equations. C_d consists of the columns of `rows` that
        belong to the dependent coordinates.
        """
        partition = self.fixed or self._last
        if partition is not None:
            ratios, pivot = partition.ratios(rows)
            if self.fixed is not None or np.all(pivot > self._worn):
                return partition, ratios, pivot
        # Of many states, the state with the smallest pivot decides the choice of dependent coordinates.
        worst = rows if rows.ndim == 2 else rows[int(np.argmin(pivot)) if partition is not None else 0]
        self._last = CoordinatePartition(
            self._mechanism, choose_dependent(self._mechanism, worst), self.choice.kept_names
        )
        ratios, pivot = self._last.ratios(rows)
        self._worn = _WORN * float(np.min(pivot))
        if rows.ndim > 2 and not self._last.does(pivot):
            raise NotVectorisable
        return self._last, ratios, pivot

    def determinant(self, C: Array) -> Array:
        """Return the determinant of the Jacobian C_d of the dependent coordinates, shape (…).

        C_d contains the rows of the independent equations and the columns of the dependent coordinates. A
        change of sign shows that the motion has passed a singularity of C_d.
        """
        return self.partition(C).determinant(C[..., list(self.choice.independent), :])

    def accelerations(self, system: StateEquations) -> Array:
        """Return the accelerations q̈, shape (…, n, c).

        Raises
        ------
        SolveError
            If the equations or the Jacobian of the dependent coordinates are singular, or if the
            motion has diverged.
        NotVectorisable
            If many states are given and no coordinate partition is regular in all of them.
        """
        return self._motion(system, *self._independent(system)[1:])[0]

    def solve(self, system: StateEquations) -> tuple[Array, Array]:
        """Return the accelerations q̈, shape (…, n, c), and the multipliers λ, shape (…, m, c).

        Raises
        ------
        SolveError
            If the equations or the Jacobian of the dependent coordinates are singular, or if the
            motion has diverged.
        """
        basis, rows, rhs = self._independent(system)
        qdd, partition = self._motion(system, rows, rhs)
        return qdd, basis.swapaxes(-2, -1) @ partition.multipliers(rows, system.M @ qdd - system.force)

    def _independent(self, system: StateEquations) -> tuple[Array, Array, Array]:
        _check_finite(system)
        basis = self.choice.basis(system.C)
        return basis, basis @ system.C, basis @ system.rhs

    def _motion(self, system: StateEquations, rows: Array, rhs: Array) -> tuple[Array, CoordinatePartition]:
        """Return accelerations under the independent constraints, and the coordinate partition used."""
        partition, D, pivot = self._current(rows)
        partition.check(system.t, pivot)
        return partition.accelerations(system.t, D, system.M, system.force, rows, rhs), partition


class ReducedGpme(Gpme):
    """Reduced generalised programmed motion equations (GPME) with state variables q and q̇_i.

    The dependent velocities q̇_d follow from the velocity constraints (Krasinskiy 2023, equation (7)).
    The partition is fixed, because it defines the state variables. A run must not pass a configuration
    in which the Jacobian C_d of the dependent coordinates is singular. The sign of det C_d is
    monitored, because an integrator could step over such a configuration.
    """

    reduced = True
    _side = 0.0

    def velocities(self, t: Number, C: Array, nu: Array, qd: Array) -> Array:
        """Return velocities q̇ that fulfil C q̇ = ν and agree with `qd` in the independent coordinates.

        The velocities q̇ and `qd` have shape (…, n), and the right-hand side ν has shape (…, m).

        Raises
        ------
        SolveError
            If the Jacobian of the dependent coordinates is singular, or if its determinant has changed sign
            since the first call.
        """
        partition, basis = self.partition(C), self.choice.basis(C)
        side = np.sign(self.determinant(C))
        self._side = self._side or float(side.flat[0])
        partition.require(t, side == self._side)
        return partition.completed(t, basis @ C, (basis @ nu[..., None])[..., 0], qd)

    def _motion(self, system: StateEquations, rows: Array, rhs: Array) -> tuple[Array, CoordinatePartition]:
        """Solve (VᵀMV) q̈_i = Vᵀ(Q − h − M [0; C_d⁻¹ rhs]) for the independent accelerations.

        The columns of V span the motions that the constraints allow. The vector `rhs` is the right-hand
        side of the constraints at acceleration level. C_d is the Jacobian of the dependent coordinates.
        """
        partition, D, pivot = self._current(rows)
        partition.check(system.t, pivot)
        i, d = partition.independent, partition.dependent
        V = np.zeros((*system.M.shape[:-1], len(i)))
        V[..., i, :], V[..., d, :] = np.eye(len(i)), D
        without = np.zeros_like(system.force)
        without[..., d, :] = partition.solved_for(system.t, rows, rhs)
        back = V.swapaxes(-2, -1)
        pushed = back @ (system.force - system.M @ without)
        by_rate = solve_scaled(system.t, back @ system.M @ V, pushed, partition.free_names) if len(i) else pushed
        return without + V @ by_rate, partition


class Lagrange(Gpme):
    """Lagrange multiplier formulation: M q̈ − Cᵀ λ = Q − h and C q̈ = rhs in one system.

    The system has n + r equations (Krasinskiy 2023, equation (4)).
    """

    def accelerations(self, system: StateEquations) -> Array:
        return self.solve(system)[0]

    def solve(self, system: StateEquations) -> tuple[Array, Array]:
        basis, rows, rhs = self._independent(system)
        *many, r, n = rows.shape
        scale = 1.0 / np.sqrt(np.diagonal(system.M, axis1=-2, axis2=-1))
        lengths = 1.0 / np.linalg.norm(rows * scale[..., None, :], axis=-1)
        B = lengths[..., None] * rows * scale[..., None, :]
        A = np.zeros((*many, n + r, n + r))
        A[..., :n, :n] = scale[..., None] * system.M * scale[..., None, :]
        A[..., :n, n:], A[..., n:, :n] = -B.swapaxes(-2, -1), B
        right = np.concatenate([scale[..., None] * system.force, lengths[..., None] * rhs], axis=-2)
        names = [*(c.name for c in self._mechanism.coordinates), *self.choice.kept_names]
        solution = solve_scaled(system.t, A, right, names)
        multipliers = basis.swapaxes(-2, -1) @ (lengths[..., None] * solution[..., n:, :])
        return scale[..., None] * solution[..., :n, :], multipliers


def _check_finite(system: StateEquations) -> None:
    if not (np.isfinite(system.force).all() and np.isfinite(system.rhs).all()):
        t = float(np.min(system.t))
        raise SolveError(f"the motion has diverged at t = {t:.9g} s: forces or constraints are not finite")


FORMULATIONS: dict[str, type[Gpme]] = {"gpme": Gpme, "gpme_reduced": ReducedGpme, "lagrange": Lagrange}
