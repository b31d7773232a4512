"""Programmed constraints as expressions, on all levels (Jarzębowska et al. 2023, equations (28)–(32)).

A constraint Φ is an expression over points and coordinates. The chain rule gives its derivatives in
symbolic form. The kinematics provides the rates and bias accelerations of the points and
coordinates.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ....description.tables.frame import Frame
from ....description.tables.task import Path
from ....description.types.measures import RATES
from ....language import differentiate, expressions, ir
from ....language.differentiate import ONE, ZERO
from ....language.ir import Expr
from ....mechanism.symbolic import SymbolicTask
from ...program.symbols import Expressions
from ..bodies.lengths import BIAS
from ..bodies.points import is_cosine

_AXES = "xyz"
_TIME = ir.symbol("t")


@dataclass(frozen=True)
class Task:
    """One scalar programmed constraint, as expressions over names such as `E.x` and `column.angle`.

    Parameters
    ----------
    order
        Order of the constraint: 0 for positions, 1 for velocities, 2 for accelerations.
    given
        Expression that the constraint sets to zero.
    position
        Constraint function Φ for order 0, and 0 for orders 1 and 2.
    velocity
        Time derivative Φ̇ for order 0, constraint function Ψ for order 1, and 0 for order 2.
    bias
        Φ̈ for order 0, Ψ̇ for order 1, and Ψ for order 2, each evaluated at q̈ = 0.
    drift
        Value of `velocity` for q̇ = 0.
    """

    name: str
    order: int
    given: Expr
    position: Expr
    velocity: Expr
    bias: Expr
    drift: Expr


def rate(tree: Expr, points: Container[str]) -> Expr:
    """Return the time derivative of an expression for q̈ = 0.

    The chain rule is applied to all quantities that the expression refers to by name, such as `E.x`.
    The argument `points` contains the names of all points.
    """
    total = differentiate.derivative(tree, "t")
    for name in dict.fromkeys(expressions.running_names(tree)):
        if "." in name:
            total = total + differentiate.derivative(tree, name) * ir.symbol(_next(name, points))
    return total


def _next(name: str, points: Container[str]) -> str:
    """Return the name of the time derivative of a named quantity."""
    owner, _, quantity = name.partition(".")
    if expressions.level(name) == 1:
        return f"{name}{BIAS}"
    if quantity in RATES:
        return f"{owner}.{RATES[quantity]}"
    return f"{owner}.v{quantity}" if owner in points and not is_cosine(name, points) else f"{name}_dot"


def tasks(entry: SymbolicTask, points: Container[str]) -> list[Task]:
    """Return the constraint equations of a programmed constraint.

    A constraint by an expression has one equation. A constraint by a path has up to three equations.
    """
    if entry.path is not None:
        return [_task(f"{entry.name}_{axis}", tree, 0, points) for axis, tree in _path_trees(entry.path)]
    assert entry.expression is not None
    return [_task(entry.name, differentiate.expand(entry.expression), entry.order, points)]


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
    """Return the bias acceleration, i.e. the value for q̈ = 0, of each acceleration in an expression.

    The keys of the result are the names of the accelerations.
    """
    found: dict[str, Expr] = {}
    for name in expressions.running_names(tree):
        if expressions.level(name) == 2:
            found[name] = ir.symbol(f"{expressions.rate_of(name)}{BIAS}")
    return found


def _path_trees(path: Path) -> Sequence[tuple[str, Expr]]:
    """Return the components of the position error that a path constrains to zero.

    The position error is R_Pᵀ(r_E − r_P(t)) (Jarzębowska et al. 2023, equation (29)). The columns of
    R_P are the axes of the path's frame. The point that follows the path has the position r_E and the
    prescribed position r_P(t).
    """
    rotation, origin = _frame(path.frame)
    trees = []
    for axis in path.components:
        i = _AXES.index(axis)
        actual = ZERO
        for j in range(3):
            actual = actual + rotation[j, i] * ir.symbol(f"{path.point}.{_AXES[j]}")
        offset = ir.array([rotation[j, i] for j in range(3)]) @ origin
        trees.append((axis, actual - offset - _leg_sum(path, i)))
    return trees


def _frame(frame: Frame) -> tuple[Expr, Expr]:
    numbers = Expressions()
    axes = ir.array(frame.axes(numbers)) if frame.is_turned_by_parameters else ir.constant(frame.rotation)
    origin = ir.array(frame.origin(numbers)) if frame.is_given else ir.constant(frame.offset)
    return axes, origin


def _leg_sum(path: Path, i: int) -> Expr:
    """Return component i of a path, w_0 + Σ (w_{k+1} − w_k)·(progress of leg k).

    The vectors w_k are the waypoints (Jarzębowska et al. 2023, equation (28)).
    """
    value = Expressions().value
    waypoints = [value(waypoint[i]) for waypoint in path.waypoints]
    total = waypoints[0]
    for step, (here, there) in zip(steps(path), pairwise(waypoints), strict=True):
        change = there - here
        if not ir.is_zero(change):
            total = total + change * step
    return total


def steps(path: Path) -> list[Expr]:
    """Return the progress of each leg of a path at time t.

    A leg is the part of a path between two consecutive waypoints. The progress of a leg increases from
    0 at the beginning of the leg to 1 at its end, and is constant before and afterwards.
    """
    value = Expressions().value
    legs = path.legs(value)
    if path.profile == "quintic":
        return [ir.call("quintic_0", (_TIME - begin) / duration) for begin, duration in legs]
    ramp = value(path.ramp_share)
    return [_trapezoid(begin, duration, ramp) for begin, duration in legs]


def _trapezoid(begin: Expr, duration: Expr, ramp: Expr) -> Expr:
    """Return a step from 0 to 1 whose rate has a trapezoidal shape.

    The rate rises linearly, is constant and falls linearly. The step consists of a polynomial for
    each of these three time intervals.
    """
    tau, curvature = (_TIME - begin) / duration, 0.5 / (ramp * (1.0 - ramp))
    pieces = [
        (begin, ZERO),
        (begin + ramp * duration, curvature * (tau * tau)),
        (begin + (1.0 - ramp) * duration, (tau - 0.5 * ramp) / (1.0 - ramp)),
        (begin + duration, 1.0 - curvature * ((1.0 - tau) * (1.0 - tau))),
    ]
    step = ONE
    for end, piece in reversed(pieces):
        # A polynomial whose time interval ends at t = 0 is never evaluated, because time is not negative.
        step = step if ir.is_zero(end) else ir.choose("<", _TIME, end, piece, step)
    return step
