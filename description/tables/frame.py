"""Frame of a description, given relative to its parent frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from pydantic import model_validator

from ...core.arithmetic import S
from ...core.trajectory import Array
from ..fields.numbers import AnyNumber, Matrix4, ParametricNumber, Vector3, Vector4, values_of
from ..fields.types import KeyProblem, Part

_ORTHONORMAL = 1e-9


class Trigonometry(Protocol[S]):
    """Typing protocol for cosine and sine of numbers or symbolic expressions; see `mechanism.Algebra`."""

    def value(self, number: AnyNumber) -> S:
        """Return a number of the description as a `float` or as a symbolic expression."""

    def cos(self, angle: S) -> S:
        """Return the cosine of an angle in rad."""

    def sin(self, angle: S) -> S:
        """Return the sine of an angle in rad."""


class Frame(Part):
    """Position and orientation of a frame relative to its parent frame.

    One of three forms is used: `matrix`, Craig's `dh` parameters, or the two keys `xyz` and `rpy`.
    """

    xyz: Vector3 | None = None
    """Origin in the parent frame, m; default 0."""
    rpy: Vector3 | None = None
    """Roll, pitch and yaw, rad: R = Rz(yaw)·Ry(pitch)·Rx(roll) transforms vectors from this frame to
    the parent frame; default 0."""
    matrix: Matrix4 | None = None
    """Homogeneous 4×4 matrix by rows: rotation, and origin in the last column, m."""
    dh: Vector4 | None = None
    """Denavit–Hartenberg parameters a (m), alpha (rad), d (m), theta (rad): Rot(x, alpha)·Trans(x,
    a)·Rot(z, theta)·Trans(z, d)."""

    @model_validator(mode="after")
    def _one_form(self) -> Frame:
        forms = [self.xyz is not None or self.rpy is not None, self.matrix is not None, self.dh is not None]
        if sum(forms) > 1:
            raise ValueError("give a frame in one form only: xyz and rpy, or matrix, or dh")
        if self.matrix is not None:
            _check_constant(self.matrix)
            _check_homogeneous(self._transform())
        return self

    @property
    def rotation(self) -> Array:
        """Rotation matrix, shape (3, 3); columns are this frame's axes in the parent frame.

        Entries that differ from 0 or ±1 only by rounding errors are set to exactly 0 or ±1.
        """
        return _clean(self._transform()[:3, :3])

    @property
    def offset(self) -> Array:
        """Origin of this frame in the parent frame, m, shape (3,)."""
        return self._transform()[:3, 3]

    @property
    def is_given(self) -> bool:
        """Whether at least one number of this frame is given by an expression of parameters."""
        column = [row[3] for row in self.matrix or ()]
        return _any_given([*(self.xyz or ()), *column, *(self.dh or ())]) or self.is_turned_by_parameters

    @property
    def is_turned_by_parameters(self) -> bool:
        """Whether the orientation of this frame depends on parameters."""
        turns = [self.dh[1], self.dh[3]] if self.dh else []
        return _any_given([*(self.rpy or ()), *turns])

    def origin(self, of: Trigonometry[S]) -> list[S]:
        """Return the origin of this frame in the parent frame, m: three numbers or symbolic expressions."""
        if self.matrix is not None:
            return [of.value(row[3]) for row in self.matrix[:3]]
        if self.dh is not None:
            a, alpha, d = (of.value(x) for x in self.dh[:3])
            return [a, -(of.sin(alpha) * d), of.cos(alpha) * d]
        return [of.value(x) for x in self.xyz or (0.0, 0.0, 0.0)]

    def axes(self, of: Trigonometry[S]) -> list[list[S]]:
        """Return the rows of the rotation matrix, as numbers or symbolic expressions.

        The frame must not be given by `matrix`.
        """
        if self.dh is not None:
            alpha, theta = of.value(self.dh[1]), of.value(self.dh[3])
            ca, sa, ct, st = of.cos(alpha), of.sin(alpha), of.cos(theta), of.sin(theta)
            return _denavit_hartenberg_axes(ca, sa, ct, st, of.value(0.0))
        angles = [of.value(x) for x in self.rpy or (0.0, 0.0, 0.0)]
        return _roll_pitch_yaw_rows(*(f(angle) for angle in angles for f in (of.cos, of.sin)))

    def quaternion(self, of: Trigonometry[S]) -> list[S]:
        """Return the orientation in the parent frame as a unit quaternion w, x, y, z.

        A quaternion and its negative represent the same rotation. If the frame is given by angles, the
        quaternion is the product of the elementary rotations and thus a continuous function of the
        angles. If the frame is given by `matrix`, the sign of the quaternion is chosen such that w ≥ 0.
        """
        if self.matrix is not None:
            return [of.value(number) for number in _of_matrix(self.rotation)]
        if self.dh is not None:
            turns = [(0, self.dh[1]), (2, self.dh[3])]
        else:
            turns = list(zip((2, 1, 0), reversed(self.rpy or (0.0, 0.0, 0.0)), strict=True))
        zero = of.value(0.0)
        total = [of.value(1.0), zero, zero, zero]
        for axis, number in turns:
            if isinstance(number, ParametricNumber) or number != 0.0:
                half = 0.5 * of.value(number)
                turn = [of.cos(half), zero, zero, zero]
                turn[1 + axis] = of.sin(half)
                total = product(total, turn)
        return total

    def _transform(self) -> Array:
        if self.matrix is not None:
            return np.array([values_of(row) for row in self.matrix])
        if self.dh is not None:
            return _denavit_hartenberg(*values_of(self.dh))
        transform = np.eye(4)
        transform[:3, :3] = roll_pitch_yaw(*values_of(self.rpy or (0.0, 0.0, 0.0)))
        transform[:3, 3] = values_of(self.xyz or (0.0, 0.0, 0.0))
        return transform


def product(a: Sequence[S], b: Sequence[S]) -> list[S]:
    """Return the product a·b of two quaternions w, x, y, z.

    The product represents rotation a, followed by rotation b about the axes that a has rotated.
    """
    (w, x, y, z), (W, X, Y, Z) = a, b
    return [
        w * W - x * X - y * Y - z * Z,
        w * X + x * W + y * Z - z * Y,
        w * Y - x * Z + y * W + z * X,
        w * Z + x * Y - y * X + z * W,
    ]


def _of_matrix(R: Array) -> list[float]:
    """Return the unit quaternion w, x, y, z of a rotation matrix (Shepperd 1978).

    The sign is chosen such that the first nonzero component is positive.
    """
    squares = np.array([1 + R[0, 0] + R[1, 1] + R[2, 2], *(1 + 2 * R[i, i] - np.trace(R) for i in range(3))])
    k = int(np.argmax(squares))
    rows = np.diag(squares)
    for i, (j, m) in enumerate(((1, 2), (2, 0), (0, 1)), start=1):
        rows[0, i] = rows[i, 0] = R[m, j] - R[j, m]
        rows[1 + j, 1 + m] = rows[1 + m, 1 + j] = R[j, m] + R[m, j]
    found = rows[k] / np.linalg.norm(rows[k])
    first = next(x for x in found if abs(x) > _ORTHONORMAL)
    return [float(x) for x in found * np.sign(first)]


def roll_pitch_yaw(roll: float, pitch: float, yaw: float) -> Array:
    """Return the rotation matrix Rz(yaw)·Ry(pitch)·Rx(roll), shape (3, 3); angles in rad."""
    return np.array(_roll_pitch_yaw_rows(*(f(a) for a in (roll, pitch, yaw) for f in (np.cos, np.sin))))


def angles_of(rotation: Array) -> tuple[float, float, float]:
    """Return roll, pitch and yaw of a rotation matrix, rad; at a pitch of ±π/2, roll is 0."""
    cosine = np.hypot(rotation[0, 0], rotation[1, 0])
    pitch = float(np.arctan2(-rotation[2, 0], cosine))
    if cosine < 1e-8:
        return 0.0, pitch, float(np.arctan2(-rotation[0, 1], rotation[1, 1]))
    roll, yaw = np.arctan2(rotation[2, 1], rotation[2, 2]), np.arctan2(rotation[1, 0], rotation[0, 0])
    return float(roll), pitch, float(yaw)


def _roll_pitch_yaw_rows(cr: S, sr: S, cp: S, sp: S, cy: S, sy: S) -> list[list[S]]:
    return [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]


def _denavit_hartenberg(a: float, alpha: float, d: float, theta: float) -> Array:
    ca, sa, ct, st = np.cos(alpha), np.sin(alpha), np.cos(theta), np.sin(theta)
    transform = np.eye(4)
    transform[:3, :3] = _denavit_hartenberg_axes(ca, sa, ct, st, 0.0)
    transform[:3, 3] = [a, -sa * d, ca * d]
    return transform


def _denavit_hartenberg_axes(ca: S, sa: S, ct: S, st: S, zero: S) -> list[list[S]]:
    return [
        [ct, -st, zero],
        [st * ca, ct * ca, -sa],
        [st * sa, ct * sa, ca],
    ]


def _any_given(numbers: Iterable[AnyNumber]) -> bool:
    return any(isinstance(x, ParametricNumber) for x in numbers)


def _clean(rotation: Array) -> Array:
    # cos(pi/2) is 6e-17 in floating point. Such values would add useless terms to the generated equations.
    nearest = np.round(rotation)
    return np.where(np.abs(rotation - nearest) < 1e-15, nearest + 0.0, rotation)


def _check_constant(matrix: Matrix4) -> None:
    for i, row in enumerate(matrix):
        for j, x in enumerate(row):
            if isinstance(x, ParametricNumber) and (j < 3 or i == 3):
                raise KeyProblem(
                    "matrix",
                    f"row {i + 1} depends on parameters ({x.text!r}), so that for"
                    " other values the matrix is not a rotation; use rpy or dh for angles that are expressions",
                )


def _check_homogeneous(matrix: Array) -> None:
    rotation = matrix[:3, :3]
    if np.any(matrix[3] != [0.0, 0.0, 0.0, 1.0]):
        raise KeyProblem("matrix", f"expected the last row to be [0, 0, 0, 1], got {matrix[3].tolist()}")
    error = float(np.abs(rotation.T @ rotation - np.eye(3)).max())
    if error > _ORTHONORMAL:
        raise KeyProblem(
            "matrix",
            f"expected the upper left 3×3 to be a rotation, but its deviation from orthonormality is {error:.2g}"
            f" (at most {_ORTHONORMAL:g}); correct it, give more digits, or use rpy",
        )
    if np.linalg.det(rotation) < 0:
        raise KeyProblem("matrix", "expected the upper left 3×3 to be a rotation, but it is a reflection")
