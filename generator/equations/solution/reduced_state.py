"""States of the reduced form: the dependent velocities follow from the others (design 4.5; P4 (7)).

q̇_d = C_d⁻¹(ν − κΦ − C_i q̇_i): velocities keep the constraints exactly, positions come back at the rate κ.
"""

from __future__ import annotations

from ...mechanism import Mechanism
from ...program import ir
from ...program.ir import Expr, Index
from ...program.program import Program
from ..constraints.constraints import Constraints
from .motion import Kept, block
from .reduction import dependent_names, split


def velocities(
    program: Program, mechanism: Mechanism, constraints: Constraints, kept: Kept
) -> tuple[Expr, Expr | None] | None:
    """Define the dependent velocities as outputs; returns C_d and D = ∂q̇_d/∂q̇_i, if there are any."""
    program.section("dependent velocities")
    kappa = ir.lift(mechanism.kappa)
    # ν − κΦ, row by row
    rates = [-(row.drift + kappa * row.value) for row in constraints.rows]
    for k, row in kept.held.items():
        _publish(program, mechanism, k, rates[row])
    if not kept.rows:
        return None
    C = block(program, "Cr", constraints.C, (kept.rows, range(mechanism.n)), "C of the rows that take part")
    Cd, Ci = split(program, C, kept.following, kept.independent)
    right = ir.array([rates[row] for row in kept.rows])
    for k in kept.held:
        right = right - C[:, k] * _rate(mechanism, k)
    E = _solution(program, mechanism, kept, Cd, Ci, right)
    free = len(kept.independent)
    own = ir.array([_rate(mechanism, k) for k in kept.independent]) if free else None
    for j, k in enumerate(kept.following):
        _publish(program, mechanism, k, E[j, free] + (E[j, 0:free] @ own if own is not None else ir.constant(0.0)))
    return Cd, E[:, 0:free] if free else None


def _solution(program: Program, mechanism: Mechanism, kept: Kept, Cd: Expr, Ci: Expr | None, right: Expr) -> Expr:
    """[D, C_d⁻¹(ν − κΦ)], shape (m, n_i + 1)."""
    m, free = len(kept.rows), len(kept.independent)
    parts: list[tuple[Index, Expr]] = [((slice(0, m), free), right)]
    if Ci is not None:
        parts.insert(0, ((slice(0, m), slice(0, free)), -Ci))
    B = program.assemble("Bd", (m, free + 1), parts, None, "what the dependent velocities are solved from")
    names = dependent_names([c.name for c in mechanism.coordinates], kept.following)
    text = "partition: dependent velocities per independent velocity, and without these"
    return program.solve("E", Cd, B, None, text, names, ratios=free)


def _rate(mechanism: Mechanism, k: int) -> Expr:
    return ir.symbol(f"{mechanism.coordinates[k].symbol}_dot")


def _publish(program: Program, mechanism: Mechanism, k: int, expr: Expr) -> None:
    coordinate = mechanism.coordinates[k]
    program.publish(f"{coordinate.symbol}_dot", expr, f"{coordinate.unit}/s", f"{coordinate.name}, rate")
