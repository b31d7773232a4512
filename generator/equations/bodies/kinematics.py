"""Symbolic recursion over the bodies for poses, velocities and bias accelerations, in world axes.

The reference point of each body is the origin of its own frame. Positions are relative to the
origin of the first moving body of each tree. They therefore lose no digits if the mechanism is far
from the world origin. Gravity is represented by an upward acceleration of the ground.
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
from ...program.program import EquationSystem

Array = NDArray[np.float64]
_NOWHERE = ir.zeros(3)
# Modelica arrays with one element per coordinate or per body have an index set with one of these names.
COORDINATES, BODIES = "coordinates", "bodies"


@dataclass(frozen=True)
class BodyMotion:
    """Pose and motion of a body; all vectors are in world axes.

    Attributes
    ----------
    R
        Axes of the body, shape (3, 3).
    root
        Origin of the first moving body of the tree for zero coordinates, world frame, shape (3,), m. If
        the body is fixed to the ground, `root` is the origin of the body itself.
    travel
        Displacement of the first moving body's origin from `root`, shape (3,), m.
    p
        Vector from the first moving body's origin to the body's origin, shape (3,), m.
    arm
        Vector from the parent's origin to the body's origin, shape (3,), m.
    w, v
        Angular velocity, rad/s, and velocity of the body's origin, m/s, shape (3,) each.
    dw, dv
        Bias accelerations: time derivatives of w and v for q̈ = 0, shape (3,) each, rad/s² and
        m/s². Gravity is included in dv as an upward acceleration of the ground.
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
        return ir.is_zero(self.w) and ir.is_zero(self.v)


@dataclass(frozen=True)
class Axis:
    """Velocity of a body per unit rate of one coordinate, world axes.

    The vector e is the angular velocity, and the vector u is the velocity of the body's origin, shape
    (3,) each.
    """

    e: Expr
    u: Expr


@dataclass(frozen=True)
class Wrench:
    """Force F on a body, N, and moment N about the body's origin, N·m; shape (3,) each, world axes."""

    body: int
    N: Expr
    F: Expr


@dataclass(frozen=True)
class SymbolicKinematics:
    """Motion of each body and axis of each coordinate, as symbols of the program.

    Attributes
    ----------
    owners
        Index of the body that each coordinate moves, in the order of the coordinates.
    """

    mechanism: SymbolicMechanism
    motions: tuple[BodyMotion, ...]
    axes: tuple[Axis, ...]
    owners: tuple[int, ...]
    ground: BodyMotion

    def motion(self, body: int) -> BodyMotion:
        """Return the motion of a body; the index GROUND gives the motion of the ground."""
        return self.ground if body == GROUND else self.motions[body]

    def lever(self, place: SymbolicPlace) -> Expr:
        """Return the vector from a body's origin to a point of the body, shape (3,), m, world axes."""
        return self.motion(place.body).R @ place.position

    def position(self, body: int, lever: Expr) -> Expr:
        """Return the position of a body-fixed point, shape (3,), m, world frame.

        The argument `lever` is the vector from the body's origin to the point.
        """
        motion = self.motion(body)
        return motion.root + (motion.travel + (motion.p + lever))

    def velocity(self, body: int, lever: Expr) -> Expr:
        """Return the velocity of a body-fixed point, shape (3,), m/s, world axes.

        The argument `lever` is the vector from the body's origin to the point.
        """
        motion = self.motion(body)
        return motion.v + ir.cross(motion.w, lever)

    def bias_acceleration(self, body: int, lever: Expr) -> Expr:
        """Return the acceleration of a body-fixed point for q̈ = 0, shape (3,), m/s², without gravity.

        The argument `lever` is the vector from the body's origin to the point.
        """
        motion = self.motion(body)
        gravity = self.mechanism.gravity
        centripetal = ir.cross(motion.w, ir.cross(motion.w, lever))
        return motion.dv + gravity + ir.cross(motion.dw, lever) + centripetal

    def arm(self, origin: int, body: int) -> Expr:
        """Return the vector between the origins of two bodies, shape (3,), m, world axes.

        The vector leads from the body `origin` to the body `body`.
        """
        if origin == body:
            return _NOWHERE
        if body != GROUND and self.mechanism.bodies[body].parent == origin:
            return self.motions[body].arm
        return self.between(origin, _NOWHERE, body, _NOWHERE)

    def between(self, a: int, lever_a: Expr, b: int, lever_b: Expr) -> Expr:
        """Return the vector from a point of body a to a point of body b, shape (3,), m, world axes.

        The vectors `lever_a` and `lever_b` lead from the bodies' origins to the points. The difference
        omits the terms that both positions share. This avoids cancellation far from the world origin.
        """
        total = _NOWHERE
        for part_a, part_b in zip(self._parts(a, lever_a), self._parts(b, lever_b), strict=True):
            total = total if part_a is part_b else total + (part_b - part_a)
        return total

    def _parts(self, body: int, lever: Expr) -> tuple[Expr, Expr, Expr]:
        """Return three vectors whose sum is the position of a body-fixed point, shape (3,) each, m.

        The first vector is the origin of the first moving body at zero coordinates. The second vector is
        the displacement of this origin. The third vector leads from the displaced origin to the point. For
        a body fixed to the ground, the first vector is the whole position, and the others are zero.
        """
        motion = self.motion(body)
        if motion.still:
            return motion.root + lever, _NOWHERE, _NOWHERE
        return motion.root, motion.travel, motion.p + lever

    def jacobian_columns(self, body: int, lever: Expr) -> dict[int, Expr]:
        """Return the velocity of a body-fixed point per unit rate of each coordinate, shape (3,).

        The keys are the indices of the coordinates that move the body.
        """
        columns = {}
        for k in self.mechanism.ancestors(body):
            axis = self.axes[k]
            columns[k] = axis.u + ir.cross(axis.e, self.arm(self.owners[k], body) + lever)
        return columns

    def power(self, k: int, N: Expr, F: Expr) -> Expr:
        """Return the power of a wrench per unit rate of coordinate k.

        The moment of the wrench must refer to the origin of the body that coordinate k moves.
        """
        return self.axes[k].e @ N + self.axes[k].u @ F


def derive(program: EquationSystem, mechanism: SymbolicMechanism) -> SymbolicKinematics:
    """Define the poses, velocities and bias accelerations of all bodies in the program."""
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
    program: EquationSystem,
    mechanism: SymbolicMechanism,
    body: SymbolicBody,
    parent: BodyMotion,
    axes: dict[int, Axis],
) -> BodyMotion:
    """Return the motion of a body: the motion of its parent followed by the motions of the joint.

    The motions of the joint are rotations and translations, one for each coordinate.
    """
    name, turned = body.name, []
    offset = program.define(
        f"offset_{name}", body.offset, "m", f"origin of the joint frame of {name} in the frame of its parent"
    )
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
    for k in turned:  # A translation after a rotation moves the origin of the body off the rotation axis.
        axes[k] = Axis(axes[k].e, ir.cross(axes[k].e, step))
    motion = _shifted(program, name, motion, start, step, slide)
    _gather_body(program, name, offset, motion)
    return motion


def _note_topology(program: EquationSystem, mechanism: SymbolicMechanism) -> None:
    """Register the topology of the mechanism, which the Modelica source uses for array indices.

    The topology consists of a list of the bodies and two tables. The tables contain the body that each
    coordinate moves, and the parent of each body.
    """
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
        ConstantTable("body", COORDINATES, BODIES, "index of the body that each coordinate moves", owners),
        ConstantTable(
            "last",
            BODIES,
            COORDINATES,
            "index of the last coordinate that moves each body",
            last,
        ),
        ConstantTable("parent", BODIES, BODIES, "index of the parent of each body; 0 is the ground", parents),
        ConstantTable(
            "before",
            COORDINATES,
            COORDINATES,
            "index of the coordinate that precedes each coordinate in its kinematic chain; 0 if there is none",
            before,
        ),
    ]


def _gather_coordinate(
    program: EquationSystem, coordinate: SymbolicCoordinate, e: Expr, motion: BodyMotion
) -> None:
    """Register quantities of one coordinate as elements of Modelica arrays over all coordinates.

    The quantities are the coordinate itself, its rate, the joint axis, and the motion of the frame that
    the coordinate moves.
    """
    member, add = (COORDINATES, coordinate.symbol), program.gatherings.add
    q, qd = (ir.symbol(coordinate.signal(level).name) for level in ("position", "velocity"))
    add("q", member, q, None, "vector of all coordinates; m or rad")
    add("qd", member, qd, None, "vector of all coordinate rates; m/s or rad/s")
    add(
        "axis",
        member,
        ir.constant(coordinate.axis),
        "1",
        "axis of each coordinate, in axes of the preceding frame of the kinematic chain",
    )
    add("e", member, e, "1", "axis of each coordinate, world axes")
    add("R", member, motion.R, "1", "rotation matrix of the frame that each coordinate moves")
    add("w", member, motion.w, "rad/s", "angular velocity of the frame that each coordinate moves, world axes")
    add(
        "dw",
        member,
        motion.dw,
        "rad/s2",
        "angular acceleration of the frame that each coordinate moves, if all coordinate accelerations are zero",
    )


def _gather_body(program: EquationSystem, name: str, offset: Expr, motion: BodyMotion) -> None:
    member, add = (BODIES, name), program.gatherings.add
    add("offset", member, offset, "m", "origin of the joint frame of each body in the frame of its parent")
    add("arm", member, motion.arm, "m", "origin of each body relative to the origin of its parent")
    add(
        "p",
        member,
        motion.p,
        "m",
        "origin of each body relative to the origin of the first moving body of its tree",
    )
    add("v", member, motion.v, "m/s", "velocity of each body's origin")
    add(
        "dv",
        member,
        motion.dv,
        "m/s2",
        "acceleration of each body's origin minus gravity, if all coordinate accelerations are zero",
    )


def of_body(body: SymbolicBody) -> tuple[str, str, str]:
    """Return the entry of the description from which a body was built, as three texts.

    The texts are the kind of the entry, its name, and the name of the rigid finite element of a beam.
    """
    if body.link == "base":
        return "base", "", ""
    return "link", body.link, body.element


def _joint_axes(program: EquationSystem, body: SymbolicBody, parent: BodyMotion) -> Expr:
    R = parent.R @ body.rotation
    if not body.coordinates:
        return program.define(f"R_{body.name}", R, "1", f"axes of {body.name}")
    if ir.is_identity(body.rotation):
        return R
    return program.define(
        f"R_{body.name}_joint",
        R,
        "1",
        f"rotation matrix of the joint frame of {body.name} relative to the world frame",
    )


def _shifted(
    program: EquationSystem, name: str, motion: BodyMotion, start: Expr, step: Expr, slide: Expr
) -> BodyMotion:
    """Return the motion of a frame whose origin has the offset `start + step`, m, from another frame.

    The argument `motion` is the motion of this other frame. The argument `slide` is the time derivative
    of `step` in the moving axes, m/s. All three vectors have the shape (3,).
    """
    if ir.is_zero(start + step) and ir.is_zero(slide):
        return motion
    arm = program.define(
        f"arm_{name}", start + step, "m", f"origin of {name} relative to the origin of its parent"
    )
    root, travel, p, w = motion.root, motion.travel, motion.p, motion.w
    if motion.still:
        root = program.define(
            f"root_{name}", root + start, "m", f"origin of {name} at zero coordinates, world frame"
        )
        travel = program.define(
            f"travel_{name}",
            step,
            "m",
            f"position of the origin of {name} relative to its position at zero coordinates",
        )
    else:
        text = f"origin of {name} relative to the origin of the first moving body of its tree"
        p = program.define(f"p_{name}", p + arm, "m", text)
    swept = ir.cross(w, arm)
    v, dv = motion.v + swept + slide, motion.dv + ir.cross(motion.dw, arm) + ir.cross(w, swept + 2.0 * slide)
    text = f"acceleration of the origin of {name} minus gravity, if all coordinate accelerations are zero"
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
    program: EquationSystem, coordinate: SymbolicCoordinate, motion: BodyMotion, name: str, e: Expr
) -> BodyMotion:
    """Return the motion of a frame that a coordinate rotates relative to another frame with the same origin.

    The argument `motion` is the motion of this other frame, and e is the rotation axis.
    """
    q, rate = ir.symbol(coordinate.symbol), ir.symbol(f"{coordinate.symbol}_dot")
    dw = motion.dw + ir.cross(motion.w, e) * rate
    text = f"angular acceleration of {name}, if all coordinate accelerations are zero"
    return replace(
        motion,
        R=program.define(f"R_{name}", motion.R @ rotation(coordinate.axis, q), "1", f"axes of {name}"),
        w=program.define(f"w_{name}", motion.w + e * rate, "rad/s", f"angular velocity of {name}"),
        dw=program.define(f"dw_{name}", dw, "rad/s2", text),
    )


def rotation(axis: tuple[float, float, float], angle: Expr) -> Expr:
    """Return the matrix of a rotation about a constant unit axis, shape (3, 3).

    The matrix follows from Rodrigues' formula.
    """
    c, s = ir.call("cos", angle), ir.call("sin", angle)
    outer, skew = np.outer(axis, axis), np.cross(np.eye(3), axis)
    across = np.eye(3) - outer
    matrix = ir.array(
        [[outer[i, j] + c * across[i, j] + s * skew[i, j] for j in range(3)] for i in range(3)],
    )
    return ir.function("rotation", matrix, ir.constant(axis), angle)
