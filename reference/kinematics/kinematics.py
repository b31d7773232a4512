"""Homogeneous transforms of all bodies and their derivatives by the product rule.

The formulation follows Jarzębowska et al. 2023, section 2. A transform is a product of elementary
motions, T_b = … K_i A_i(q_i) … K_j A_j(q_j) … F_b with constant K and F_b. The derivative of an
elementary motion is A_i' = A_i W_i with a constant generator W_i. Let G_i = … K_i A_i be the
product up to and including motion i; the remaining factors are G_i⁻¹ T_b. The derivative is
therefore ∂T_b/∂q_i = S_i T_b with S_i = G_i W_i G_i⁻¹. If motion i does not come after motion j in
the chain, ∂²T_b/∂q_i∂q_j = S_i S_j T_b.

If the world's origin is far from the mechanism, position vectors from the origin lose digits.
Transforms therefore refer to a moving datum point near the mechanism, with world axes. All
derivatives treat the datum as fixed, so that the formulas remain unchanged.

Many states can be evaluated together along leading axes, written as … in shapes. NumPy evaluates
about twenty states in little more time than one state.
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
    """Homogeneous transforms of all bodies at one state, with their derivatives.

    There are B transforms for B − 1 bodies: index 0 is the ground, and index b + 1 is body b. The
    transforms map body frames to world axes at the datum point, a reference point near the mechanism.
    All transforms are stored side by side, T[…, :, b + 1, :] = T_b, so that one matrix product can
    multiply all of them.

    Attributes
    ----------
    datum : ndarray, shape (…, 3)
        Position of the datum point in the world frame, m.
    stacked : ndarray, shape (…, 3 + n, 4, B, 4)
        T, its time derivative, its second time derivative for q̈ = 0, and ∂T/∂q_i of each coordinate.
    S : ndarray, shape (…, 4n, 4)
        Matrices S_i, one above the other, with ∂T_b/∂q_i = S_i T_b.
    moves : ndarray, shape (n, 4, B, 4)
        1 for the bodies that coordinate i moves, else 0.
    """

    datum: Array
    stacked: Array
    S: Array
    moves: Array

    @property
    def T(self) -> Array:
        """Transforms T_b from body frames to world axes, shape (…, 4, B, 4).

        Positions are relative to the datum point, a reference point near the mechanism.
        """
        return np.asarray(self.stacked[..., 0, :, :, :])

    @property
    def T_dot(self) -> Array:
        """Time derivative of the body transforms, Σ_i ∂T_b/∂q_i q̇_i, shape (…, 4, B, 4)."""
        return np.asarray(self.stacked[..., 1, :, :, :])

    @property
    def T_bias(self) -> Array:
        """Second time derivative of the body transforms for q̈ = 0, shape (…, 4, B, 4).

        The derivative is Σ_mn ∂²T_b/∂q_m∂q_n q̇_m q̇_n.
        """
        return np.asarray(self.stacked[..., 2, :, :, :])

    @property
    def T_q(self) -> Array:
        """Partial derivatives ∂T_b/∂q_i of the body transforms, shape (…, n, 4, B, 4)."""
        return self.stacked[..., 3:, :, :, :]

    @property
    def world(self) -> Array:
        """Transforms from body frames to the world frame, shape (…, 4, B, 4), m.

        Positions are relative to the world's origin. In the transforms T, positions are relative to the
        datum point, a reference point near the mechanism. Both kinds of transforms have equal derivatives,
        because derivatives treat the datum as fixed.
        """
        found = self.T.copy()
        found[..., :3, :, 3] += self.datum[..., None]
        return found

    def derivative(self, product: Array) -> Array:
        """Return ∂(T_b X_b)/∂q_i of products T_b X_b with constant X_b, shape (…, n, 4, B, 4).

        The products have shape (…, 4, B, 4).
        """
        found = np.empty((*product.shape[:-3], *self.moves.shape))
        _differentiate(self.S, self.moves, product, found.reshape(*product.shape[:-3], self.S.shape[-2], -1))
        return found

    def __getitem__(self, k: int) -> Posture:
        """Return the posture, i.e. the body transforms and their derivatives, of the k-th of many states."""
        return Posture(self.datum[k], self.stacked[k], self.S[k], self.moves)


def _differentiate(S: Array, moves: Array, product: Array, out: Array) -> None:
    """Write the derivatives ∂(T_b X_b)/∂q_i into the array `out`, shape (…, 4 n, 4 B).

    The argument `product` contains products of body transforms T_b and constant matrices X_b. The caller
    provides the array `out`, because an allocation in each call would take longer than the computation.
    """
    np.matmul(S, product.reshape(*product.shape[:-3], 4, -1), out=out)
    np.multiply(out, moves.reshape(out.shape[-2:]), out=out)


@dataclass(frozen=True)
class VectorMotion:
    """Motion of P body-fixed points or directions, in world axes.

    The units below apply to points. For directions, which are dimensionless, the unit m is replaced by 1.

    Attributes
    ----------
    position : ndarray, shape (…, 3, P)
        Position relative to the posture's datum, a reference point near the mechanism, m.
    jacobian : ndarray, shape (…, n, 3, P)
        Partial derivatives of the position with respect to the coordinates, m/rad or 1.
    velocity : ndarray, shape (…, 3, P)
        First time derivative, m/s.
    bias : ndarray, shape (…, 3, P)
        Second time derivative for q̈ = 0, m/s².
    """

    position: Array
    jacobian: Array
    velocity: Array
    bias: Array

    def __getitem__(self, k: int) -> VectorMotion:
        """Return the motion of all points or directions in the k-th of many states."""
        return VectorMotion(self.position[k], self.jacobian[k], self.velocity[k], self.bias[k])


class Vectors:
    """P vectors that are linear in the body transforms, Σ_b T_b x̃_b, compiled for fast evaluation.

    Parameters
    ----------
    homogeneous : ndarray, shape (B, 4, P)
        Homogeneous vectors x̃_b in body axes; the last entry is 1 for a point and 0 for a direction.
    """

    def __init__(self, homogeneous: Array) -> None:
        self._homogeneous = homogeneous.reshape(4 * len(homogeneous), homogeneous.shape[2])

    def motion(self, posture: Posture) -> VectorMotion:
        """Return the motion of the body-fixed vectors, computed from the body transforms in `posture`."""
        moved = posture.stacked.reshape(-1, self._homogeneous.shape[0]) @ self._homogeneous
        blocks = moved.reshape(*posture.stacked.shape[:-2], -1)[..., :3, :]
        position, velocity, bias = (blocks[..., level, :, :] for level in range(3))
        return VectorMotion(position, blocks[..., 3:, :, :], velocity, bias)

    def sizes(self, posture: Posture) -> tuple[Array, Array]:
        """Return the magnitudes of all vectors, shape (P,), and of all Jacobian columns, shape (n, P).

        The magnitude is the sum of the lengths of all terms that add up to the vector or column. The
        rounding error is about the magnitude times the machine precision. Lengths do not depend on the
        orientation of the axes.
        """
        parts = self._homogeneous.reshape(len(self._homogeneous) // 4, 4, self._homogeneous.shape[1])
        own, pointed = np.linalg.norm(parts[:, :3], axis=1), np.abs(parts[:, 3])
        reach = own + pointed * np.linalg.norm(posture.T[:3, :, 3], axis=0)[:, None]
        S, moves = posture.S.reshape(-1, 4, 4), posture.moves[:, 0, :, 0]
        turning = np.linalg.norm(S[:, [2, 0, 1], [1, 2, 0]], axis=1)[:, None]
        moving = np.linalg.norm(S[:, :3, 3], axis=1)[:, None]
        return reach.sum(axis=0), turning * (moves @ reach) + moving * (moves @ pointed)


class Places(Vectors):
    """Points that are fixed to bodies, compiled for fast evaluation of their motion."""

    def __init__(self, places: Sequence[Place], slots: int) -> None:
        homogeneous = np.zeros((slots, 4, len(places)))
        for k, place in enumerate(places):
            homogeneous[place.body + 1, :, k] = [*place.position, 1.0]
        super().__init__(homogeneous)


class Kinematics:
    """Kinematics of a mechanism, with constant transforms computed in advance.

    A call with coordinates and velocities returns the posture, i.e. the body transforms and their
    derivatives.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.n, self.slots = mechanism.n, len(mechanism.bodies) + 1
        self._previous = [0] * self.n
        self._last = np.zeros(self.slots, dtype=int)
        self._mount = np.tile(np.eye(4), (self.slots, 1, 1))
        self._moves = np.zeros((self.slots, self.n))
        self._before = np.zeros((self.n, self.n))
        self._basis = np.zeros((self.n, 4, 16))
        self._generators = np.array([_generator(c) for c in mechanism.coordinates]).reshape(-1, 4, 4)
        # The datum point is the origin of the first moving body, and its position is affine in the coordinates q.
        # The matrix contains the derivatives of this position by q, and the position at q = 0 as last column.
        self._datum = np.zeros((3, self.n + 1))
        for b, body in enumerate(mechanism.bodies):
            self._place(b, body, mechanism.coordinates)
            self._moves[b + 1, mechanism.ancestors(b)] = 1.0
        # The mask of moved bodies is expanded in advance, because broadcasting takes longer than multiplying.
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
        """Return the poses of all bodies in the world frame, shape (…, bodies, 4, 4), m.

        The coordinates q have shape (…, n), rad or m.
        """
        datum = q @ self._datum[:, :-1].T + self._datum[:, -1]
        found = (self._frames(q, datum)[..., self._last, :, :] @ self._mount)[..., 1:, :, :]
        found[..., :3, 3] += datum[..., None, :]
        return np.asarray(found)

    def __call__(self, q: Array, qd: Array) -> Posture:
        """Return the posture, i.e. the body transforms and their derivatives.

        The coordinates q, rad or m, and the velocities qd, rad/s or m/s, have shape (…, n).
        """
        many, datum = q.shape[:-1], q @ self._datum[:, :-1].T + self._datum[:, -1]
        frames = self._frames(q, datum)
        T, moving = frames[..., self._last, :, :] @ self._mount, frames[..., 1:, :, :]
        S = moving @ self._generators @ _inverse(moving)
        first = S * qd[..., None, None]
        # In the sum Σ S_m S_n q̇_m q̇_n over m ≤ n, terms with m < n count twice, and terms with m = n once.
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
        """Return the pose of the frame that each coordinate moves, shape (…, n + 1, 4, 4).

        The first pose is that of the ground.
        """
        functions = np.stack([np.ones_like(q), np.sin(q), np.cos(q), q], axis=-1)
        local = (functions[..., None, :] @ self._basis).reshape(*q.shape, 4, 4)
        frames = np.empty((*q.shape[:-1], self.n + 1, 4, 4))
        frames[..., 0, :, :] = _ONE
        frames[..., 0, :3, 3] = -datum
        # All array views are created in advance, because indexing takes as long as the matrix product.
        steps, each = (list(np.moveaxis(x, -3, 0)) for x in (local, frames))
        for previous, step, frame in zip(self._previous, steps, each[1:], strict=True):
            np.matmul(each[previous], step, out=frame)
        return frames


def _sum(mask: Array, matrices: Array) -> Array:
    many = matrices.shape[:-3]
    return (mask @ matrices.reshape(*many, -1, 16)).reshape(*many, -1, 4, 4)


def _datum(constant: Array, own: Sequence[tuple[int, Coordinate]], n: int) -> Array:
    """Return the origin of a body as a linear function of q, shape (3, n + 1).

    The body's joint connects it to the ground. The last column is the constant term. Only translations
    before the first rotation of the joint are included.

    Parameters
    ----------
    constant : ndarray, shape (4, 4)
        Joint frame of the body in the world.
    own : sequence of (int, Coordinate)
        Index and data of each coordinate of the body's joint.
    n : int
        Number of coordinates of the mechanism.
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
    """Return the factors of 1, sin q, cos q and q in the transform K A(q), shape (4, 16).

    K is a constant transform and A(q) is an elementary motion. Each row contains one factor, a matrix
    of shape (4, 4).

    For a rotation about the axis e, A = 1 + sin q W + (1 − cos q) W² (Rodrigues' formula). W is the
    cross product matrix of e. For a translation along e, A = 1 + q W with e in the last column of W. In
    both cases A' = A W.
    """
    one, zero = np.eye(4), np.zeros((4, 4))
    parts = (one + W @ W, W, -W @ W, zero) if rotation else (one, zero, zero, W)
    return np.asarray((constant @ np.array(parts)).reshape(4, 16))


def _generator(coordinate: Coordinate) -> Array:
    """Return the constant generator W of an elementary motion A(q) with A' = A W, shape (4, 4)."""
    W = np.zeros((4, 4))
    if coordinate.motion.kind == "rotation":
        x, y, z = coordinate.axis
        W[:3, :3] = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
    else:
        W[:3, 3] = coordinate.axis
    return W


def poses(mechanism: Mechanism, q: Array) -> Array:
    """Return the poses of all bodies in the world frame, shape (…, bodies, 4, 4), m.

    The coordinates q have shape (…, n), rad or m.
    """
    return Kinematics(mechanism).world(np.asarray(q, dtype=float))
