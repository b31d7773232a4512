"""Transforms of all bodies and their derivatives, by the product rule (Jarzębowska et al. 2023, section 2).

A transform is a product of elementary motions, T_b = … K_i A_i(q_i) … K_j A_j(q_j) … F_b with constant K and F_b.
Its derivative replaces A_i by A_i' = A_i W_i, W_i constant. With G_i = … K_i A_i, the product up to and with i,
what follows it is G_i⁻¹ T_b; so T_b,i = S_i T_b with S_i = G_i W_i G_i⁻¹, and T_b,ij = S_i S_j T_b, i not after j.

The world's origin may be far away, and its lever arms would cost digits: transforms refer to a datum in world axes
that goes with the mechanism instead. For the derivatives it stands still, so none of the formulas changes.

Many states at once have a leading axis, shown as …: NumPy takes some twenty in little more than the time of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Array
from ...mechanism import GROUND, Body, Coordinate, Mechanism, Place

_ONE = np.eye(4)


@dataclass(frozen=True)
class Posture:
    """Transforms of all bodies at a state; slot 0 is the ground, slot b + 1 is body b, B slots in all.

    Homogeneous transforms from body frames to world axes at the datum lie side by side, T[…, :, b + 1, :] is T_b,
    so that a product with all of them is one matrix product.

    datum    shape (…, 3), m: the datum in the world
    stacked  shape (…, 3 + n, 4, B, 4): T, its two derivatives along the motion, and those by the coordinates
    S        shape (…, 4n, 4), S_i one above the other: T_b,i = S_i T_b
    moves    shape (n, 4, B, 4), 1 where coordinate i moves slot B, else 0
    """

    datum: Array
    stacked: Array
    S: Array
    moves: Array

    @property
    def T(self) -> Array:
        """Shape (…, 4, B, 4)."""
        return np.asarray(self.stacked[..., 0, :, :, :])

    @property
    def T_dot(self) -> Array:
        """Σ_i T_b,i q̇_i, shape (…, 4, B, 4)."""
        return np.asarray(self.stacked[..., 1, :, :, :])

    @property
    def T_bias(self) -> Array:
        """Σ_mn T_b,mn q̇_m q̇_n: the part of T̈ without q̈, shape (…, 4, B, 4)."""
        return np.asarray(self.stacked[..., 2, :, :, :])

    @property
    def T_q(self) -> Array:
        """∂T_b/∂q_i, shape (…, n, 4, B, 4)."""
        return self.stacked[..., 3:, :, :, :]

    @property
    def world(self) -> Array:
        """Transforms to the world frame itself, shape (…, 4, B, 4): their derivatives are those of T."""
        found = self.T.copy()
        found[..., :3, :, 3] += self.datum[..., None]
        return found

    def derivative(self, product: Array) -> Array:
        """∂(T_b X_b)/∂q_i, shape (…, n, 4, B, 4), of products T_b X_b with constant X_b, shape (…, 4, B, 4)."""
        found = np.empty((*product.shape[:-3], *self.moves.shape))
        _differentiate(self.S, self.moves, product, found.reshape(*product.shape[:-3], self.S.shape[-2], -1))
        return found

    def __getitem__(self, k: int) -> Posture:
        """State k of many."""
        return Posture(self.datum[k], self.stacked[k], self.S[k], self.moves)


def _differentiate(S: Array, moves: Array, product: Array, out: Array) -> None:
    """∂(T_b X_b)/∂q_i into out, shape (…, 4 n, 4 B): to find room for more takes longer than the arithmetic."""
    np.matmul(S, product.reshape(*product.shape[:-3], 4, -1), out=out)
    np.multiply(out, moves.reshape(out.shape[-2:]), out=out)


@dataclass(frozen=True)
class VectorMotion:
    """Motion of vectors fixed to bodies, in world axes; of points unless said otherwise.

    position   shape (…, 3, P), m, from the posture's datum
    jacobian   shape (…, n, 3, P), ∂position/∂q_i, m/rad or 1
    velocity   shape (…, 3, P), m/s
    bias       shape (…, 3, P), m/s²: the acceleration without q̈
    """

    position: Array
    jacobian: Array
    velocity: Array
    bias: Array

    def __getitem__(self, k: int) -> VectorMotion:
        """State k of many."""
        return VectorMotion(self.position[k], self.jacobian[k], self.velocity[k], self.bias[k])


class Vectors:
    """P sums Σ_b T_b x̃_b, compiled.

    homogeneous   shape (B, 4, P): x̃_b, whose last entry is 0 for an axis, 1 for a point
    """

    def __init__(self, homogeneous: Array) -> None:
        self._homogeneous = homogeneous.reshape(4 * len(homogeneous), homogeneous.shape[2])

    def motion(self, posture: Posture) -> VectorMotion:
        """Positions, velocities and Jacobians of the sums."""
        moved = posture.stacked.reshape(-1, self._homogeneous.shape[0]) @ self._homogeneous
        blocks = moved.reshape(*posture.stacked.shape[:-2], -1)[..., :3, :]
        position, velocity, bias = (blocks[..., level, :, :] for level in range(3))
        return VectorMotion(position, blocks[..., 3:, :, :], velocity, bias)

    def sizes(self, posture: Posture) -> tuple[Array, Array]:
        """Magnitudes of the terms that the sums are made of, shape (P,), and their derivatives by q, (n, P).

        In lengths of vectors, so that they do not depend on how axes are turned: their rounding errors are of this
        size times that of the arithmetic.
        """
        parts = self._homogeneous.reshape(len(self._homogeneous) // 4, 4, self._homogeneous.shape[1])
        own, pointed = np.linalg.norm(parts[:, :3], axis=1), np.abs(parts[:, 3])
        reach = own + pointed * np.linalg.norm(posture.T[:3, :, 3], axis=0)[:, None]
        S, moves = posture.S.reshape(-1, 4, 4), posture.moves[:, 0, :, 0]
        turning = np.linalg.norm(S[:, [2, 0, 1], [1, 2, 0]], axis=1)[:, None]
        moving = np.linalg.norm(S[:, :3, 3], axis=1)[:, None]
        return reach.sum(axis=0), turning * (moves @ reach) + moving * (moves @ pointed)


class Places(Vectors):
    """Points fixed to bodies, compiled."""

    def __init__(self, places: Sequence[Place], slots: int) -> None:
        homogeneous = np.zeros((slots, 4, len(places)))
        for k, place in enumerate(places):
            homogeneous[place.body + 1, :, k] = [*place.position, 1.0]
        super().__init__(homogeneous)


class Kinematics:
    """The chain's constant transforms, compiled; call it with a state."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.n, self.slots = mechanism.n, len(mechanism.bodies) + 1
        self._previous = [0] * self.n
        self._last = np.zeros(self.slots, dtype=int)
        self._mount = np.tile(np.eye(4), (self.slots, 1, 1))
        self._moves = np.zeros((self.slots, self.n))
        self._before = np.zeros((self.n, self.n))
        self._basis = np.zeros((self.n, 4, 16))
        self._generators = np.array([_generator(c) for c in mechanism.coordinates]).reshape(-1, 4, 4)
        self._datum = np.zeros((3, self.n + 1))  # factors of q and 1: where the first body that moves is
        for b, body in enumerate(mechanism.bodies):
            self._place(b, body, mechanism.coordinates)
            self._moves[b + 1, mechanism.ancestors(b)] = 1.0
        # not broadcast while it runs: that takes longer than the product
        self._moved = np.tile(self._moves.T[:, None, :, None], (1, 4, 1, 4))

    def _place(self, b: int, body: Body, coordinates: Sequence[Coordinate]) -> None:
        parent = 0 if body.parent == GROUND else body.parent + 1
        frame, constant = self._last[parent], self._mount[parent] @ _frame(body)
        if body.coordinates and not self._last.any():
            self._datum = _datum(constant, [(k, coordinates[k]) for k in body.coordinates], self.n)
        for k in body.coordinates:
            self._previous[k] = frame
            if frame:
                self._before[k] = self._before[frame - 1]
                self._before[k, frame - 1] = 1.0
            self._basis[k] = _basis(constant, coordinates[k].motion.kind == "rotation", self._generators[k])
            frame, constant = k + 1, np.eye(4)
        self._last[b + 1], self._mount[b + 1] = frame, constant

    def world(self, q: Array) -> Array:
        """World frames of all bodies, shape (…, bodies, 4, 4), m, at q, shape (…, n), rad or m."""
        datum = q @ self._datum[:, :-1].T + self._datum[:, -1]
        found = (self._frames(q, datum)[..., self._last, :, :] @ self._mount)[..., 1:, :, :]
        found[..., :3, 3] += datum[..., None, :]
        return np.asarray(found)

    def __call__(self, q: Array, qd: Array) -> Posture:
        """Transforms at q, shape (…, n), rad or m, and qd, shape (…, n), rad/s or m/s."""
        many, datum = q.shape[:-1], q @ self._datum[:, :-1].T + self._datum[:, -1]
        frames = self._frames(q, datum)
        T, moving = frames[..., self._last, :, :] @ self._mount, frames[..., 1:, :, :]
        S = moving @ self._generators @ _inverse(moving)
        first = S * qd[..., None, None]
        # Σ_mn S_m S_n q̇_m q̇_n, each pair in the order of the chain: 2 Σ_(m before n) + Σ_(m = n)
        second = (2.0 * _sum(self._before, first) + first) @ first
        stacked = np.empty((*many, 3 + self.n, 4, self.slots, 4))
        levels = (T, _sum(self._moves, first) @ T, _sum(self._moves, second) @ T)
        for level, frames_of_level in enumerate(levels):
            stacked[..., level, :, :, :] = frames_of_level.swapaxes(-3, -2)
        above = S.reshape(*many, 4 * self.n, 4)
        rows = stacked.reshape(*many, 4 * (3 + self.n), -1)
        _differentiate(above, self._moved, stacked[..., 0, :, :, :], rows[..., 12:, :])
        return Posture(datum, stacked, above, self._moved)

    def _frames(self, q: Array, datum: Array) -> Array:
        """Frames after each motion, shape (…, n + 1, 4, 4), the ground first."""
        functions = np.stack([np.ones_like(q), np.sin(q), np.cos(q), q], axis=-1)
        local = (functions[..., None, :] @ self._basis).reshape(*q.shape, 4, 4)
        frames = np.empty((*q.shape[:-1], self.n + 1, 4, 4))
        frames[..., 0, :, :] = _ONE
        frames[..., 0, :3, 3] = -datum
        # one view per frame: to index an array takes as long as the product
        steps, each = (list(np.moveaxis(x, -3, 0)) for x in (local, frames))
        for previous, step, frame in zip(self._previous, steps, each[1:], strict=True):
            np.matmul(each[previous], step, out=frame)
        return frames


def _sum(mask: Array, matrices: Array) -> Array:
    """Σ_i mask[k, i] matrices[…, i, :, :], shape (…, K, 4, 4)."""
    many = matrices.shape[:-3]
    return (mask @ matrices.reshape(*many, -1, 16)).reshape(*many, -1, 4, 4)


def _datum(constant: Array, own: Sequence[tuple[int, Coordinate]], n: int) -> Array:
    """Origin of a body that hangs on the ground, shape (3, n + 1): factors of q and 1.

    constant   its joint frame, shape (4, 4)
    own        its coordinates by their indices; what comes after a rotation does not count
    """
    datum = np.zeros((3, n + 1))
    datum[:, n] = constant[:3, 3]
    for k, coordinate in own:
        if coordinate.motion.kind == "rotation":
            break
        datum[:, k] = constant[:3, :3] @ np.asarray(coordinate.axis, dtype=float)
    return datum


def _frame(body: Body) -> Array:
    transform = np.eye(4)
    transform[:3, :3], transform[:3, 3] = body.rotation, body.offset
    return transform


def _inverse(transforms: Array) -> Array:
    inverse = np.zeros_like(transforms)
    rotation = transforms[..., :3, :3].swapaxes(-2, -1)
    inverse[..., :3, :3] = rotation
    inverse[..., :3, 3:] = -rotation @ transforms[..., :3, 3:]
    inverse[..., 3, 3] = 1.0
    return inverse


def _basis(constant: Array, rotation: bool, W: Array) -> Array:
    """Shape (4, 16): factors of 1, sin q, cos q and q in K A(q).

    Rotation about e: A = 1 + sin q W + (1 − cos q) W², W the cross product matrix of e (Rodrigues).
    Translation along e: A = 1 + q W, W with e in the last column. In both A' = A W.
    """
    one, zero = np.eye(4), np.zeros((4, 4))
    parts = (one + W @ W, W, -W @ W, zero) if rotation else (one, zero, zero, W)
    return np.asarray((constant @ np.array(parts)).reshape(4, 16))


def _generator(coordinate: Coordinate) -> Array:
    """W, shape (4, 4)."""
    W = np.zeros((4, 4))
    if coordinate.motion.kind == "rotation":
        x, y, z = coordinate.axis
        W[:3, :3] = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
    else:
        W[:3, 3] = coordinate.axis
    return W


def poses(mechanism: Mechanism, q: Array) -> Array:
    """World frames of all bodies, shape (…, bodies, 4, 4), m, at q, shape (…, n), rad or m."""
    return Kinematics(mechanism).world(np.asarray(q, dtype=float))
