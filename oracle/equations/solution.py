"""Accelerations and multipliers by one linear system; friction to convergence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import root

from ...core.errors import SolveError
from ...core.trajectory import Array
from .dynamics import subtree_wrench
from .model import Model, Situation

_STIFFER = 50.0  # 1/s: how fast `gpme_reduced` returns to Φ̇ = −κΦ after an integrator's error
_SMOOTH = 1e-12  # N², under the root of a normal force
_CLOSED = 1e-9  # of the friction efforts: what the loop with the joint loads may leave
_EXACT = 1e-14  # of the friction efforts: relative step at which the root finder ends
_NO_EFFORT = 1e-9  # N or N·m: friction below counts as this much
_LIGHT = 1e-12  # of the largest diagonal of M: lighter coordinates are scaled as if they had this much
_TINY = 1e-300  # keeps scales finite where M is zero


@dataclass(frozen=True)
class Solution:
    """Accelerations and forces of constraints.

    Parameters
    ----------
    qdd : ndarray, shape (n,)
        Accelerations, rad/s² or m/s².
    multipliers : ndarray, shape (m,)
        λ, N or N·m.
    contacts : ndarray, shape (k,)
        λ of knife edges and closures; different from `multipliers` where only some joints have drives.
    effort : ndarray, shape (n,)
        M q̈ + h − Q = Cᵀλ, N or N·m.
    friction : ndarray, shape (f,)
        Friction efforts against the motion, N or N·m.
    z_dot : ndarray, shape (f,)
        Rates of the friction states, rad/s or m/s.
    """

    qdd: Array
    multipliers: Array
    contacts: Array
    effort: Array
    friction: Array
    z_dot: Array


class Solver:
    """Solves a model's equations with the constraint equations that production keeps."""

    def __init__(self, model: Model) -> None:
        settings, claims = model.data["constraints"], model.claims
        self._model = model
        self._reduced = settings["formulation"] == "gpme_reduced"
        self._alpha, self._beta, self._kappa = (float(settings[key]) for key in ("alpha", "beta", "kappa"))
        self._least = settings["redundant"] == "minimum_norm"
        unknown = [name for name in claims.kept if name not in model.rows]
        if unknown:
            raise SolveError(f"the description has no constraint equation {', '.join(unknown)}")
        self._kept = [model.rows.index(name) for name in claims.kept]
        actuated = settings["actuated"]
        self._actuated = None if actuated == "all" or not model.programmed else model.driven
        self._others = [k for k in range(len(model.rows)) if k >= model.contact_rows.start]
        self._free_of_drives = [k for k in self._others if model.rows[k] in claims.without_drive]
        self._dependent = [c for c, one in enumerate(model.machine.coordinates) if one.name in claims.dependent]
        self._subtrees = [model.machine.carried_by(model.machine.first_body(one.link)) for one in model.bristles]

    def wanted(self, found: Situation) -> Array:
        """Return the right-hand side of C q̈, with the stabilisation that the description asks for; shape (m,)."""
        rows = found.rows
        if not self._reduced:
            return rows.gamma - 2.0 * self._alpha * rows.Phi_dot - self._beta**2 * rows.Phi
        # Φ̇ = −κΦ for ever is Φ̈ = −κΦ̇; the second part vanishes unless an integrator has left that
        drift = rows.Phi_dot + self._kappa * rows.Phi
        return rows.gamma - self._kappa * rows.Phi_dot - _STIFFER * drift

    def __call__(self, found: Situation, z: Array) -> Solution:
        """Return the solution in a state with friction states z, shape (f,), rad or m.

        Raises SolveError where the equations are singular, or where friction has no solution.
        """
        bristles = self._model.bristles
        columns = np.zeros((self._model.machine.n, 1 + len(bristles)))
        columns[:, 0] = found.Q - found.h
        for i, one in enumerate(bristles):
            columns[one.k, 1 + i] = -1.0
        qdd, multipliers = self._solved(found, columns)
        effort = found.M @ qdd - columns
        contacts = self._contacts(found, effort, multipliers)
        pairs = [
            one.rate_and_coefficient(float(found.state.motion.qd[one.k]), float(z[i]))
            for i, one in enumerate(bristles)
        ]
        tau = self._friction(found, np.array([mu for _, mu in pairs]), qdd, contacts)
        share = np.concatenate([[1.0], tau])
        return Solution(
            qdd @ share,
            multipliers @ share,
            contacts @ share,
            effort @ share,
            tau,
            np.array([z_dot for z_dot, _ in pairs]),
        )

    def consistent(self, t: float, q: Array, qd: Array, lag: Array | None = None) -> Array:
        """Return the rates with those of dependent coordinates as `gpme_reduced` defines them; shape (n,)."""
        if not self._reduced or not self._model.rows:
            return qd
        rows = self._model.stack(self._model.state(t, q, 0.0 * qd, lag))
        basis = self._basis(rows.C)
        C, own = basis @ rows.C, [k for k in range(len(qd)) if k not in self._dependent]
        found = qd.copy()
        wanted = basis @ (-rows.Phi_dot - self._kappa * rows.Phi) - C[:, own] @ qd[own]
        found[self._dependent] = np.linalg.solve(C[:, self._dependent], wanted)
        return found

    def _basis(self, C: Array) -> Array:
        """Return independent combinations of the equations, shape (r, m): λ = Eᵀλ'."""
        if self._least:
            return _range(C, self._model.claims.rank).T
        return np.eye(len(C))[self._kept]

    def _solved(self, found: Situation, columns: Array) -> tuple[Array, Array]:
        """Return q̈ and λ for forces in columns, of which only the first one has to meet the constraints."""
        M, basis = found.M, self._basis(found.rows.C)
        C, n = basis @ found.rows.C, len(found.M)
        right = np.zeros((n + len(C), columns.shape[1]))
        right[:n] = columns
        right[n:, 0] = basis @ self.wanted(found)
        least = _LIGHT * max(M.diagonal().max(initial=0.0), _TINY)
        scale = 1.0 / np.sqrt(np.maximum(M.diagonal(), least))
        lengths = np.linalg.norm(C * scale, axis=1)
        weights = np.concatenate([scale, 1.0 / np.where(lengths > 0.0, lengths, 1.0)])
        K = np.zeros((len(right), len(right)))
        K[:n, :n], K[:n, n:], K[n:, :n] = M, -C.T, C
        if not np.isfinite(right).all():
            raise SolveError(f"the motion has diverged at t = {found.state.t:.9g} s: forces are not finite")
        try:
            solution = weights[:, None] * np.linalg.solve(weights[:, None] * K * weights, weights[:, None] * right)
        except np.linalg.LinAlgError:
            raise SolveError(f"the equations of motion are singular at t = {found.state.t:.9g} s") from None
        return solution[:n], basis.T @ solution[n:]

    def _contacts(self, found: Situation, effort: Array, multipliers: Array) -> Array:
        """Return λ of knife edges and closures; with few drives those beside the drives' efforts."""
        own = self._model.contact_rows
        if self._actuated is None:
            return multipliers[own]
        C, B = found.rows.C[self._others], np.eye(len(found.M))[:, self._actuated]
        if self._least:
            basis = _range(C, len(self._free_of_drives)).T
        else:
            basis = np.eye(len(self._others))[[self._others.index(k) for k in self._free_of_drives]]
        unknown = np.linalg.lstsq(np.hstack([(basis @ C).T, B]), effort, rcond=None)[0]
        return np.asarray((basis.T @ unknown[: len(basis)])[: own.stop - own.start])

    def _friction(self, found: Situation, mu: Array, qdd: Array, contacts: Array) -> Array:
        """Return the friction efforts τ = μ·arm·N(τ), shape (f,); N follows from the loads, and these from τ."""
        if not len(mu):
            return mu
        lever = mu * np.array([one.arm for one in self._model.bristles])
        normal_force = self._normal_forces(found, qdd, contacts)

        def left(tau: Array) -> tuple[Array, Array]:
            N, slope = normal_force(tau)
            return tau - lever * N, np.eye(len(tau)) - lever[:, None] * slope

        begin = lever * normal_force(0.0 * lever)[0]
        answer = root(left, begin, jac=True, method="hybr", options={"xtol": _EXACT})
        tau = np.asarray(answer.x, dtype=float)
        size = max(float(np.linalg.norm(tau)), _NO_EFFORT)
        if not np.linalg.norm(left(tau)[0]) <= _CLOSED * size:
            raise SolveError(f"friction locks the mechanism at t = {found.state.t:.9g} s: no effort balances it")
        return tau

    def _normal_forces(
        self, found: Situation, qdd: Array, contacts: Array
    ) -> Callable[[Array], tuple[Array, Array]]:
        """Return N of each joint with its slopes, as a function of the friction efforts."""
        load, motion, count = found.load, found.state.motion, qdd.shape[1]
        equations = found.rows.equations[self._model.contact_rows]
        given = np.array([one.normal_force or 0.0 for one in self._model.bristles])
        across = np.zeros((len(given), 3, count))
        for i, (one, bodies) in enumerate(zip(self._model.bristles, self._subtrees, strict=True)):
            if one.normal_force is not None:
                continue
            force = np.zeros((3, count))
            force[:, 0] = found.inertial.force[bodies].sum(axis=0) - load.force[bodies].sum(axis=0)
            momentum = np.tensordot(found.inertial.by_rates[:, bodies], found.inertial.mass[bodies], axes=(1, 0))
            force += momentum.T @ qdd
            for row, equation in enumerate(equations):
                for wrench in equation.wrenches:
                    if wrench.body in bodies:
                        force -= np.outer(wrench.force, contacts[row])
            axis = motion.axes[one.k]
            across[i] = force - np.outer(axis, axis @ force)

        def normal_forces(tau: Array) -> tuple[Array, Array]:
            at = across[..., 0] + across[..., 1:] @ tau
            N = np.sqrt(_SMOOTH + np.sum(at**2, axis=1))
            slope = np.sum((at / N[:, None])[..., None] * across[..., 1:], axis=1)
            return np.where(given > 0.0, given, N), np.where(given[:, None] > 0.0, 0.0, slope)

        return normal_forces

    def outside(self, found: Situation, solution: Solution) -> tuple[Array, Array]:
        """Return force and moment on each body from outside of its joint, shape (B + 1, 3) each."""
        force, moment = found.load.force.copy(), found.load.moment.copy()
        for equation, multiplier in zip(
            found.rows.equations[self._model.contact_rows], solution.contacts, strict=True
        ):
            for wrench in equation.wrenches:
                force[wrench.body] += multiplier * wrench.force
                moment[wrench.body] += multiplier * wrench.moment
        return force, moment

    def joint_load(self, found: Situation, solution: Solution, link: str) -> Array:
        """Return the wrench of a link's joint on the link, about its origin and in its axes; (6,), N and N·m."""
        machine, motion = self._model.machine, found.state.motion
        first = machine.first_body(link)
        bodies, outside = machine.carried_by(first), self.outside(found, solution)
        wrench = subtree_wrench(found.inertial, bodies, motion.r[first], solution.qdd, outside)
        return np.concatenate([part @ motion.R[first] for part in wrench])


def _range(C: Array, rank: int) -> Array:
    """Return orthonormal combinations of the equations that matter, shape (m, r)."""
    return np.asarray(np.linalg.svd(C)[0][:, :rank])
