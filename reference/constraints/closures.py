"""Loop-closure conditions between two frames, computed from body transforms.

See Urbaś 2016, equations (6)–(12).

Each condition is a scalar product u·v of two vectors that are linear in the body transforms T_b:
u = Σ_b T_b ũ_b. The constant ũ_b is (e, 0) for an axis e, (r, 1) for a point r, and (−r, −1) for a
subtracted point. The derivatives of a condition therefore follow from those of T_b by the product
rule.

The datum is a reference point near the mechanism. If body b rotates by δθ about the datum and moves
by δp, T_b ũ changes by δθ × (T_b ũ) + ũ_4 δp. The scalar ũ_4 is the last entry of ũ. A multiplier
of 1 therefore exerts a force and a moment on body b. The force is the factor of δp in the change
δ(u·v), and the moment is the factor of δθ.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.trajectory import Array
from ...description.types.closures import Condition
from ...mechanism import JointFrame, LoopClosure, Mechanism
from ..kinematics.kinematics import Posture, Vectors
from .rows import Rows, Sizes


class Conditions:
    """K scalar loop-closure conditions of selected closures, compiled for fast evaluation.

    Attributes
    ----------
    closures : tuple of LoopClosure
        Closures, in the order of their conditions.
    owner : ndarray of int, shape (K,)
        Index of the closure to which each condition belongs.
    """

    def __init__(self, mechanism: Mechanism, closures: Sequence[LoopClosure]) -> None:
        self.closures, slots = tuple(closures), len(mechanism.bodies) + 1
        conditions = [(i, condition) for i, c in enumerate(closures) for condition in c.conditions]
        self.owner = np.array([i for i, _ in conditions], dtype=int)
        factors = np.zeros((2, slots, 4, len(conditions)))
        self._scale, self._offset = np.ones(len(conditions)), np.zeros(len(conditions))
        for k, (i, condition) in enumerate(conditions):
            factors[:, :, :, k] = _factors(closures[i], condition, slots)
            length = closures[i].length
            if length is not None:
                self._scale[k], self._offset[k] = 0.5 / length, 0.5 * length
        self._u, self._v = factors
        self._vectors = Vectors(np.concatenate([self._u, self._v], axis=2))

    def rows(self, posture: Posture) -> Rows:
        """Return values d of the closure conditions, rates ḋ, Jacobian C = ∂d/∂q, and γ = C q̈ − d̈."""
        motion, K = self._vectors.motion(posture), len(self.owner)
        (u, v), (u_dot, v_dot), (u_bias, v_bias), (u_q, v_q) = (
            (part[..., :K], part[..., K:])
            for part in (motion.position, motion.velocity, motion.bias, motion.jacobian)
        )
        bias = u_bias * v + 2.0 * u_dot * v_dot + u * v_bias
        by_q = u_q * v[..., None, :, :] + u[..., None, :, :] * v_q
        return Rows(
            self._scale * np.sum(u * v, axis=-2) - self._offset,
            self._scale * np.sum(u_dot * v + u * v_dot, axis=-2),
            (self._scale * np.sum(by_q, axis=-2)).swapaxes(-2, -1),
            -self._scale * np.sum(bias, axis=-2),
        )

    def sizes(self, posture: Posture) -> Sizes:
        """Return the magnitudes of the terms that add up to the conditions' values and Jacobian.

        Rounding errors are estimated as fractions of these magnitudes.
        """
        reach, slopes = self._vectors.sizes(posture)
        (u, v), (u_q, v_q) = (
            (part[..., : len(self.owner)], part[..., len(self.owner) :]) for part in (reach, slopes)
        )
        return Sizes(self._scale * u * v + self._offset, (self._scale * (u_q * v + u * v_q)).T)

    def wrenches(self, posture: Posture) -> Array:
        """Return the wrench that each loop-closure condition exerts on the ground and on each body.

        The result has shape (K, B, 6) for K conditions. Along the second axis, the ground precedes the
        bodies. Each wrench results from a unit multiplier: 1 N for a condition in metres, else 1 N·m. A
        wrench is a force followed by a moment, in world axes. Moments refer to the posture's datum, a
        reference point near the mechanism.
        """
        parts = np.array([np.einsum("xby,byk->kbx", posture.T[:3], factor) for factor in (self._u, self._v)])
        other = parts.sum(axis=2)[::-1, :, None, :]
        pointed = np.array([self._u[:, 3].T, self._v[:, 3].T])[..., None]
        unit = np.concatenate([pointed * other, np.cross(parts, other)], axis=3).sum(axis=0)
        return np.asarray(self._scale[:, None, None] * unit)


def _factors(closure: LoopClosure, condition: Condition, slots: int) -> Array:
    """Return the constant homogeneous vectors of a closure condition, shape (2, B, 4).

    The condition is a scalar product u·v with u = Σ_b T_b ũ_b and v = Σ_b T_b ṽ_b. T_b is the transform
    of the ground or of a body. The result contains all ũ_b, then all ṽ_b.
    """
    way = _origin(closure.b, slots) - _origin(closure.a, slots)
    match condition.kind:
        case "along":
            return np.array([axis_vector(closure.a, condition.a, slots), way])
        case "along_world":
            fixed = np.zeros((slots, 4))
            fixed[0, condition.a] = 1.0
            return np.array([fixed, way])
        case "between":
            return np.array(
                [axis_vector(closure.a, condition.a, slots), axis_vector(closure.b, condition.b, slots)]
            )
        case "distance":
            return np.array([way, way])


def _origin(frame: JointFrame, slots: int) -> Array:
    vector = np.zeros((slots, 4))
    vector[frame.place.body + 1] = [*frame.place.position, 1.0]
    return vector


def axis_vector(frame: JointFrame, i: int, slots: int) -> Array:
    """Return axis i of a closure's frame as a homogeneous vector, shape (B, 4).

    The vector is in the row of the body that carries the frame; all other rows are zero.
    """
    vector = np.zeros((slots, 4))
    vector[frame.place.body + 1, :3] = frame.rotation[:, i]
    return vector


def frame_pose(posture: Posture, frame: JointFrame) -> Array:
    """Return the pose of a closure's frame, shape (4, 4), m, in world axes.

    The position is relative to the datum point, a reference point near the mechanism.
    """
    own = np.eye(4)
    own[:3, :3], own[:3, 3] = frame.rotation, frame.place.position
    return np.asarray(posture.T[:, frame.place.body + 1] @ own)
