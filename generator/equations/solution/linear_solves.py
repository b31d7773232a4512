"""Ways to solve constrained equations of motion with linear solves alone (design 4.4, 4.6).

GPME, the reduced, multiplier-free equations (P0 (26), P2 (20)), with a fixed choice of dependent coordinates; and
Lagrange's, with multipliers as unknowns (P4 (4)).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...language import ir
from ...language.ir import Expr, Index
from ...program.items import ConstrainedSolve
from ...program.program import Assertion, Program
from .system import submatrix

_STEEPEST = 1e8  # dependent velocity per independent one: half of a double's digits are lost then


def with_linear_solves(program: Program, formulation: str) -> Program:
    """The program with linear solves in place of constrained ones."""
    result = replace(program, items=[], assertions=[], reserved=set(program.reserved))
    for item in program.items:
        if not isinstance(item, ConstrainedSolve):
            result.items.append(item)
        elif formulation == "lagrange":
            _lagrange(result, item)
        else:
            _gpme(result, item, *_partition(result, item))
    return result


def with_partition(program: Program) -> Program:
    """The program with the partition of its constrained solves, which is regular wherever they are solved."""
    result = replace(program, items=[], assertions=[], reserved=set(program.reserved))
    for item in program.items:
        if isinstance(item, ConstrainedSolve):
            result.items.append(replace(item, ratios=_partition(result, item)))
        else:
            result.items.append(item)
    return result


def _partition(program: Program, item: ConstrainedSolve) -> tuple[Expr, Expr | None]:
    """C_d, and D = ∂X_d/∂X_i = −C_d⁻¹ C_i of shape (m, n − m), or None if nothing is independent."""
    program.section("reduction to independent coordinates")
    Cd, D = item.ratios or _dependence(program, item)
    if D is not None:
        _assert_regular(program, item, D)
    return Cd, D


def _gpme(program: Program, item: ConstrainedSolve, Cd: Expr, D: Expr | None) -> None:
    """Vᵀ(M X − F) = 0 above C X = W, with V = [1; D]: one n×n system."""
    M, C, F, W = item.matrix, item.jacobian, item.right, item.wanted
    m, n = C.shape
    independent = item.independent
    rest = tuple(slice(0, size) for size in F.shape[1:])
    rows, forces = [M[k, :] for k in independent], [F[(k, *rest)] for k in independent]
    if D is not None:
        # row by row: compilers expand a product of blocks element by element, each with the whole product in it
        every = range(n)
        Md = submatrix(program, "Md", M, (item.dependent, every), "rows of M of the dependent coordinates")
        chosen = (item.dependent, *map(range, F.shape[1:]))
        Fd = submatrix(program, "Fd", F, chosen, "forces on the dependent coordinates")
        rows = [row + D[:, i] @ Md for i, row in enumerate(rows)]
        forces = [force + D[:, i] @ Fd for i, force in enumerate(forces)]
    program.section("accelerations")
    last = slice(n - m, n)
    A_parts: list[tuple[Index, Expr]] = [((i, slice(0, n)), row) for i, row in enumerate(rows)]
    b_parts: list[tuple[Index, Expr]] = [((i, *rest), force) for i, force in enumerate(forces)]
    A_parts.append(((last, slice(0, n)), C))
    b_parts.append(((last, *rest), W))
    A = program.assemble("A", (n, n), A_parts, None, "reduced mass matrix above the constraint Jacobian")
    b = program.assemble("b", F.shape, b_parts, None, "reduced forces above stabilised constraint accelerations")
    _solve(program, item.name, A, b, item.description, item.about)
    if item.multipliers is not None:
        _multipliers(program, item, item.multipliers, Cd)


def _dependence(program: Program, item: ConstrainedSolve) -> tuple[Expr, Expr | None]:
    Cd, Ci = split(program, item.jacobian, item.dependent, item.independent)
    if Ci is None:
        return Cd, None
    text = "partition: dependent velocities per independent velocity"
    names = dependent_names(item.coordinates, item.dependent)
    return Cd, program.solve("D", Cd, -Ci, None, text, names, ratios=len(item.independent))


def _assert_regular(program: Program, item: ConstrainedSolve, D: Expr) -> None:
    """Say where the dependent velocities cease to follow from the others: C_d is singular, D has no bounds."""
    steepness: Expr = ir.constant(0.0)
    for i in range(D.shape[1]):
        steepness = steepness + D[:, i] @ D[:, i]
    value = program.define("steepness", steepness, None, "squares of the dependent velocities per independent one")
    names = dependent_names(item.coordinates, item.dependent)
    text = f"the constraints cannot be solved for {names}: choose other dependent coordinates; time in s:"
    program.assertions.append(Assertion(value, _STEEPEST**2, text))


def split(
    program: Program, C: Expr, dependent: Sequence[int], independent: Sequence[int]
) -> tuple[Expr, Expr | None]:
    """Columns of C of the dependent and of the independent coordinates, if there are any."""
    rows = range(C.shape[0])
    Cd = submatrix(program, "Cd", C, (rows, dependent), "columns of C of the dependent coordinates")
    if not independent:
        return Cd, None
    return Cd, submatrix(program, "Ci", C, (rows, independent), "columns of C of the independent coordinates")


def dependent_names(coordinates: Sequence[str], dependent: Sequence[int]) -> str:
    """For messages about C_d."""
    return ", ".join(coordinates[k] for k in dependent)


def _multipliers(program: Program, item: ConstrainedSolve, name: str, Cd: Expr) -> None:
    """C_dᵀ Λ = (M X − F)_d, column by column."""
    X = ir.symbol(item.name, item.shape)
    rest = tuple(slice(0, size) for size in item.shape[1:])
    parts: list[tuple[Index, Expr]] = [
        ((i, *rest), item.matrix[k, :] @ X - item.right[(k, *rest)]) for i, k in enumerate(item.dependent)
    ]
    text = "constraint forces on the dependent coordinates"
    Ed = program.assemble("Ed", item.wanted.shape, parts, None, text)
    _solve(program, name, Cd.T, Ed, "multipliers", dependent_names(item.coordinates, item.dependent))


def _lagrange(program: Program, item: ConstrainedSolve) -> None:
    """One system for accelerations and multipliers."""
    M, C, F, W = item.matrix, item.jacobian, item.right, item.wanted
    m, n = C.shape
    rest = tuple(slice(0, size) for size in F.shape[1:])
    first, last = slice(0, n), slice(n, n + m)
    program.section("accelerations")
    A_parts: list[tuple[Index, Expr]] = [((first, first), M), ((first, last), -C.T)]
    A_parts += [((last, first), C), ((last, last), ir.zeros(m, m))]
    b_parts: list[tuple[Index, Expr]] = [((first, *rest), F), ((last, *rest), W)]
    A = program.assemble("A", (n + m, n + m), A_parts, None, "mass matrix and constraint Jacobian")
    b = program.assemble(
        "b", (n + m, *F.shape[1:]), b_parts, None, "forces above stabilised constraint accelerations"
    )
    about = f"{item.about}, and {m} multipliers"
    Y = program.solve("Y", A, b, None, "accelerations and multipliers", about)
    _define(program, item.name, Y[(first, *rest)], item.description)
    if item.multipliers is not None:
        _define(program, item.multipliers, Y[(last, *rest)], "multipliers of the constraints")


def _solve(program: Program, name: str, matrix: Expr, right: Expr, description: str, about: str) -> None:
    """A linear solve whose unknown has its name already."""
    program.reserved.discard(name)
    program.solve(name, matrix, right, None, description, about)


def _define(program: Program, name: str, expr: Expr, description: str) -> None:
    program.reserved.discard(name)
    program.define(name, expr, None, description)
