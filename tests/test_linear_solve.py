"""The C layer's dense linear solver against numpy."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

pytest_plugins = ["fixtures_c_layer"]


def _pointers(*values: np.ndarray) -> list[ctypes.c_void_p]:
    return [ctypes.c_void_p(value.ctypes.data) for value in values]


def linear_solve(library: Path, a: np.ndarray, b: np.ndarray) -> tuple[int, np.ndarray]:
    """Return code and X of A X = B; a, shape (n, n); b, shape (n, columns)."""
    n, columns = b.shape
    factors, x = np.array(a, order="F"), np.array(b, order="F")
    code = ctypes.CDLL(str(library)).linear_solve(n, columns, *_pointers(factors, x, np.empty(n), np.empty(n)))
    return code, x


def solve_again(library: Path, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """X of A X = B and of Aᵀ X = B by the factors of a solution; a, shape (n, n); b, shape (n, columns)."""
    lib = ctypes.CDLL(str(library))
    n, columns = b.shape
    factors, pivots = np.array(a, order="F"), np.empty(n)
    assert lib.linear_solve(n, 1, *_pointers(factors, np.ones(n), pivots, np.empty(n))) == 0
    found = np.array(b, order="F"), np.array(b, order="F")
    for solve, x in zip((lib.linear_solve_again, lib.linear_solve_transposed), found, strict=True):
        solve(n, columns, *_pointers(factors, pivots, x))
    return found


def bounds(library: Path, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of |X| by rows, shape (n,); a, shape (n, n); b, shape (n, columns)."""
    lib = ctypes.CDLL(str(library))
    n, columns = b.shape
    factors, right, pivots, found = np.array(a, order="F"), np.array(b, order="F"), np.empty(n), np.empty(n)
    assert lib.linear_solve(n, 0, *_pointers(factors, right, pivots, found)) == 0
    lib.linear_bound(n, columns, *_pointers(factors, pivots, right, found))
    return found


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 9, 18, 33, 100])
def test_lu_agrees_with_numpy(libraries: dict[str, Path], n: int) -> None:
    """X is backward stable for badly scaled rows and columns: residual small against |A| |X|."""
    rng = np.random.default_rng(n)
    for columns in (1, 3, 16):
        a = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-8, 8, (n, 1)) * 10.0 ** rng.uniform(-3, 3, n)
        b = rng.normal(size=(n, columns))
        code, x = linear_solve(libraries["solvers"], a, b)
        assert code == 0
        assert np.all(np.abs(a @ x - b) <= 1e-13 * n * (np.abs(a) @ np.abs(x) + np.abs(b)))
        rows = np.abs(a).max(1, keepdims=True)
        expected = np.linalg.solve(a / rows, b / rows)
        assert np.linalg.norm(x - expected) <= 1e-12 * np.linalg.cond(a / rows) * np.linalg.norm(x)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 9, 18, 33])
def test_factors_serve_again_and_transposed(libraries: dict[str, Path], n: int) -> None:
    """With kept factors, A X = B is solved to the last bit as at once, and Aᵀ X = B by a backward stable way."""
    rng = np.random.default_rng(n)
    a = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-8, 8, (n, 1)) * 10.0 ** rng.uniform(-3, 3, n)
    b = rng.normal(size=(n, 3))
    again, transposed = solve_again(libraries["solvers"], a, b)
    assert np.array_equal(again, linear_solve(libraries["solvers"], a, b)[1])
    assert np.all(np.abs(a.T @ transposed - b) <= 1e-12 * n * (np.abs(a.T) @ np.abs(transposed) + np.abs(b)))


@pytest.mark.parametrize("n", [1, 2, 3, 6, 9])
def test_bounds_are_above_every_solution(libraries: dict[str, Path], n: int) -> None:
    """With the signs that nothing cancels for they are reached: I − N, N ≥ 0 below the diagonal, and b ≥ 0."""
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-8, 8, (n, 1)), rng.normal(size=(n, 5))
    x = linear_solve(libraries["solvers"], a, b)[1]
    assert np.all(bounds(libraries["solvers"], a, b) >= (1 - 1e-12) * np.abs(x).max(1))
    a, b = np.eye(n) - 0.5 * np.tril(rng.uniform(size=(n, n)), -1), rng.uniform(size=(n, 1))
    x = linear_solve(libraries["solvers"], a, b)[1][:, 0]
    assert bounds(libraries["solvers"], a, b) == pytest.approx(x, rel=1e-13)


@pytest.mark.parametrize("n", [1, 2, 6, 18, 50])
def test_lu_finds_rank_deficiency_whatever_the_scales(libraries: dict[str, Path], n: int) -> None:
    """A matrix of rank n - 1 is refused although rounding makes its last pivot nonzero."""
    rng = np.random.default_rng(n)
    a = rng.normal(size=(n, max(n - 1, 1))) @ rng.normal(size=(max(n - 1, 1), n)) * (n > 1)
    a *= 10.0 ** rng.uniform(-6, 6, (n, 1)) * 10.0 ** rng.uniform(-6, 6, n)
    assert linear_solve(libraries["solvers"], a, np.ones((n, 1)))[0] > 0


def test_lu_accepts_a_mass_matrix_of_very_unequal_bodies(libraries: dict[str, Path]) -> None:
    """Inertias that differ by 16 powers of ten are no singularity."""
    a = np.array([[1e10, 1e2, 0], [1e2, 2e-6, 1e-7], [0, 1e-7, 1e-6]])
    code, x = linear_solve(libraries["solvers"], a, a @ np.array([[1.0], [2.0], [3.0]]))
    assert code == 0
    assert x[:, 0] == pytest.approx([1, 2, 3], rel=1e-7)  # the right-hand side alone is rounded by 1e-8 of 2


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_lu_reports_numbers_that_are_not_finite(libraries: dict[str, Path], bad: float) -> None:
    """NaN or infinity anywhere in A or B ends in an error code."""
    for i, j in ((0, 0), (4, 1), (1, 4), (4, 4)):
        a, b = np.random.default_rng(1).normal(size=(5, 5)), np.ones((5, 2))
        a[i, j] = bad
        assert linear_solve(libraries["solvers"], a, b)[0] != 0
    b[3, 1] = bad
    assert linear_solve(libraries["solvers"], np.eye(5), b)[0] == -1


class StageMatrix(ctypes.Structure):
    """As in stage_matrix.h."""

    _fields_ = (
        ("n", ctypes.c_int),
        ("positions", ctypes.c_int),
        ("J", ctypes.c_void_p),
        ("work", ctypes.c_void_p),
    )


@pytest.mark.parametrize(("positions", "others"), [(0, 7), (1, 0), (4, 0), (5, 3), (18, 0)])
def test_positions_are_eliminated(libraries: dict[str, Path], positions: int, others: int) -> None:
    """(1 - g J) x = b, with rates of positions that are velocities, whatever stands in their rows of J."""
    n, g = 2 * positions + others, 0.03
    rng = np.random.default_rng(n)
    jacobian, b = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(0, 4, n), rng.normal(size=n)
    exact = jacobian.copy()
    exact[:positions] = np.eye(positions, n, positions)
    columns, work, x = np.array(jacobian, order="F"), np.empty(n * (n + 2)), b.copy()
    library = ctypes.CDLL(str(libraries["solvers"]))
    matrix = StageMatrix(n, positions, columns.ctypes.data, work.ctypes.data)
    assert library.stage_matrix_factor(ctypes.byref(matrix), ctypes.c_double(g)) == 0
    library.stage_matrix_solve(ctypes.byref(matrix), ctypes.c_double(g), *_pointers(x))
    expected = np.linalg.solve(np.eye(n) - g * exact, b)
    assert np.linalg.norm(x - expected) <= 1e-13 * np.linalg.cond(np.eye(n) - g * exact) * np.linalg.norm(expected)
