"""Projection onto the constraints by the smallest mass-weighted change of the state.

The change Δ minimises ΔᵀMΔ subject to C Δ = −r. The residual r is Φ(t, q) if positions are
projected, and Φ̇ if velocities are projected. The linear system is:

    [M Cᵀ] [Δ]   [ 0]
    [C 0 ] [λ] = [−r]

The velocity projection is exact; the position projection is a step of Newton's method (E. Eich,
Convergence results for a coordinate projection method applied to mechanical systems with algebraic
constraints, SIAM J. Numer. Anal. 30, 1993). Constraints of order 1 have no position level and
affect the velocities only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....description.types.origin import Origin
from ....language import ir
from ....language.ir import Expr
from ....mechanism.symbolic import SymbolicMechanism
from ...program.items import LinearSolve
from ...program.program import EquationSystem, Projection
from ..bodies.dynamics import Dynamics
from ..constraints.constraints import ConstraintEquations, Row
from .system import ActiveSystem

_ORIGIN = Origin("projection onto the constraints")


def derive(
    program: EquationSystem,
    mechanism: SymbolicMechanism,
    dynamics: Dynamics,
    rows: ConstraintEquations,
    active: ActiveSystem,
) -> None:
    """Add the projections of positions and velocities onto the independent constraints.

    The states of the program must already be defined.
    """

    def add(level: str, residual: Expr, part: Callable[[Row], Expr], suffix: str) -> None:
        chosen = [i for i in active.all_rows if not ir.is_zero(part(rows.rows[i]))]
        if not chosen:
            return
        solve = _saddle(program.fresh(f"{level}_change"), level, mechanism, dynamics, rows.C, residual, chosen)
        names = {f"{c.symbol}{suffix}": k for k, c in enumerate(mechanism.coordinates)}
        unknown = ir.symbol(solve.name, solve.shape)
        change = [unknown[names[s.name]] if s.name in names else ir.constant(0.0) for s in program.states]
        norm = ir.call("sqrt", residual @ residual)
        program.projections[level] = Projection(norm, solve, tuple(change))

    program.accepted = mechanism.chain.simulation.violation
    add("position", rows.Phi, lambda row: row.value, "")
    # The formulation `gpme_reduced` satisfies the velocity constraints exactly.
    if mechanism.formulation != "gpme_reduced":
        add("velocity", rows.Phi_dot, lambda row: row.rate, "_dot")


def _saddle(
    name: str,
    level: str,
    mechanism: SymbolicMechanism,
    dynamics: Dynamics,
    C: Expr,
    residual: Expr,
    rows: Sequence[int],
) -> LinearSolve:
    """Return the linear system [M Cᵀ; C 0] [Δ; λ] = [0; −r] of a projection onto the constraints.

    Δ is the correction of the coordinates or of their rates, and λ contains multipliers. C and r are
    the constraint Jacobian and the residual, restricted to the constraints `rows`.
    """
    n, zero = mechanism.n, ir.constant(0.0)
    above = [[*(dynamics.M[j, k] for k in range(n)), *(C[i, j] for i in rows)] for j in range(n)]
    below = [[*(C[i, k] for k in range(n)), *(zero for _ in rows)] for i in rows]
    right = ir.array([*(zero for _ in range(n)), *(-residual[i] for i in rows)])
    about = ", ".join(coordinate.name for coordinate in mechanism.coordinates)
    text = f"{level} projection: corrections of the coordinates, followed by multipliers"
    return LinearSolve(name, right.shape, None, text, ir.array([*above, *below]), right, about, _ORIGIN)
