"""Linear systems as the Modelica text has them: the same unknowns, without a solver's call for each column."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_program import Numeric

from gpmelica.generator.language import ir
from gpmelica.generator.modelica.linear_systems import for_compilers
from gpmelica.generator.program.items import ImplicitSystem, LinearSolve
from gpmelica.generator.program.program import Parameter, Program

RNG_SEED = 12


def _program(rows: int, columns: int) -> tuple[Program, np.ndarray, np.ndarray]:
    """A matrix equation of given numbers and one with the transposed matrix, and their unknowns."""
    rng = np.random.default_rng(RNG_SEED + rows)
    matrix, right = rng.normal(size=(rows, rows)), rng.normal(size=(rows, columns))
    program = Program("P", "")
    A = program.assemble("A", matrix.shape, [((), ir.constant(matrix))], None, "")
    B = program.assemble("B", right.shape, [((), ir.constant(right))], None, "")
    program.solve("X", A, -B, None, "", "")
    program.solve("Y", A.T, B[:, 0], None, "", "")
    return program, np.linalg.solve(matrix, -right), np.linalg.solve(matrix.T, right[:, 0])


@pytest.mark.parametrize(("rows", "columns", "systems"), [(2, 5, 0), (3, 1, 0), (4, 9, 5), (4, 3, 4)])
def test_matrix_equation(rows: int, columns: int, systems: int) -> None:
    """By cofactors up to three rows; a larger matrix is inverted once where that takes fewer solves."""
    program, X, Y = _program(rows, columns)
    rewritten = for_compilers(program)
    solves = [item for item in rewritten.items if isinstance(item, LinearSolve)]
    assert sum(solve.shape[1] if len(solve.shape) > 1 else 1 for solve in solves) == systems
    values = Numeric(rewritten, {}).values
    np.testing.assert_allclose(values["X"], X, rtol=1e-11)
    np.testing.assert_allclose(values["Y"], Y, rtol=1e-11)


def test_rows_in_place() -> None:
    """A matrix that its system alone uses is no variable; one that something else uses stays."""
    for shared in (False, True):
        program = Program("P", "", parameters=[Parameter("p", np.arange(1.0, 5.0), "1", "")])
        rows = [((i, slice(0, 4)), ir.symbol("p", (4,)) * float(i + 1)) for i in range(4)]
        A = program.assemble("A", (4, 4), rows, None, "")
        b = program.assemble("b", (4,), [((i,), ir.symbol("p", (4,))[i]) for i in range(4)], None, "")
        program.solve("x", A, b, None, "", "")
        if shared:
            program.define("trace", A[0, 0] + A[1, 1], None, "")
        names = {item.name: item for item in for_compilers(program).items}
        assert isinstance(names["x"], LinearSolve if shared else ImplicitSystem)
        assert {"A", "b"} <= set(names) if shared else not {"A", "b"} & set(names)
