"""Newton–Euler equations of all bodies, projected onto the generalised coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Array
from ..bodies.machine import Machine
from ..bodies.motion import Motion, by_rates, cross
from ..forces.load import Load


@dataclass(frozen=True)
class Inertial:
    """Inertia quantities of B bodies at one state of n coordinates, in world axes.

    Parameters
    ----------
    motion : Motion
        Kinematics of the bodies.
    mass : ndarray, shape (B,)
        Masses, kg.
    arm : ndarray, shape (B, 3)
        Position of each centre of mass relative to the body frame's origin, m.
    by_rates : ndarray, shape (n, B, 3)
        Jacobian of the velocities of the centres of mass with respect to q̇.
    moments : ndarray, shape (B, 3, 3)
        Inertia tensors about the centres of mass, kg·m².
    force, moment : ndarray, shape (B, 3)
        Time derivatives of momentum, N, and of angular momentum about the centres of mass, N·m, for q̈ = 0.
    """

    motion: Motion
    mass: Array
    arm: Array
    by_rates: Array
    moments: Array
    force: Array
    moment: Array

    def mass_matrix(self) -> Array:
        """Return the mass matrix, shape (n, n), without rotor inertias of the joints."""
        n, turning = len(self.by_rates), self.motion.turning[:, :-1]
        momentum = (self.by_rates * self.mass[:, None]).reshape(n, -1)
        spin = (self.moments @ turning[..., None]).reshape(n, -1)
        return momentum @ self.by_rates.reshape(n, -1).T + spin @ turning.reshape(n, -1).T

    def projected(self) -> Array:
        """Return the velocity-dependent generalised inertia forces h, shape (n,), N or N·m."""
        n, turning = len(self.by_rates), self.motion.turning[:, :-1]
        by_force = self.by_rates.reshape(n, -1) @ self.force.ravel()
        return np.asarray(by_force + turning.reshape(n, -1) @ self.moment.ravel())

    def rates(self, qdd: Array) -> tuple[Array, Array]:
        """Return the time derivatives of momentum and angular momentum caused by accelerations.

        Parameters
        ----------
        qdd : ndarray, shape (n,)
            Accelerations of the coordinates, rad/s² or m/s².

        Returns
        -------
        force, moment : ndarray, shape (B, 3)
            Time derivatives of momentum, N, and of angular momentum about the centres of mass, N·m.
        """
        force = self.mass[:, None] * by_rates(qdd, self.by_rates)
        moment = self.moments @ by_rates(qdd, self.motion.turning[:, :-1])[..., None]
        return force, moment[..., 0]


class Inertias:
    """Inertia parameters of all bodies and rotors, prepared for evaluation at many states."""

    def __init__(self, machine: Machine) -> None:
        own = [body.inertia for body in machine.bodies]
        self._mass = np.array([one.mass for one in own])
        self._com = np.array([one.com for one in own]).reshape(-1, 3, 1)
        self._moments = np.array([one.moments for one in own]).reshape(-1, 3, 3)
        self._gravity = np.array(machine.data["gravity"], dtype=float)
        self.armature = np.diag([c.armature for c in machine.coordinates])

    def __call__(self, motion: Motion) -> Inertial:
        """Return the inertia quantities of the bodies for the given kinematics."""
        R, omega, turning = motion.R[:-1], motion.omega[:-1], motion.turning[:, :-1]
        arm = (R @ self._com)[..., 0]
        moments = R @ self._moments @ R.transpose(0, 2, 1)
        acceleration = motion.a[:-1] + cross(motion.alpha[:-1], arm) + cross(omega, cross(omega, arm))
        spin = (moments @ omega[..., None])[..., 0]
        moment = (moments @ motion.alpha[:-1, :, None])[..., 0] + cross(omega, spin)
        velocities = motion.moving[:, :-1] + cross(turning, arm)
        force = self._mass[:, None] * acceleration
        return Inertial(motion, self._mass, arm, velocities, moments, force, moment)

    def add_weight(self, inertial: Inertial, load: Load) -> None:
        """Add the bodies' weights and their potential energy to the accumulated totals in `load`.

        The potential energy is zero at the world's origin.
        """
        weight = self._mass[:, None] * self._gravity
        load.force[:-1] += weight
        load.moment[:-1] += cross(inertial.arm, weight)
        load.energy -= float(np.sum((inertial.motion.r[:-1] + inertial.arm) * weight))


def subtree_wrench(
    inertial: Inertial, bodies: Sequence[int], at: Array, qdd: Array, outside: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Return the force and moment that the parent body exerts on a subtree of bodies.

    Parameters
    ----------
    inertial : Inertial
        Inertia quantities of all bodies.
    bodies : sequence of int
        Indices of the bodies of the subtree.
    at : ndarray, shape (3,)
        Reference point of the moment, m.
    qdd : ndarray, shape (n,)
        Accelerations of the coordinates, rad/s² or m/s², from which the inertia forces follow.
    outside : tuple of ndarray
        External force, N, on each body, and external moment about the body's origin, N·m. Both arrays
        have shape (B + 1, 3).

    Returns
    -------
    force, moment : ndarray, shape (3,)
        Force, N, and moment about the reference point, N·m, in world axes.
    """
    own, (force, moment) = list(bodies), inertial.rates(qdd)
    inertia_force, inertia_moment = (inertial.force + force)[own], (inertial.moment + moment)[own]
    origin = inertial.motion.r[own] - at
    needed = cross(origin + inertial.arm[own], inertia_force) + inertia_moment
    given = cross(origin, outside[0][own]) + outside[1][own]
    return (inertia_force - outside[0][own]).sum(axis=0), (needed - given).sum(axis=0)
