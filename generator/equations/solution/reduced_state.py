"""Reduced form, in which the dependent velocities follow from the independent ones.

The dependent velocities are q̇_d = C_d⁻¹(ν − κΦ − C_i q̇_i) (Krasinskiy 2023, equation (7)). C_d
and C_i are the Jacobian columns of the dependent and independent coordinates. The velocities fulfil
the constraints C q̇ = ν − κΦ exactly, and constraint violations Φ decay at the rate κ.
"""

from __future__ import annotations

from ....language import ir
from ....language.ir import Expr, Index
from ....mechanism.symbolic import SymbolicMechanism
from ...program.program import EquationSystem
from ..constraints.constraints import ConstraintEquations
from .linear_solves import dependent_names, split
from .system import ActiveSystem, submatrix


def velocities(
    program: EquationSystem, mechanism: SymbolicMechanism, constraints: ConstraintEquations, active: ActiveSystem
) -> tuple[Expr, Expr | None] | None:
    """Define the dependent velocities as outputs.

    The result is the pair (C_d, D): the Jacobian C_d of the dependent coordinates, and the matrix D =
    ∂q̇_d/∂q̇_i. D is None if no coordinate is independent. Instead of a pair, the result is None if
    constraints directly prescribe all dependent velocities.
    """
    program.section("dependent velocities")
    kappa = mechanism.kappa
    # Stabilised velocity constraints are C q̇ = ν − κΦ with prescribed velocity ν, violation Φ and decay rate κ.
    rates = [-(row.drift + kappa * row.value) for row in constraints.rows]
    for k, row in active.held.items():
        _publish(program, mechanism, k, rates[row])
    if not active.rows:
        return None
    C = submatrix(
        program, "Cr", constraints.C, (active.rows, range(mechanism.n)), "Jacobian of the independent constraints"
    )
    Cd, Ci = split(program, C, active.following, active.independent)
    right = ir.array([rates[row] for row in active.rows])
    for k in active.held:
        right = right - C[:, k] * _rate(mechanism, k)
    E = _solution(program, mechanism, active, Cd, Ci, right)
    free = len(active.independent)
    own = ir.array([_rate(mechanism, k) for k in active.independent]) if free else None
    for j, k in enumerate(active.following):
        _publish(program, mechanism, k, E[j, free] + (E[j, 0:free] @ own if own is not None else ir.constant(0.0)))
    return Cd, E[:, 0:free] if free else None


def _solution(
    program: EquationSystem,
    mechanism: SymbolicMechanism,
    active: ActiveSystem,
    Cd: Expr,
    Ci: Expr | None,
    right: Expr,
) -> Expr:
    """Return the matrix [D, C_d⁻¹ r], from which the dependent velocities follow, shape (m, n_i + 1).

    The dependent velocities are q̇_d = D q̇_i + C_d⁻¹ r, with the independent velocities q̇_i and D =
    −C_d⁻¹ C_i. C_d and C_i are the Jacobian columns of the dependent and independent coordinates. The
    vector r is the argument `right`. It contains the stabilised values ν − κΦ of C q̇, minus the
    contributions of coordinates with prescribed velocities.
    """
    m, free = len(active.rows), len(active.independent)
    parts: list[tuple[Index, Expr]] = [((slice(0, m), free), right)]
    if Ci is not None:
        parts.insert(0, ((slice(0, m), slice(0, free)), -Ci))
    B = program.assemble("Bd", (m, free + 1), parts, None, "right-hand sides for the dependent velocities")
    names = dependent_names([c.name for c in mechanism.coordinates], active.following)
    text = "derivatives of the dependent velocities with respect to the independent ones"
    text += ", followed by the dependent velocities for zero independent velocities"
    return program.solve("E", Cd, B, text, names, ratios=free)


def _rate(mechanism: SymbolicMechanism, k: int) -> Expr:
    return ir.symbol(f"{mechanism.coordinates[k].symbol}_dot")


def _publish(program: EquationSystem, mechanism: SymbolicMechanism, k: int, expr: Expr) -> None:
    coordinate = mechanism.coordinates[k]
    program.publish(
        coordinate.signal("velocity"), expr, f"{coordinate.unit}/s", f"rate of coordinate {coordinate.name}"
    )
