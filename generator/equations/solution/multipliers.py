"""Multipliers of closures and knife edges, and efforts of drives.

The sources are Wojtyra and Frączek 2013, section 3.1, and Krasinskiy 2023, equation (6).
"""

from __future__ import annotations

from collections.abc import Sequence

from ....language import ir
from ....language.ir import Expr, Index, Shape
from ....mechanism.symbolic import SymbolicMechanism
from ...program.items import listed
from ...program.program import EquationSystem
from ..bodies.dynamics import Dynamics
from ..constraints.constraints import ConstraintEquations
from .system import submatrix


def contact_multipliers(
    program: EquationSystem,
    mechanism: SymbolicMechanism,
    constraints: ConstraintEquations,
    rows: Sequence[int],
    Lambda: Expr | None,
    columns: Shape,
) -> Expr:
    """Return the multipliers of independent and redundant constraints in one vector.

    The argument Lambda contains the multipliers of the independent constraints `rows`. The multipliers
    of redundant constraints are zero. With the option `minimum_norm`, however, the reactions are
    distributed over both kinds of constraints such that the norm of all multipliers is smallest. Lambda
    is None if no constraint is independent. This is the case, for example, for a shaft whose second
    bearing is a loop closure, because every angle of the shaft satisfies the closure's constraints.
    """
    if Lambda is None:
        return ir.zeros(1 + max(reaction.row for reaction in constraints.reactions), *columns)
    if mechanism.redundant == "minimum_norm":
        return _scattered(
            program, constraints, *_shared(program, constraints.C, rows, range(len(constraints.rows)), Lambda)
        )
    return _scattered(program, constraints, rows, Lambda)


def _scattered(
    program: EquationSystem, constraints: ConstraintEquations, rows: Sequence[int], Lambda: Expr
) -> Expr:
    """Return the multipliers in the order of all constraints; zero for constraints not in `rows`.

    The argument Lambda contains the multipliers of the constraints `rows`. The result ends at the last
    constraint of a closure or knife edge, because other constraints need no multipliers.
    """
    reach = 1 + max(reaction.row for reaction in constraints.reactions)
    if list(rows[:reach]) == list(range(reach)):
        return Lambda
    rest, columns = tuple(slice(0, size) for size in Lambda.shape[1:]), Lambda.shape[1:]
    places = {row: Lambda[(i, *rest)] for i, row in enumerate(rows)}
    parts: list[tuple[Index, Expr]] = [((i, *rest), places.get(i, ir.zeros(*columns))) for i in range(reach)]
    return program.assemble(
        "reactions", (reach, *columns), parts, None, "multipliers by constraint, zero for redundant constraints"
    )


def _shared(
    program: EquationSystem, C: Expr, rows: Sequence[int], sharing: Sequence[int], Lambda: Expr
) -> tuple[list[int], Expr]:
    """Distribute reactions over independent and redundant constraints, with multipliers of least norm.

    The first result contains the indices of all constraints that share the reactions, and the second
    result their multipliers. These multipliers exert the same generalised forces as the multipliers Λ
    of the independent constraints `rows`. Let C be the Jacobian of the independent constraints, and T C
    the Jacobian of all constraints that share the reactions. The multipliers of least norm are T y with
    (TᵀT) y = Λ.
    """
    others = [i for i in sharing if i not in rows]
    if not (others and rows):
        return list(rows), Lambda
    every = range(C.shape[1])
    Ck = submatrix(program, "Ck", C, (rows, every), "Jacobian of the independent constraints")
    Cs = submatrix(program, "Cs", C, (others, every), "Jacobian of the redundant constraints")
    text = "coefficients of the redundant constraints as combinations of the independent ones"
    T = program.solve("T", Ck @ Ck.T, Ck @ Cs.T, text, "constraints")
    metric = ir.constant([[float(i == j) for j in range(len(rows))] for i in range(len(rows))]) + T @ T.T
    metric = program.define("metric", metric, None, "weights of the multipliers of least norm")
    y = program.solve(
        "least", metric, Lambda, "multipliers of least norm of the independent constraints", "constraints"
    )
    z = program.define("shared", T.T @ y, None, "multipliers of least norm of the redundant constraints")
    first, last, columns = slice(0, len(rows)), slice(len(rows), len(rows) + len(others)), Lambda.shape[1:]
    rest = tuple(slice(0, size) for size in columns)
    parts: list[tuple[Index, Expr]] = [((first, *rest), y), ((last, *rest), z)]
    both = program.assemble(
        "sharing", (last.stop, *columns), parts, None, "multipliers of least norm of all constraints"
    )
    return [*rows, *others], both


def drive_efforts(
    program: EquationSystem,
    mechanism: SymbolicMechanism,
    dynamics: Dynamics,
    constraints: ConstraintEquations,
    rows: Sequence[int],
    X: Expr,
    F: Expr,
) -> tuple[Expr | None, Expr]:
    """Return the constraint multipliers Λ, and the efforts τ of drives that realise programmed constraints.

    Λ and τ are the solution of Cᵀ Λ + B τ = M X − F. The matrix C is the Jacobian of the constraints
    `rows`. These constraints are independent, and no drive exerts their forces. The columns of the
    matrix B are unit efforts on the coordinates with drives. If the accelerations X and the forces F
    have c columns, Λ and τ also have c columns.
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
    program: EquationSystem,
    mechanism: SymbolicMechanism,
    constraints: ConstraintEquations,
    rows: Sequence[int],
    forces: Expr,
) -> Expr:
    """Return the constraint multipliers Λ and drive efforts τ that exert the given generalised forces.

    The result [Λ; τ] satisfies [Cᵀ B] [Λ; τ] = forces. C is the Jacobian of the constraints `rows`. The
    columns of B are unit efforts on the coordinates with drives. If there are fewer than n unknowns,
    the equations are consistent but overdetermined. The least-squares method then solves s + [Cᵀ B] [Λ;
    τ] = forces together with [Cᵀ B]ᵀ s = 0. Here, s is the residual.
    """
    n, actuated, r = mechanism.n, mechanism.actuated or (), len(rows)
    every, unknowns = slice(0, n), r + len(actuated)
    units = ir.constant([[float(i == k) for k in actuated] for i in range(n)])
    parts: list[tuple[Index, Expr]] = [((every, slice(r, unknowns)), units)]
    if rows:
        C = submatrix(
            program,
            "Cu",
            constraints.C,
            (rows, range(n)),
            "Jacobian of the constraints that are not enforced by drives",
        )
        parts.insert(0, ((every, slice(0, r)), C.T))
    text = "generalised forces due to unit values of the multipliers and of the drive efforts"
    E = program.assemble("E", (n, unknowns), parts, None, text)
    names = listed([mechanism.coordinates[k].name for k in actuated])
    if unknowns == n:
        return program.solve("exerted", E, forces, "drive efforts", names)
    rest = tuple(slice(0, size) for size in forces.shape[1:])
    last, size = slice(n, n + unknowns), n + unknowns
    identity = ir.constant([[float(i == j) for j in range(n)] for i in range(n)])
    K_parts: list[tuple[Index, Expr]] = [((every, every), identity), ((every, last), E)]
    K_parts += [((last, every), E.T), ((last, last), ir.zeros(unknowns, unknowns))]
    K = program.assemble(
        "K", (size, size), K_parts, None, "least-squares system for multipliers and drive efforts"
    )
    zero = ir.zeros(unknowns, *forces.shape[1:])
    right_parts: list[tuple[Index, Expr]] = [((every, *rest), forces), ((last, *rest), zero)]
    right = program.assemble(
        "forces",
        (size, *forces.shape[1:]),
        right_parts,
        None,
        "generalised forces that multipliers and drive efforts exert",
    )
    both = program.solve("exerted", K, right, "drive efforts", names)
    return both[(last, *rest)]
