"""Positions, velocities, accelerations and Jacobians of all bodies and body-fixed points.

All vectors are in world axes. Arrays over bodies have an additional last row (index −1) for the
ground. A bias acceleration is the value of an acceleration for q̈ = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ...core.trajectory import Array
from .machine import GROUND, Machine, Place

# Component n of a × b is a_i·b_k − a_j·b_l, where (i, k) is the index pair n and (j, l) is the index pair n + 3.
_FIRST, _SECOND = np.array([1, 2, 0, 2, 0, 1]), np.array([2, 0, 1, 1, 2, 0])


@dataclass(frozen=True)
class Motion:
    """Kinematics of B bodies and the ground at one state of n coordinates, in world axes.

    Parameters
    ----------
    q, qd : ndarray, shape (n,)
        Coordinates, rad or m, and their rates, rad/s or m/s.
    R, r : ndarray, shapes (B + 1, 3, 3) and (B + 1, 3)
        Rotation matrices R of the body frames, and positions r of their origins, m.
    omega, v : ndarray, shape (B + 1, 3)
        Angular velocities of the body frames, rad/s, and velocities v of their origins, m/s.
    turning, moving : ndarray, shape (n, B + 1, 3)
        Jacobians ∂omega/∂q̇ and ∂v/∂q̇.
    alpha, a : ndarray, shape (B + 1, 3)
        Bias angular accelerations, rad/s², and bias accelerations of the origins, m/s².
    axes : ndarray, shape (n, 3)
        Unit vectors along the axes of the coordinates.
    """

    q: Array
    qd: Array
    R: Array
    r: Array
    omega: Array
    v: Array
    turning: Array
    moving: Array
    alpha: Array
    a: Array
    axes: Array


@dataclass(frozen=True)
class PointMotion:
    """Kinematics of P body-fixed points at one state, in world axes.

    Parameters
    ----------
    body : ndarray, shape (P,)
        Index of the body of each point.
    arm, position : ndarray, shape (P, 3)
        Vectors to the point from the body frame's origin (`arm`) and from the world origin (`position`), m.
    velocity, bias : ndarray, shape (P, 3)
        Velocity, m/s, and acceleration for q̈ = 0 (`bias`), m/s².
    by_rates : ndarray, shape (n, P, 3)
        Jacobian ∂velocity/∂q̇.
    """

    body: NDArray[np.intp]
    arm: Array
    position: Array
    velocity: Array
    bias: Array
    by_rates: Array


def cross(a: Array, b: Array) -> Array:
    """Return the cross product along the last axis, faster than `numpy.cross` for small arrays."""
    products = a.take(_FIRST, -1) * b.take(_SECOND, -1)
    return np.asarray(products[..., :3] - products[..., 3:])


def by_rates(rates: Array, derivatives: Array) -> Array:
    """Return Σ_k rates[k]·derivatives[k]; the rates have the shape (n,), the derivatives (n, …)."""
    return np.asarray(rates @ derivatives.reshape(len(rates), -1)).reshape(derivatives.shape[1:])


class Kinematics:
    """Kinematics of a mechanism, prepared for evaluation at many states."""

    def __init__(self, machine: Machine) -> None:
        bodies, n = machine.bodies, machine.n
        self._bodies, self._n = bodies, n
        self._frames = [body.rotation.as_matrix() for body in bodies]
        self._axes = np.array([c.freedom.axis for c in machine.coordinates]).reshape(n, 3)
        self._turns = np.array([c.freedom.turns for c in machine.coordinates], dtype=bool)
        self._owner = np.zeros(n, dtype=int)
        moves, before = np.zeros((len(bodies) + 1, n)), np.zeros((n, n))
        for b, body in enumerate(bodies):
            if body.parent != GROUND:
                moves[b] = moves[body.parent]
            for k in body.coordinates:
                self._owner[k], before[k] = b, moves[b]
                moves[b, k] = 1.0
        self._turned_by = (moves * self._turns).T[..., None]
        self._slid_by = (moves * ~self._turns).T[..., None]
        self._turned_before = before * self._turns

    def __call__(self, q: Array, qd: Array) -> Motion:
        """Return the kinematics of all bodies for coordinates q and rates qd; both have shape (n,)."""
        R, r, e = self._poses(q)
        arm, along = r - r[self._owner, None], e[:, None]
        turning = self._turned_by * along
        moving = self._turned_by * cross(along, arm) + self._slid_by * along
        omega, v = by_rates(qd, turning), by_rates(qd, moving)
        change = cross((self._turned_before * qd) @ e, e)[:, None]
        arm_change = v - v[self._owner, None]
        alpha = by_rates(qd, self._turned_by * change)
        swung = cross(change, arm) + cross(along, arm_change)
        a = by_rates(qd, self._turned_by * swung + self._slid_by * change)
        return Motion(q, qd, R, r, omega, v, turning, moving, alpha, a, e)

    def _poses(self, q: Array) -> tuple[Array, Array, Array]:
        """Return the poses of the bodies and the axes of the coordinates, in world axes.

        Returns
        -------
        R, r, e : ndarray, shapes (B + 1, 3, 3), (B + 1, 3) and (n, 3)
            Rotation matrices R of the bodies, positions r of their origins, m, and unit vectors e along
            the coordinate axes.
        """
        R, r = np.zeros((len(self._bodies) + 1, 3, 3)), np.zeros((len(self._bodies) + 1, 3))
        e = np.zeros((self._n, 3))
        R[GROUND] = np.eye(3)
        turns = Rotation.from_rotvec(q[:, None] * self._axes).as_matrix() if self._n else np.zeros((0, 3, 3))
        values = q.tolist()
        for b, body in enumerate(self._bodies):
            axes = R[body.parent] @ self._frames[b]
            origin = r[body.parent] + R[body.parent] @ body.origin
            for k in body.coordinates:
                e[k] = axes @ self._axes[k]
                if self._turns[k]:
                    axes = axes @ turns[k]
                else:
                    origin = origin + values[k] * e[k]
            R[b], r[b] = axes, origin
        return R, r, e


class Points:
    """Body-fixed points, prepared for evaluation at many states."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._body = np.array([place.body for place in places], dtype=int)
        self._local = np.array([place.position for place in places], dtype=float).reshape(-1, 3, 1)

    def __call__(self, motion: Motion) -> PointMotion:
        """Return positions, velocities, bias accelerations and Jacobians of the points."""
        body = self._body
        arm = (motion.R[body] @ self._local)[..., 0]
        omega = motion.omega[body]
        spin = cross(omega, arm)
        return PointMotion(
            body,
            arm,
            motion.r[body] + arm,
            motion.v[body] + spin,
            motion.a[body] + cross(motion.alpha[body], arm) + cross(omega, spin),
            motion.moving[:, body] + cross(motion.turning[:, body], arm),
        )
