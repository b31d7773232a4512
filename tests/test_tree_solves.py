"""Accelerations by recursion over the bodies: against the mass matrix and the reference, and when it is taken."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from helpers_backends import CompileModel, pendulum, random_states
from helpers_loops import CLOSURES, random_loop
from helpers_random import branched, random_chain, tied
from helpers_stages import StagedModel, mass_matrix
from numpy.typing import NDArray

from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.errors import SolveError
from gpmelica.description.load import from_data
from gpmelica.description.tables.settings import Outputs
from gpmelica.description.tables.task import Programmed
from gpmelica.generator.equations.solution.tree_solves import with_tree_solves
from gpmelica.generator.program.items import ConstrainedSolve, LinearSolve, TreeSolve
from gpmelica.runs.fmpy_runs.instance import Instance
from gpmelica.tasks.check import facts

EXACT = 1e-9


def _solves(model: System) -> list[type]:
    """Kinds of what gives the accelerations."""
    items = model.native_program.items
    kinds = TreeSolve | LinearSolve | ConstrainedSolve
    return [type(item) for item in items if isinstance(item, kinds) and item.tree is not None]


@pytest.mark.parametrize("seed", range(6))
def test_a_tree_is_its_mass_matrix(seed: int) -> None:
    """Axes, inertias, arms and armatures of random trees give the accelerations of M, and of the reference."""
    rng = np.random.default_rng(seed)
    data = random_chain(rng, base=(None, "flexible")[seed % 2]) | {"simulation": {"start": "description"}}
    model = assemble_system(from_data(data))
    q, qd = (x + 0.1 * rng.normal(size=model.mechanism.n) for x in model.start)
    expected = solving.evaluate(model.mechanism, 0.0, q, qd, start=model.start).qdd
    size = np.abs(expected).max()
    for way in ("dense", "recursion"):
        program = with_tree_solves(model.program, way)
        assert (program is None) == (way == "dense")
        assert np.abs(StagedModel(model, program or model.program)(0.0, q, qd).qdd - expected).max() < EXACT * size


_CHOICES = {"minimum_norm": {"redundant": "minimum_norm"}, "gpme_reduced": {"formulation": "gpme_reduced"}}


def _expected(way: str, choice: str) -> list[type]:
    """With a fixed choice the dense system is one of the rows and the reduced mass matrix."""
    if way == "recursion":
        return [TreeSolve]
    return [ConstrainedSolve] if choice in ("auto", "minimum_norm") else []


@pytest.mark.slow
@pytest.mark.parametrize("kind", CLOSURES)
@pytest.mark.parametrize("choice", ["auto", "minimum_norm", "named", "gpme_reduced"])
def test_rows_on_a_tree(kind: str, choice: str) -> None:
    """Random loops with a programmed row: q̈, efforts of drives and joint loads are those of the dense system."""
    mechanism, q, qd, _ = random_loop(2, kind)
    chain = mechanism.chain
    first = next(c.name for c in mechanism.coordinates if c.role == "joint")
    changes = {
        "constraints": chain.constraints.model_copy(update=_CHOICES.get(choice, {})),
        "outputs": Outputs(loads="all"),
        "programmed": (Programmed(name="row", expression=f"{first} - 0.3*sin(t)"),),
    }
    found = []
    for way in ("dense", "recursion"):
        settings = chain.simulation.model_copy(update={"start": "description", "accelerations": way})
        changed = chain.model_copy(update=changes | {"simulation": settings})
        model = assemble_system(changed)
        if choice == "named":
            named = changed.constraints.model_copy(update={"dependent": model.dependent})
            model = assemble_system(changed.model_copy(update={"constraints": named}))
        assert _solves(model) == _expected(way, choice)
        assert model.chooses == (choice in ("auto", "minimum_norm"))
        values = StagedModel(model)(0.2, q, qd)
        found.append(np.concatenate([values.qdd, list(values.outputs.values())]))
    assert np.abs(found[0] - found[1]).max() <= EXACT * np.abs(found[0]).max()


@pytest.mark.slow
@pytest.mark.parametrize("data", [branched, tied])
def test_native_recursion_is_the_mass_matrix(
    compile_model: CompileModel, data: Callable[..., dict[str, Any]]
) -> None:
    """A tree of all kinds of joints with what may stand on them, parameters set or not, in C."""
    model = assemble_system(from_data(data()))
    assert _solves(model) == [TreeSolve]
    names = [o.name for o in model.native_program.outputs]
    for settings in ({}, {"payload": 4.0, "reach": 0.9, "inertia": 0.1}):
        rng, changed = np.random.default_rng(1), assemble_system(from_data(_dense(data(**settings))))
        staged = StagedModel(changed)
        with Instance(compile_model(model, "3.0").fmu, settings) as fmu:
            for state in random_states(model, rng, 5):
                found = fmu.values(names, 0.0, np.concatenate([state.q, state.qd, state.z]))
                values = staged(0.0, state.q, state.qd, z=state.z).outputs
                expected = np.array([values[name] for name in names])
                assert np.abs(found - expected).max() < EXACT * np.abs(expected).max()


def _dense(data: dict[str, Any]) -> dict[str, Any]:
    return data | {"simulation": data["simulation"] | {"accelerations": "dense"}}


def test_missing_inertia_is_an_error(compile_model: CompileModel) -> None:
    """If two axes of a spherical joint coincide, the message names the coordinate, the time and
    all coordinates.
    """
    model = assemble_system(from_data(branched()))
    symbols = [c.symbol for c in model.mechanism.coordinates]
    states, n = np.zeros(len(model.native_program.states)), len(symbols)
    hand = [k for k, symbol in enumerate(symbols) if symbol.startswith("hand")]
    states[hand[1]] = np.pi / 2
    said = rf"no inertia resists the motion of coordinate {hand[0] + 1} of {n} at t = 0 s \(coordinates: .*turret"
    with Instance(compile_model(model, "3.0").fmu) as fmu, pytest.raises(SolveError, match=said):
        fmu.derivatives(0.0, states)


@pytest.mark.slow
def test_cheaper_solver_is_chosen() -> None:
    """Short chains use matrices and long chains recursion; the description may choose, and `check`
    reports the choice.
    """
    short, long = pendulum(), pendulum()
    first = long["links"][0]
    names = [first["name"], *(f"link{k}" for k in range(29))]
    long["links"] += [first | {"name": name, "parent": carrier} for carrier, name in pairwise(names)]
    for data, way, expected in (
        (short, "auto", LinearSolve),
        (short, "recursion", TreeSolve),
        (long, "auto", TreeSolve),
        (long, "dense", LinearSolve),
    ):
        settings = {"start": "description", "accelerations": way}
        model = assemble_system(from_data(data | {"simulation": settings}))
        assert _solves(model) == [expected], (way, expected)
        said = "by recursion, " if expected is TreeSolve else "with the dense mass matrix, "
        assert facts(model)["accelerations"].startswith(said)


# ---- Constrained equations of motion of trees, by the C layer's recursion, against the dense system of numpy


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
        + [(name, ctypes.c_void_p) for name in ("C", "L", "work", "regularity")]
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
    """Return constraint Jacobians of any scale, shape (m, n), with two or all coordinates per row."""
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
def test_unsolvable_systems_have_error_codes(libraries: dict[str, Path], scale: float) -> None:
    """Dependent or zero constraints, missing inertia, infinity and NaN have error codes."""
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
