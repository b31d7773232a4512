"""World-frame recursion over the bodies: poses, velocities, bias accelerations (design 4.2).

Velocities and accelerations are those of the body-fixed point that is at the world's origin, so that
quantities of different bodies add up without transformations. Gravity enters as an acceleration of the ground.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...mechanism import GROUND, Body, Mechanism, Place
from ...program import ir
from ...program.ir import Expr
from ...program.program import Program

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Motion:
    """Where a body is and how it moves; all in world axes.

    R      shape (3, 3): the body's axes
    p      shape (3,), m: origin of its frame
    w, v   shape (3,), rad/s and m/s: angular velocity, velocity at the world's origin
    z, a   shape (3,), rad/s² and m/s²: the same accelerations for q̈ = 0, gravity included
    """

    R: Expr
    p: Expr
    w: Expr
    v: Expr
    z: Expr
    a: Expr


@dataclass(frozen=True)
class Axis:
    """Motion that one coordinate gives: e angular, u linear at the world's origin; shape (3,), world axes."""

    e: Expr
    u: Expr


@dataclass(frozen=True)
class Wrench:
    """Force F and its moment N about the world's origin, world axes, on a body; shape (3,), N and N·m."""

    body: int
    N: Expr
    F: Expr


@dataclass(frozen=True)
class Kinematics:
    """Motions of all bodies and axes of all coordinates, as symbols of the program."""

    mechanism: Mechanism
    motions: tuple[Motion, ...]
    axes: tuple[Axis, ...]
    ground: Motion

    def motion(self, body: int) -> Motion:
        """Motion of a body, or of the ground."""
        return self.ground if body == GROUND else self.motions[body]

    def position(self, place: Place) -> Expr:
        """Shape (3,), m, world frame."""
        motion = self.motion(place.body)
        return motion.p + motion.R @ ir.lift(place.position)

    def velocity(self, place: Place, position: Expr) -> Expr:
        """Shape (3,), m/s, world frame, of the point at `position`."""
        motion = self.motion(place.body)
        return motion.v + ir.cross(motion.w, position)

    def bias_acceleration(self, place: Place, position: Expr, velocity: Expr) -> Expr:
        """Shape (3,), m/s²: the point's acceleration for q̈ = 0, without gravity."""
        motion = self.motion(place.body)
        gravity = ir.lift(self.mechanism.gravity)
        return motion.a + gravity + ir.cross(motion.z, position) + ir.cross(motion.w, velocity)

    def jacobian_columns(self, place: Place, position: Expr) -> dict[int, Expr]:
        """Coordinate → shape (3,): the point's velocity per coordinate rate, world axes."""
        return {
            k: self.axes[k].u + ir.cross(self.axes[k].e, position) for k in self.mechanism.ancestors(place.body)
        }


def derive(program: Program, mechanism: Mechanism) -> Kinematics:
    """Define the kinematics of all bodies in the program."""
    at_rest = ir.zeros(3)
    ground = Motion(ir.constant(np.eye(3)), at_rest, at_rest, at_rest, at_rest, -ir.lift(mechanism.gravity))
    motions: list[Motion] = []
    axes: list[Axis] = []
    for body in mechanism.bodies:
        program.section(body.name)
        parent = ground if body.parent == GROUND else motions[body.parent]
        motions.append(_body_motion(program, mechanism, body, parent, axes))
    return Kinematics(mechanism, tuple(motions), tuple(axes), ground)


def _body_motion(program: Program, mechanism: Mechanism, body: Body, parent: Motion, axes: list[Axis]) -> Motion:
    name = body.name
    offset = program.define(f"offset_{name}", body.offset, "m", f"joint frame of {name} in its parent's frame")
    p = program.define(f"p_{name}_joint", parent.p + parent.R @ offset, "m", f"joint origin of {name}")
    R = parent.R @ ir.constant(body.rotation)
    if body.rotation.tolist() != np.eye(3).tolist() and body.coordinates:
        R = program.define(f"R_{name}_joint", R, "1", f"axes of the joint frame of {name}")
    motion = Motion(R, p, parent.w, parent.v, parent.z, parent.a)
    for k in body.coordinates:
        last = k == body.coordinates[-1]
        motion = _move(program, mechanism, k, motion, name if last else f"{name}_{_key(mechanism, k)}", axes)
    return motion if body.coordinates else _named(program, name, motion)


def _key(mechanism: Mechanism, k: int) -> str:
    # elastic coordinates of element r are called r<r>_psi, and so is already its body
    return mechanism.coordinates[k].key.rpartition("_")[2]


def _named(program: Program, name: str, motion: Motion) -> Motion:
    R = program.define(f"R_{name}", motion.R, "1", f"axes of {name}")
    return Motion(R, motion.p, motion.w, motion.v, motion.z, motion.a)


def _move(program: Program, mechanism: Mechanism, k: int, motion: Motion, name: str, axes: list[Axis]) -> Motion:
    """Motion after one coordinate's elementary motion."""
    coordinate = mechanism.coordinates[k]
    q, rate = ir.symbol(coordinate.symbol), ir.symbol(f"{coordinate.symbol}_dot")
    rotates = coordinate.motion.kind == "rotation"
    axis = program.define(
        f"e_{coordinate.symbol}", motion.R @ ir.constant(coordinate.axis), "1", f"axis of {coordinate.name}"
    )
    if rotates:
        R = program.define(f"R_{name}", motion.R @ rotation(coordinate.axis, q), "1", f"axes of {name}")
        p = motion.p
        u = program.define(
            f"u_{coordinate.symbol}", ir.cross(p, axis), "m", f"{coordinate.name}: linear part of its motion"
        )
        e = axis
    else:
        R, e, u = motion.R, ir.zeros(3), axis
        p = program.define(f"p_{name}", motion.p + axis * q, "m", f"origin of {name}")
    axes.append(Axis(e, u))
    about = f"of {name}"
    return Motion(
        R,
        p,
        program.define(f"w_{name}", motion.w + e * rate, "rad/s", f"angular velocity {about}"),
        program.define(f"v_{name}", motion.v + u * rate, "m/s", f"velocity {about} at the world's origin"),
        program.define(
            f"z_{name}",
            motion.z + ir.cross(motion.w, e) * rate,
            "rad/s2",
            f"angular acceleration {about} without that of the coordinates",
        ),
        program.define(
            f"a_{name}",
            motion.a + (ir.cross(motion.w, u) + ir.cross(motion.v, e)) * rate,
            "m/s2",
            f"acceleration {about} at the world's origin without that of the coordinates, with gravity",
        ),
    )


def rotation(axis: tuple[float, float, float], angle: Expr) -> Expr:
    """Shape (3, 3): rotation about a constant unit axis (Rodrigues' formula)."""
    c, s = ir.call("cos", angle), ir.call("sin", angle)
    outer, skew = np.outer(axis, axis), np.cross(np.eye(3), axis)
    return ir.array(
        [
            [_entry(outer[i, j], (1.0 if i == j else 0.0) - outer[i, j], skew[i, j], c, s) for j in range(3)]
            for i in range(3)
        ]
    )


def _entry(fixed: float, along_c: float, along_s: float, c: Expr, s: Expr) -> Expr:
    return ir.constant(fixed) + c * ir.constant(along_c) + s * ir.constant(along_s)
