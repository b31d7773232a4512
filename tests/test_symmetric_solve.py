"""The C layer's solver of symmetric, positive definite systems against numpy."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

pytest_plugins = ["fixtures_c_layer"]


def symmetric_solve(library: Path, a: np.ndarray, b: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
    """Return code, X of A X = B, and X once more by the factors; a, shape (n, n); b, shape (n, columns)."""
    lib = ctypes.CDLL(str(library))
    n, columns = b.shape
    factors, x, again, scratch = (
        np.array(a, order="F"),
        np.array(b, order="F"),
        np.array(b, order="F"),
        np.empty(n),
    )
    code = lib.symmetric_solve(n, columns, *(ctypes.c_void_p(v.ctypes.data) for v in (factors, x, scratch)))
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
    """Backward stable; with kept factors the same to the last bit; only the lower triangle is looked at."""
    rng = np.random.default_rng(n)
    for columns in (0, 1, 3):
        a, b = mass_like(rng, n), rng.normal(size=(n, columns))
        upper = a.copy()
        upper[np.triu_indices(n, 1)] = np.nan
        code, x, again = symmetric_solve(libraries["solvers"], upper, b)
        assert code == 0
        assert np.array_equal(x, again)
        unit = np.sqrt(np.diag(a))  # residuals as of a matrix with the diagonal 1
        left = np.abs(a @ x - b) / unit[:, None]
        assert np.all(
            left <= 1e-13 * n * (np.abs(a) / unit[:, None] @ np.abs(x) + np.abs(b) / unit[:, None]).max(0)
        )


@pytest.mark.parametrize("n", [1, 2, 6, 18])
def test_what_is_not_positive_is_refused(libraries: dict[str, Path], n: int) -> None:
    """Rank n − 1 within rounding, by the unknown that depends on those before it; negative; not finite."""
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
