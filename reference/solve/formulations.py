"""The three formulations: from M, Q − h, C and what is wanted of C q̈ to q̈ and λ (Krasinskiy 2023).

Each works on r independent rows E C, with E of `redundancy`; λ = Eᵀ λ'.
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

_WORN = 0.5  # of C_d's smallest pivot when its coordinates were chosen: they are chosen anew


@dataclass(frozen=True)
class System:
    """M q̈ = force + Cᵀ λ and C q̈ = wanted at the time t, s; each of c columns has its own q̈ and λ.

    M       shape (…, n, n)
    force   shape (…, n, c): Q − h
    C       shape (…, m, n)
    wanted  shape (…, m, c)
    """

    t: Number
    M: Array
    force: Array
    C: Array
    wanted: Array


class Gpme:
    """Multiplier-free, 2n states; fixed partition, or the last good one (Jarzębowska et al. 2023, (26)).

    The motion does not depend on the partition (Wojtyra and Frączek 2013, (14)); a new one keeps C_d regular.

    fixed   the partition, if it is the same all the time
    """

    reduced = False

    def __init__(self, mechanism: Mechanism, choice: RowChoice, fixed: tuple[int, ...] | None) -> None:
        self.choice, self._mechanism = choice, mechanism
        self.fixed = None if fixed is None else CoordinatePartition(mechanism, fixed, choice.kept_names)
        self._last: CoordinatePartition | None = None
        self._worn = 0.0

    def partition(self, C: Array) -> CoordinatePartition:
        """The partition used with C, shape (m, n)."""
        return self._current(self.choice.basis(C) @ C)[0]

    def _current(self, rows: Array) -> tuple[CoordinatePartition, Array, Array]:
        """The partition used with the independent rows, shape (…, r, n), its D and its smallest pivot."""
        partition = self.fixed or self._last
        if partition is not None:
            ratios, pivot = partition.ratios(rows)
            if self.fixed is not None or np.all(pivot > self._worn):
                return partition, ratios, pivot
        # of many states the one in which the last partition is worst
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
        """det C_d of the partition used with C and the independent rows; its sign is not arbitrary as with E C."""
        return self.partition(C).determinant(C[..., list(self.choice.independent), :])

    def accelerations(self, system: System) -> Array:
        """q̈, shape (…, n, c).

        Raises SolveError where C_d or the equations are singular, or if the motion has diverged; Apart where many
        states have no partition in common.
        """
        return self._motion(system, *self._independent(system)[1:])[0]

    def solve(self, system: System) -> tuple[Array, Array]:
        """q̈, shape (…, n, c), and λ, shape (…, m, c).

        Raises SolveError where C_d or the equations are singular, or if the motion has diverged.
        """
        basis, rows, wanted = self._independent(system)
        qdd, partition = self._motion(system, rows, wanted)
        return qdd, basis.swapaxes(-2, -1) @ partition.multipliers(rows, system.M @ qdd - system.force)

    def _independent(self, system: System) -> tuple[Array, Array, Array]:
        """E, and of the independent rows, shape (…, r, n), C and what is wanted of C q̈."""
        _check_finite(system)
        basis = self.choice.basis(system.C)
        return basis, basis @ system.C, basis @ system.wanted

    def _motion(self, system: System, rows: Array, wanted: Array) -> tuple[Array, CoordinatePartition]:
        """q̈ by independent rows, and the partition that served."""
        partition, D, pivot = self._current(rows)
        partition.check(system.t, pivot)
        return partition.accelerations(system.t, D, system.M, system.force, rows, wanted), partition


class ReducedGpme(Gpme):
    """States q and q̇_i; q̇_d fulfils the velocity constraints (Krasinskiy 2023, equation (7)).

    The partition is fixed, for it says what the states are. So a run may not pass a point where C_d is singular,
    which an integrator would step over: det C_d keeps its sign.
    """

    reduced = True
    _side = 0.0

    def velocities(self, t: Number, C: Array, nu: Array, qd: Array) -> Array:
        """q̇, shape (…, n), with C q̇ = ν, shape (…, m), and the independent ones as in qd, shape (…, n).

        Raises SolveError where C_d is singular, or has been on the way from where it was asked for first.
        """
        partition, basis = self.partition(C), self.choice.basis(C)
        side = np.sign(self.determinant(C))
        self._side = self._side or float(side.flat[0])
        partition.require(t, side == self._side)
        return partition.completed(t, basis @ C, (basis @ nu[..., None])[..., 0], qd)

    def _motion(self, system: System, rows: Array, wanted: Array) -> tuple[Array, CoordinatePartition]:
        """(VᵀMV) q̈_i = Vᵀ(Q − h − M [0; C_d⁻¹ wanted])."""
        partition, D, pivot = self._current(rows)
        partition.check(system.t, pivot)
        i, d = partition.independent, partition.dependent
        V = np.zeros((*system.M.shape[:-1], len(i)))
        V[..., i, :], V[..., d, :] = np.eye(len(i)), D
        without = np.zeros_like(system.force)
        without[..., d, :] = partition.solved_for(system.t, rows, wanted)
        back = V.swapaxes(-2, -1)
        pushed = back @ (system.force - system.M @ without)
        by_rate = solve_scaled(system.t, back @ system.M @ V, pushed, partition.free_names) if len(i) else pushed
        return without + V @ by_rate, partition


class Lagrange(Gpme):
    """M q̈ − Cᵀ λ = Q − h and C q̈ = wanted in one system of n + r equations (Krasinskiy 2023, equation (4))."""

    def accelerations(self, system: System) -> Array:
        """q̈, shape (…, n, c); see `Gpme`."""
        return self.solve(system)[0]

    def solve(self, system: System) -> tuple[Array, Array]:
        """q̈, shape (…, n, c), and λ, shape (…, m, c); see `Gpme`."""
        basis, rows, wanted = self._independent(system)
        *many, r, n = rows.shape
        scale = 1.0 / np.sqrt(np.diagonal(system.M, axis1=-2, axis2=-1))
        lengths = 1.0 / np.linalg.norm(rows * scale[..., None, :], axis=-1)
        B = lengths[..., None] * rows * scale[..., None, :]
        A = np.zeros((*many, n + r, n + r))
        A[..., :n, :n] = scale[..., None] * system.M * scale[..., None, :]
        A[..., :n, n:], A[..., n:, :n] = -B.swapaxes(-2, -1), B
        right = np.concatenate([scale[..., None] * system.force, lengths[..., None] * wanted], axis=-2)
        names = [*(c.name for c in self._mechanism.coordinates), *self.choice.kept_names]
        solution = solve_scaled(system.t, A, right, names)
        multipliers = basis.swapaxes(-2, -1) @ (lengths[..., None] * solution[..., n:, :])
        return scale[..., None] * solution[..., :n, :], multipliers


def _check_finite(system: System) -> None:
    if not (np.isfinite(system.force).all() and np.isfinite(system.wanted).all()):
        t = float(np.min(system.t))
        raise SolveError(f"the motion has diverged at t = {t:.9g} s: forces or constraints are not finite")


FORMULATIONS: dict[str, type[Gpme]] = {"gpme": Gpme, "gpme_reduced": ReducedGpme, "lagrange": Lagrange}
