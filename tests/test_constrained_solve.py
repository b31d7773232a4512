"""The C layer's solver of constrained systems against numpy."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

pytest_plugins = ["fixtures_c_layer"]

Array = NDArray[np.float64]


class _System(ctypes.Structure):
    """`Constrained` of constrained_solve.h."""

    _fields_ = (
        [(name, ctypes.c_int) for name in ("n", "m", "columns")]
        + [(name, ctypes.c_void_p) for name in ("M", "C", "F", "W")]
        + [(name, ctypes.c_void_p) for name in ("X", "L", "work")]
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


def test_inertia_where_it_is_needed(libraries: dict[str, Path]) -> None:
    """M may be singular as long as the constraints hold what has no inertia; else its column is named."""
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
