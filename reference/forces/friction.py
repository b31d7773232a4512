"""Joint friction with bristle deflections as state variables; normal forces are joint reactions.

The equations are (19) to (22) of Jarzębowska et al. 2023. The friction effort is τ = μ·arm·f_n. The
factors are the friction coefficient μ, the friction radius `arm` and the normal force f_n, which
follows from the joint reaction. The reaction is affine in the accelerations, and the accelerations
are affine in the friction efforts. The elimination of the accelerations therefore yields one system
of equations with the friction efforts as unknowns.
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

# This constant, N², is added to the squared normal force, so that the square root is differentiable at zero.
_SMOOTH = 1e-12


@dataclass(frozen=True)
class Bristles:
    """Bristle rates and friction coefficients of the f joints with friction.

    Attributes
    ----------
    z_dot : ndarray, shape (…, f)
        Time derivatives of the bristle deflections.
    mu : ndarray, shape (…, f)
        Friction coefficients with the sign of the motion.
    """

    z_dot: Array
    mu: Array


@dataclass(frozen=True)
class FrictionEfforts:
    """Converged friction efforts of the f joints with friction.

    Attributes
    ----------
    tau : ndarray, shape (…, f)
        Friction efforts against the motion, N·m or N.
    residual : ndarray, shape (…)
        Relative residual |τ − μ·arm·f_n(τ)|/|τ|.
    """

    tau: Array
    residual: Array


# The pair contains the bristle rate and the friction coefficient as arrays of the same shape.
_Bristle: TypeAlias = tuple[Array, Array]


def _lugre(friction: Friction, rate: Array, z: Array) -> _Bristle:
    """Return bristle rate and friction coefficient of the LuGre model (Canudas de Wit et al., 1995).

    The arrays of velocities `rate`, bristle deflections z and both results have equal shapes.
    """
    ratio, drop = rate / friction.v_s, friction.mu_s - friction.mu_k
    steady = friction.mu_k + drop * np.exp(-ratio * ratio)
    z_dot = rate - friction.sigma0 * abs(rate) * z / steady
    return z_dot, friction.sigma0 * z + friction.sigma1 * z_dot + friction.sigma2 * rate


def _dahl(friction: Friction, rate: Array, z: Array) -> _Bristle:
    """Return bristle rate and friction coefficient of the Dahl model (Dahl, 1968).

    The arrays of velocities `rate`, bristle deflections z and both results have equal shapes.
    """
    free = 1.0 - friction.sigma0 * z * np.sign(rate) / friction.mu_s
    return rate * abs(free) ** friction.gamma * np.sign(free), friction.sigma0 * z


_MODELS: dict[str, Callable[[Friction, Array, Array], _Bristle]] = {"lugre": _lugre, "dahl": _dahl}


class FrictionModel:
    """Bristle friction of the f joints that have friction, compiled for evaluation.

    Attributes
    ----------
    coordinates : list of int
        Indices of the coordinates with friction.
    units : ndarray, shape (n, f)
        Generalised forces of unit friction efforts. A positive friction effort opposes a positive
        velocity.
    loaded : tuple of str
        Links whose joint reaction yields the normal force of the friction.
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
        """Return the bristle rates and friction coefficients.

        The velocities have shape (…, n), and the bristle deflections z have shape (…, f).
        """
        z_dot, mu = np.zeros((2, *z.shape))
        for i, (friction, k) in enumerate(zip(self._friction, self.coordinates, strict=True)):
            z_dot[..., i], mu[..., i] = _MODELS[friction.model](friction, qd[..., k], z[..., i])
        return Bristles(z_dot, mu)

    def efforts(
        self, posture: Posture, mu: Array, loads: AffineLoads, qdd: Array, multipliers: Array
    ) -> FrictionEfforts:
        """Return the friction efforts τ after FRICTION_SWEEPS Newton steps on τ = μ·arm·f_n(τ).

        The factors are the friction coefficient μ, the radius `arm` (1 for a prismatic joint) and the
        normal force f_n. The iteration starts with the normal force without friction, f_n(0). A fixed-point
        iteration would diverge if friction locks the mechanism, because f_n then grows faster than τ.

        Parameters
        ----------
        posture : Posture
            Transforms of the bodies.
        mu : ndarray, shape (…, f)
            Friction coefficients.
        loads : AffineLoads
            Joint reactions of the links with friction whose normal force is a joint reaction.
        qdd : ndarray, shape (…, n, 1 + f)
            Accelerations without friction in the first column. The other columns contain changes of the
            accelerations due to a unit friction effort in each joint.
        multipliers : ndarray, shape (…, rows, 1 + f)
            Multipliers of the knife edges and closures, with columns like those of `qdd`.
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
        """Return a function of the friction efforts τ that computes normal forces and their derivatives.

        The normal forces have shape (…, f), N. Their derivatives with respect to τ have shape (…, f, f).
        """
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
    """Return the friction efforts against the motion over a run, N·m or N, shape (N,) each.

    The keys of the result are the symbols of the coordinates. The efforts follow from the signals
    `<coordinate>_dot` and `<coordinate>_z` of the run and from the normal force. The normal force is
    given by the description or by the signal `<link>_load_normal`. Coordinates without these signals
    are omitted.
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
