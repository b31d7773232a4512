"""Constrained equations of motion of trees, by the C layer's recursion, against the dense system of numpy."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from helpers_stages import mass_matrix
from numpy.typing import NDArray

pytest_plugins = ["fixtures_c_layer"]

Array = NDArray[np.float64]
BODIES, N = 12, 14


class _Tree(ctypes.Structure):
    """`TreeRows` of tree_rows.h, its tree's members before its own."""

    _fields_ = (
        [(name, ctypes.c_int) for name in ("n", "columns", "bodies")]
        + [
            (name, ctypes.c_void_p)
            for name in ("parents", "ends", "motions", "axes", "inertias", "arms", "armatures")
        ]
        + [(name, ctypes.c_void_p) for name in ("factors", "X")]
        + [("m", ctypes.c_int)]
        + [(name, ctypes.c_void_p) for name in ("C", "L", "work")]
    )


@dataclass(frozen=True)
class Tree:
    """Numbers of a tree, as tree_solve.h has them."""

    parents: Array
    ends: Array
    motions: Array
    axes: Array
    inertias: Array
    arms: Array
    armatures: Array

    @property
    def M(self) -> Array:
        """Shape (n, n)."""
        return mass_matrix(
            self.parents.tolist(), self.ends.tolist(), self.axes, self.inertias, self.arms, self.armatures
        )


def _tree(seed: int) -> Tree:
    """Bodies of all sizes on branches; some have two coordinates or none."""
    rng = np.random.default_rng(seed)
    parents = np.array([rng.integers(-1, b) if b else -1 for b in range(BODIES)], np.int32)
    owners = np.sort(np.concatenate([np.arange(BODIES), rng.integers(0, BODIES, N - BODIES)]))
    ends = np.searchsorted(owners, np.arange(BODIES), side="right").astype(np.int32)
    inertias = []
    for _ in range(BODIES):
        points, m = rng.normal(size=(5, 3)), 10.0 ** rng.uniform(-3, 1)
        second = m * points.T @ points
        J = np.trace(second) * np.eye(3) - second
        inertias.append([5 * m, *(m * points.sum(axis=0)), *J[np.triu_indices(3)]])
    axes, arms = rng.normal(size=(N, 2, 3)), rng.normal(size=3 * BODIES)
    motions = rng.integers(0, 3, N).astype(np.int32)  # anything, turns, shifts
    axes[motions == 1, 1], axes[motions == 2, 0] = 0.0, 0.0
    return Tree(parents, ends, motions, np.ravel(axes), np.ravel(inertias), arms, rng.uniform(0.0, 0.1, N))


def _rows(m: int, seed: int) -> Array:
    """Of any scale, shape (m, n): of two coordinates each, as joints have that follow others, or of all."""
    rng = np.random.default_rng(seed)
    C = rng.normal(size=(m, N)) * 10.0 ** rng.uniform(-5, 5, (m, 1))
    for row in C[::2]:
        row[rng.permutation(N)[2:]] = 0.0
    return C


def _solved(
    library: Path, tree: Tree, C: Array, F: Array, W: Array, *others: tuple[Array, Array]
) -> tuple[int, Array, Array]:
    """Return code, X and L, of the shapes of F and W; of the last ones, with the factors of the first."""
    lib, (m, n) = ctypes.CDLL(str(library)), C.shape
    X, L, C = np.array(F, order="F"), np.array(W, order="F"), np.array(C, order="F")
    given = (tree.parents, tree.ends, tree.motions, tree.axes, tree.inertias, tree.arms, tree.armatures)
    own = (np.full(7 * n, np.nan), X)
    system = _Tree(n, F.shape[1], BODIES, *(a.ctypes.data for a in (*given, *own)))
    work, scratch = np.full(n * (m + 1) + 2 * m, np.nan), np.full(26 * BODIES, np.nan)
    system.m, system.C, system.L, system.work = m, C.ctypes.data, L.ctypes.data, work.ctypes.data
    call = ctypes.byref(system), ctypes.c_void_p(scratch.ctypes.data)
    code = lib.tree_rows_solve(*call)
    for right in others if code == 0 else ():
        X[:], L[:] = right
        lib.tree_rows_solve_again(*call)
    return code, X, L


@pytest.mark.parametrize("m", [0, 1, 2, 5, 9, N])
def test_agrees_with_the_saddle_point_system(libraries: dict[str, Path], m: int) -> None:
    """X and L are those of [M −Cᵀ; C 0], for several right-hand sides, and for others with the same factors."""
    for seed in range(4):
        tree, C, rng = _tree(seed), _rows(m, seed), np.random.default_rng(seed)
        F, W = np.eye(N, 3) + (seed % 2) * rng.normal(size=(N, 3)), rng.normal(size=(m, 3))
        code, X, L = _solved(libraries["solvers"], tree, C, F, W)
        assert code == 0
        lengths = np.linalg.norm(C, axis=1, keepdims=True)
        M, B = tree.M, C / lengths
        scale = np.diag(1.0 / np.sqrt(np.diag(M)))
        metric = np.linalg.cond(scale @ M @ scale) * (np.linalg.cond(B @ scale) if m else 1.0)
        expected = np.linalg.solve(np.block([[M, -B.T], [B, np.zeros((m, m))]]), np.vstack([F, W / lengths]))
        assert np.linalg.norm(X - expected[:N]) <= 1e-14 * metric * np.linalg.norm(expected[:N])
        assert np.linalg.norm(L * lengths - expected[N:]) <= 1e-14 * metric * np.linalg.norm(expected)
        again = _solved(libraries["solvers"], tree, C, np.ones_like(F), np.ones_like(W), (F, W))
        assert np.array_equal(again[1], X)
        assert np.array_equal(again[2], L)


def test_rows_near_dependence_keep_their_digits(libraries: dict[str, Path]) -> None:
    """Two rows with 1e-7 between them lose seven digits, not fourteen as by C M⁻¹ Cᵀ."""
    tree, C = _tree(1), _rows(2, 1)
    C[1] = C[0] + 1e-7 * np.linalg.norm(C[0]) * np.eye(N)[3]
    X = np.random.default_rng(1).normal(size=(N, 1))
    L = np.array([[1.0], [2.0]])
    code, found, _ = _solved(libraries["solvers"], tree, C, tree.M @ X - C.T @ L, C @ X)
    assert code == 0
    assert np.linalg.norm(found - X) <= 1e-6 * np.linalg.norm(X)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_what_cannot_be_solved_has_a_code(libraries: dict[str, Path], scale: float) -> None:
    """Rows that depend on each other, or are zero; what has no inertia, by its number; infinity and NaN."""
    tree, C, F, W = _tree(2), _rows(3, 2), np.ones((N, 1)), np.ones((3, 1))

    def code(tree: Tree, C: Array) -> int:
        return _solved(libraries["solvers"], tree, C, F, W)[0]

    assert code(tree, np.vstack([C[:2], scale * (C[0] / np.linalg.norm(C[0]) + C[1])])) == -2
    assert code(tree, np.vstack([C[:2], 0.0 * C[2]])) == -2
    assert code(tree, np.where(np.arange(N) == 2, np.nan, C)) == -1
    axes, armatures = tree.axes.copy(), tree.armatures.copy()
    axes[12:18], armatures[2] = 0.0, 0.0
    still = Tree(tree.parents, tree.ends, tree.motions, axes, tree.inertias, tree.arms, armatures)
    assert code(still, C) == 3
