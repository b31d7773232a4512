"""GPME: the reduced, multiplier-free equations (design 4.4; P0 (26), P2 (20))."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from . import ir
from .constraints import Constraints
from .dynamics import Dynamics
from .ir import Expr, Index
from .mechanism import Mechanism
from .program import Program


def free(program: Program, mechanism: Mechanism, dynamics: Dynamics, Q: Expr) -> Expr:
    """Accelerations without constraints: M q̈ = Q − h; returns the symbol of q̈, shape (n,)."""
    program.section("accelerations")
    b = program.define("b", Q - dynamics.h, None, "right-hand side; N or N.m")
    return program.solve("qdd", dynamics.M, b, None, "accelerations; m/s2 or rad/s2", _all_names(mechanism))


def gpme(
    program: Program,
    mechanism: Mechanism,
    dynamics: Dynamics,
    Q: Expr,
    constraints: Constraints,
    dependent: Sequence[int],
) -> Expr:
    """Accelerations of the GPME; `dependent` are indices, one per row; returns the symbol of q̈, shape (n,)."""
    n, m = mechanism.n, len(constraints.rows)
    program.section("reduction to independent coordinates")
    f = program.define("f", Q - dynamics.h, None, "applied minus inertia forces; N or N.m")
    projected = _projected(program, mechanism, dynamics.M, f, constraints, dependent)
    program.section("accelerations")
    A_parts: list[tuple[Index, Expr]] = [((i, slice(0, n)), row) for i, (row, _) in enumerate(projected)]
    b_parts: list[tuple[Index, Expr]] = [((i,), force) for i, (_, force) in enumerate(projected)]
    last = slice(n - m, n)
    A_parts.append(((last, slice(0, n)), constraints.C))
    b_parts.append(((last,), _stabilised(mechanism, constraints)))
    A = program.assemble("A", (n, n), A_parts, None, "reduced mass matrix above the constraint Jacobian")
    b = program.assemble("b", (n,), b_parts, None, "reduced forces above the stabilised constraint accelerations")
    return program.solve("qdd", A, b, None, "accelerations; m/s2 or rad/s2", _all_names(mechanism))


def _projected(
    program: Program, mechanism: Mechanism, M: Expr, f: Expr, constraints: Constraints, dependent: Sequence[int]
) -> list[tuple[Expr, Expr]]:
    """Rows of Vᵀ M and Vᵀ f with V = [1; D], one per independent coordinate.

    Row by row, because compilers expand a product of blocks element by element, each with the whole product in it.
    """
    independent = [k for k in range(mechanism.n) if k not in dependent]
    # A coordinate that a row holds does not follow the independent ones: its row of D is zero and left out.
    held = {row.fixes for row in constraints.rows}
    following = [k for k in dependent if k not in held]
    if not independent or not following:
        return [(M[k, :], f[k]) for k in independent]
    acting = sum(row.fixes is None for row in constraints.rows)
    D = _dependence(program, mechanism, constraints.C[0:acting, :], following, independent)
    Md = _rows(program, "Md", M, following, "rows of M of the dependent coordinates")
    fd = _rows(program, "fd", f, following, "f of the dependent coordinates")
    return [(M[k, :] + D[:, i] @ Md, f[k] + D[:, i] @ fd) for i, k in enumerate(independent)]


def _stabilised(mechanism: Mechanism, constraints: Constraints) -> Expr:
    """γ − 2αΦ̇ − β²Φ (Baumgarte)."""
    alpha, beta = ir.lift(mechanism.alpha), ir.lift(mechanism.beta)
    return constraints.gamma - 2.0 * alpha * constraints.Phi_dot - beta * beta * constraints.Phi


def _dependence(
    program: Program, mechanism: Mechanism, C: Expr, dependent: Sequence[int], independent: Sequence[int]
) -> Expr:
    """D = ∂q̇_d/∂q̇_i = −C_d⁻¹ C_i, shape (m, n − m)."""
    Cd = _columns(program, "Cd", C, dependent, "columns of C of the dependent coordinates")
    Ci = _columns(program, "Ci", C, independent, "columns of C of the independent coordinates")
    names = ", ".join(mechanism.coordinates[k].name for k in dependent)
    return program.solve(
        "D", Cd, -Ci, None, "dependent velocities per independent velocity", f"dependent coordinates {names}"
    )


def _columns(program: Program, name: str, matrix: Expr, chosen: Sequence[int], text: str) -> Expr:
    m = matrix.shape[0]
    parts: list[tuple[Index, Expr]] = [
        ((slice(0, m), here), matrix[:, there]) for here, there in _runs(chosen)
    ]
    return program.assemble(name, (m, len(chosen)), parts, None, text)


def _rows(program: Program, name: str, array: Expr, chosen: Sequence[int], text: str) -> Expr:
    rest = tuple(slice(0, size) for size in array.shape[1:])
    parts: list[tuple[Index, Expr]] = [((here, *rest), array[there]) for here, there in _runs(chosen)]
    return program.assemble(name, (len(chosen), *array.shape[1:]), parts, None, text)


def _runs(chosen: Sequence[int]) -> list[tuple[slice, slice]]:
    """Position and source of each run of neighbouring indices."""
    runs = []
    for _, group in groupby(enumerate(chosen), key=lambda pair: pair[1] - pair[0]):
        pairs = list(group)
        (here, there), length = pairs[0], len(pairs)
        runs.append((slice(here, here + length), slice(there, there + length)))
    return runs


def _all_names(mechanism: Mechanism) -> str:
    names = [coordinate.name for coordinate in mechanism.coordinates]
    shown = names if len(names) <= 8 else [*names[:4], "…", *names[-3:]]
    return f"coordinates {', '.join(shown)}"
