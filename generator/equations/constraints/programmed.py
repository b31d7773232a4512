"""Programmed constraints and base fixation as expressions (P0 (28)–(32)).

Derivatives are symbolic: Φ is an expression in points and coordinates, whose own rates and bias
accelerations come from the kinematics.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from ...description.tables.task import Path
from ...language import differentiate, expressions, ir
from ...language.differentiate import ZERO
from ...language.ir import Expr
from ...mechanism import Mechanism
from ..bodies.points import BIAS

_AXES = "xyz"


@dataclass(frozen=True)
class Task:
    """One constraint as expressions of known names.

    Parameters:
        order     0, 1 or 2: it is about positions, velocities or accelerations
        given     the expression that is to be zero
        position  Φ, or 0 for order 1 and 2
        velocity  Φ̇, or Ψ for order 1, or 0 for order 2
        bias      Φ̈, or Ψ̇, or Ψ for order 2, for q̈ = 0
        drift     the velocity for q̇ = 0
    """

    name: str
    order: int
    given: Expr
    position: Expr
    velocity: Expr
    bias: Expr
    drift: Expr


def rate(tree: Expr, points: Container[str]) -> Expr:
    """Time derivative for q̈ = 0, by the chain rule over its names; `points` are names of points."""
    total = differentiate.derivative(tree, "t")
    for name in dict.fromkeys(expressions.running_names(tree)):
        if "." in name:
            total = total + differentiate.derivative(tree, name) * ir.symbol(_next(name, points))
    return total


def _next(name: str, points: Container[str]) -> str:
    """Name of a moving name's rate."""
    owner, _, quantity = name.partition(".")
    if expressions.level(name) == 1:
        return f"{name}{BIAS}"
    return f"{owner}.v{quantity}" if owner in points else f"{name}_dot"


def tasks(mechanism: Mechanism) -> list[Task]:
    """Programmed constraints in the file's order."""
    found: list[Task] = []
    for entry in mechanism.programmed:
        if entry.expression is not None:
            tree = differentiate.expand(entry.expression)
            found.append(_task(entry.name, tree, entry.order, mechanism.points))
        if entry.path is not None:
            trees = _path_trees(entry.path)
            found += [_task(f"{entry.name}_{axis}", tree, 0, mechanism.points) for axis, tree in trees]
    return found


def _task(name: str, tree: Expr, order: int, points: Container[str]) -> Task:
    if order == 2:
        return Task(name, 2, tree, ZERO, ZERO, differentiate.substituted(tree, _biases(tree)), ZERO)
    velocity = tree if order == 1 else rate(tree, points)
    still: dict[str, Expr] = {
        name: ZERO for name in expressions.running_names(velocity) if expressions.level(name)
    }
    position = ZERO if order == 1 else tree
    return Task(
        name, order, tree, position, velocity, rate(velocity, points), differentiate.substituted(velocity, still)
    )


def _biases(tree: Expr) -> dict[str, Expr]:
    """What stands for accelerations if those of the coordinates are zero."""
    found: dict[str, Expr] = {}
    for name in expressions.running_names(tree):
        if expressions.level(name) == 2:
            owner, _, quantity = name.partition(".")
            velocity = (
                f"v{quantity[-1]}" if quantity in ("ax", "ay", "az") else quantity.removesuffix("_ddot") + "_dot"
            )
            found[name] = ir.symbol(f"{owner}.{velocity}{BIAS}")
    return found


def _path_trees(path: Path) -> Sequence[tuple[str, Expr]]:
    """Component of R_Pᵀ(r_E − r_P(t)) for each prescribed component (P0 (29))."""
    rotation, origin = path.frame.rotation, path.frame.offset
    trees = []
    for axis in path.components:
        i = _AXES.index(axis)
        actual = ZERO
        for j in range(3):
            if rotation[j, i] != 0.0:
                actual = actual + rotation[j, i] * ir.symbol(f"{path.point}.{_AXES[j]}")
        offset = float(rotation[:, i] @ origin)
        trees.append((axis, actual - offset - _leg_sum(path, i)))
    return trees


def _leg_sum(path: Path, i: int) -> Expr:
    """Component i of the path: w_0 + Σ (w_{k+1} − w_k)·step in leg k; holds the last waypoint (P0 (28))."""
    total = ir.constant(path.waypoints[0][i])
    for k in range(len(path.waypoints) - 1):
        change = path.waypoints[k + 1][i] - path.waypoints[k][i]
        if change != 0.0:
            times = k * path.leg_time, (k + 1) * path.leg_time
            step = ir.call("quintic", ir.symbol("t"), *map(ir.constant, (*times, 0.0, change)))
            total = total + differentiate.expand(step)
    return total
