"""Programmed constraints and base fixation as expression trees (P0 (28)–(32)).

Derivatives are symbolic: Φ is an expression in points and coordinates, whose own rates and bias
accelerations come from the kinematics.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from . import differentiate, expressions
from .description.task import Path
from .differentiate import add, mul
from .expressions import Apply, Name, Number, Tree
from .mechanism import Mechanism
from .points import BIAS

_AXES = "xyz"


@dataclass(frozen=True)
class Task:
    """One constraint as trees over known names.

    Parameters:
        position  Φ, or None for order 1
        velocity  Φ̇, or Ψ for order 1
        bias      Φ̈, or Ψ̇, for q̈ = 0
    """

    name: str
    position: Tree | None
    velocity: Tree
    bias: Tree

    @property
    def given(self) -> Tree:
        """The expression that is to be zero."""
        return self.velocity if self.position is None else self.position


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
    if expressions.level(name) == 1:
        return f"{name}{BIAS}"
    return f"{owner}.v{quantity}" if owner in points else f"{name}_dot"


def tasks(mechanism: Mechanism) -> list[Task]:
    """Programmed constraints in the file's order."""
    found: list[Task] = []
    for entry in mechanism.programmed:
        if entry.path is not None:
            trees = _path_trees(entry.path)
            found += [_task(f"{entry.name}_{axis}", tree, 0, mechanism.points) for axis, tree in trees]
            continue
        tree = differentiate.expand(expressions.parse(entry.expression or ""))
        found.append(_task(entry.name, tree, entry.order, mechanism.points))
    return found


def _task(name: str, tree: Tree, order: int, points: Container[str]) -> Task:
    if order == 1:
        return Task(name, None, tree, rate(tree, points))
    velocity = rate(tree, points)
    return Task(name, tree, velocity, rate(velocity, points))


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
