"""Solution of the equations of motion by one linear system, with an iteration for joint friction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import root

from ...core.errors import SolveError
from ...core.trajectory import Array
from .dynamics import subtree_wrench
from .model import Model, Situation

# In `gpme_reduced`, integration errors make Φ̇ + κΦ nonzero; this residual decays at this rate, 1/s.
_STIFFER = 50.0
# The squared normal force is increased by this value, N², for a finite derivative of the normal force at zero.
_SMOOTH = 1e-12
# The residual of the equations for joint friction is accepted up to this fraction of the friction.
_CLOSED = 1e-9
# The root finder for joint friction ends if the relative change in one iteration is below this value.
_EXACT = 1e-14
# Friction residuals are divided by the friction effort, or by this value, N or N·m, if it is larger.
_NO_EFFORT = 1e-9
# In the scaling of M, each diagonal element counts as at least this fraction of the largest diagonal element.
_LIGHT = 1e-12
# The largest diagonal element of M counts as at least this value, so that M = 0 causes no division by zero.
_TINY = 1e-300


@dataclass(frozen=True)
class Solution:
    """Accelerations, constraint forces and friction at one state.

    Parameters
    ----------
    qdd : ndarray, shape (n,)
        Accelerations of the coordinates, rad/s² or m/s².
    multipliers : ndarray, shape (m,)
        Lagrange multipliers λ, N or N·m.
    contacts : ndarray, shape (k,)
        Lagrange multipliers of knife edges and loop closures. These are elements of `multipliers`, except
        if only some joints are driven.
    effort : ndarray, shape (n,)
        Generalised constraint forces M q̈ + h − Q = Cᵀλ, N or N·m.
    friction : ndarray, shape (f,)
        Friction efforts against the motion, N or N·m.
    z_dot : ndarray, shape (f,)
        Time derivatives of the friction states, rad/s or m/s.
    """

    qdd: Array
    multipliers: Array
    contacts: Array
    effort: Array
    friction: Array
    z_dot: Array


class Solver:
    """Solver of the equations of motion.

    The solver uses the constraint equations that the generator selected as independent.
    """

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
        """Return the value that the constraint equations prescribe for C q̈, shape (m,).

        The value includes the constraint stabilisation that the description selects.
        """
        rows = found.rows
        if not self._reduced:
            return rows.gamma - 2.0 * self._alpha * rows.Phi_dot - self._beta**2 * rows.Phi
        # The time derivative of Φ̇ = −κΦ is Φ̈ = −κΦ̇; the drift Φ̇ + κΦ is nonzero only after integration errors.
        drift = rows.Phi_dot + self._kappa * rows.Phi
        return rows.gamma - self._kappa * rows.Phi_dot - _STIFFER * drift

    def __call__(self, found: Situation, z: Array) -> Solution:
        """Return accelerations, constraint forces and friction at one state.

        Parameters
        ----------
        found : Situation
            Equations of motion at the state.
        z : ndarray, shape (f,)
            Friction states, rad or m.

        Raises
        ------
        SolveError
            If the equations are singular, or if the friction iteration has no solution.
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
        """Return the coordinates' rates that satisfy the velocity equations of `gpme_reduced`, shape (n,).

        The dependent rates are computed from the independent ones. For other formulations, all rates
        are returned unchanged.
        """
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
        """Return a matrix E, shape (r, m), that combines m constraint equations into r independent ones.

        The multipliers λ of all equations follow from the multipliers λ' of the combinations: λ = Eᵀλ'.
        """
        if self._least:
            return _range(C, self._model.claims.rank).T
        return np.eye(len(C))[self._kept]

    def _solved(self, found: Situation, columns: Array) -> tuple[Array, Array]:
        """Return the accelerations and Lagrange multipliers for each of several force vectors.

        Parameters
        ----------
        found : Situation
            Equations of motion at the state.
        columns : ndarray, shape (n, 1 + f)
            Force vectors in columns. For all columns except the first, the right-hand side of the
            constraints is taken as zero.

        Returns
        -------
        qdd, multipliers : ndarray, shapes (n, 1 + f) and (m, 1 + f)
            Solutions of the linear system, one column per force vector.
        """
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
        """Return the Lagrange multipliers of knife edges and loop closures, shape (k, 1 + f).

        Column 0 contains the multipliers without friction. Each other column contains their change for
        a unit effort of one of the f friction models. If only some joints are driven, multipliers and
        drive efforts follow from the same linear system.
        """
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
        """Return the friction efforts τ, shape (f,), that solve τ = μ·arm·N(τ).

        The factors are the friction coefficient μ, the friction radius `arm` and the normal force N. The
        normal forces follow from the joint reactions, which depend on τ.
        """
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
            raise SolveError(
                f"friction locks the mechanism at t = {found.state.t:.9g} s: the equations have no solution"
            )
        return tau

    def _normal_forces(
        self, found: Situation, qdd: Array, contacts: Array
    ) -> Callable[[Array], tuple[Array, Array]]:
        """Return a function that computes the normal forces in f joints from their friction efforts.

        Forces and efforts have shape (f,). The function also returns the Jacobian of the normal forces,
        shape (f, f).
        """
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
        """Return the forces and moments on each body from applied forces, knife edges and loop closures.

        Joint reactions are not included.

        Returns
        -------
        force, moment : ndarray, shape (B + 1, 3)
            Force, N, and moment about the body's origin, N·m, in world axes.
        """
        force, moment = found.load.force.copy(), found.load.moment.copy()
        for equation, multiplier in zip(
            found.rows.equations[self._model.contact_rows], solution.contacts, strict=True
        ):
            for wrench in equation.wrenches:
                force[wrench.body] += multiplier * wrench.force
                moment[wrench.body] += multiplier * wrench.moment
        return force, moment

    def joint_load(self, found: Situation, solution: Solution, link: str) -> Array:
        """Return the reaction of a link's joint on the link, shape (6,), in the link's axes.

        The force, N, comes first. The moment about the link's origin, N·m, follows.
        """
        machine, motion = self._model.machine, found.state.motion
        first = machine.first_body(link)
        bodies, outside = machine.carried_by(first), self.outside(found, solution)
        wrench = subtree_wrench(found.inertial, bodies, motion.r[first], solution.qdd, outside)
        return np.concatenate([part @ motion.R[first] for part in wrench])


def _range(C: Array, rank: int) -> Array:
    """Return a matrix whose columns are an orthonormal basis of the column space of C, shape (m, rank)."""
    return np.asarray(np.linalg.svd(C)[0][:, :rank])
