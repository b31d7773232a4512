"""Constraint equations that keep the axes of a point aligned with the target axes of a path.

Between two waypoints the target axes R_d rotate about one axis. The rotation angle is the total
angle of this leg times the progress of the leg. The angular velocity w_d of the target is a
function of time. Let R contain the axes of the point, and let Q = R_dᵀ R. The quaternion of Q is
(q0, q) with q0 > 0. The constraint equations are φ = 2 q = 0. Small values of φ are error angles
about the target axes. The rate is φ̇ = q0 Ω + Ω×φ/2 with Ω = R_dᵀ(w − w_d). Here, w is the angular
velocity of the point's frame. The Jacobian is regular for errors below half a turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ....description.tables.frame import Frame
from ....description.tables.task import HALF_TURN, Path
from ....description.types.bounds import NON_NEGATIVE
from ....language import differentiate, ir
from ....language.ir import Expr, Index
from ....mechanism.symbolic import SymbolicFrame
from ...program.program import EquationSystem, Requirement
from ...program.symbols import Expressions
from ..bodies.kinematics import SymbolicKinematics
from ..bodies.lowering import Lowering
from .programmed import steps

_IDENTITY = ir.constant(np.eye(3))
_STILL = ir.zeros(3)


@dataclass(frozen=True)
class OrientationEquations:
    """Three constraint equations that keep the axes of a point aligned with target axes.

    Each equation sets the orientation error about one target axis to zero. The attributes have the same
    meanings as those of `constraints.Row`. Their shape is (3,), with one element per equation. The
    Jacobian C has the shape (3, n).
    """

    value: Expr
    rate: Expr
    bias: Expr
    C: Expr
    drift: Expr


@dataclass(frozen=True)
class _Target:
    """Target axes that a path prescribes for a point, with their angular velocity and acceleration.

    The axes are the columns of R, shape (3, 3). The angular velocity w, rad/s, and the angular
    acceleration dw, rad/s², have the shape (3,) and refer to world axes.
    """

    R: Expr
    w: Expr
    dw: Expr


@dataclass(frozen=True)
class _Turn:
    """Rotation of the target axes from one waypoint to the next.

    The unit axis, shape (3,), refers to the axes of the first waypoint. The angle is in rad.
    """

    axis: Expr
    angle: Expr


def derive(
    program: EquationSystem, kinematics: SymbolicKinematics, name: str, path: Path, lower: Lowering
) -> OrientationEquations:
    """Define the orientation constraints of a path.

    The argument `name` is the name of the programmed constraint.
    """
    define = program.define
    target, frame = _target(program, name, path, lower), kinematics.mechanism.frames[path.point]
    body = kinematics.motion(frame.place.body)
    own = define(f"R_{name}_actual", body.R @ frame.rotation, "1", f"axes of point {path.point}, world frame")
    Q = define(f"Q_{name}", target.R.T @ own, "1", f"axes of point {path.point} in the target axes of {name}")
    half = 0.5 * ir.call("sqrt", 1.0 + _trace(Q))
    q0 = define(f"cos_{name}", half, "1", f"{name}: cosine of half the angle of the orientation error")
    phi = define(
        f"phi_{name}", _skew_part(Q) / (2.0 * q0), "rad", f"{name}: orientation error about the target axes"
    )
    relative, text = body.w - target.w, "angular velocity relative to the target, in target axes"
    W = define(f"W_{name}", target.R.T @ relative, "rad/s", f"{name}: {text}")
    dW = target.R.T @ (body.dw - target.dw - ir.cross(target.w, relative))
    dW = define(
        f"dW_{name}",
        dW,
        "rad/s2",
        f"{name}: angular acceleration relative to the target, if all coordinate accelerations are zero",
    )

    def turned(w: Expr) -> Expr:
        return q0 * w + 0.5 * ir.cross(w, phi)

    rate = define(f"phi_{name}_dot", turned(W), "rad/s", f"{name}: time derivative of the orientation error")
    second = "second time derivative if all coordinate accelerations are zero"
    bias = turned(dW) - (0.25 * (W @ phi)) * W + 0.5 * ir.cross(W, rate)
    columns = {k: turned(target.R.T @ kinematics.axes[k].e) for k in _moving(kinematics, frame)}
    return OrientationEquations(
        phi,
        rate,
        define(f"phi_{name}_bias", bias, "rad/s2", f"{name}: orientation error, {second}"),
        _jacobian(program, kinematics, name, columns),
        define(
            f"phi_{name}_drift",
            turned(-(target.R.T @ target.w)),
            "rad/s",
            f"{name}: rate of the orientation error for zero rates of the coordinates",
        ),
    )


def _moving(kinematics: SymbolicKinematics, frame: SymbolicFrame) -> tuple[int, ...]:
    return kinematics.mechanism.ancestors(frame.place.body)


def _jacobian(
    program: EquationSystem, kinematics: SymbolicKinematics, name: str, columns: dict[int, Expr]
) -> Expr:
    n = kinematics.mechanism.n
    parts: list[tuple[Index, Expr]] = [((slice(0, 3), k), columns.get(k, _STILL)) for k in range(n)]
    return program.assemble(
        f"J_{name}",
        (3, n),
        parts,
        None,
        f"{name}: derivative of the rate of the orientation error with respect to each coordinate rate",
    )


def _target(program: EquationSystem, name: str, path: Path, lower: Lowering) -> _Target:
    """Return the orientation that a path prescribes, as a function of time.

    At the beginning, the axes have the orientation of the first waypoint. Each leg, i.e. the part of
    the path between two waypoints, adds a rotation.
    """
    first, turns = _turns(program, name, path, lower)
    target = _Target(first, _STILL, _STILL)
    for number, (step, turn) in enumerate(zip(steps(path), turns, strict=True), start=1):
        if not ir.is_zero(turn.angle):
            target = _after_leg(program, f"{name}_{number}", target, turn, _levels(step, lower))
    return target


def _levels(step: Expr, lower: Lowering) -> tuple[Expr, Expr, Expr]:
    lower.add_breakpoints(step)
    rate = differentiate.derivative(step, "t")
    return lower(step), lower(rate), lower(differentiate.derivative(rate, "t"))


def _after_leg(
    program: EquationSystem, name: str, before: _Target, turn: _Turn, step: tuple[Expr, Expr, Expr]
) -> _Target:
    levels = (
        ("", "rad", "rotation angle"),
        ("_dot", "rad/s", "angular velocity about the axis"),
        ("_ddot", "rad/s2", "angular acceleration about the axis"),
    )
    angle, rate, second = (
        program.define(f"turn_{name}{suffix}", turn.angle * level, unit, f"{text} of leg {name}")
        for level, (suffix, unit, text) in zip(step, levels, strict=True)
    )
    e = program.define(f"e_{name}", before.R @ turn.axis, "1", f"rotation axis of leg {name}, world axes")
    dw = before.dw + ir.cross(before.w, e) * rate + e * second
    return _Target(
        program.define(f"R_{name}", before.R @ _rotation(turn.axis, angle), "1", f"target axes after leg {name}"),
        program.define(
            f"w_{name}", before.w + e * rate, "rad/s", f"angular velocity of the target axes after leg {name}"
        ),
        program.define(f"dw_{name}", dw, "rad/s2", f"angular acceleration of the target axes after leg {name}"),
    )


def _rotation(axis: Expr, angle: Expr) -> Expr:
    """Return the matrix of a rotation by an angle about a unit axis, shape (3, 3).

    Rodrigues' formula is 1 + sin(angle) W + (1 − cos(angle)) W², where W is the cross-product matrix of
    the axis.
    """
    x, y, z = axis
    W = ir.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return _IDENTITY + ir.call("sin", angle) * W + (1.0 - ir.call("cos", angle)) * (W @ W)


def _turns(program: EquationSystem, name: str, path: Path, lower: Lowering) -> tuple[Expr, list[_Turn]]:
    """Return the target orientation at the first waypoint, and the rotation of each leg of a path.

    The columns of the orientation, shape (3, 3), are axes in the world frame. The rotation of a leg
    leads from the orientation at one waypoint to the orientation at the next waypoint.
    """
    assert path.orientations is not None
    frames = [Frame(rpy=rpy) for rpy in path.orientations]
    axes = [_axes(program, f"{name}_axes_{k}", frame, lower) for k, frame in enumerate(frames)]
    world = _axes(program, f"{name}_axes", path.frame, lower)
    first = program.define(f"R_{name}_start", world @ axes[0], "1", f"target axes of {name} at its first waypoint")
    pairs = enumerate(pairwise(axes), start=1)
    return first, [_turn(program, f"{name}_{number}", here.T @ there) for number, (here, there) in pairs]


def _axes(program: EquationSystem, name: str, frame: Frame, lower: Lowering) -> Expr:
    if not frame.is_turned_by_parameters:
        return ir.constant(frame.rotation)
    rows = ir.array([[lower(x) for x in row] for row in frame.axes(Expressions())])
    return program.define(name, rows, "1", f"axes of frame {name}")


def _turn(program: EquationSystem, name: str, way: Expr) -> _Turn:
    """Return the axis and angle of a rotation matrix.

    If the matrix is constant, axis and angle are numbers. If the matrix depends on parameters, the
    program receives definitions of axis and angle.
    """
    Q = program.define(f"Q_{name}", way, "1", f"rotation matrix of leg {name}")
    v = 0.5 * _skew_part(Q)
    sine, cosine = ir.call("sqrt", v @ v), 0.5 * (_trace(Q) - 1.0)
    if Q.op == "constant":
        return _number(v.data, float(cosine.data))
    text = f"cosine of the rotation angle of leg {name}, less the cosine of half a turn"
    program.requirements.append(Requirement(cosine - HALF_TURN, NON_NEGATIVE, text))
    sine = program.define(f"sin_{name}", sine, "1", f"sine of the rotation angle of leg {name}")
    # If the sine is below this limit, the rotation is negligible and any rotation axis is correct.
    small = ir.constant(1e-14)
    axis = v / ir.choose(">", sine, small, sine, ir.constant(1.0))
    return _Turn(
        program.define(f"axis_{name}", axis, "1", f"rotation axis of leg {name}, in the axes at its begin"),
        program.define(f"angle_{name}", ir.call("atan2", sine, cosine), "rad", f"rotation angle of leg {name}"),
    )


def _number(v: Sequence[float], cosine: float) -> _Turn:
    sine = float(np.linalg.norm(v))
    if sine < 1e-14:
        return _Turn(_STILL, ir.constant(0.0))
    return _Turn(ir.constant(np.array(v) / sine), ir.constant(np.arctan2(sine, cosine)))


def _trace(Q: Expr) -> Expr:
    return Q[0, 0] + Q[1, 1] + Q[2, 2]


def _skew_part(Q: Expr) -> Expr:
    """Return twice the vector of the skew-symmetric part of a rotation matrix, shape (3,).

    This vector is the rotation axis times 2 sin(angle).
    """
    return ir.array(list(_differences(Q)))


def _differences(Q: Expr) -> Iterator[Expr]:
    for i, j in ((2, 1), (0, 2), (1, 0)):
        yield Q[i, j] - Q[j, i]
