"""Constraint rows: programmed expressions and paths, base fixation (design 4.3; P0 (23)–(24), (29)–(32)).

Velocity level C q̇ = ν, acceleration level C q̈ = γ. Derivatives are symbolic: Φ is an expression in
points and coordinates, whose own rates and bias accelerations come from the kinematics.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

from . import differentiate, expressions, ir
from .description.consistency import is_velocity
from .description.task import Path
from .differentiate import add, mul
from .expressions import Apply, Name, Number, Tree
from .ir import Expr, Index
from .kinematics import Kinematics
from .lowering import Lowering
from .mechanism import Mechanism
from .program import Program

_BIAS = "_bias"  # names the acceleration for q̈ = 0 inside trees
_AXES = "xyz"


@dataclass(frozen=True)
class Row:
    """One constraint; trees over known names.

    Parameters:
        position  Φ, or None for order 1
        velocity  Φ̇, or Ψ for order 1
        fixes     index of the coordinate that the row alone holds at a value, or None
    """

    name: str
    position: Tree | None
    velocity: Tree
    fixes: int | None = None


@dataclass(frozen=True)
class Constraints:
    """The rows; symbols of C, shape (m, n), and of Φ, Φ̇ and γ, shape (m,); units follow the rows'."""

    rows: tuple[Row, ...]
    C: Expr
    Phi: Expr
    Phi_dot: Expr
    gamma: Expr


class Points:
    """Names of expressions (`E.x`, `column.angle_dot`) → expressions over the program's symbols."""

    def __init__(self, program: Program, mechanism: Mechanism, kinematics: Kinematics) -> None:
        self.program, self.mechanism, self.kinematics = program, mechanism, kinematics
        self._levels: dict[str, list[Expr]] = {}
        self._jacobians: dict[str, Expr] = {}

    def __call__(self, name: str) -> Expr:
        """Expression of a name, at the level that the name says."""
        owner, _, quantity = name.partition(".")
        if owner in self.mechanism.points:
            level, axis = _level_and_axis(quantity)
            return self.level(owner, level)[axis]
        if quantity.endswith(_BIAS):
            return ir.constant(0.0)
        return ir.symbol(f"{owner}_{quantity}")

    def level(self, point: str, level: int) -> Expr:
        """Shape (3,): position, velocity or bias acceleration of a point, world frame."""
        place, known = self.mechanism.points[point], self._levels.setdefault(point, [])
        while len(known) <= level:
            known.append(self._define(point, len(known), known))
        assert place is not None
        return known[level]

    def _define(self, point: str, level: int, known: list[Expr]) -> Expr:
        place = self.mechanism.points[point]
        if level == 0:
            return self.program.define(f"r_{point}", self.kinematics.position(place), "m", f"point {point}")
        if level == 1:
            velocity = self.kinematics.velocity(place, known[0])
            return self.program.define(f"v_{point}", velocity, "m/s", f"velocity of {point}")
        bias = self.kinematics.bias_acceleration(place, known[0], known[1])
        return self.program.define(
            f"a_{point}", bias, "m/s2", f"acceleration of {point} without that of the coordinates"
        )

    def jacobian(self, name: str) -> Expr:
        """Shape (n,): how a name's rate depends on the coordinates' rates."""
        owner, _, quantity = name.partition(".")
        n = self.mechanism.n
        if owner not in self.mechanism.points:
            k = self.mechanism.coordinate_index(name.removesuffix("_dot"))
            return ir.constant([1.0 if j == k else 0.0 for j in range(n)])
        if owner not in self._jacobians:
            self._jacobians[owner] = self._define_jacobian(owner)
        return self._jacobians[owner][_level_and_axis(quantity)[1], :]

    def _define_jacobian(self, point: str) -> Expr:
        columns = self.kinematics.jacobian_columns(self.mechanism.points[point], self.level(point, 0))
        n = self.mechanism.n
        parts: list[tuple[Index, Expr]] = [
            ((slice(0, 3), k), columns.get(k, ir.zeros(3))) for k in range(n)
        ]
        return self.program.assemble(
            f"J_{point}", (3, n), parts, None, f"velocity of {point} per coordinate rate; m or 1"
        )


def _level_and_axis(quantity: str) -> tuple[int, int]:
    level = 2 if quantity.endswith(_BIAS) else 1 if quantity.startswith("v") else 0
    return level, _AXES.index(quantity.removesuffix(_BIAS)[-1])


def rate(tree: Tree, points: Container[str]) -> Tree:
    """Time derivative of a tree for q̈ = 0, by the chain rule over its names; `points` are names of points."""
    total: Tree = differentiate.derivative(tree, "t")
    for name in dict.fromkeys(expressions.running_names(tree)):
        if "." in name:
            total = add(total, mul(differentiate.derivative(tree, name), Name(_next(name, points))))
    return total


def _next(name: str, points: Container[str]) -> str:
    """Name of a moving name's rate."""
    owner, _, quantity = name.partition(".")
    if is_velocity(name):
        return f"{name}{_BIAS}"
    return f"{owner}.v{quantity}" if owner in points else f"{name}_dot"


def rows(mechanism: Mechanism) -> list[Row]:
    """All constraint rows: programmed ones in the file's order, then those that hold a coordinate."""
    found: list[Row] = []
    for entry in mechanism.programmed:
        if entry.path is not None:
            trees = _path_trees(entry.path)
            found += [_row(f"{entry.name}_{axis}", tree, mechanism.points) for axis, tree in trees]
            continue
        tree = differentiate.expand(expressions.parse(entry.expression or ""))
        row = _row(entry.name, tree, mechanism.points) if entry.order == 0 else Row(entry.name, None, tree)
        found.append(row)
    if mechanism.base_fixed:
        for k in mechanism.bodies[0].coordinates:
            coordinate = mechanism.coordinates[k]
            held = Name(coordinate.name)
            found.append(Row(coordinate.symbol, held, rate(held, ()), fixes=k))
    return found


def _row(name: str, tree: Tree, points: Container[str]) -> Row:
    return Row(name, tree, rate(tree, points))


def _path_trees(path: Path) -> Sequence[tuple[str, Tree]]:
    """Component of R_Pᵀ(r_E − r_P(t)) for each prescribed component (P0 (29))."""
    rotation, origin = path.frame.rotation, path.frame.offset
    trees = []
    for axis in path.components:
        i = _AXES.index(axis)
        actual: Tree = Number(0.0)
        for j in range(3):
            if rotation[j, i] != 0.0:
                actual = add(actual, mul(Number(float(rotation[j, i])), Name(f"{path.point}.{_AXES[j]}")))
        offset = float(rotation[:, i] @ origin)
        trees.append((axis, differentiate.sub(differentiate.sub(actual, Number(offset)), _leg_sum(path, i))))
    return trees


def _leg_sum(path: Path, i: int) -> Tree:
    """Component i of the path: w_0 + Σ (w_{k+1} − w_k)·step in leg k; holds the last waypoint (P0 (28))."""
    total: Tree = Number(path.waypoints[0][i])
    for k in range(len(path.waypoints) - 1):
        change = path.waypoints[k + 1][i] - path.waypoints[k][i]
        if change != 0.0:
            begin, end = Number(k * path.leg_time), Number((k + 1) * path.leg_time)
            step = Apply("quintic", (Name("t"), begin, end, Number(0.0), Number(change)))
            total = add(total, differentiate.expand(step))
    return total


def derive(program: Program, mechanism: Mechanism, points: Points, lower: Lowering) -> Constraints | None:
    """Define Φ, Φ̇, C and γ; None if there are no constraints."""
    found = rows(mechanism)
    if not found:
        return None
    program.section("constraints")
    for row in found:
        lower.add_breakpoints(row.position or row.velocity)
    m, n = len(found), mechanism.n

    def column(name: str, tree: Callable[[Row], Tree], text: str) -> Expr:
        parts: list[tuple[Index, Expr]] = [((i,), lower(tree(row))) for i, row in enumerate(found)]
        return program.assemble(name, (m,), parts, None, text)

    names = ", ".join(row.name for row in found)
    Phi = column("Phi", lambda row: row.position or Number(0.0), f"constraints {names}")
    Phi_dot = column("Phi_dot", lambda row: row.velocity, "their rates")
    C_parts: list[tuple[Index, Expr]] = [
        ((i, slice(0, n)), _jacobian_row(row, points, lower, n)) for i, row in enumerate(found)
    ]
    C = program.assemble("C", (m, n), C_parts, None, "constraint Jacobian")
    bias = {row.name: differentiate.negative(rate(row.velocity, mechanism.points)) for row in found}
    gamma = column("gamma", lambda row: bias[row.name], "C*qdd = gamma")
    return Constraints(tuple(found), C, Phi, Phi_dot, gamma)


def _jacobian_row(row: Row, points: Points, lower: Lowering, n: int) -> Expr:
    """∂Φ/∂q, or ∂Ψ/∂q̇ for order 1: by the names whose rates are linear in the coordinates' rates."""
    total: Expr = ir.zeros(n)
    level = expressions.running_names(row.position or row.velocity)
    for name in dict.fromkeys(level):
        if "." in name and (row.position is not None or is_velocity(name)):
            slope = lower(differentiate.derivative(row.position or row.velocity, name))
            total = total + slope * points.jacobian(name)
    return total


def is_linear(expression: str) -> bool:
    """Whether an expression of order 1 is linear in the velocities: no slope by one has another in it."""
    tree = differentiate.expand(expressions.parse(expression))
    velocities = {name for name in expressions.running_names(tree) if is_velocity(name)}
    slopes = [differentiate.derivative(tree, name) for name in velocities]
    return not any(velocities & set(expressions.running_names(slope)) for slope in slopes)

