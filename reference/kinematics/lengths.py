"""Lengths that expressions may name: of lines, and gaps; L, L̇ and L̈ without q̈ from the motion of points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...core.trajectory import Array
from .kinematics import Posture, VectorMotion


@dataclass(frozen=True)
class LengthMotion:
    """Value in m, rate in m/s, second derivative without q̈ in m/s², (…), and ∂/∂q, (…, n), m/rad or 1."""

    value: Array
    rate: Array
    bias: Array
    jacobian: Array


class Length(Protocol):
    """A length; `name` and `rate` are what expressions call it and its rate."""

    @property
    def name(self) -> str:
        """Such as `lift.length`."""

    @property
    def rate(self) -> str:
        """Such as `lift.rate`."""

    @property
    def second_rate(self) -> str:
        """Name of the second time derivative."""

    def motion(self, q: Array, qd: Array, posture: Posture, places: VectorMotion) -> LengthMotion:
        """In a state; see `quantities.State`."""

    def sizes(self, of_places: Array) -> Array:
        """Magnitudes of the terms of ∂/∂q, shape (n,), from those of the places, shape (n, P)."""

    def wrench(self, posture: Posture, places: VectorMotion, of_coordinates: Array) -> Array:
        """Return wrenches that raise the length at rate 1 about the datum, (B, 6); of_coordinates (n, B, 6)."""


@dataclass(frozen=True)
class _Named:
    """Names of a length and of its time derivative in expressions."""

    name: str
    rate: str

    @property
    def second_rate(self) -> str:
        """Name of the second time derivative."""
        return f"{self.rate}_dot"


@dataclass(frozen=True)
class Distance(_Named):
    """Between the places a and b, by their columns; slots: of their bodies."""

    columns: tuple[int, int]
    slots: tuple[int, int]

    def motion(self, q: Array, qd: Array, posture: Posture, places: VectorMotion) -> LengthMotion:
        """L² = d·d, so L L̇ = d·v and L̇² + L L̈ = v·v + d·a."""
        a, b = self.columns
        d, v, acceleration = (x[..., b] - x[..., a] for x in (places.position, places.velocity, places.bias))
        L = np.linalg.norm(d, axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):  # what has no length has no direction
            rate = np.sum(d * v, axis=-1) / L
            bias = (np.sum(v * v + d * acceleration, axis=-1) - rate**2) / L
            across = (places.jacobian[..., b] - places.jacobian[..., a]) @ (d / L[..., None])[..., None]
        return LengthMotion(L, rate, bias, across[..., 0])

    def sizes(self, of_places: Array) -> Array:
        """Return the summed magnitudes of both ends."""
        return np.asarray(of_places[:, self.columns].sum(axis=1))

    def wrench(self, posture: Posture, places: VectorMotion, of_coordinates: Array) -> Array:
        """Forces that push the ends apart."""
        position = places.position[:, self.columns]
        direction = (position[:, 1] - position[:, 0]) / np.linalg.norm(position[:, 1] - position[:, 0])
        total = np.zeros(of_coordinates.shape[1:])
        for sign, slot, at in zip((-1.0, 1.0), self.slots, position.T, strict=True):
            total[slot] += sign * np.concatenate([direction, np.cross(at, direction)])
        return total


@dataclass(frozen=True)
class Height(_Named):
    """Height of a point above the plane through `origin` (world, m) with unit normal `normal`, each (3,)."""

    column: int
    slot: int
    origin: Array
    normal: Array

    def motion(self, q: Array, qd: Array, posture: Posture, places: VectorMotion) -> LengthMotion:
        """Linear in the place."""
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
        """Return the magnitudes of the point."""
        return np.asarray(of_places[:, self.column])

    def wrench(self, posture: Posture, places: VectorMotion, of_coordinates: Array) -> Array:
        """A force along the normal."""
        total = np.zeros(of_coordinates.shape[1:])
        moment = np.cross(places.position[:, self.column], self.normal)
        total[self.slot] = np.concatenate([self.normal, moment])
        return total


@dataclass(frozen=True)
class LinearHeight(_Named):
    """Height of a support with linearised deflections: slopes·q, slopes of shape (n,)."""

    slopes: Array

    def motion(self, q: Array, qd: Array, posture: Posture, places: VectorMotion) -> LengthMotion:
        """Linear in q."""
        value, rate = q @ self.slopes, qd @ self.slopes
        return LengthMotion(value, rate, np.zeros_like(rate), np.broadcast_to(self.slopes, q.shape))

    def sizes(self, of_places: Array) -> Array:
        """Return the absolute slopes."""
        return np.abs(self.slopes)

    def wrench(self, posture: Posture, places: VectorMotion, of_coordinates: Array) -> Array:
        """Efforts on the coordinates."""
        return np.asarray(np.tensordot(self.slopes, of_coordinates, 1))
