"""Rewriting of linear systems into the form that Modelica compilers solve fastest.

The solutions do not change. A compiler splits a matrix equation into one linear system per column,
and solves each of them separately. A matrix of two or three rows is therefore inverted by
cofactors. A larger matrix is inverted once if the unknown has more columns than the matrix. A
matrix that only one linear system uses is not declared. Its elements are written into the equations
of this system.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from ...language import ir
from ...language.ir import Expr, Index
from ..program.items import Definition, ImplicitSystem, Item, LinearSolve, used
from ..program.program import EquationSystem

_BY_COFACTORS = (2, 3)  # Matrices with these numbers of rows are inverted by cofactors.


def for_compilers(program: EquationSystem) -> EquationSystem:
    """Return the program in which small matrices are inverted explicitly.

    Each inverse is a new definition with a new name.
    """
    result = replace(program, items=[], reserved=set(program.reserved))
    inverses: dict[str, Expr] = {}
    for item in program.items:
        if isinstance(item, LinearSolve) and _is_inverted(item):
            _invert(result, item, inverses)
        else:
            result.items.append(item)
    result.items = list(_in_place(result))
    return result


def _is_inverted(solve: LinearSolve) -> bool:
    rows = solve.matrix.shape[0]
    columns = solve.shape[1] if len(solve.shape) > 1 else 1
    return _untransposed(solve.matrix).op == "symbol" and (rows in _BY_COFACTORS or 1 < rows < columns)


def _untransposed(matrix: Expr) -> Expr:
    return matrix.args[0] if matrix.op == "transpose" else matrix


def _invert(program: EquationSystem, solve: LinearSolve, inverses: dict[str, Expr]) -> None:
    """Define the unknown of a linear system as the inverse matrix times the right-hand side.

    A system with a matrix and a system with its transpose share one inverse.
    """
    matrix, right, origin = _untransposed(solve.matrix), solve.right, solve.origin
    program.section(origin.kind, origin.name, origin.element)
    if matrix.data not in inverses:
        inverses[matrix.data] = _inverse(program, matrix, solve.about)
    inverse, negative = inverses[matrix.data], right.op == "neg"
    inverse = inverse if matrix is solve.matrix else inverse.T
    product = inverse @ (right.args[0] if negative else right)
    program.reserved.discard(solve.name)
    program.define(solve.name, -product if negative else product, solve.unit, solve.description)


def _inverse(program: EquationSystem, matrix: Expr, about: str) -> Expr:
    text = f"inverse of the matrix {matrix.data}"
    if matrix.shape[0] in _BY_COFACTORS:
        return _by_cofactors(program, matrix, text)
    identity = ir.constant(np.eye(matrix.shape[0]))
    return program.solve(f"{matrix.data}_inverse", matrix, identity, text, about)


def _by_cofactors(program: EquationSystem, matrix: Expr, text: str) -> Expr:
    name = matrix.data
    parts: list[tuple[Index, Expr]]
    if matrix.shape[0] == 2:
        (a, b), (c, d) = matrix
        determinant = _determinant(program, name, a * d - b * c)
        parts = [((), ir.array([[d, -b], [-c, a]]) / determinant)]
    else:
        columns = [matrix[:, i] for i in range(3)]
        determinant = _determinant(program, name, columns[0] @ ir.cross(columns[1], columns[2]))
        parts = [((i, slice(0, 3)), ir.cross(columns[i - 2], columns[i - 1]) / determinant) for i in range(3)]
    return program.assemble(f"{name}_inverse", matrix.shape, parts, None, text)


def _determinant(program: EquationSystem, name: str, expr: Expr) -> Expr:
    text = f"determinant of the matrix {name}; the unit follows from the elements of the matrix"
    return program.define(f"{name}_determinant", expr, None, text)


def _in_place(program: EquationSystem) -> Iterator[Item]:
    """Yield the definitions and linear systems of a program, some of them as scalar equations.

    Scalar equations replace a linear system if nothing else in the program uses its matrix or its
    right-hand side. The definitions of matrix and right-hand side are then omitted, because the scalar
    equations contain the elements of both.
    """
    definitions = {item.name: item for item in program.items if isinstance(item, Definition)}
    systems: dict[str, ImplicitSystem] = {}
    dropped: set[str] = set()
    for item in program.items:
        if not isinstance(item, LinearSolve):
            continue
        own = {expr.data for expr in item.exprs if expr.op == "symbol"}
        others = (other for other in program.items if other is not item)
        if len(own) == 2 and own <= set(definitions) and not own & set().union(*map(used, others)):
            rows = _rows(item, definitions)
            if rows is not None:
                systems[item.name] = rows
                dropped |= own
    for item in program.items:
        if item.name not in dropped:
            yield systems.get(item.name, item)


def _rows(solve: LinearSolve, definitions: Mapping[str, Definition]) -> ImplicitSystem | None:
    """Return a linear system in the form of one scalar equation per row of its matrix.

    The result is None if the definition of the matrix does not consist of rows. The result is also None
    if the unknown is a matrix.
    """
    matrix, right = (definitions[expr.data] for expr in solve.exprs)
    every = slice(0, matrix.shape[-1])
    forces = {str(index[:1]): expr for index, expr in right.parts}
    if len(solve.shape) > 1 or any(
        len(index) != 2 or index[1] != every or str(index[:1]) not in forces for index, _ in matrix.parts
    ):
        return None
    unknown = ir.symbol(solve.name, solve.shape)
    equations = tuple((row @ unknown, forces[str(index[:1])]) for index, row in matrix.parts)
    return ImplicitSystem(solve.name, solve.shape, solve.unit, solve.description, equations, solve.origin)
