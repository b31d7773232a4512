"""Assertions that constraints which were omitted as redundant remain redundant during a run.

In the initial state, the independent constraints imply each redundant constraint. While this remains
true, the violations of all constraints are of similar magnitude. Their causes are integration errors
and the decaying initial violation. If a redundant constraint alone is violated, the equations no longer
describe the mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....language import ir
from ...program.program import Assertion, EquationSystem
from ..constraints.constraints import ConstraintEquations, Row

# A redundant constraint may be violated by this many times the norm of the independent constraints' violations.
_SHARE = 1000.0


def derive(program: EquationSystem, rows: ConstraintEquations, active: Sequence[int], tolerance: float) -> None:
    """Add an assertion for each redundant constraint, which limits the violation to a tolerance.

    The limit is higher while independent constraints are violated, because integration errors affect
    redundant and independent constraints alike. For constraints without a position level, such as those
    of knife edges, the assertion limits the violation on velocity level. Constraints of order 2, i.e. on
    accelerations, have no assertion.

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
