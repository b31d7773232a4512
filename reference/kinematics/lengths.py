"""Lengths that expressions can refer to: lengths of two-point force elements and gaps of contacts.

Each length L, its rate L̇ and its second derivative for q̈ = 0 follow from the motion of points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...core.trajectory import Array
from .kinematics import Posture, VectorMotion


@dataclass(frozen=True)
class LengthMotion:
    """Length with its derivatives at one state or at many states.

    Attributes
    ----------
    value : ndarray, shape (…)
        Length, m.
    rate : ndarray, shape (…)
        Time derivative of the length, m/s.
    bias : ndarray, shape (…)
        Second time derivative of the length for q̈ = 0, m/s².
    jacobian : ndarray, shape (…, n)
        Partial derivatives with respect to the coordinates, m/rad or 1.
    """

    value: Array
    rate: Array
    bias: Array
    jacobian: Array


class Length(Protocol):
    """Length that expressions can use by its name, with the names of its time derivatives."""

    @property
    def name(self) -> str:
        """Name of the length in expressions, such as `lift.length`."""

    @property
    def rate(self) -> str:
        """Name of the length's time derivative in expressions, such as `lift.rate`."""

    @property
    def second_rate(self) -> str:
        """Name of the length's second time derivative in expressions, such as `lift.rate_dot`."""

    def motion(self, q: Array, qd: Array, posture: Posture, places: VectorMotion) -> LengthMotion:
        """Return this length (a distance or a height) with its derivatives.

        Coordinates q and velocities qd have shape (…, n) each.
        """

    def sizes(self, of_places: Array) -> Array:
        """Return the magnitudes of the terms in the derivatives ∂L/∂q of a length L, shape (n,).

        Rounding errors are estimated as fractions of these magnitudes.

        Parameters
        ----------
        of_places : ndarray, shape (n, P)
            Magnitudes of the summed terms in the derivatives of all P points.
        """

    def wrench(self, posture: Posture, places: VectorMotion, of_coordinates: Array) -> Array:
        """Return the wrenches of a unit force that increases this distance or height, shape (B, 6).

        The total work of the wrenches in a small motion equals the change of the length. Each wrench acts
        on the ground or on a body. Moments refer to the posture's datum, a point near the mechanism.

        Parameters
        ----------
        posture : Posture
            Transforms of the bodies.
        places : VectorMotion
            Motion of the points.
        of_coordinates : ndarray, shape (n, B, 6)
            For each coordinate, the wrenches of a unit effort on this coordinate.
        """


@dataclass(frozen=True)
class _Named:
    name: str
    rate: str

    @property
    def second_rate(self) -> str:
        return f"{self.rate}_dot"


@dataclass(frozen=True)
class Distance(_Named):
    """Distance between the points a and b.

    Attributes
    ----------
    columns : tuple of int
        Indices of a and b among all points whose motion is computed.
    slots : tuple of int
        Indices of the bodies that carry a and b; index 0 is the ground.
    """

    columns: tuple[int, int]
    slots: tuple[int, int]

    def motion(self, q: Array, qd: Array, posture: Posture, places: VectorMotion) -> LengthMotion:
        """Return the distance L between points a and b, and its derivatives.

        The derivatives follow from L² = d·d: L L̇ = d·v and L̇² + L L̈ = v·v + d·a. The vectors d, v and a
        are the position, velocity and acceleration of point b relative to point a.
        """
        a, b = self.columns
        d, v, acceleration = (x[..., b] - x[..., a] for x in (places.position, places.velocity, places.bias))
        L = np.linalg.norm(d, axis=-1)
        # A zero length has no direction, so the result is nan.
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = np.sum(d * v, axis=-1) / L
            bias = (np.sum(v * v + d * acceleration, axis=-1) - rate**2) / L
            across = (places.jacobian[..., b] - places.jacobian[..., a]) @ (d / L[..., None])[..., None]
        return LengthMotion(L, rate, bias, across[..., 0])

    def sizes(self, of_places: Array) -> Array:
        return np.asarray(of_places[:, self.columns].sum(axis=1))

    def wrench(self, posture: Posture, places: VectorMotion, of_coordinates: Array) -> Array:
        """Return two unit forces that push the points a and b apart, as wrenches on all bodies, shape (B, 6)."""
        position = places.position[:, self.columns]
        direction = (position[:, 1] - position[:, 0]) / np.linalg.norm(position[:, 1] - position[:, 0])
        total = np.zeros(of_coordinates.shape[1:])
        for sign, slot, at in zip((-1.0, 1.0), self.slots, position.T, strict=True):
            total[slot] += sign * np.concatenate([direction, np.cross(at, direction)])
        return total


@dataclass(frozen=True)
class Height(_Named):
    """Height of a point above a plane that is fixed in the world.

    Attributes
    ----------
    column, slot : int
        Index of the point among all points whose motion is computed, and index of the body that
        carries the point; index 0 is the ground.
    origin, normal : ndarray, shape (3,)
        A point of the plane, m, and the unit normal of the plane, both in the world frame.
    """

    column: int
    slot: int
    origin: Array
    normal: Array

    def motion(self, q: Array, qd: Array, posture: Posture, places: VectorMotion) -> LengthMotion:
        position, velocity, bias = (
            x @ self.normal
            for x in (
                places.position[..., self.column] + (posture.datum - self.origin),
                places.velocity[..., self.column],
                places.bias[..., self.column],
            )
        )
        return LengthMotion(position, velocity, bias, places.jacobian[..., self.column] @ self.normal)

    def sizes(self, of_places: Array) -> Array:
        return np.asarray(of_places[:, self.column])

    def wrench(self, posture: Posture, places: VectorMotion, of_coordinates: Array) -> Array:
        """Return the wrenches that a unit force along the plane's normal exerts on the B bodies, shape (B, 6)."""
        total = np.zeros(of_coordinates.shape[1:])
        moment = np.cross(places.position[:, self.column], self.normal)
        total[self.slot] = np.concatenate([self.normal, moment])
        return total


@dataclass(frozen=True)
class LinearHeight(_Named):
    """Height of a support with linearised deflection: slopes·q with constant slopes of shape (n,)."""

    slopes: Array

    def motion(self, q: Array, qd: Array, posture: Posture, places: VectorMotion) -> LengthMotion:
        value, rate = q @ self.slopes, qd @ self.slopes
        return LengthMotion(value, rate, np.zeros_like(rate), np.broadcast_to(self.slopes, q.shape))

    def sizes(self, of_places: Array) -> Array:
        return np.abs(self.slopes)

    def wrench(self, posture: Posture, places: VectorMotion, of_coordinates: Array) -> Array:
        """Return wrenches whose virtual work equals the virtual change of the height, shape (B, 6).

        The corresponding generalised forces are ∂height/∂q, that is, the constant `slopes`.
        """
        return np.asarray(np.tensordot(self.slopes, of_coordinates, 1))
