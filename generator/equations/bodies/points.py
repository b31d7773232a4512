"""Points and coordinates as expressions name them: positions, velocities, bias accelerations, Jacobians."""

from __future__ import annotations

from ...language import ir
from ...language.ir import Expr, Index
from ...mechanism import Mechanism
from ...program.program import Program
from .kinematics import Kinematics

BIAS = "_bias"  # names the acceleration for q̈ = 0 inside trees
_AXES = "xyz"


class Points:
    """Names of expressions (`E.x`, `column.angle_dot`) → expressions over the program's symbols."""

    def __init__(self, program: Program, mechanism: Mechanism, kinematics: Kinematics) -> None:
        self.program, self.mechanism, self.kinematics = program, mechanism, kinematics
        self._levers: dict[str, Expr] = {}
        self._levels: dict[str, list[Expr]] = {}
        self._jacobians: dict[str, Expr] = {}

    def __call__(self, name: str) -> Expr:
        """Expression of a name, at the level that the name says."""
        owner, _, quantity = name.partition(".")
        if owner in self.mechanism.points:
            level, axis = _level_and_axis(quantity)
            return self.level(owner, level)[axis]
        if quantity.endswith(BIAS):
            return ir.constant(0.0)
        return ir.symbol(f"{owner}_{quantity}")

    def level(self, point: str, level: int) -> Expr:
        """Shape (3,): position, velocity or bias acceleration of a point, world frame."""
        known = self._levels.setdefault(point, [])
        while len(known) <= level:
            known.append(self._define(point, len(known)))
        return known[level]

    def lever(self, point: str) -> Expr:
        """Shape (3,), m, world axes: from the origin of the point's body to the point."""
        if point not in self._levers:
            lever, text = self.kinematics.lever(self.mechanism.points[point]), f"{point} from its body's origin"
            self._levers[point] = self.program.define(f"lever_{point}", lever, "m", text)
        return self._levers[point]

    def _define(self, point: str, level: int) -> Expr:
        body, lever, kinematics = self.mechanism.points[point].body, self.lever(point), self.kinematics
        if level == 0:
            return self.program.define(f"r_{point}", kinematics.position(body, lever), "m", f"point {point}")
        if level == 1:
            velocity = kinematics.velocity(body, lever)
            return self.program.define(f"v_{point}", velocity, "m/s", f"velocity of {point}")
        bias, text = kinematics.bias_acceleration(body, lever), "for zero accelerations of the coordinates"
        return self.program.define(f"a_{point}", bias, "m/s2", f"acceleration of {point} {text}")

    def jacobian(self, name: str) -> Expr:
        """Shape (n,): how a name's rate depends on the coordinates' rates."""
        owner, _, quantity = name.partition(".")
        n = self.mechanism.n
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
            f"J_{point}", (3, n), parts, None, f"velocity of {point} per coordinate rate; m or 1"
        )


def _level_and_axis(quantity: str) -> tuple[int, int]:
    level = 2 if quantity.endswith(BIAS) else 1 if quantity.startswith("v") else 0
    return level, _AXES.index(quantity.removesuffix(BIAS)[-1])
