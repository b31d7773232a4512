"""Constraint rows, stacked (Jarzębowska et al. 2023, equations (23)–(24), (29)–(32)).

Programmed ones in the file's order, knife edges (Wojtyra and Frączek 2013, (30)), closures, base fixation.

Velocity level C q̇ = ν, acceleration level C q̈ = γ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ....language import differentiate, expressions, ir
from ....language.ir import Expr, Index
from ....mechanism import GROUND
from ....mechanism.symbolic import SymbolicMechanism, SymbolicTask
from ...program.items import Traits
from ...program.program import Program
from ..bodies import loops
from ..bodies.filters import FilterOutput
from ..bodies.kinematics import SymbolicKinematics
from ..bodies.loops import ConstrainedPair
from ..bodies.lowering import Lowering
from ..bodies.points import Points
from . import orientation
from .programmed import Task, tasks
from .reaction import ConstraintReaction

_NO_DRIFT = ir.constant(0.0)


@dataclass(frozen=True)
class Row:
    """One constraint.

    Parameters:
        value    Φ, or 0 for order 1 and 2
        rate     Φ̇, or Ψ for order 1, or 0 for order 2
        bias     Φ̈, or Ψ̇, or Ψ for order 2, for q̈ = 0
        C        shape (n,): its row of the constraint Jacobian
        drift    the rate for q̇ = 0: −ν of C q̇ = ν
        fixes    index of the coordinate that the row alone holds at a value, or None
        contact  how its multiplier acts on bodies; None: drives and fixture exert it
    """

    name: str
    value: Expr
    rate: Expr
    bias: Expr
    C: Expr
    drift: Expr
    fixes: int | None = None
    contact: ConstrainedPair | None = None


@dataclass(frozen=True)
class ConstraintEquations:
    """The rows; symbols of C, shape (m, n), and of Φ, Φ̇ and γ, shape (m,); units follow the rows'."""

    rows: tuple[Row, ...]
    C: Expr
    Phi: Expr
    Phi_dot: Expr
    gamma: Expr

    @property
    def reactions(self) -> tuple[ConstraintReaction, ...]:
        """Wrenches of the multipliers of cut joints and knife edges on bodies."""
        return tuple(
            ConstraintReaction(i, row.contact) for i, row in enumerate(self.rows) if row.contact is not None
        )

    @property
    def programmed(self) -> tuple[int, ...]:
        """Indices of the rows that drives realise: all but contacts and held coordinates."""
        return tuple(i for i, row in enumerate(self.rows) if row.contact is None and row.fixes is None)


def _held(mechanism: SymbolicMechanism) -> tuple[int, ...]:
    return mechanism.bodies[0].coordinates if mechanism.base_fixed else ()


def derive(
    program: Program,
    mechanism: SymbolicMechanism,
    kinematics: SymbolicKinematics,
    points: Points,
    lower: Lowering,
    followed: Sequence[FilterOutput],
) -> ConstraintEquations | None:
    """Define Φ, Φ̇, C and γ; None if there are no constraints."""
    program.section("constraints")
    n = mechanism.n
    led = {each.filter.name: each for each in followed}
    rows: list[Row] = []
    for entry in mechanism.programmed:
        if entry.filter is None:
            rows += _programmed(program, kinematics, entry, points, lower)
        else:
            rows.append(_following_row(mechanism, led[entry.filter.name]))
    rows += _edge_rows(program, kinematics)
    rows += _closure_rows(program, kinematics)
    rows += [_holding_row(mechanism, k) for k in _held(mechanism)]
    if not rows:
        return None
    program.section("constraints")
    m = len(rows)

    def column(name: str, part: Callable[[Row], Expr], text: str) -> Expr:
        parts: list[tuple[Index, Expr]] = [((i,), part(row)) for i, row in enumerate(rows)]
        return program.assemble(name, (m,), parts, None, text, Traits(by_row=True))

    names = ", ".join(row.name for row in rows)
    C_parts: list[tuple[Index, Expr]] = [((i, slice(0, n)), row.C) for i, row in enumerate(rows)]
    return ConstraintEquations(
        tuple(rows),
        program.assemble("C", (m, n), C_parts, None, "constraint Jacobian", Traits(by_row=True)),
        column("Phi", lambda row: row.value, f"constraints {names}"),
        column("Phi_dot", lambda row: row.rate, "time derivatives of the constraints"),
        column("gamma", lambda row: -row.bias, "C*qdd = gamma"),
    )


def _programmed(
    program: Program, kinematics: SymbolicKinematics, entry: SymbolicTask, points: Points, lower: Lowering
) -> Iterator[Row]:
    for task in tasks(entry, points.mechanism.points):
        yield _task_row(program, task, points, lower, points.mechanism.n)
    if entry.path is not None and entry.path.orientations is not None:
        program.section("constraints", entry.name)
        found = orientation.derive(program, kinematics, entry.name, entry.path, lower)
        for i, axis in enumerate("xyz"):
            parts = found.value[i], found.rate[i], found.bias[i], found.C[i, :], found.drift[i]
            yield Row(f"{entry.name}_r{axis}", *parts)


def _task_row(program: Program, task: Task, points: Points, lower: Lowering, n: int) -> Row:
    lower.add_breakpoints(task.given)
    value, rate, bias, drift = (lower(tree) for tree in (task.position, task.velocity, task.bias, task.drift))
    return Row(task.name, value, rate, bias, _task_jacobian(program, task, points, lower, n), drift)


def _task_jacobian(program: Program, task: Task, points: Points, lower: Lowering, n: int) -> Expr:
    """∂Φ/∂q, ∂Ψ/∂q̇ or ∂Ψ/∂q̈: by the names of the expression's order, which are linear in the coordinates'."""
    total: Expr = ir.zeros(n)
    for name in dict.fromkeys(expressions.running_names(task.given)):
        if "." in name and expressions.level(name) == task.order:
            slope = lower(differentiate.derivative(task.given, name))
            text = f"change of {task.name} per {name}; units as there"
            slope = program.define(f"slope_{task.name}_{name.replace('.', '_')}", slope, None, text)
            total = total + slope * points.jacobian(name)
    return total


def _following_row(mechanism: SymbolicMechanism, followed: FilterOutput) -> Row:
    """A coordinate less what a filter leads it to."""
    k = followed.filter.coordinate
    assert k is not None
    symbol = mechanism.coordinates[k].symbol
    C = ir.constant([1.0 if j == k else 0.0 for j in range(mechanism.n)])
    value, rate = ir.symbol(symbol) - followed.value, ir.symbol(f"{symbol}_dot") - followed.rate
    return Row(followed.filter.name, value, rate, -followed.second, C, -followed.rate)


def _edge_rows(program: Program, kinematics: SymbolicKinematics) -> list[Row]:
    found = []
    for edge in kinematics.mechanism.nonholonomic:
        program.section("knife edge", edge.name)
        relation = loops.knife_edge(program, kinematics, edge)
        found.append(_contact_row(edge.name, kinematics, ConstrainedPair(GROUND, edge.place.body, relation)))
    return found


def _closure_rows(program: Program, kinematics: SymbolicKinematics) -> list[Row]:
    rows = []
    for closure in kinematics.mechanism.closures:
        if closure.stiffness is not None:
            continue
        program.section("closure", closure.name)
        loop, bodies = (
            loops.ClosureFrames(program, kinematics, closure),
            (closure.a.place.body, closure.b.place.body),
        )
        for name, condition in zip(closure.rows, closure.conditions, strict=True):
            rows.append(_contact_row(name, kinematics, ConstrainedPair(*bodies, loop.relation(condition))))
    return rows


def _contact_row(name: str, kinematics: SymbolicKinematics, contact: ConstrainedPair) -> Row:
    relation, entries = contact.relation, loops.jacobian_row(kinematics, contact)
    C = ir.array([entries.get(k, 0.0) for k in range(kinematics.mechanism.n)])
    return Row(name, relation.value, relation.rate, relation.bias, C, _NO_DRIFT, contact=contact)


def _holding_row(mechanism: SymbolicMechanism, k: int) -> Row:
    symbol = mechanism.coordinates[k].symbol
    unit_row = ir.constant([1.0 if j == k else 0.0 for j in range(mechanism.n)])
    return Row(
        symbol, ir.symbol(symbol), ir.symbol(f"{symbol}_dot"), ir.constant(0.0), unit_row, _NO_DRIFT, fixes=k
    )
