"""Formulations of the constrained equations of motion whose solution needs only linear systems.

The generalised programmed motion equations (GPME; Jarzębowska et al. 2023, equation (26)) contain
no multipliers. The elimination of the multipliers needs a fixed choice of dependent coordinates.
Lagrange's equations have the multipliers as additional unknowns (Krasinskiy 2023, equation (4)).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ....language import ir
from ....language.ir import Expr, Index
from ...program.items import ConstrainedSolve, Traits, listed
from ...program.program import Assertion, EquationSystem
from .system import submatrix

# Dependent velocities may be at most this many times the independent velocities; at 1e8, 8 of 16 digits are lost.
_STEEPEST = 1e8


def with_linear_solves(program: EquationSystem, formulation: str) -> EquationSystem:
    """Return the program with linear systems in place of its constrained equations of motion.

    The formulation is `gpme`, `gpme_reduced` or `lagrange`.
    """
    return _rewritten(program, _lagrange if formulation == "lagrange" else _gpme)


def with_partition(program: EquationSystem) -> EquationSystem:
    """Return the program with a fixed coordinate partition in its constrained equations of motion.

    The Jacobian of the dependent coordinates must stay regular during the whole run.
    """
    return _rewritten(program, lambda new, item: new.items.append(replace(item, ratios=_partition(new, item))))


def with_independent_solves(program: EquationSystem) -> EquationSystem:
    """Return the program with symmetric linear systems for the independent accelerations.

    These linear systems replace the constrained equations of motion.
    """
    return _rewritten(program, _independent)


def _rewritten(program: EquationSystem, add: Callable[[EquationSystem, ConstrainedSolve], None]) -> EquationSystem:
    """Return a copy of the program without constrained linear systems.

    At the place of each constrained system, the function `add` appends other items to the copy.
    """
    result = replace(program, items=[], assertions=[], reserved=set(program.reserved))
    for item in program.items:
        if isinstance(item, ConstrainedSolve):
            add(result, item)
        else:
            result.items.append(item)
    return result


def _independent(program: EquationSystem, item: ConstrainedSolve) -> None:
    """Add a symmetric linear system whose unknowns are the independent accelerations X_i.

    The system is VᵀMV X_i = Vᵀ(F − M [0; w]) with D = ∂X_d/∂X_i, V = [1; D] and w = C_d⁻¹ W. The matrix
    C_d is the Jacobian of the dependent coordinates. The dependent accelerations follow from the
    additional definition X_d = w + D X_i.
    """
    program.section("reduction to independent coordinates")
    Cd, D, w = _dependence_with(program, item)
    A, b = _reduced(program, item, D, w)
    program.section("accelerations of independent and dependent coordinates")
    names = listed([item.coordinates[k] for k in item.independent])
    Xi = program.solve("Xi", A, b, item.description, names, symmetric=True)
    rest = tuple(slice(0, size) for size in item.shape[1:])
    parts: list[tuple[Index, Expr]] = [((k, *rest), Xi[(i, *rest)]) for i, k in enumerate(item.independent)]
    parts += [((k, *rest), w[(j, *rest)] + D[j, :] @ Xi) for j, k in enumerate(item.dependent)]
    program.reserved.discard(item.name)
    program.assemble(item.name, item.shape, parts, item.unit, item.description)
    if item.multipliers is not None:
        _multipliers(program, item, item.multipliers, Cd)


def _reduced(program: EquationSystem, item: ConstrainedSolve, D: Expr, w: Expr) -> tuple[Expr, Expr]:
    """Return the mass matrix VᵀMV and the forces Vᵀ(F − M [0; w]) of the independent coordinates.

    The dependent accelerations are X_d = w + D X_i, with the independent accelerations X_i. F contains
    the forces on all coordinates, and V is the matrix [1; D]. The subscripts i and d mark the blocks of
    M that belong to independent and dependent coordinates. The result is VᵀMV = M_ii + DᵀE + EᵀD with E
    = M_di + M_dd D/2.
    """
    M, free, dependent = item.matrix, item.independent, item.dependent
    Mi = submatrix(program, "Mi", M, (free, free), "mass matrix of the independent coordinates")
    Mdi = submatrix(
        program, "Mdi", M, (dependent, free), "mass matrix between dependent and independent coordinates"
    )
    Mdd = submatrix(program, "Mdd", M, (dependent, dependent), "mass matrix of the dependent coordinates")
    E_rows: list[tuple[Index, Expr]] = [
        ((k, slice(0, len(free))), Mdi[k, :] + 0.5 * (Mdd[k, :] @ D)) for k in range(len(dependent))
    ]
    E = program.assemble(
        "Hd", Mdi.shape, E_rows, None, "auxiliary matrix Mdi + Mdd*D/2 of the reduced mass matrix"
    )
    parts = list(_reduced_matrix(Mi, D, E))
    A = program.assemble("M_reduced", Mi.shape, parts, None, "reduced mass matrix", Traits(symmetric=True))
    return A, _reduced_forces(program, item, D, w, Mdi, Mdd)


def _reduced_matrix(Mi: Expr, D: Expr, E: Expr) -> Iterator[tuple[Index, Expr]]:
    """Yield the upper triangle of the reduced mass matrix M_ii + DᵀE + EᵀD, row by row.

    M_ii is the mass matrix of the independent coordinates. D contains the derivatives of the dependent
    with respect to the independent accelerations. The function `_reduced` defines the auxiliary matrix
    E. Each row begins with its diagonal element.
    """
    n = Mi.shape[0]
    for i in range(n):
        yield (i, i), Mi[i, i] + 2.0 * (D[:, i] @ E[:, i])
        if i < n - 1:
            rest = slice(i + 1, n)
            yield (i, rest), Mi[i, rest] + D[:, i] @ E[:, rest] + E[:, i] @ D[:, rest]


def _reduced_forces(
    program: EquationSystem, item: ConstrainedSolve, D: Expr, w: Expr, Mdi: Expr, Mdd: Expr
) -> Expr:
    """Return the forces Vᵀ(F − M [0; w]) on the independent coordinates.

    The array w contains the dependent accelerations for zero independent accelerations, and V = [1; D]
    with D = ∂X_d/∂X_i.
    """
    F, free, rest = item.right, item.independent, tuple(slice(0, size) for size in item.shape[1:])
    Fd = submatrix(program, "Fd", F, _rows(F, item.dependent), "forces on the dependent coordinates")
    Fw = program.define("Fw", Fd - Mdd @ w, None, "forces on the dependent coordinates minus Mdd*w")
    rows: list[tuple[Index, Expr]] = [
        ((i, *rest), F[(k, *rest)] - Mdi[:, i] @ w + D[:, i] @ Fw) for i, k in enumerate(free)
    ]
    return program.assemble("f_reduced", (len(free), *item.shape[1:]), rows, None, "reduced forces")


def _dependence_with(program: EquationSystem, item: ConstrainedSolve) -> tuple[Expr, Expr, Expr]:
    """Return the Jacobian C_d of the dependent coordinates, the matrix D and the array w.

    D and w give the dependent accelerations X_d = w + D X_i from the independent accelerations X_i. The
    array w has the shape of the right-hand side W of the constraints C X = W.
    """
    names = dependent_names(item.coordinates, item.dependent)
    if item.ratios is not None:
        Cd, D = item.ratios
        assert D is not None
        meaning = "dependent accelerations for zero independent accelerations"
        return Cd, D, program.solve("w", Cd, item.wanted, meaning, names)
    Cd, Ci = split(program, item.jacobian, item.dependent, item.independent)
    assert Ci is not None
    (m, free), columns = Ci.shape, (*item.shape, 1)[1]
    last: Index = (slice(0, m), slice(free, free + columns) if item.shape[1:] else free)
    parts: list[tuple[Index, Expr]] = [((slice(0, m), slice(0, free)), -Ci), (last, item.wanted)]
    right = program.assemble(
        "Bd", (m, free + columns), parts, None, "right-hand sides for the dependent accelerations"
    )
    text = "derivatives of the dependent velocities with respect to the independent ones"
    text += ", followed by the dependent accelerations for zero independent accelerations"
    found = program.solve("D", Cd, right, text, names, ratios=free)
    return Cd, found[:, 0:free], found[last]


def _partition(program: EquationSystem, item: ConstrainedSolve) -> tuple[Expr, Expr | None]:
    """Return the Jacobian C_d of the dependent coordinates and D = ∂X_d/∂X_i, shape (m, n − m).

    D is None if no coordinate is independent.
    """
    program.section("reduction to independent coordinates")
    Cd, D = item.ratios or _dependence(program, item)
    if D is not None:
        _assert_regular(program, item, D)
    return Cd, D


def _gpme(program: EquationSystem, item: ConstrainedSolve) -> None:
    """Add the linear system of the generalised programmed motion equations.

    The Jacobian of the dependent coordinates must stay regular during the whole run.
    """
    _stacked(program, item, *_partition(program, item))


def _stacked(program: EquationSystem, item: ConstrainedSolve, Cd: Expr, D: Expr | None) -> None:
    """Add one n×n linear system for the accelerations X.

    The upper rows are the reduced equations Vᵀ(M X − F) = 0, where V = [1; D] and D = ∂X_d/∂X_i.
    The lower rows are the constraints C X = W.
    """
    C, F, W = item.jacobian, item.right, item.wanted
    m, n = C.shape
    rest = tuple(slice(0, size) for size in F.shape[1:])
    rows, forces = _reduced_rows(program, item, D) if D is not None else ([], [])
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


def _reduced_rows(program: EquationSystem, item: ConstrainedSolve, D: Expr) -> tuple[list[Expr], list[Expr]]:
    """Return VᵀM as a list of rows, and VᵀF as a list of elements, for the equations Vᵀ(M X − F) = 0.

    V is the matrix [1; D]. D = ∂X_d/∂X_i contains the derivatives of the dependent with respect to the
    independent accelerations.
    """
    M, F = item.matrix, item.right
    rest = tuple(slice(0, size) for size in F.shape[1:])
    # If one variable contained the matrix product, compilers would compute the product again for each element.
    every = range(M.shape[1])
    Md = submatrix(
        program, "Md", M, (item.dependent, every), "rows of the mass matrix for the dependent coordinates"
    )
    Fd = submatrix(program, "Fd", F, _rows(F, item.dependent), "forces on the dependent coordinates")
    rows = [M[k, :] + D[:, i] @ Md for i, k in enumerate(item.independent)]
    return rows, [F[(k, *rest)] + D[:, i] @ Fd for i, k in enumerate(item.independent)]


def _rows(array: Expr, chosen: Sequence[int]) -> tuple[Sequence[int], ...]:
    return chosen, *map(range, array.shape[1:])


def _dependence(program: EquationSystem, item: ConstrainedSolve) -> tuple[Expr, Expr | None]:
    Cd, Ci = split(program, item.jacobian, item.dependent, item.independent)
    if Ci is None:
        return Cd, None
    text = "derivatives of the dependent velocities with respect to the independent velocities"
    names = dependent_names(item.coordinates, item.dependent)
    return Cd, program.solve("D", Cd, -Ci, text, names, ratios=len(item.independent))


def _assert_regular(program: EquationSystem, item: ConstrainedSolve, D: Expr) -> None:
    """Add an assertion that the Jacobian C_d of the dependent coordinates stays regular.

    The assertion limits the ratios of dependent to independent velocities, which grow without bounds
    near a singular C_d.
    """
    steepness: Expr = ir.constant(0.0)
    for i in range(D.shape[1]):
        steepness = steepness + D[:, i] @ D[:, i]
    steepness = ir.function("sumOfSquares", steepness, D)
    text = "sum of the squared elements of D; large near a singular matrix Cd; units differ by term"
    value = program.define("steepness", steepness, None, text)
    names = dependent_names(item.coordinates, item.dependent)
    text = f"the constraints cannot be solved for {names}: choose other dependent coordinates; time in s:"
    program.assertions.append(Assertion(value, _STEEPEST**2, text))


def split(
    program: EquationSystem, C: Expr, dependent: Sequence[int], independent: Sequence[int]
) -> tuple[Expr, Expr | None]:
    """Return the columns of C for the dependent coordinates and those for the independent coordinates.

    The second result is None if no coordinate is independent.
    """
    rows = range(C.shape[0])
    Cd = submatrix(program, "Cd", C, (rows, dependent), "constraint Jacobian of the dependent coordinates")
    if not independent:
        return Cd, None
    return Cd, submatrix(
        program, "Ci", C, (rows, independent), "constraint Jacobian of the independent coordinates"
    )


def dependent_names(coordinates: Sequence[str], dependent: Sequence[int]) -> str:
    """Return the names of the dependent coordinates, for messages about the matrix C_d."""
    return ", ".join(coordinates[k] for k in dependent)


def _multipliers(program: EquationSystem, item: ConstrainedSolve, name: str, Cd: Expr) -> None:
    """Add the linear system C_dᵀ Λ = (M X − F)_d for the multipliers Λ.

    The index d selects the dependent coordinates.
    """
    X = ir.symbol(item.name, item.shape)
    rest = tuple(slice(0, size) for size in item.shape[1:])
    parts: list[tuple[Index, Expr]] = [
        ((i, *rest), item.matrix[k, :] @ X - item.right[(k, *rest)]) for i, k in enumerate(item.dependent)
    ]
    text = "constraint forces on the dependent coordinates"
    Ed = program.assemble("Ed", item.wanted.shape, parts, None, text)
    _solve(
        program,
        name,
        Cd.T,
        Ed,
        "multipliers of the constraints",
        dependent_names(item.coordinates, item.dependent),
    )


def _lagrange(program: EquationSystem, item: ConstrainedSolve) -> None:
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
    Y = program.solve("Y", A, b, "accelerations and multipliers", about)
    _define(program, item.name, Y[(first, *rest)], item.description)
    if item.multipliers is not None:
        _define(program, item.multipliers, Y[(last, *rest)], "multipliers of the constraints")


def _solve(program: EquationSystem, name: str, matrix: Expr, right: Expr, description: str, about: str) -> None:
    program.reserved.discard(name)
    program.solve(name, matrix, right, description, about)


def _define(program: EquationSystem, name: str, expr: Expr, description: str) -> None:
    program.reserved.discard(name)
    program.define(name, expr, None, description)
