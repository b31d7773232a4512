"""The C layer's dense solvers, of any, symmetric and constrained systems, against numpy."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

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
    """Return error bounds of |X| by rows, shape (n,), for a, shape (n, n), and b, shape (n, columns)."""
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


@pytest.mark.parametrize("n", [2, 3, 8, 17])
@pytest.mark.parametrize("diagonal", [0.0, 1e-14])
def test_lu_exchanges_rows(libraries: dict[str, Path], n: int, diagonal: float) -> None:
    """Numbers on the diagonal that are zero, or as small as rounding, are no pivots."""
    rng = np.random.default_rng(n)
    a = np.roll(np.eye(n), 1, axis=0) + 0.1 * rng.uniform(-1.0, 1.0, (n, n))
    a[np.diag_indices(n)] = diagonal
    x = rng.normal(size=(n, 2))
    code, found = linear_solve(libraries["solvers"], a, a @ x)
    assert code == 0
    assert found == pytest.approx(x, abs=1e-12)


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
    """Structure of stage_matrix.h."""

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


# ---- The C layer's solver of symmetric, positive definite systems against numpy ---------------------------------


def symmetric_solve(library: Path, a: np.ndarray, b: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
    """Return code, X of A X = B, and X once more by the factors; a, shape (n, n); b, shape (n, columns)."""
    lib = ctypes.CDLL(str(library))
    n, columns = b.shape
    factors, x, again = (np.array(v, order="F") for v in (a, b, b))
    code = lib.symmetric_solve(n, columns, *(ctypes.c_void_p(v.ctypes.data) for v in (factors, x)))
    if code == 0:
        lib.symmetric_solve_again(n, columns, *(ctypes.c_void_p(v.ctypes.data) for v in (factors, again)))
    return code, x, again


def mass_like(rng: np.random.Generator, n: int) -> np.ndarray:
    """Positive definite, of unknowns whose scales differ by up to 16 powers of ten; shape (n, n)."""
    root, scale = rng.normal(size=(n, n + 1)), 10.0 ** rng.uniform(-8, 8, n)
    a = root @ root.T * scale * scale[:, None]
    return (a + a.T) / 2


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 9, 18, 33])
def test_solution_whatever_the_scales(libraries: dict[str, Path], n: int) -> None:
    """Backward stable; with kept factors the same to the last bit; only the upper triangle is looked at."""
    rng = np.random.default_rng(n)
    for columns in (0, 1, 3):
        a, b = mass_like(rng, n), rng.normal(size=(n, columns))
        upper = a.copy()
        upper[np.tril_indices(n, -1)] = np.nan
        code, x, again = symmetric_solve(libraries["solvers"], upper, b)
        assert code == 0
        assert np.array_equal(x, again)
        unit = np.sqrt(np.diag(a))  # residuals as of a matrix with the diagonal 1
        left = np.abs(a @ x - b) / unit[:, None]
        assert np.all(
            left <= 1e-13 * n * (np.abs(a) / unit[:, None] @ np.abs(x) + np.abs(b) / unit[:, None]).max(0)
        )


@pytest.mark.parametrize("n", [1, 2, 6, 18])
def test_indefinite_matrices_are_rejected(libraries: dict[str, Path], n: int) -> None:
    """Rank n − 1 within rounding is reported by the dependent unknown; negative and infinite
    matrices are rejected.
    """
    rng = np.random.default_rng(n)
    scale = 10.0 ** rng.uniform(-6, 6, n)
    root = rng.normal(size=(n, max(n - 1, 1))) * (n > 1)
    singular = root @ root.T * scale * scale[:, None]
    assert symmetric_solve(libraries["solvers"], singular, np.ones((n, 1)))[0] == n
    a = mass_like(rng, n)
    assert symmetric_solve(libraries["solvers"], -a, np.ones((n, 1)))[0] == 1
    for wrong in (np.nan, np.inf):
        broken = a.copy()
        broken[n - 1, 0] = broken[0, n - 1] = wrong
        assert symmetric_solve(libraries["solvers"], broken, np.ones((n, 1)))[0] == -1
        assert symmetric_solve(libraries["solvers"], a, np.full((n, 1), wrong))[0] == -1


# ---- The C layer's solver of constrained systems against numpy --------------------------------------------------


Array = NDArray[np.float64]


class _System(ctypes.Structure):
    """`Constrained` of constrained_solve.h."""

    _fields_ = (
        [(name, ctypes.c_int) for name in ("n", "m", "columns")]
        + [(name, ctypes.c_void_p) for name in ("M", "C", "F", "W")]
        + [(name, ctypes.c_void_p) for name in ("X", "L", "work", "regularity")]
    )


def constrained_solve(
    library: Path, M: Array, C: Array, F: Array, W: Array, *others: tuple[Array, Array]
) -> tuple[int, Array, Array]:
    """Return code, X, shape (n, columns), and L, (m, columns), of M X − Cᵀ L = F and C X = W.

    With other F and W: those of these, solved again.
    """
    lib = ctypes.CDLL(str(library))
    (n, columns), m = F.shape, len(C)
    X, L = np.full((n, columns), np.nan, order="F"), np.full((m, columns), np.nan, order="F")
    blocks = [*(np.array(a, order="F") for a in (M, C, F, W)), X, L]
    work = np.full(m * (n + m) + (n - m) * (n - m + columns + 2) + 2 * n + m, np.nan)
    system = _System(n, m, columns, *(a.ctypes.data for a in (*blocks, work)))
    code = lib.constrained_solve(ctypes.byref(system))
    for again in others:
        blocks[2][:], blocks[3][:] = again
        lib.constrained_solve_again(ctypes.byref(system))
    return code, X, L


def _random(n: int, m: int, columns: int, seed: int) -> tuple[Array, Array, Array, Array]:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    M, C = root @ root.T + 0.1 * np.eye(n), rng.normal(size=(m, n)) * 10.0 ** rng.uniform(-5, 5, (m, 1))
    C[:, : n // 3] *= m > n - n // 3  # unknowns that no row has, if there are enough others
    return M, C, rng.normal(size=(n, columns)), rng.normal(size=(m, columns))


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 1), (5, 2), (9, 3), (9, 8), (12, 12), (18, 2), (30, 17)])
def test_agrees_with_the_saddle_point_system(libraries: dict[str, Path], n: int, m: int) -> None:
    """X and L are those of [M −Cᵀ; C 0], whatever the scales of the rows of C."""
    for columns in (1, 4):
        M, C, F, W = _random(n, m, columns, 100 * n + m)
        code, X, L = constrained_solve(libraries["solvers"], M, C, F, W)
        assert code == 0
        lengths = np.linalg.norm(C, axis=1, keepdims=True)
        B = C / lengths
        saddle = np.block([[M, -B.T], [B, np.zeros((m, m))]])
        expected = np.linalg.solve(saddle, np.vstack([F, W / lengths]))
        tolerance = 1e-13 * np.linalg.cond(saddle)
        assert np.linalg.norm(X - expected[:n]) <= tolerance * np.linalg.norm(expected)
        assert np.linalg.norm(L * lengths - expected[n:]) <= tolerance * np.linalg.norm(expected)
        assert np.abs(B @ X - W / lengths).max() <= 1e-12 * np.abs(X).max()


def test_mass_matrix_may_be_singular_on_constrained_coordinates(libraries: dict[str, Path]) -> None:
    """M may be singular if constraints hold the coordinates without inertia; otherwise the column
    is reported.
    """
    M, F, C, W = np.diag([1.0, 0.0, 2.0]), np.ones((3, 1)), np.array([[0.0, 2.0, 1.0]]), np.array([[4.0]])
    code, X, _ = constrained_solve(libraries["solvers"], M, C, F, W)
    saddle = np.block([[M, -C.T], [C, np.zeros((1, 1))]])
    assert code == 0
    assert np.abs(X - np.linalg.solve(saddle, np.vstack([F, W]))[:3]).max() <= 1e-14
    assert constrained_solve(libraries["solvers"], M, np.array([[1.0, 0.0, 1.0]]), F, W)[0] > 0


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_dependent_rows_are_refused(libraries: dict[str, Path], scale: float) -> None:
    """Rows that depend on each other, or are zero, have a code of their own; so have infinity and NaN."""
    M, C, F, W = _random(6, 3, 1, 5)
    assert constrained_solve(libraries["solvers"], M, np.vstack([C[:2], scale * (C[0] + C[1])]), F, W)[0] == -2
    assert constrained_solve(libraries["solvers"], M, np.vstack([C[:2], 0.0 * C[2]]), F, W)[0] == -2
    for bad in (np.nan, np.inf):
        assert constrained_solve(libraries["solvers"], M, np.where(np.arange(6) == 2, bad, C), F, W)[0] == -1
        assert constrained_solve(libraries["solvers"], M, C, np.where(np.isin(F, F[3]), bad, F), W)[0] == -1
        assert constrained_solve(libraries["solvers"], M, C, F, np.where(np.isin(W, W[1]), bad, W))[0] == -1


@pytest.mark.parametrize(("n", "m"), [(1, 1), (5, 2), (9, 8), (12, 12), (18, 2)])
def test_factors_serve_further_right_hand_sides(libraries: dict[str, Path], n: int, m: int) -> None:
    """Solving again with the factors gives what a new solution does."""
    M, C, F, W = _random(n, m, 3, n + m)
    _, _, F2, W2 = _random(n, m, 3, 7)
    again = constrained_solve(libraries["solvers"], M, C, F, W, (F2, W2))
    new = constrained_solve(libraries["solvers"], M, C, F2, W2)
    assert np.array_equal(again[1], new[1])
    assert np.array_equal(again[2], new[2])
