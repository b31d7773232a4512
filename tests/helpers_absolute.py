"""An independent model in absolute coordinates: Newton–Euler of every body, all joints as constraints.

Nothing of the solver is used. Unknowns are the accelerations of the bodies' frame origins and their angular
accelerations; world axes throughout. What a multiplier does to the two bodies is the joint's reaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpmelica.mechanism import Body, JointFrame, LoopClosure, Mechanism

Array = NDArray[np.float64]
X, Y, Z = np.eye(3)


def skew(x: Array) -> Array:
    """Cross product matrix, shape (3, 3)."""
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


@dataclass(frozen=True)
class Vector:
    """A vector, its rate, its second derivative without accelerations, and 3×6 Jacobians by (v, ω) of bodies."""

    value: Array
    rate: Array
    bias: Array
    J: dict[int, Array]

    def __sub__(self, other: Vector) -> Vector:
        J = {b: self.J.get(b, 0) - other.J.get(b, 0) for b in self.J.keys() | other.J.keys()}
        return Vector(self.value - other.value, self.rate - other.rate, self.bias - other.bias, J)


@dataclass(frozen=True)
class Frame:
    """Axes R, origin r moving with v; on a body (−1: the ground) whose origin is `root` and that turns with w."""

    body: int
    R: Array
    r: Array
    w: Array
    v: Array
    root: Array

    def origin(self) -> Vector:
        """The frame's origin."""
        return self._attached(self.r, self.v, self.r - self.root, np.eye(3))

    def axis(self, local: Array) -> Vector:
        """A direction fixed to the frame."""
        u = self.R @ local
        return self._attached(u, np.cross(self.w, u), u, np.zeros((3, 3)))

    def _attached(self, value: Array, rate: Array, lever: Array, by_v: Array) -> Vector:
        J = {} if self.body < 0 else {self.body: np.hstack([by_v, -skew(lever)])}
        return Vector(value, rate, np.cross(self.w, np.cross(self.w, lever)), J)

    def mounted(self, offset: Array, rotation: Array) -> Frame:
        """Another frame on the same body."""
        s = self.R @ offset
        return Frame(self.body, self.R @ rotation, self.r + s, self.w, self.v + np.cross(self.w, s), self.root)


GROUND_FRAME = Frame(-1, np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3))


@dataclass(frozen=True)
class Row:
    """A scalar u·v that a constraint holds: its rate, its second derivative without accelerations, and by body
    what its multiplier does to it: force and moment."""

    value: float
    rate: float
    bias: float
    J: dict[int, Array]


def row(u: Vector, v: Vector) -> Row:
    """u·v by the product rule."""
    zero = np.zeros((3, 6))
    J = {b: v.value @ u.J.get(b, zero) + u.value @ v.J.get(b, zero) for b in u.J.keys() | v.J.keys()}
    rate, bias = u.rate @ v.value + u.value @ v.rate, u.bias @ v.value + 2 * u.rate @ v.rate + u.value @ v.bias
    return Row(float(u.value @ v.value), float(rate), float(bias), J)


def across(axis: Array) -> tuple[Array, Array]:
    """Two directions perpendicular to an axis."""
    first = np.cross(axis, X if abs(axis[0]) < 0.8 else Y)
    return first, np.cross(axis, first)


def same_place(a: Frame, b: Frame, axes: Sequence[Array]) -> list[Row]:
    """No way from a to b along these axes of a."""
    return [row(a.axis(e), b.origin() - a.origin()) for e in axes]


def parallel(a: Frame, b: Frame, axis: Array) -> list[Row]:
    """The axis is the same in both frames."""
    return [row(a.axis(e), b.axis(axis)) for e in across(axis)]


def same_axes(a: Frame, b: Frame) -> list[Row]:
    """All axes are parallel."""
    return [*parallel(a, b, Z), row(a.axis(X), b.axis(Y))]


def joint_rows(a: Frame, b: Frame, motions: str, axis: Array) -> list[Row]:
    """Constraints of a joint between its frame a on the parent and the child's frame b, by its motions r and t."""
    match motions:
        case "":
            return [*same_place(a, b, (X, Y, Z)), *same_axes(a, b)]
        case "r":
            return [*same_place(a, b, (X, Y, Z)), *parallel(a, b, axis)]
        case "t":
            # All axes parallel, whatever constant angles lie between them.
            return [*same_place(a, b, across(axis)), *same_axes(a, b)]
        case "rr":
            return [*same_place(a, b, (X, Y, Z)), row(a.axis(Z), b.axis(Y))]
        case "rrr":
            return same_place(a, b, (X, Y, Z))
        case "ttr":
            return [*same_place(a, b, (Z,)), *parallel(a, b, Z)]
    return []


def closure_rows(a: Frame, b: Frame, kind: str) -> list[Row]:
    """Constraints of a closure by its type."""
    way = b.origin() - a.origin()
    match kind:
        case "universal":
            return [*same_place(a, b, (X, Y, Z)), row(a.axis(Z), b.axis(Z))]
        case "distance":
            return [row(way, way)]
        case "point_on_line":
            return same_place(a, b, (X, Y))
    return joint_rows(a, b, {"revolute": "r", "spherical": "rrr", "prismatic": "t", "fixed": ""}[kind], Z)


def replacement_rows(a: Frame, b: Frame, along: Frame) -> list[Row]:
    """Return the positions x, y, z and angles φ, θ, ψ that the springs of a replacement joint act on.

    Source: Urbaś 2016, (4)–(14).
    """
    turns = [row(a.axis(e), b.axis(u)) for e, u in ((Z, Y), (X, Z), (Y, X))]
    way = b.origin() - a.origin()
    return [row(along.axis(e), way) for e in (X, Y, Z)] + turns


@dataclass(frozen=True)
class Result:
    """Accelerations and reactions of the absolute model, world axes; wrenches are forces, then moments, N and N·m.

    acceleration   accelerations of the origins, then angular accelerations, shape (bodies, 6), m/s² and rad/s²
    joints         wrench of each joint on its body about the body's origin, shape (bodies, 6)
    closures       wrench of each closure on the body of frame b about the origin of frame b, shape (6,), by name
    """

    acceleration: Array
    joints: Array
    closures: dict[str, Array]


class AbsoluteModel:
    """The mechanism at q and q̇, shape (n,)."""

    def __init__(self, mechanism: Mechanism, q: Array, qd: Array) -> None:
        self.mechanism, self.q, self.qd = mechanism, q, qd
        self.frames: list[Frame] = []
        self._mounts: list[Frame] = []
        self._twists: list[Array] = []
        for b, body in enumerate(mechanism.bodies):
            self._move(b, body)
        self._force = np.zeros((len(self.frames), 6))

    def frame(self, body: int) -> Frame:
        """Frame of a body, or of the ground."""
        return GROUND_FRAME if body < 0 else self.frames[body]

    def _move(self, b: int, body: Body) -> None:
        mount = self.frame(body.parent).mounted(np.asarray(body.offset, dtype=float), body.rotation)
        R, r, w, v = mount.R, mount.r, mount.w, mount.v
        twist = [np.zeros((6, 0))]
        for k in body.coordinates:
            c = self.mechanism.coordinates[k]
            e = R @ np.array(c.axis)
            if c.motion.kind == "rotation":
                turn = skew(e)
                R = R + (np.sin(self.q[k]) * turn + (1 - np.cos(self.q[k])) * turn @ turn) @ R
                w = w + e * self.qd[k]
                twist.append(np.concatenate([np.zeros(3), e])[:, None])
            else:
                r, v = r + e * self.q[k], v + np.cross(w, e * self.q[k]) + e * self.qd[k]
                twist.append(np.concatenate([e, np.zeros(3)])[:, None])
        self._mounts.append(mount)
        self._twists.append(np.hstack(twist))
        self.frames.append(Frame(b, R, r, w, v, r))

    def push(self, body: int, at: Array, force: Array, moment: Array | float = 0.0) -> None:
        """Let a force act at a point, and a moment; nothing happens to the ground."""
        if body >= 0:
            self._force[body] += np.concatenate([force, np.cross(at - self.frames[body].r, force) + moment])

    def solve(self, efforts: Array) -> Result:
        """Accelerations and reactions; efforts, shape (n,): drives and friction. Call it once."""
        M = np.zeros((6 * len(self.frames), 6 * len(self.frames)))
        for b in range(len(self.frames)):
            M[6 * b : 6 * b + 6, 6 * b : 6 * b + 6] = self._newton_euler(b)
        internal = np.array([self._effort(b, efforts) for b in range(len(self.frames))])
        springs = {c.name: self._spring(c, own) for c, own in self._closures() if c.stiffness is not None}
        joints = [self._joint(b) for b in range(len(self.frames))]
        loops = {name: closure_rows(a, b, kind) for name, a, b, kind in self._cuts()}
        rows = [row for group in (*joints, *loops.values()) for row in group]
        acceleration, multipliers = self._kkt(M, rows)
        left = iter(multipliers)
        reactions = [sum((next(left) * row.J[b] for row in rows), np.zeros(6)) for b, rows in enumerate(joints)]
        cut = {n: self._on_b(loops[n], [next(left) for _ in loops[n]], a, b) for n, a, b, _ in self._cuts()}
        return Result(acceleration, internal + reactions, springs | cut)

    def _kkt(self, M: Array, rows: Sequence[Row]) -> tuple[Array, Array]:
        J = np.zeros((len(rows), len(M)))
        for i, found in enumerate(rows):
            for b, block in found.J.items():
                J[i, 6 * b : 6 * b + 6] += block
        A = np.block([[M, -J.T], [J, np.zeros((len(rows), len(rows)))]])
        given = np.concatenate([self._force.ravel(), [-found.bias for found in rows]])
        x = np.linalg.solve(A, given)
        x += np.linalg.solve(A, given - A @ x)
        return x[: len(M)].reshape(-1, 6), x[len(M) :]

    def _newton_euler(self, b: int) -> Array:
        """Mass matrix about the body's origin, shape (6, 6); weight, supports and gyroscopic forces act."""
        body, frame = self.mechanism.bodies[b], self.frames[b]
        c, w, m = frame.R @ body.com, frame.w, body.mass
        inertia = frame.R @ body.inertia @ frame.R.T
        force = m * (np.asarray(self.mechanism.gravity) - np.cross(w, np.cross(w, c)))
        self.push(b, frame.r + c, force, -np.cross(w, inertia @ w))
        for s in self.mechanism.supports if b == 0 else ():
            foot = frame.mounted(np.asarray(s.position), np.eye(3))
            self.push(b, foot.r, -s.stiffness * (foot.r - s.position) - s.damping * foot.v)
        cross = m * skew(c)
        return np.block([[m * np.eye(3), -cross], [cross, inertia - cross @ skew(c)]])

    def _effort(self, b: int, efforts: Array) -> Array:
        """Wrench on the body with the work of its joint's efforts, springs and dampers; acts on both bodies."""
        body, S, total = self.mechanism.bodies[b], self._twists[b], []
        for k in body.coordinates:
            c = self.mechanism.coordinates[k]
            spring = (c.stiffness or 0.0) * (self.q[k] - (c.rest or 0.0))
            total.append(efforts[k] - spring - (c.damping or 0.0) * self.qd[k])
        wrench = S @ np.linalg.solve(S.T @ S, np.array(total)) if total else np.zeros(6)
        self.push(b, self.frames[b].r, wrench[:3], wrench[3:])
        self.push(body.parent, self.frames[b].r, -wrench[:3], -wrench[3:])
        return np.asarray(wrench)

    def _joint(self, b: int) -> list[Row]:
        body = self.mechanism.bodies[b]
        own = [self.mechanism.coordinates[k] for k in body.coordinates]
        held = body.link == "base" and self.mechanism.base_fixed
        motions = "" if held else "".join(c.motion.kind[0] for c in own)
        return joint_rows(self._mounts[b], self.frames[b], motions, np.array(own[0].axis) if own else Z)

    def _cuts(self) -> list[tuple[str, Frame, Frame, str]]:
        """Name, frames and type of the closures that are constraints."""
        return [(c.name, *self._ends(c), own.type) for c, own in self._closures() if c.stiffness is None]

    def _closures(self) -> list[tuple[LoopClosure, Any]]:
        """Each with its description."""
        return [*zip(self.mechanism.closures, self.mechanism.chain.closures, strict=True)]

    def _ends(self, closure: LoopClosure) -> tuple[Frame, Frame]:
        return self._on(closure.a), self._on(closure.b)

    def _on(self, frame: JointFrame) -> Frame:
        return self.frame(frame.place.body).mounted(np.asarray(frame.place.position, dtype=float), frame.rotation)

    def _on_b(self, rows: Sequence[Row], multipliers: Sequence[float], a: Frame, b: Frame) -> Array:
        side, sign = (b, 1.0) if b.body >= 0 else (a, -1.0)
        wrench = sign * sum(x * found.J[side.body] for x, found in zip(multipliers, rows, strict=True))
        wrench[3:] += np.cross(side.root - b.r, wrench[:3])
        return np.asarray(wrench)

    def _spring(self, closure: LoopClosure, given: Any) -> Array:
        """A replacement joint acts."""
        a, b = self._ends(closure)
        rows = replacement_rows(a, b, GROUND_FRAME if given.axes == "world" else a)
        numbers = zip(rows, closure.stiffness, closure.damping, strict=True)
        efforts = [-(k * found.value + d * found.rate) for found, k, d in numbers]
        for found, effort in zip(rows, efforts, strict=True):
            for body, J in found.J.items():
                self._force[body] += effort * J
        return self._on_b(rows, efforts, a, b)
