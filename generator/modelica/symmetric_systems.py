"""Symmetric, positive definite systems as equations of a Cholesky factor; unknowns and values stay the same.

A compiler's solver takes each column of the unknown as a system of its own, and fills its matrix by elements.
Up to some size equations are faster, and all columns have one factor.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..language import ir
from ..language.ir import Expr, Index
from ..program.items import LinearSolve, is_small
from ..program.program import Program


def is_factored(solve: LinearSolve) -> bool:
    """Whether equations are to stand for a system."""
    return solve.symmetric and solve.matrix.op == "symbol" and solve.shape[0] > 1 and is_small(solve.shape)


def places(n: int) -> set[str]:
    """Indices, as text, of the parts that can stand in a factor's equations: rows of the upper triangle."""
    return {str(index) for j in range(n) for index in _row(j, n)}


def _row(j: int, n: int) -> list[Index]:
    """Its element of the diagonal, and those after it, if there are any."""
    row: list[Index] = [(j, j), (j, slice(j + 1, n))]
    return row[:1] if j == n - 1 else row


def by_factor(program: Program, solve: LinearSolve, elements: Mapping[str, Expr]) -> None:
    """L y = b and Lᵀ x = y for A x = b, A = L Lᵀ; elements: see `_factor`."""
    program.section(solve.origin.kind, solve.origin.name, solve.origin.element)
    L, b, n = _factor(program, solve.matrix, elements), solve.right, solve.shape[0]
    rest = tuple(slice(0, size) for size in solve.shape[1:])
    above = program.fresh("y")
    y, x = ir.symbol(above, solve.shape), ir.symbol(solve.name, solve.shape)

    def eliminated(i: int, value: Expr, factors: Expr, known: slice, among: Expr) -> tuple[Index, Expr]:
        if known.start < known.stop:
            value = value - factors @ among[(known, *rest)]
        return (i, *rest), value * L[i, i]

    down = [eliminated(i, b[(i, *rest)], L[i, 0:i], slice(0, i), y) for i in range(n)]
    up = [eliminated(i, y[(i, *rest)], L[i + 1 : n, i], slice(i + 1, n), x) for i in reversed(range(n))]
    program.reserved -= {above, solve.name}
    program.assemble(above, solve.shape, down, None, f"what transpose(L)*{solve.name} is")
    program.assemble(solve.name, solve.shape, up, solve.unit, solve.description)


def _factor(program: Program, A: Expr, elements: Mapping[str, Expr]) -> Expr:
    """L, column by column, with the reciprocals of its diagonal: what all of a column is multiplied by.

    elements  index, as text → that part of A, to be written in its place
    """
    n, name = A.shape[0], program.fresh("L")
    L = ir.symbol(name, A.shape)
    parts: list[tuple[Index, Expr]] = []
    for j in range(n):
        below, left = slice(j + 1, n), L[j, 0:j]
        square, *column = (elements.get(str(index), A[index]) for index in _row(j, n))
        parts.append(((j, j), 1.0 / ir.call("sqrt", square - left @ left if j else square)))
        for part in column:
            rest = part - L[below, 0:j] @ left if j else part
            parts += [((below, j), rest * L[j, j]), ((j, below), ir.zeros(n - 1 - j))]
    program.reserved.discard(name)
    text = f"Cholesky factor of {A.data}, with the reciprocals of its diagonal"
    return program.assemble(name, A.shape, parts, None, text)
