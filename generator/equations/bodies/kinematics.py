"""Recursion over the bodies in world axes: poses, velocities, bias accelerations.

Every body has its quantities about the origin of its own frame, and positions count from the first moving body of
its tree: wherever in the world a mechanism stands or travels to, the numbers are as large as the mechanism.
Gravity enters as an acceleration of the ground.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ....language import ir
from ....language.ir import Expr
from ....mechanism import GROUND
from ....mechanism.symbolic import SymbolicBody, SymbolicCoordinate, SymbolicMechanism, SymbolicPlace
from ...program.gathered import ConstantTable
from ...program.program import Program

Array = NDArray[np.float64]
_NOWHERE = ir.zeros(3)
COORDINATES, BODIES = "coordinates", "bodies"  # sets of equal things


@dataclass(frozen=True)
class BodyMotion:
    """Pose and motion of a body, all in world axes.

    R       shape (3, 3): the body's axes
    root    shape (3,), m: where the first moving body of its tree starts from; of a body that cannot move, its own
    travel  shape (3,), m: from there to that body's origin
    p       shape (3,), m: from there to the origin of its frame
    arm     shape (3,), m: the same from the origin of its parent's frame
    w, v    shape (3,), rad/s and m/s: angular velocity, velocity of its origin
    dw, dv  shape (3,), rad/s² and m/s²: their rates for q̈ = 0, gravity included
    """

    R: Expr
    root: Expr
    travel: Expr
    p: Expr
    arm: Expr
    w: Expr
    v: Expr
    dw: Expr
    dv: Expr

    @property
    def still(self) -> bool:
        """Whether no coordinate moves it."""
        return ir.is_zero(self.w) and ir.is_zero(self.v)


@dataclass(frozen=True)
class Axis:
    """Motion that one coordinate gives to its body: e angular, u of the body's origin; shape (3,), world axes."""

    e: Expr
    u: Expr


@dataclass(frozen=True)
class Wrench:
    """Force F and its moment N about the origin of a body, world axes, on that body; shape (3,), N and N·m."""

    body: int
    N: Expr
    F: Expr


@dataclass(frozen=True)
class SymbolicKinematics:
    """Motions of all bodies and axes of all coordinates, as symbols of the program.

    owners  coordinate → index of the body that it moves
    """

    mechanism: SymbolicMechanism
    motions: tuple[BodyMotion, ...]
    axes: tuple[Axis, ...]
    owners: tuple[int, ...]
    ground: BodyMotion

    def motion(self, body: int) -> BodyMotion:
        """Motion of a body, or of the ground."""
        return self.ground if body == GROUND else self.motions[body]

    def lever(self, place: SymbolicPlace) -> Expr:
        """Shape (3,), m, world axes: from the origin of the place's body to the place."""
        return self.motion(place.body).R @ place.position

    def position(self, body: int, lever: Expr) -> Expr:
        """Shape (3,), m, world frame, of the point of a body at a lever from its origin."""
        motion = self.motion(body)
        return motion.root + (motion.travel + (motion.p + lever))

    def velocity(self, body: int, lever: Expr) -> Expr:
        """Shape (3,), m/s, world axes, of the point of a body at a lever from its origin."""
        motion = self.motion(body)
        return motion.v + ir.cross(motion.w, lever)

    def bias_acceleration(self, body: int, lever: Expr) -> Expr:
        """Shape (3,), m/s²: the same point's acceleration for q̈ = 0, without gravity."""
        motion = self.motion(body)
        gravity = self.mechanism.gravity
        centripetal = ir.cross(motion.w, ir.cross(motion.w, lever))
        return motion.dv + gravity + ir.cross(motion.dw, lever) + centripetal

    def arm(self, origin: int, body: int) -> Expr:
        """Shape (3,), m, world axes: from the origin of one body to that of another."""
        if origin == body:
            return _NOWHERE
        if body != GROUND and self.mechanism.bodies[body].parent == origin:
            return self.motions[body].arm
        return self.between(origin, _NOWHERE, body, _NOWHERE)

    def between(self, a: int, lever_a: Expr, b: int, lever_b: Expr) -> Expr:
        """Shape (3,), m, world axes: from a point of body a to one of body b, each at a lever from its origin.

        What is large if both are far away is subtracted first, and what they share not at all.
        """
        total = _NOWHERE
        for part_a, part_b in zip(self._parts(a, lever_a), self._parts(b, lever_b), strict=True):
            total = total if part_a is part_b else total + (part_b - part_a)
        return total

    def _parts(self, body: int, lever: Expr) -> tuple[Expr, Expr, Expr]:
        """Return the three terms of a point's position."""
        motion = self.motion(body)
        if motion.still:
            return motion.root + lever, _NOWHERE, _NOWHERE
        return motion.root, motion.travel, motion.p + lever

    def jacobian_columns(self, body: int, lever: Expr) -> dict[int, Expr]:
        """Coordinate → shape (3,): velocity per coordinate rate of the body's point at a lever from its origin."""
        columns = {}
        for k in self.mechanism.ancestors(body):
            axis = self.axes[k]
            columns[k] = axis.u + ir.cross(axis.e, self.arm(self.owners[k], body) + lever)
        return columns

    def power(self, k: int, N: Expr, F: Expr) -> Expr:
        """Return the power per unit rate of coordinate k of a wrench about the origin of its body."""
        return self.axes[k].e @ N + self.axes[k].u @ F


def derive(program: Program, mechanism: SymbolicMechanism) -> SymbolicKinematics:
    """Define the kinematics of all bodies in the program."""
    zero, gravity = _NOWHERE, mechanism.gravity
    ground = BodyMotion(ir.constant(np.eye(3)), zero, zero, zero, zero, zero, zero, zero, -gravity)
    motions: list[BodyMotion] = []
    axes: dict[int, Axis] = {}
    program.gatherings.members(COORDINATES, [coordinate.symbol for coordinate in mechanism.coordinates])
    for body in mechanism.bodies:
        program.section(*of_body(body))
        parent = ground if body.parent == GROUND else motions[body.parent]
        motions.append(_body_motion(program, mechanism, body, parent, axes))
    _note_topology(program, mechanism)
    owners = {k: b for b, body in enumerate(mechanism.bodies) for k in body.coordinates}
    every = range(mechanism.n)
    return SymbolicKinematics(
        mechanism, tuple(motions), tuple(axes[k] for k in every), tuple(owners[k] for k in every), ground
    )


def _body_motion(
    program: Program, mechanism: SymbolicMechanism, body: SymbolicBody, parent: BodyMotion, axes: dict[int, Axis]
) -> BodyMotion:
    """The parent's motion, carried to the joint's frame and through the elementary motions of the coordinates."""
    name, turned = body.name, []
    offset = program.define(f"offset_{name}", body.offset, "m", f"joint frame of {name} in its parent's frame")
    motion = replace(parent, R=_joint_axes(program, body, parent), arm=_NOWHERE)
    start, step, slide = parent.R @ offset, _NOWHERE, _NOWHERE
    for k in body.coordinates:
        coordinate = mechanism.coordinates[k]
        q, rate = ir.symbol(coordinate.symbol), ir.symbol(f"{coordinate.symbol}_dot")
        direction = motion.R @ ir.constant(coordinate.axis)
        e = program.define(f"e_{coordinate.symbol}", direction, "1", f"axis of {coordinate.name}")
        if coordinate.motion.kind == "translation":
            axes[k], step, slide = Axis(_NOWHERE, e), step + e * q, slide + e * rate
            _gather_coordinate(program, coordinate, e, motion)
            continue
        motion = _shifted(program, name, motion, start, step, slide)
        start, step, slide = _NOWHERE, _NOWHERE, _NOWHERE
        full = name if k == body.coordinates[-1] else f"{name}_{coordinate.motion.coordinate}"
        motion = _turned(program, coordinate, motion, full, e)
        _gather_coordinate(program, coordinate, e, motion)
        axes[k] = Axis(e, _NOWHERE)
        turned.append(k)
    for k in turned:  # about axes that the origin has left since
        axes[k] = Axis(axes[k].e, ir.cross(axes[k].e, step))
    motion = _shifted(program, name, motion, start, step, slide)
    _gather_body(program, name, offset, motion)
    return motion


def _note_topology(program: Program, mechanism: SymbolicMechanism) -> None:
    """Note the bodies, which coordinate moves which body, and what carries what."""
    bodies, symbols = mechanism.bodies, [coordinate.symbol for coordinate in mechanism.coordinates]
    program.gatherings.members(BODIES, [body.name for body in bodies])
    last: dict[str, str] = {}
    before: dict[str, str] = {}
    parents: dict[str, str] = {}
    for body in bodies:
        carrier = None if body.parent == GROUND else bodies[body.parent].name
        if carrier is not None:
            parents[body.name] = carrier
        frame = None if carrier is None else last.get(carrier)
        for k in body.coordinates:
            if frame is not None:
                before[symbols[k]] = frame
            frame = symbols[k]
        if frame is not None:
            last[body.name] = frame
    owners = {symbols[k]: body.name for body in bodies for k in body.coordinates}
    program.gatherings.tables += [
        ConstantTable("body", COORDINATES, BODIES, "body of each coordinate", owners),
        ConstantTable("last", BODIES, COORDINATES, "last coordinate of each body, or of those before it", last),
        ConstantTable("parent", BODIES, BODIES, "body that carries each body; 0: the ground", parents),
        ConstantTable("before", COORDINATES, COORDINATES, "coordinate before each coordinate; 0: none", before),
    ]


def _gather_coordinate(program: Program, coordinate: SymbolicCoordinate, e: Expr, motion: BodyMotion) -> None:
    """Note the axis of a coordinate and the motion of the frame after it."""
    member, add = (COORDINATES, coordinate.symbol), program.gatherings.add
    q, qd = (ir.symbol(coordinate.signal(level).name) for level in ("position", "velocity"))
    add("q", member, q, None, "coordinates; m or rad")
    add("qd", member, qd, None, "velocities; m/s or rad/s")
    add("axis", member, ir.constant(coordinate.axis), "1", "axis of each coordinate, in the frame before it")
    add("e", member, e, "1", "axis of each coordinate")
    add("R", member, motion.R, "1", "axes of the frame after each coordinate")
    add("w", member, motion.w, "rad/s", "angular velocity of the frame after each coordinate")
    add(
        "dw",
        member,
        motion.dw,
        "rad/s2",
        "angular acceleration of the frame after each coordinate, for zero accelerations",
    )


def _gather_body(program: Program, name: str, offset: Expr, motion: BodyMotion) -> None:
    """Note the motion of a body's origin."""
    member, add = (BODIES, name), program.gatherings.add
    add("offset", member, offset, "m", "joint frame of each body in the frame of its parent")
    add("arm", member, motion.arm, "m", "origin of each body from that of its parent")
    add("p", member, motion.p, "m", "origin of each body from that of the first moving body of its tree")
    add("v", member, motion.v, "m/s", "velocity of each body's origin")
    add(
        "dv",
        member,
        motion.dv,
        "m/s2",
        "acceleration of each body's origin for zero accelerations, with gravity",
    )


def of_body(body: SymbolicBody) -> tuple[str, str, str]:
    """Kind, name and element of its origin."""
    if body.link == "base":
        return "base", "", ""
    return "link", body.link, body.element


def _joint_axes(program: Program, body: SymbolicBody, parent: BodyMotion) -> Expr:
    R = parent.R @ body.rotation
    if not body.coordinates:
        return program.define(f"R_{body.name}", R, "1", f"axes of {body.name}")
    if ir.is_identity(body.rotation):
        return R
    return program.define(f"R_{body.name}_joint", R, "1", f"axes of the joint frame of {body.name}")


def _shifted(program: Program, name: str, motion: BodyMotion, start: Expr, step: Expr, slide: Expr) -> BodyMotion:
    """Motion of the body's point at `start + step`; `step` grows at the rate `slide`. Shapes (3,), m and m/s."""
    if ir.is_zero(start + step) and ir.is_zero(slide):
        return motion
    arm = program.define(f"arm_{name}", start + step, "m", f"origin of {name} from its parent's")
    root, travel, p, w = motion.root, motion.travel, motion.p, motion.w
    if motion.still:
        root = program.define(
            f"root_{name}", root + start, "m", f"origin of {name} at zero coordinates, world frame"
        )
        travel = program.define(
            f"travel_{name}", step, "m", f"origin of {name} from its place at zero coordinates"
        )
    else:
        text = f"origin of {name} from that of the first moving body of its tree"
        p = program.define(f"p_{name}", p + arm, "m", text)
    swept = ir.cross(w, arm)
    v, dv = motion.v + swept + slide, motion.dv + ir.cross(motion.dw, arm) + ir.cross(w, swept + 2.0 * slide)
    text = f"acceleration of {name} for zero accelerations of the coordinates, with gravity"
    return replace(
        motion,
        root=root,
        travel=travel,
        p=p,
        arm=motion.arm + arm,
        v=program.define(f"v_{name}", v, "m/s", f"velocity of {name}'s origin"),
        dv=program.define(f"dv_{name}", dv, "m/s2", text),
    )


def _turned(
    program: Program, coordinate: SymbolicCoordinate, motion: BodyMotion, name: str, e: Expr
) -> BodyMotion:
    """Motion after a rotation about the axis e through the origin."""
    q, rate = ir.symbol(coordinate.symbol), ir.symbol(f"{coordinate.symbol}_dot")
    dw = motion.dw + ir.cross(motion.w, e) * rate
    text = f"angular acceleration of {name} for zero accelerations of the coordinates"
    return replace(
        motion,
        R=program.define(f"R_{name}", motion.R @ rotation(coordinate.axis, q), "1", f"axes of {name}"),
        w=program.define(f"w_{name}", motion.w + e * rate, "rad/s", f"angular velocity of {name}"),
        dw=program.define(f"dw_{name}", dw, "rad/s2", text),
    )


def rotation(axis: tuple[float, float, float], angle: Expr) -> Expr:
    """Shape (3, 3): rotation about a constant unit axis (Rodrigues' formula)."""
    c, s = ir.call("cos", angle), ir.call("sin", angle)
    outer, skew = np.outer(axis, axis), np.cross(np.eye(3), axis)
    across = np.eye(3) - outer
    matrix = ir.array(
        [[outer[i, j] + c * across[i, j] + s * skew[i, j] for j in range(3)] for i in range(3)],
    )
    return ir.function("rotation", matrix, ir.constant(axis), angle)
