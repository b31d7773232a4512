"""Multipliers of contacts; efforts of drives (Wojtyra and Frączek 2013, section 3.1; Krasinskiy 2023, (6))."""

from __future__ import annotations

from collections.abc import Sequence

from ....language import ir
from ....language.ir import Expr, Index, Shape
from ....mechanism.symbolic import SymbolicMechanism
from ...program.items import listed
from ...program.program import Program
from ..bodies.dynamics import Dynamics
from ..constraints.constraints import ConstraintEquations
from .system import submatrix


def contact_multipliers(
    program: Program,
    mechanism: SymbolicMechanism,
    constraints: ConstraintEquations,
    rows: Sequence[int],
    Lambda: Expr | None,
    columns: Shape,
) -> Expr:
    """Multipliers by row number, as far as there are contacts, from those of the independent `rows`.

    Rows that are left out have none, or all rows share: the solution of least norm. Lambda is None where no row is
    independent, because the coordinates alone fulfil them all: a shaft in two bearings.
    """
    if Lambda is None:
        return ir.zeros(1 + max(reaction.row for reaction in constraints.reactions), *columns)
    if mechanism.redundant == "minimum_norm":
        return _scattered(
            program, constraints, *_shared(program, constraints.C, rows, range(len(constraints.rows)), Lambda)
        )
    return _scattered(program, constraints, rows, Lambda)


def _scattered(program: Program, constraints: ConstraintEquations, rows: Sequence[int], Lambda: Expr) -> Expr:
    """Multipliers up to the last contact's row, zero for those that are not among `rows`."""
    reach = 1 + max(reaction.row for reaction in constraints.reactions)
    if list(rows[:reach]) == list(range(reach)):
        return Lambda
    rest, columns = tuple(slice(0, size) for size in Lambda.shape[1:]), Lambda.shape[1:]
    places = {row: Lambda[(i, *rest)] for i, row in enumerate(rows)}
    parts: list[tuple[Index, Expr]] = [((i, *rest), places.get(i, ir.zeros(*columns))) for i in range(reach)]
    return program.assemble("reactions", (reach, *columns), parts, None, "multipliers by constraint row")


def _shared(
    program: Program, C: Expr, rows: Sequence[int], sharing: Sequence[int], Lambda: Expr
) -> tuple[list[int], Expr]:
    """All sharing rows and their multipliers of least norm that do what Λ of the independent `rows` does.

    With C_sharing = T C_rows they are T y of (TᵀT) y = Λ.
    """
    others = [i for i in sharing if i not in rows]
    if not (others and rows):
        return list(rows), Lambda
    every = range(C.shape[1])
    Ck = submatrix(program, "Ck", C, (rows, every), "C of the independent rows")
    Cs = submatrix(program, "Cs", C, (others, every), "C of the rows that depend on them")
    text = "shares of the independent rows in the others"
    T = program.solve("T", Ck @ Ck.T, Ck @ Cs.T, text, "constraint rows")
    metric = ir.constant([[float(i == j) for j in range(len(rows))] for i in range(len(rows))]) + T @ T.T
    metric = program.define("metric", metric, None, "of the multipliers of the independent rows")
    y = program.solve("least", metric, Lambda, "multipliers of least norm", "constraint rows")
    z = program.define("shared", T.T @ y, None, "multipliers of least norm of the other rows")
    first, last, columns = slice(0, len(rows)), slice(len(rows), len(rows) + len(others)), Lambda.shape[1:]
    rest = tuple(slice(0, size) for size in columns)
    parts: list[tuple[Index, Expr]] = [((first, *rest), y), ((last, *rest), z)]
    both = program.assemble("sharing", (last.stop, *columns), parts, None, "multipliers of least norm")
    return [*rows, *others], both


def drive_efforts(
    program: Program,
    mechanism: SymbolicMechanism,
    dynamics: Dynamics,
    constraints: ConstraintEquations,
    rows: Sequence[int],
    X: Expr,
    F: Expr,
) -> tuple[Expr | None, Expr]:
    """Multipliers as of `contact_multipliers`, and efforts of the chosen drives: they realise the programmed rows.

    Cᵀ Λ + B τ = M X − F with the independent ones, `rows`, of those that are not programmed; all columns of X.
    """
    assert mechanism.actuated is not None
    program.section("drives")
    r, columns = len(rows), X.shape[1:]
    rest = tuple(slice(0, size) for size in columns)
    both = _exerted(program, mechanism, constraints, rows, dynamics.M @ X - F)
    efforts = both[(slice(r, r + len(mechanism.actuated)), *rest)]
    if not constraints.reactions:
        return None, efforts
    Lambda, acting = both[(slice(0, r), *rest)], list(rows)
    if mechanism.redundant == "minimum_norm":
        others = [i for i in range(len(constraints.rows)) if i not in constraints.programmed]
        acting, Lambda = _shared(program, constraints.C, acting, others, Lambda)
    return _scattered(program, constraints, acting, Lambda), efforts


def _exerted(
    program: Program,
    mechanism: SymbolicMechanism,
    constraints: ConstraintEquations,
    rows: Sequence[int],
    forces: Expr,
) -> Expr:
    """[Λ; τ] of [Cᵀ B] [Λ; τ] = forces; with fewer unknowns than n the equations agree, which s = 0 says:

    s + [Cᵀ B] [Λ; τ] = forces, [Cᵀ B]ᵀ s = 0.
    """
    n, actuated, r = mechanism.n, mechanism.actuated or (), len(rows)
    every, unknowns = slice(0, n), r + len(actuated)
    units = ir.constant([[float(i == k) for k in actuated] for i in range(n)])
    parts: list[tuple[Index, Expr]] = [((every, slice(r, unknowns)), units)]
    if rows:
        C = submatrix(program, "Cu", constraints.C, (rows, range(n)), "C of the rows that no drive realises")
        parts.insert(0, ((every, slice(0, r)), C.T))
    text = "forces per multiplier and per effort of a drive"
    E = program.assemble("E", (n, unknowns), parts, None, text)
    names = listed([mechanism.coordinates[k].name for k in actuated])
    if unknowns == n:
        return program.solve("exerted", E, forces, "efforts of the drives", names)
    rest = tuple(slice(0, size) for size in forces.shape[1:])
    last, size = slice(n, n + unknowns), n + unknowns
    identity = ir.constant([[float(i == j) for j in range(n)] for i in range(n)])
    K_parts: list[tuple[Index, Expr]] = [((every, every), identity), ((every, last), E)]
    K_parts += [((last, every), E.T), ((last, last), ir.zeros(unknowns, unknowns))]
    K = program.assemble("K", (size, size), K_parts, None, "what is left of the forces, and their split")
    zero = ir.zeros(unknowns, *forces.shape[1:])
    right_parts: list[tuple[Index, Expr]] = [((every, *rest), forces), ((last, *rest), zero)]
    right = program.assemble("forces", (size, *forces.shape[1:]), right_parts, None, "forces to be exerted")
    both = program.solve("exerted", K, right, "efforts of the drives", names)
    return both[(last, *rest)]
