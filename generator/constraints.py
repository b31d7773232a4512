"""Constraint rows, stacked: programmed ones, closures, base fixation (design 4.3; P0 (23)–(24), (29)–(32)).

Velocity level C q̇ = ν, acceleration level C q̈ = γ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import differentiate, expressions, ir, loops
from .ir import Expr, Index
from .kinematics import Kinematics
from .loads import Reaction
from .lowering import Lowering
from .mechanism import Closure, Mechanism
from .points import Points
from .program import Program
from .programmed import Task, tasks


@dataclass(frozen=True)
class Row:
    """One constraint.

    Parameters:
        value  Φ, or 0 for order 1
        rate   Φ̇, or Ψ for order 1
        bias   Φ̈, or Ψ̇, for q̈ = 0
        C      shape (n,): its row of the constraint Jacobian
        closure  the closure that it is a condition of, and how that acts on the two bodies
        fixes  index of the coordinate that the row alone holds at a value, or None
    """

    name: str
    value: Expr
    rate: Expr
    bias: Expr
    C: Expr
    fixes: int | None = None
    closure: tuple[Closure, loops.Relation] | None = None


@dataclass(frozen=True)
class Constraints:
    """The rows; symbols of C, shape (m, n), and of Φ, Φ̇ and γ, shape (m,); units follow the rows'."""

    rows: tuple[Row, ...]
    C: Expr
    Phi: Expr
    Phi_dot: Expr
    gamma: Expr

    @property
    def reactions(self) -> tuple[Reaction, ...]:
        """How the multipliers of closures act on bodies."""
        return tuple(Reaction(i, *row.closure) for i, row in enumerate(self.rows) if row.closure is not None)


def row_names(mechanism: Mechanism) -> tuple[str, ...]:
    """Names of all constraint rows: programmed ones in the file's order, closures, then held coordinates."""
    names = [task.name for task in tasks(mechanism)]
    names += [name for closure in mechanism.closures for name in closure.rows]
    return (*names, *(mechanism.coordinates[k].symbol for k in _held(mechanism)))


def _held(mechanism: Mechanism) -> tuple[int, ...]:
    return mechanism.bodies[0].coordinates if mechanism.base_fixed else ()


def derive(
    program: Program,
    mechanism: Mechanism,
    kinematics: Kinematics,
    points: Points,
    lower: Lowering,
) -> Constraints | None:
    """Define Φ, Φ̇, C and γ; None if there are no constraints."""
    program.section("constraints")
    n = mechanism.n
    rows = [_task_row(task, points, lower, n) for task in tasks(mechanism)]
    rows += _closure_rows(program, kinematics)
    rows += [_holding_row(mechanism, k) for k in _held(mechanism)]
    if not rows:
        return None
    program.section("constraints")
    m = len(rows)

    def column(name: str, part: Callable[[Row], Expr], text: str) -> Expr:
        parts: list[tuple[Index, Expr]] = [((i,), part(row)) for i, row in enumerate(rows)]
        return program.assemble(name, (m,), parts, None, text)

    names = ", ".join(row.name for row in rows)
    C_parts: list[tuple[Index, Expr]] = [((i, slice(0, n)), row.C) for i, row in enumerate(rows)]
    return Constraints(
        tuple(rows),
        program.assemble("C", (m, n), C_parts, None, "constraint Jacobian"),
        column("Phi", lambda row: row.value, f"constraints {names}"),
        column("Phi_dot", lambda row: row.rate, "their rates"),
        column("gamma", lambda row: -row.bias, "C*qdd = gamma"),
    )


def _task_row(task: Task, points: Points, lower: Lowering, n: int) -> Row:
    lower.add_breakpoints(task.given)
    value = ir.constant(0.0) if task.position is None else lower(task.position)
    return Row(task.name, value, lower(task.velocity), lower(task.bias), _task_jacobian(task, points, lower, n))


def _task_jacobian(task: Task, points: Points, lower: Lowering, n: int) -> Expr:
    """∂Φ/∂q, or ∂Ψ/∂q̇ for order 1: by the names whose rates are linear in the coordinates' rates."""
    total: Expr = ir.zeros(n)
    for name in dict.fromkeys(expressions.running_names(task.given)):
        if "." in name and (task.position is not None or expressions.level(name) == 1):
            total = total + lower(differentiate.derivative(task.given, name)) * points.jacobian(name)
    return total


def _closure_rows(program: Program, kinematics: Kinematics) -> list[Row]:
    rows = []
    for closure in kinematics.mechanism.closures:
        if closure.stiffness is not None:
            continue
        program.section(f"closure {closure.name}")
        loop = loops.Loop(program, kinematics, closure)
        for name, condition in zip(closure.rows, closure.conditions, strict=True):
            relation = loop.relation(condition)
            entries = loops.jacobian_row(kinematics, closure, relation)
            C = ir.array([entries.get(k, 0.0) for k in range(kinematics.mechanism.n)])
            rows.append(Row(name, relation.value, relation.rate, relation.bias, C, closure=(closure, relation)))
    return rows


def _holding_row(mechanism: Mechanism, k: int) -> Row:
    symbol = mechanism.coordinates[k].symbol
    unit_row = ir.constant([1.0 if j == k else 0.0 for j in range(mechanism.n)])
    return Row(symbol, ir.symbol(symbol), ir.symbol(f"{symbol}_dot"), ir.constant(0.0), unit_row, fixes=k)
