"""Scalar constraints between two frames, with their time derivatives and their unit wrenches.

The unit wrench of a constraint is a force F with a moment N on the body of frame b. The opposite wrench
acts on the body of frame a. The element of the constraint Jacobian for a coordinate is the power of
both wrenches per unit rate of this coordinate. The reaction is the unit wrench times a multiplier. If
springs replace the constraint, the spring force takes the place of the multiplier.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....description.types.closures import Condition
from ....language import ir
from ....language.ir import Expr
from ....mechanism.symbolic import SymbolicFrame, SymbolicKnifeEdge, SymbolicLoopClosure
from ...program.program import EquationSystem
from .kinematics import SymbolicKinematics


@dataclass(frozen=True)
class ConstraintExpressions:
    """Scalar constraint between two frames; all vectors are in world axes.

    Attributes
    ----------
    value, rate
        Residual of the constraint, and the time derivative of the residual. The residual of a knife
        edge is always 0, because a knife edge restricts velocities only.
    bias
        Second time derivative of the residual for q̈ = 0.
    F, N
        Force and moment on body b for a unit multiplier, shape (3,) each. The opposite force and moment
        act on body a.
    at_a, at_b
        Points of application on bodies a and b, each relative to the origin of the body, shape
        (3,), m.
    """

    value: Expr
    rate: Expr
    bias: Expr
    F: Expr
    N: Expr
    at_a: Expr
    at_b: Expr


@dataclass(frozen=True)
class ConstrainedPair:
    """Two bodies whose relative motion a scalar constraint restricts; body a can be the ground.

    The constraint force or moment acts on both bodies with opposite signs.
    """

    a: int
    b: int
    relation: ConstraintExpressions


@dataclass(frozen=True)
class _Frame:
    """Pose and motion of one frame of a loop closure; all vectors are in world axes.

    Attributes
    ----------
    lever
        Vector from the body's origin to the frame's origin, shape (3,), m.
    v, a
        Velocity, m/s, and bias acceleration, m/s², of the frame's origin, shape (3,) each.
    R
        Axes of the frame, shape (3, 3).
    w, dw
        Angular velocity, rad/s, and bias angular acceleration, rad/s², shape (3,) each.
    """

    lever: Expr
    v: Expr
    a: Expr
    R: Expr
    w: Expr
    dw: Expr

    def axis(self, i: int) -> tuple[Expr, Expr, Expr]:
        """Return axis i of the frame and its first and second time derivatives, shape (3,) each.

        The second derivative is the value for q̈ = 0.
        """
        axis = self.R[:, i]
        rate = ir.cross(self.w, axis)
        return axis, rate, ir.cross(self.dw, axis) + ir.cross(self.w, rate)


class ClosureFrames:
    """Both frames of a loop closure, as symbols of the program.

    The constructor defines the relative position, velocity and bias acceleration of the frames in the
    program.
    """

    def __init__(
        self, program: EquationSystem, kinematics: SymbolicKinematics, closure: SymbolicLoopClosure
    ) -> None:
        self.program, self.closure = program, closure
        self.a = _frame(program, kinematics, closure.a, f"{closure.name}_a")
        self.b = _frame(program, kinematics, closure.b, f"{closure.name}_b")
        name = closure.name
        bodies = closure.a.place.body, closure.b.place.body
        rho = kinematics.between(bodies[0], self.a.lever, bodies[1], self.b.lever)
        self.rho = program.define(f"rho_{name}", rho, "m", f"closure {name}: vector from frame a to frame b")
        self.rho_dot = program.define(
            f"rho_{name}_dot",
            self.b.v - self.a.v,
            "m/s",
            f"closure {name}: time derivative of the vector from frame a to frame b",
        )
        text = "acceleration of frame b relative to frame a, if all coordinate accelerations are zero"
        self.rho_bias = program.define(f"rho_{name}_bias", self.b.a - self.a.a, "m/s2", f"closure {name}: {text}")

    def relation(self, condition: Condition) -> ConstraintExpressions:
        """Return a scalar constraint between the two frames, with its derivatives and its unit wrench."""
        match condition.kind:
            case "along":
                return self._along(*self.a.axis(condition.a), moving=True)
            case "along_world":
                axis = ir.constant(np.eye(3)[condition.a])
                return self._along(axis, ir.zeros(3), ir.zeros(3), moving=False)
            case "between":
                return self._between(condition.a, condition.b)
            case "distance":
                return self._distance()

    def _along(self, axis: Expr, rate: Expr, bias: Expr, *, moving: bool) -> ConstraintExpressions:
        """Return the constraint that the origins of both frames have no distance along a given axis.

        If `moving` is true, the axis moves with body a. The constraint force then acts on both bodies
        at the origin of frame b.
        """
        return ConstraintExpressions(
            axis @ self.rho,
            axis @ self.rho_dot + rate @ self.rho,
            axis @ self.rho_bias + 2.0 * (rate @ self.rho_dot) + bias @ self.rho,
            axis,
            ir.zeros(3),
            self.a.lever + self.rho if moving else self.a.lever,
            self.b.lever,
        )

    def _between(self, a: int, b: int) -> ConstraintExpressions:
        """Return the constraint that an axis of the first frame is perpendicular to an axis of the second frame.

        The arguments `a` and `b` are the numbers of these axes.

            The unit moment is the vector product axis_b × axis_a. It tends to increase the scalar product of
            the two axes.
        """
        (e, e_dot, e_bias), (f, f_dot, f_bias) = self.a.axis(a), self.b.axis(b)
        N = ir.cross(f, e)
        bias = e_bias @ f + 2.0 * (e_dot @ f_dot) + e @ f_bias
        return ConstraintExpressions(
            e @ f, e_dot @ f + e @ f_dot, bias, ir.zeros(3), N, self.a.lever, self.b.lever
        )

    def _distance(self) -> ConstraintExpressions:
        length = self.closure.length
        assert length is not None
        F = self.program.define(
            f"direction_{self.closure.name}",
            self.rho / length,
            "1",
            f"closure {self.closure.name}: direction from frame a to frame b",
        )
        return ConstraintExpressions(
            (F @ self.rho - length) / 2.0,
            F @ self.rho_dot,
            F @ self.rho_bias + (self.rho_dot @ self.rho_dot) / length,
            F,
            ir.zeros(3),
            self.a.lever,
            self.b.lever,
        )


def _frame(program: EquationSystem, kinematics: SymbolicKinematics, frame: SymbolicFrame, name: str) -> _Frame:
    body, motion = frame.place.body, kinematics.motion(frame.place.body)
    lever = program.define(
        f"lever_{name}",
        kinematics.lever(frame.place),
        "m",
        f"origin of frame {name} relative to the origin of its body",
    )
    v = program.define(f"v_{name}", kinematics.velocity(body, lever), "m/s", f"velocity of frame {name}")
    R = program.define(f"R_{name}", motion.R @ frame.rotation, "1", f"axes of frame {name}")
    text = f"acceleration of frame {name}, if all coordinate accelerations are zero"
    bias = program.define(f"a_{name}", kinematics.bias_acceleration(body, lever), "m/s2", text)
    return _Frame(lever, v, bias, R, motion.w, motion.dw)


def knife_edge(
    program: EquationSystem, kinematics: SymbolicKinematics, edge: SymbolicKnifeEdge
) -> ConstraintExpressions:
    """Return the condition that the contact point of a knife edge has no velocity along the edge's normal.

    This is equation (30) of Wojtyra and Frączek 2013. Body a of the condition is the ground.
    """
    body, motion, name = edge.place.body, kinematics.motion(edge.place.body), edge.name
    lever = program.define(
        f"lever_{name}",
        kinematics.lever(edge.place),
        "m",
        f"position of the contact point of {name} relative to the origin of its body",
    )
    v = program.define(
        f"v_{name}", kinematics.velocity(body, lever), "m/s", f"velocity of the contact point of {name}"
    )
    normal = program.define(
        f"normal_{name}", motion.R @ ir.constant(edge.normal), "1", f"normal vector of knife edge {name}"
    )
    bias = normal @ kinematics.bias_acceleration(body, lever) + ir.cross(motion.w, normal) @ v
    return ConstraintExpressions(ir.constant(0.0), normal @ v, bias, normal, ir.zeros(3), ir.zeros(3), lever)


def jacobian_row(kinematics: SymbolicKinematics, contact: ConstrainedPair) -> dict[int, Expr]:
    """Return the row of the constraint Jacobian that belongs to a constraint between two bodies.

    The result maps the index of a coordinate to the element of the row. Coordinates that move neither
    of the two bodies are omitted. The element is 0 for coordinates that move both bodies.
    """
    mechanism, relation = kinematics.mechanism, contact.relation
    behind_a, behind_b = set(mechanism.ancestors(contact.a)), set(mechanism.ancestors(contact.b))
    row = {k: ir.constant(0.0) for k in behind_a & behind_b}
    row |= {k: _power(kinematics, k, contact.b, relation, relation.at_b) for k in behind_b - behind_a}
    return row | {k: -_power(kinematics, k, contact.a, relation, relation.at_a) for k in behind_a - behind_b}


def _power(kinematics: SymbolicKinematics, k: int, body: int, relation: ConstraintExpressions, at: Expr) -> Expr:
    arm = kinematics.arm(kinematics.owners[k], body) + at
    return kinematics.power(k, relation.N + ir.cross(arm, relation.F), relation.F)
