"""Conditions between two frames: value, rate, bias acceleration, and the unit wrench that belongs to them.

A condition's rate is linear in the coordinates' rates. Its coefficient for coordinate k is the power of the
condition's unit wrench: (F, N_b) on the body of frame b and (−F, −N_a) on that of frame a, about the world's
origin. The same wrench therefore gives the constraint Jacobian's row and, times a multiplier or a spring
force, what the closure does to the two bodies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mechanism import Closure, JointFrame, KnifeEdge
from ...program import ir
from ...program.ir import Expr
from ...program.program import Program
from ...types.closures import Condition
from .kinematics import Kinematics


@dataclass(frozen=True)
class Relation:
    """A condition as expressions; world axes, wrenches about the world's origin.

    value, rate  the condition and its rate; a knife edge has a rate only
    bias         its second derivative for q̈ = 0
    F            shape (3,): unit force on body b, and opposite on body a
    N_a, N_b     shape (3,): the unit wrench's moments on b, and opposite on a
    """

    value: Expr
    rate: Expr
    bias: Expr
    F: Expr
    N_a: Expr
    N_b: Expr


@dataclass(frozen=True)
class Contact:
    """A relation between bodies a and b (or the ground) that a constraint keeps: its multiplier acts on both."""

    a: int
    b: int
    relation: Relation


@dataclass(frozen=True)
class _Frame:
    """A closure's frame in motion: origin r, its velocity and bias acceleration; axes R; w and z of its body."""

    r: Expr
    v: Expr
    a: Expr
    R: Expr
    w: Expr
    z: Expr

    def axis(self, i: int) -> tuple[Expr, Expr, Expr]:
        """Axis i, its rate and its second derivative for q̈ = 0; shape (3,) each."""
        axis = self.R[:, i]
        rate = ir.cross(self.w, axis)
        return axis, rate, ir.cross(self.z, axis) + ir.cross(self.w, rate)


class Loop:
    """The two frames of a closure, defined in the program."""

    def __init__(self, program: Program, kinematics: Kinematics, closure: Closure) -> None:
        self.program, self.closure = program, closure
        self.a = _frame(program, kinematics, closure.a, f"{closure.name}_a")
        self.b = _frame(program, kinematics, closure.b, f"{closure.name}_b")
        name = closure.name
        self.rho = program.define(f"rho_{name}", self.b.r - self.a.r, "m", f"{name}: from frame a to frame b")
        self.rho_dot = program.define(f"rho_{name}_dot", self.b.v - self.a.v, "m/s", f"{name}: its rate")
        self.rho_bias = program.define(
            f"rho_{name}_bias", self.b.a - self.a.a, "m/s2", f"{name}: its acceleration without the coordinates'"
        )

    def relation(self, condition: Condition) -> Relation:
        """The condition between the two frames."""
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

    def _along(self, axis: Expr, rate: Expr, bias: Expr, *, moving: bool) -> Relation:
        """ρ·axis; an axis that moves with body a carries the force to b's origin on both bodies."""
        N_b = ir.cross(self.b.r, axis)
        return Relation(
            axis @ self.rho,
            axis @ self.rho_dot + rate @ self.rho,
            axis @ self.rho_bias + 2.0 * (rate @ self.rho_dot) + bias @ self.rho,
            axis,
            N_b if moving else ir.cross(self.a.r, axis),
            N_b,
        )

    def _between(self, a: int, b: int) -> Relation:
        """axis_a·axis_b: a moment about axis_b × axis_a turns b so that it grows."""
        (e, e_dot, e_bias), (f, f_dot, f_bias) = self.a.axis(a), self.b.axis(b)
        N = ir.cross(f, e)
        bias = e_bias @ f + 2.0 * (e_dot @ f_dot) + e @ f_bias
        return Relation(e @ f, e_dot @ f + e @ f_dot, bias, ir.zeros(3), N, N)

    def _distance(self) -> Relation:
        length = ir.lift(self.closure.length)
        F = self.program.define(
            f"direction_{self.closure.name}", self.rho / length, "1", f"{self.closure.name}: along the distance"
        )
        N = ir.cross(self.b.r, F)
        return Relation(
            (F @ self.rho - length) / 2.0,
            F @ self.rho_dot,
            F @ self.rho_bias + (self.rho_dot @ self.rho_dot) / length,
            F,
            N,
            N,
        )


def _frame(program: Program, kinematics: Kinematics, frame: JointFrame, name: str) -> _Frame:
    motion = kinematics.motion(frame.place.body)
    r = program.define(f"r_{name}", kinematics.position(frame.place), "m", f"origin of frame {name}")
    v = program.define(f"v_{name}", kinematics.velocity(frame.place, r), "m/s", f"velocity of {name}")
    a = kinematics.bias_acceleration(frame.place, r, v)
    R = program.define(f"R_{name}", motion.R @ ir.constant(frame.rotation), "1", f"axes of frame {name}")
    bias = program.define(f"a_{name}", a, "m/s2", f"acceleration of {name} without the coordinates'")
    return _Frame(r, v, bias, R, motion.w, motion.z)


def knife_edge(program: Program, kinematics: Kinematics, edge: KnifeEdge) -> Relation:
    """Velocity of the edge's point along its normal, which is b's; body a is the ground (P1 (30))."""
    motion, name = kinematics.motion(edge.place.body), edge.name
    r = program.define(f"r_{name}", kinematics.position(edge.place), "m", f"contact of {name}")
    v = program.define(
        f"v_{name}", kinematics.velocity(edge.place, r), "m/s", f"velocity of the contact of {name}"
    )
    normal = program.define(f"normal_{name}", motion.R @ ir.constant(edge.normal), "1", f"normal of {name}")
    bias = kinematics.bias_acceleration(edge.place, r, v)
    N = ir.cross(r, normal)
    return Relation(ir.constant(0.0), normal @ v, normal @ bias + ir.cross(motion.w, normal) @ v, normal, N, N)


def jacobian_row(kinematics: Kinematics, contact: Contact) -> dict[int, Expr]:
    """Coordinate → the condition's rate per coordinate rate."""
    mechanism, relation = kinematics.mechanism, contact.relation
    behind_a, behind_b = set(mechanism.ancestors(contact.a)), set(mechanism.ancestors(contact.b))
    row: dict[int, Expr] = {}
    for k in sorted(behind_a | behind_b):
        N, F = ir.zeros(3), ir.zeros(3)
        if k in behind_b:
            N, F = relation.N_b, relation.F
        if k in behind_a:
            # a coordinate that moves both bodies alike does not change the condition
            N = N - relation.N_a if N is not relation.N_a else ir.zeros(3)
            F = F - relation.F if F is not relation.F else ir.zeros(3)
        row[k] = kinematics.axes[k].e @ N + kinematics.axes[k].u @ F
    return row
