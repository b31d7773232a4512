"""Programmed constraints and base fixation as expressions (P0 (28)–(32)).

Derivatives are symbolic: Φ is an expression in points and coordinates, whose own rates and bias
accelerations come from the kinematics.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...description.tables.frame import Frame
from ...description.tables.task import Path
from ...language import differentiate, expressions, ir
from ...language.differentiate import ZERO
from ...language.ir import Expr
from ...mechanism import Mechanism
from ...program.symbols import Expressions
from ...types.measures import RATES
from ..bodies.lengths import BIAS
from ..bodies.points import is_cosine

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
    if quantity in RATES:
        return f"{owner}.{RATES[quantity]}"
    return f"{owner}.v{quantity}" if owner in points and not is_cosine(name, points) else f"{name}_dot"


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
    rotation, origin = _frame(path.frame)
    trees = []
    for axis in path.components:
        i = _AXES.index(axis)
        actual = ZERO
        for j in range(3):
            actual = actual + ir.lift(rotation[j][i]) * ir.symbol(f"{path.point}.{_AXES[j]}")
        column = [rotation[j][i] for j in range(3)]
        if not path.frame.is_given:
            offset = ir.constant(np.array(column) @ np.array(origin))
        else:
            offset = ir.array(column) @ ir.array(origin)
        trees.append((axis, actual - offset - _leg_sum(path, i)))
    return trees


def _frame(frame: Frame) -> tuple[Sequence[Sequence[Any]], Sequence[Any]]:
    """Axes and origin, of numbers where they do not depend on parameters."""
    axes = frame.axes(Expressions()) if frame.is_turned_by_parameters else frame.rotation.tolist()
    return axes, frame.origin(Expressions()) if frame.is_given else frame.offset.tolist()


def _leg_sum(path: Path, i: int) -> Expr:
    """Component i of the path: w_0 + Σ (w_{k+1} − w_k)·step in leg k; holds the last waypoint (P0 (28))."""
    of = Expressions()
    waypoints, leg_time = [of.value(waypoint[i]) for waypoint in path.waypoints], of.value(path.leg_time)
    total = ir.lift(waypoints[0])
    for k in range(len(waypoints) - 1):
        change = ir.lift(waypoints[k + 1] - waypoints[k])
        if not ir.is_zero(change):
            times = k * leg_time, (k + 1) * leg_time
            step = ir.call("quintic", ir.symbol("t"), *map(ir.lift, (*times, 0.0, change)))
            total = total + differentiate.expand(step)
    return total
