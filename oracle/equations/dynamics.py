"""Newton's and Euler's equations of all bodies, projected onto the coordinates."""

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
    """Inertia of B bodies in a state; world axes.

    Parameters
    ----------
    arm : ndarray, shape (B, 3)
        Centres of mass from the bodies' origins, m.
    by_rates : ndarray, shape (n, B, 3)
        Derivatives of their velocities by the rates.
    moments : ndarray, shape (B, 3, 3)
        Inertia about them, kg·m².
    force, moment : ndarray, shape (B, 3)
        Rates of momentum and of angular momentum about the centres of mass, for q̈ = 0, N and N·m.
    """

    motion: Motion
    mass: Array
    arm: Array
    by_rates: Array
    moments: Array
    force: Array
    moment: Array

    def mass_matrix(self) -> Array:
        """Return M, shape (n, n), without armature."""
        n, turning = len(self.by_rates), self.motion.turning[:, :-1]
        momentum = (self.by_rates * self.mass[:, None]).reshape(n, -1)
        spin = (self.moments @ turning[..., None]).reshape(n, -1)
        return momentum @ self.by_rates.reshape(n, -1).T + spin @ turning.reshape(n, -1).T

    def projected(self) -> Array:
        """Return h, shape (n,), N or N·m."""
        n, turning = len(self.by_rates), self.motion.turning[:, :-1]
        by_force = self.by_rates.reshape(n, -1) @ self.force.ravel()
        return np.asarray(by_force + turning.reshape(n, -1) @ self.moment.ravel())

    def rates(self, qdd: Array) -> tuple[Array, Array]:
        """Return the rates of momentum and angular momentum that accelerations, shape (n,), add; (B, 3) each."""
        force = self.mass[:, None] * by_rates(qdd, self.by_rates)
        moment = self.moments @ by_rates(qdd, self.motion.turning[:, :-1])[..., None]
        return force, moment[..., 0]


class Inertias:
    """Masses and moments of a mechanism's bodies, prepared for many states."""

    def __init__(self, machine: Machine) -> None:
        own = [body.inertia for body in machine.bodies]
        self._mass = np.array([one.mass for one in own])
        self._com = np.array([one.com for one in own]).reshape(-1, 3, 1)
        self._moments = np.array([one.moments for one in own]).reshape(-1, 3, 3)
        self._gravity = np.array(machine.data["gravity"], dtype=float)
        self.armature = np.diag([c.armature for c in machine.coordinates])

    def __call__(self, motion: Motion) -> Inertial:
        """Return the inertia in a state."""
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
        """Add the bodies' weights and their potential energy, which is zero at the world's origin."""
        weight = self._mass[:, None] * self._gravity
        load.force[:-1] += weight
        load.moment[:-1] += cross(inertial.arm, weight)
        load.energy -= float(np.sum((inertial.motion.r[:-1] + inertial.arm) * weight))


def subtree_wrench(
    inertial: Inertial, bodies: Sequence[int], at: Array, qdd: Array, outside: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Return force, N, and moment about a point, N·m, that a subtree needs beside the forces from outside.

    Parameters
    ----------
    bodies : sequence of int
        Bodies of the subtree.
    at : ndarray, shape (3,)
        Point of reference, m.
    qdd : ndarray, shape (n,)
        Accelerations of the coordinates.
    outside : tuple of ndarray
        Force and moment about its origin on each body, shape (B + 1, 3) each.
    """
    own, (force, moment) = list(bodies), inertial.rates(qdd)
    inertia_force, inertia_moment = (inertial.force + force)[own], (inertial.moment + moment)[own]
    origin = inertial.motion.r[own] - at
    needed = cross(origin + inertial.arm[own], inertia_force) + inertia_moment
    given = cross(origin, outside[0][own]) + outside[1][own]
    return (inertia_force - outside[0][own]).sum(axis=0), (needed - given).sum(axis=0)
