"""Checks that redundant constraints stay redundant during a run.

In the initial state, the independent constraints imply each redundant constraint. While this
remains true, all violations are of similar magnitude: they are integration errors and the decaying
initial violation. If only a redundant constraint is violated, the solved model differs from the
described mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....language import ir
from ...program.program import Assertion, EquationSystem
from ..constraints.constraints import ConstraintEquations, Row

# Largest admissible violation of a redundant constraint, divided by the norm of the independent violations.
_SHARE = 1000.0


def derive(program: EquationSystem, rows: ConstraintEquations, active: Sequence[int], tolerance: float) -> None:
    """Add a check for each redundant constraint: its violation must not exceed the tolerance.

    The tolerance is increased by a multiple of the independent constraints' violation, because
    violations of redundant and independent constraints grow together. A constraint without a position
    level, such as a knife edge, is checked on velocity level. A constraint of order 2 is not checked.

    Parameters
    ----------
    active
        Indices of the independent constraints.
    tolerance
        Largest admissible violation, in m, rad or the unit of the constraint.
    """
    levels = {"value": rows.Phi, "rate": rows.Phi_dot}
    for i, row in enumerate(rows.rows):
        level = "rate" if ir.is_zero(row.value) else "value"
        if i in active or ir.is_zero(getattr(row, level)):
            continue
        values, others = levels[level], ir.constant(0.0)
        for name in dict.fromkeys(["value", level]):
            for k in active:
                if not ir.is_zero(getattr(rows.rows[k], name)):
                    others = others + levels[name][k] * levels[name][k]
        excess = values[i] * values[i] - _SHARE**2 * others
        program.checks.append(Assertion(excess, tolerance**2, _message(row)))


def _message(row: Row) -> str:
    return (
        f"constraint {row.name} was redundant at the start and is violated now: the constraints contradict each"
        " other, or the mechanism has left the position in which they depend on each other; time in s:"
    )
