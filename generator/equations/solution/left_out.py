"""Rows that are left out because others imply them at the start: whether these still do during a run.

As long as they do, a left-out row is violated about as much as the others are: by errors of integration and by
what is left of the start's violation. One that opens while the others hold makes another model of this one.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....language import ir
from ...program.program import Assertion, Program
from ..constraints.constraints import ConstraintEquations, Row

_SHARE = 1000.0  # violation of a left-out row per that of the others: a length in m where these are angles


def derive(program: Program, rows: ConstraintEquations, active: Sequence[int], tolerance: float) -> None:
    """Add a check for each row that is not active: violated beyond the tolerance, though the others are not.

    A row without a value, as a knife edge, is checked by its rate, against the others' values too: where these are
    violated, rows do not depend on each other as they do else. A row of order 2 has neither.

    tolerance  m, rad or the row's own unit
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
        f"constraint row {row.name} was left out because others implied it at the start, and is violated now: the"
        " rows contradict each other, or the mechanism has left the position in which they depend; time in s:"
    )
