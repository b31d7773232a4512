"""Constraint equations of a mechanism (Jarzębowska et al. 2023, equations (23)–(24), (29)–(32)).

Programmed constraints come first, in the order of the file. Knife edges (Wojtyra and Frączek 2013,
equation (30)), loop closures and the fixation of the base follow. The constraints read C q̇ = ν on
velocity level and C q̈ = γ on acceleration level, where C is the Jacobian.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ....language import differentiate, expressions, ir
from ....language.ir import Expr, Index
from ....mechanism import GROUND
from ....mechanism.symbolic import SymbolicMechanism, SymbolicTask
from ...program.items import Traits
from ...program.program import EquationSystem
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
    """One scalar constraint equation on position, velocity and acceleration level.

    Parameters
    ----------
    value
        Constraint function Φ for order 0, and 0 for constraints of order 1 and 2.
    rate
        Time derivative Φ̇ for order 0, constraint function Ψ for order 1, and 0 for order 2.
    bias
        Value for q̈ = 0 of a function that depends on the order: Φ̈ for order 0, Ψ̇ for order 1, Ψ for
        order 2.
    C
        Row of the constraint Jacobian, shape (n,).
    drift
        Value of `rate` for q̇ = 0. This is −ν in the velocity constraint C q̇ = ν.
    fixes
        Index of the coordinate whose value the equation prescribes. None if the equation does not
        prescribe the value of a single coordinate.
    contact
        Bodies on which the constraint force acts; None if drives or a fixture exert this force.
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
    """Symbols of all constraint equations of a mechanism.

    The Jacobian C has the shape (m, n). The values Φ, their rates Φ̇ and the right-hand side γ of C
    q̈ = γ have the shape (m,). Each element has the unit of its constraint equation.
    """

    rows: tuple[Row, ...]
    C: Expr
    Phi: Expr
    Phi_dot: Expr
    gamma: Expr

    @property
    def reactions(self) -> tuple[ConstraintReaction, ...]:
        """Return the constraint reactions of cut joints and knife edges."""
        return tuple(
            ConstraintReaction(i, row.contact) for i, row in enumerate(self.rows) if row.contact is not None
        )

    @property
    def programmed(self) -> tuple[int, ...]:
        """Return the indices of the programmed constraints that the drives enforce.

        Constraints of closures and knife edges are enforced by reactions. Constraints that prescribe
        the value of a single coordinate are also excluded.
        """
        return tuple(i for i, row in enumerate(self.rows) if row.contact is None and row.fixes is None)


def _held(mechanism: SymbolicMechanism) -> tuple[int, ...]:
    return mechanism.bodies[0].coordinates if mechanism.base_fixed else ()


def derive(
    program: EquationSystem,
    mechanism: SymbolicMechanism,
    kinematics: SymbolicKinematics,
    points: Points,
    lower: Lowering,
    followed: Sequence[FilterOutput],
) -> ConstraintEquations | None:
    """Define Φ, Φ̇, C and γ of all constraint equations.

    The result is None if the mechanism has no constraints.
    """
    program.section("constraints")
    n = mechanism.n
    outputs_by_filter = {each.filter.name: each for each in followed}
    rows: list[Row] = []
    for entry in mechanism.programmed:
        if entry.filter is None:
            rows += _programmed(program, kinematics, entry, points, lower)
        else:
            rows.append(_following_row(mechanism, outputs_by_filter[entry.filter.name]))
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
        column(
            "Phi",
            lambda row: row.value,
            f"values of the constraint functions ({names}), zero if satisfied",
        ),
        column("Phi_dot", lambda row: row.rate, "time derivatives of the constraint functions Phi"),
        column(
            "gamma",
            lambda row: -row.bias,
            "right-hand side of the constraints on acceleration level, C*qdd = gamma",
        ),
    )


def _programmed(
    program: EquationSystem, kinematics: SymbolicKinematics, entry: SymbolicTask, points: Points, lower: Lowering
) -> Iterator[Row]:
    for task in tasks(entry, points.mechanism.points):
        yield _task_row(program, task, points, lower, points.mechanism.n)
    if entry.path is not None and entry.path.orientations is not None:
        program.section("constraints", entry.name)
        found = orientation.derive(program, kinematics, entry.name, entry.path, lower)
        for i, axis in enumerate("xyz"):
            parts = found.value[i], found.rate[i], found.bias[i], found.C[i, :], found.drift[i]
            yield Row(f"{entry.name}_r{axis}", *parts)


def _task_row(program: EquationSystem, task: Task, points: Points, lower: Lowering, n: int) -> Row:
    lower.add_breakpoints(task.given)
    value, rate, bias, drift = (lower(tree) for tree in (task.position, task.velocity, task.bias, task.drift))
    return Row(task.name, value, rate, bias, _task_jacobian(program, task, points, lower, n), drift)


def _task_jacobian(program: EquationSystem, task: Task, points: Points, lower: Lowering, n: int) -> Expr:
    """Return the Jacobian of a programmed constraint with respect to q, q̇ or q̈, shape (n,).

    A constraint function Φ of order 0 depends on q and has the Jacobian ∂Φ/∂q. A constraint function Ψ
    of order 1 depends on q̇ and has the Jacobian ∂Ψ/∂q̇. For order 2, the Jacobian is ∂Ψ/∂q̈. The chain
    rule is applied to all named quantities in the constraint's expression.
    """
    total: Expr = ir.zeros(n)
    for name in dict.fromkeys(expressions.running_names(task.given)):
        if "." in name and expressions.level(name) == task.order:
            slope = lower(differentiate.derivative(task.given, name))
            text = f"derivative of constraint {task.name} with respect to {name}; unit of the quotient"
            slope = program.define(f"slope_{task.name}_{name.replace('.', '_')}", slope, None, text)
            total = total + slope * points.jacobian(name)
    return total


def _following_row(mechanism: SymbolicMechanism, followed: FilterOutput) -> Row:
    k = followed.filter.coordinate
    assert k is not None
    symbol = mechanism.coordinates[k].symbol
    C = ir.constant([1.0 if j == k else 0.0 for j in range(mechanism.n)])
    value, rate = ir.symbol(symbol) - followed.value, ir.symbol(f"{symbol}_dot") - followed.rate
    return Row(followed.filter.name, value, rate, -followed.second, C, -followed.rate)


def _edge_rows(program: EquationSystem, kinematics: SymbolicKinematics) -> list[Row]:
    found = []
    for edge in kinematics.mechanism.nonholonomic:
        program.section("knife edge", edge.name)
        relation = loops.knife_edge(program, kinematics, edge)
        found.append(_contact_row(edge.name, kinematics, ConstrainedPair(GROUND, edge.place.body, relation)))
    return found


def _closure_rows(program: EquationSystem, kinematics: SymbolicKinematics) -> list[Row]:
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
