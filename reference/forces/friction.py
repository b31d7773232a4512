"""Friction of joints, with the joint's own load as normal force (Jarzębowska et al. 2023, (19) to (22)).

Bristles deflect by z, a state. The friction effort μ·arm·f_n depends on the load, the load on the accelerations,
and these on the friction; all are affine in the friction efforts τ, so the loop is solved in τ alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ...core.trajectory import Array, Trajectory
from ...description.types.origin import joint_load
from ...mechanism import FRICTION_SWEEPS, Friction, Mechanism
from ..kinematics.kinematics import Posture
from .joint_loads import AffineLoads

_SMOOTH = 1e-12  # N², under the root of the normal force


@dataclass(frozen=True)
class Bristles:
    """Rate of the friction states and friction coefficients, each of shape (…, f)."""

    z_dot: Array
    mu: Array


@dataclass(frozen=True)
class FrictionEfforts:
    """Friction efforts τ against the motion, (…, f), N·m or N, and |τ − μ·arm·f_n(τ)|/|τ| that is left, (…)."""

    tau: Array
    residual: Array


_Bristle: TypeAlias = tuple[Array, Array]  # ż and μ; shape (…) each


def _lugre(friction: Friction, rate: Array, z: Array) -> _Bristle:
    """Canudas de Wit et al., 1995."""
    ratio, drop = rate / friction.v_s, friction.mu_s - friction.mu_k
    steady = friction.mu_k + drop * np.exp(-ratio * ratio)
    z_dot = rate - friction.sigma0 * abs(rate) * z / steady
    return z_dot, friction.sigma0 * z + friction.sigma1 * z_dot + friction.sigma2 * rate


def _dahl(friction: Friction, rate: Array, z: Array) -> _Bristle:
    """Dahl, 1968."""
    free = 1.0 - friction.sigma0 * z * np.sign(rate) / friction.mu_s
    return rate * abs(free) ** friction.gamma * np.sign(free), friction.sigma0 * z


_MODELS: dict[str, Callable[[Friction, Array, Array], _Bristle]] = {"lugre": _lugre, "dahl": _dahl}


class FrictionModel:
    """Friction of a mechanism's joints, compiled; f of them.

    coordinates   their indices, in order
    units         shape (n, f): unit efforts against them
    loaded        links of those whose normal force is the joint's load
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.coordinates = [k for k, c in enumerate(mechanism.coordinates) if c.friction is not None]
        self._friction = [c.friction for c in mechanism.coordinates if c.friction is not None]
        self.units = -np.eye(mechanism.n)[:, self.coordinates]
        self._arm = np.array([friction.arm for friction in self._friction], dtype=float)
        self._loaded = [i for i, friction in enumerate(self._friction) if friction.normal_force is None]
        moving = [mechanism.coordinates[self.coordinates[i]] for i in self._loaded]
        self.loaded = tuple(coordinate.owner for coordinate in moving)
        self._axes = np.array([coordinate.axis for coordinate in moving], dtype=float).reshape(-1, 3)
        self._given = np.array([friction.normal_force or 0.0 for friction in self._friction], dtype=float)
        self._bodies = [
            next(b for b, body in enumerate(mechanism.bodies) if self.coordinates[i] in body.coordinates)
            for i in self._loaded
        ]

    def bristles(self, qd: Array, z: Array) -> Bristles:
        """Rates and coefficients at q̇, shape (…, n), and z, shape (…, f)."""
        z_dot, mu = np.zeros((2, *z.shape))
        for i, (friction, k) in enumerate(zip(self._friction, self.coordinates, strict=True)):
            z_dot[..., i], mu[..., i] = _MODELS[friction.model](friction, qd[..., k], z[..., i])
        return Bristles(z_dot, mu)

    def efforts(
        self, posture: Posture, mu: Array, loads: AffineLoads, qdd: Array, multipliers: Array
    ) -> FrictionEfforts:
        """τ after FRICTION_SWEEPS Newton steps on τ = μ·arm·f_n(τ), begun with f_n(0).

        A fixed point would not do: where friction locks a mechanism, f_n grows faster than τ.

        loads         of the joints of `loaded`
        qdd           shape (…, n, 1 + f): q̈ without friction, and its change per τ of each joint
        multipliers   shape (…, rows, 1 + f), of the closures, likewise
        """
        normal_force = self._normal_force(posture, loads, qdd, multipliers)
        lever = mu * self._arm
        tau = lever * normal_force(np.zeros_like(lever))[0]
        for _ in range(FRICTION_SWEEPS if self._loaded else 0):
            found, slope = normal_force(tau)
            system = np.eye(lever.shape[-1]) - lever[..., None] * slope
            tau = tau - np.linalg.solve(system, (tau - lever * found)[..., None])[..., 0]
        left, size = (np.linalg.norm(x, axis=-1) for x in (tau - lever * normal_force(tau)[0], tau))
        return FrictionEfforts(tau, np.asarray(left / np.where(size > 0, size, 1.0)))

    def _normal_force(
        self, posture: Posture, loads: AffineLoads, qdd: Array, multipliers: Array
    ) -> Callable[[Array], tuple[Array, Array]]:
        """Normal forces, shape (…, f), N, and their slopes by τ, shape (…, f, f), as a function of τ."""
        R = posture.T[..., :3, np.array(self._bodies, dtype=int) + 1, :3].swapaxes(-3, -2)
        e = (R @ self._axes[..., None])[..., 0]
        across = np.eye(3) - e[..., :, None] * e[..., None, :]
        force = loads.change(qdd, multipliers)[..., :3, :]
        force[..., 0] += loads.constant[..., :3]
        force = across @ force

        def normal_force(tau: Array) -> tuple[Array, Array]:
            found, slope = np.zeros_like(tau), np.zeros((*tau.shape, tau.shape[-1]))
            at_tau = force[..., 0] + (force[..., 1:] @ tau[..., None, :, None])[..., 0]
            length = np.sqrt(_SMOOTH + np.sum(at_tau**2, axis=-1))
            found[:] = self._given
            found[..., self._loaded] = length
            slope[..., self._loaded, :] = np.sum((at_tau / length[..., None])[..., None] * force[..., 1:], axis=-2)
            return found, slope

        return normal_force


def friction_efforts(mechanism: Mechanism, run: Trajectory) -> dict[str, Array]:
    """Friction efforts against the motion over a run, N·m or N, by coordinate's symbol, shape (N,) each.

    From the run's signals `<coordinate>_dot`, `<coordinate>_z` and, unless the normal force is given,
    `<link>_load_normal`; coordinates without these are left out.
    """
    found = {}
    for coordinate in mechanism.coordinates:
        friction, z = coordinate.friction, coordinate.signal("bristle").name
        load = joint_load(coordinate.owner, "normal").name
        if friction is None or z not in run.signals:
            continue
        if friction.normal_force is not None or load in run.signals:
            normal_force = run.signals[load] if friction.normal_force is None else friction.normal_force
            rate, bristle = run.columns([coordinate.signal("velocity").name, z]).T
            mu = _MODELS[friction.model](friction, rate, bristle)[1]
            found[coordinate.symbol] = np.asarray(mu * friction.arm * normal_force, dtype=float)
    return found
