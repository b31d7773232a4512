"""Expressions for quantities of points, axes and coordinates to which a description refers by name.

The module also derives the rates, bias accelerations and Jacobians of these quantities.
"""

from __future__ import annotations

from collections.abc import Container

from ....language import expressions, ir
from ....language.ir import Expr, Index
from ....mechanism.symbolic import SymbolicMechanism
from ...program.program import EquationSystem
from .kinematics import SymbolicKinematics
from .lengths import BIAS, Lengths

_AXES = "xyz"


class Points:
    """Map from names such as `E.x`, `E.R13` or `column.angle_dot` to expressions over program symbols."""

    def __init__(
        self, program: EquationSystem, mechanism: SymbolicMechanism, kinematics: SymbolicKinematics
    ) -> None:
        self.program, self.mechanism, self.kinematics = program, mechanism, kinematics
        self._by_law = {i.own: i.name for e in mechanism.elements for i in (*e.inputs, *e.sampled)} | {
            f"{element.name}.{quantity}": measure.signal.name
            for element in mechanism.elements
            for quantity, measure in element.signals.items()
        }
        self._levers: dict[str, Expr] = {}
        self._levels: dict[str, list[Expr]] = {}
        self._jacobians: dict[str, Expr] = {}
        self._axes: dict[tuple[str, int], list[Expr]] = {}
        self._turnings: dict[tuple[str, int], Expr] = {}
        self.lengths = Lengths(program, mechanism.n)
        # The accelerations of the coordinates are None until the equations of motion define them.
        self.qdd: Expr | None = None

    def __call__(self, name: str) -> Expr:
        """Return the expression for a name such as `E.x`, `E.vx` or `column.angle_ddot`."""
        if name in self._by_law:
            return ir.symbol(self._by_law[name])
        owner, _, quantity = name.partition(".")
        if expressions.level(name) == 2 and not quantity.endswith(BIAS):
            return self._acceleration(name)
        if self.lengths.knows(name):
            return self.lengths(name)
        if is_cosine(name, self.mechanism.points):
            return self._axis(owner, int(quantity[2]) - 1, _rates_in(quantity))[int(quantity[1]) - 1]
        if owner in self.mechanism.points:
            level, axis = _level_and_axis(quantity)
            return self.level(owner, level)[axis]
        if quantity.endswith(BIAS):
            return ir.constant(0.0)
        return ir.symbol(f"{owner}_{quantity}")

    def _acceleration(self, name: str) -> Expr:
        rate = expressions.rate_of(name)
        if self.qdd is None:
            raise ValueError(
                f"the acceleration {name} is not defined yet; define the accelerations of the coordinates first"
            )
        return self(f"{rate}{BIAS}") + self.jacobian(rate) @ self.qdd

    def level(self, point: str, level: int) -> Expr:
        """Return the position, velocity or bias acceleration of a point, shape (3,), world frame.

        The argument `level` is 0 for the position, 1 for the velocity, and 2 for the bias acceleration.
        """
        known = self._levels.setdefault(point, [])
        while len(known) <= level:
            known.append(self._define(point, len(known)))
        return known[level]

    def lever(self, point: str) -> Expr:
        """Return the vector from a body's origin to a point of the body, shape (3,), m, world axes."""
        if point not in self._levers:
            lever, text = (
                self.kinematics.lever(self.mechanism.points[point]),
                f"position of point {point} relative to the origin of its body",
            )
            self._levers[point] = self.program.define(f"lever_{point}", lever, "m", text)
        return self._levers[point]

    def _define(self, point: str, level: int) -> Expr:
        body, lever, kinematics = self.mechanism.points[point].body, self.lever(point), self.kinematics
        if level == 0:
            return self.program.define(
                f"r_{point}", kinematics.position(body, lever), "m", f"position of point {point}, world frame"
            )
        if level == 1:
            velocity = kinematics.velocity(body, lever)
            return self.program.define(f"v_{point}", velocity, "m/s", f"velocity of point {point}")
        bias, text = kinematics.bias_acceleration(body, lever), "if all coordinate accelerations are zero"
        return self.program.define(f"a_{point}", bias, "m/s2", f"acceleration of point {point} {text}")

    def jacobian(self, name: str) -> Expr:
        """Return the Jacobian of a named position or length with respect to the coordinates, shape (n,).

        Element k is the time derivative of the position or length for a unit rate of coordinate k.
        """
        owner, _, quantity = name.partition(".")
        n = self.mechanism.n
        if self.lengths.knows(name):
            return self.lengths.jacobian(name)
        if is_cosine(name, self.mechanism.points):
            return self._turning(owner, int(quantity[2]) - 1)[int(quantity[1]) - 1, :]
        if owner not in self.mechanism.points:
            k = self.mechanism.coordinate_index(name.removesuffix("_dot").removesuffix("_ddot"))
            return ir.constant([1.0 if j == k else 0.0 for j in range(n)])
        if owner not in self._jacobians:
            self._jacobians[owner] = self._define_jacobian(owner)
        return self._jacobians[owner][_level_and_axis(quantity)[1], :]

    def _define_jacobian(self, point: str) -> Expr:
        columns = self.kinematics.jacobian_columns(self.mechanism.points[point].body, self.lever(point))
        n = self.mechanism.n
        parts: list[tuple[Index, Expr]] = [((slice(0, 3), k), columns.get(k, ir.zeros(3))) for k in range(n)]
        return self.program.assemble(
            f"J_{point}",
            (3, n),
            parts,
            None,
            f"derivative of the velocity of point {point} with respect to each coordinate rate; m or 1",
        )

    def _axis(self, point: str, j: int, level: int) -> Expr:
        """Return axis j of the frame at a point, or a time derivative of this axis, shape (3,).

        The argument `level` is 0 for the axis, 1 for its rate in 1/s, and 2 for its second derivative
        for q̈ = 0 in 1/s².
        """
        known = self._axes.setdefault((point, j), [])
        while len(known) <= level:
            known.append(self._define_axis(point, j, known))
        return known[level]

    def _define_axis(self, point: str, j: int, known: list[Expr]) -> Expr:
        frame, x = self.mechanism.frames[point], _AXES[j]
        motion, define = self.kinematics.motion(frame.place.body), self.program.define
        if not known:
            return define(f"axis_{x}_{point}", motion.R @ frame.rotation[:, j], "1", f"axis {x} of {point}")
        if len(known) == 1:
            rate = ir.cross(motion.w, known[0])
            return define(f"axis_{x}_{point}_dot", rate, "1/s", f"time derivative of axis {x} of {point}")
        bias = ir.cross(motion.dw, known[0]) + ir.cross(motion.w, known[1])
        text = f"second derivative of axis {x} of {point}, if all coordinate accelerations are zero"
        return define(f"axis_{x}_{point}_ddot", bias, "1/s2", text)

    def _turning(self, point: str, j: int) -> Expr:
        """Return the Jacobian of one axis of the frame at a point, shape (3, n).

        The axis is the unit vector with the number j. Column k of the Jacobian is the time derivative
        of this vector for a unit rate of coordinate k.
        """
        if (point, j) not in self._turnings:
            axis, mechanism = self._axis(point, j, 0), self.mechanism
            moving = mechanism.ancestors(mechanism.frames[point].place.body)
            columns = {k: ir.cross(self.kinematics.axes[k].e, axis) for k in moving}
            parts: list[tuple[Index, Expr]] = [
                ((slice(0, 3), k), columns.get(k, ir.zeros(3))) for k in range(mechanism.n)
            ]
            text = f"derivative of the rate of axis {_AXES[j]} of {point} with respect to each coordinate rate"
            self._turnings[point, j] = self.program.assemble(
                f"J_axis_{_AXES[j]}_{point}", (3, mechanism.n), parts, None, text
            )
        return self._turnings[point, j]


def is_cosine(name: str, points: Container[str]) -> bool:
    """Whether a name denotes an element of a point's rotation matrix, or a derivative of this element."""
    owner, _, quantity = name.partition(".")
    return owner in points and quantity.startswith("R")


def _rates_in(quantity: str) -> int:
    return 2 if quantity.endswith(BIAS) else int(quantity.endswith("_dot"))


def _level_and_axis(quantity: str) -> tuple[int, int]:
    level = 2 if quantity.endswith(BIAS) else 1 if quantity.startswith("v") else 0
    return level, _AXES.index(quantity.removesuffix(BIAS)[-1])
