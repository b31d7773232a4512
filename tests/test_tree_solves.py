"""Accelerations by recursion over the bodies: against the mass matrix and the reference, and when it is taken."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from helpers_backends import CompileModel, pendulum, random_states
from helpers_loops import CLOSURES, random_loop
from helpers_random import branched, random_chain, tied
from helpers_stages import StagedModel

from gpmelica import reference
from gpmelica.commands.check import facts
from gpmelica.errors import SolveError
from gpmelica.fmu.runs.instance import Instance
from gpmelica.generator.description.load import from_data
from gpmelica.generator.description.tables.settings import Outputs
from gpmelica.generator.description.tables.task import Programmed
from gpmelica.generator.equations.solution.tree_solves import with_tree_solves
from gpmelica.generator.program.items import ConstrainedSolve, LinearSolve, TreeSolve
from gpmelica.prepared import Prepared, prepare

EXACT = 1e-9


def _solves(model: Prepared) -> list[type]:
    """Kinds of what gives the accelerations."""
    items = model.native_program.items
    kinds = TreeSolve | LinearSolve | ConstrainedSolve
    return [type(item) for item in items if isinstance(item, kinds) and item.tree is not None]


@pytest.mark.parametrize("seed", range(6))
def test_a_tree_is_its_mass_matrix(seed: int) -> None:
    """Axes, inertias, arms and armatures of random trees give the accelerations of M, and of the reference."""
    rng = np.random.default_rng(seed)
    data = random_chain(rng, base=(None, "flexible")[seed % 2]) | {"simulation": {"start": "description"}}
    model = prepare(from_data(data))
    q, qd = (x + 0.1 * rng.normal(size=model.mechanism.n) for x in model.start)
    expected = reference.evaluate(model.mechanism, 0.0, q, qd, start=model.start).qdd
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
        model = prepare(changed)
        if choice == "named":
            named = changed.constraints.model_copy(update={"dependent": model.dependent})
            model = prepare(changed.model_copy(update={"constraints": named}))
        assert _solves(model) == _expected(way, choice)
        assert model.chooses == (choice in ("auto", "minimum_norm"))
        values = StagedModel(model)(0.2, q, qd)
        found.append(np.concatenate([values.qdd, list(values.outputs.values())]))
    assert np.abs(found[0] - found[1]).max() <= EXACT * np.abs(found[0]).max()


@pytest.mark.parametrize("data", [branched, tied])
def test_native_recursion_is_the_mass_matrix(
    compile_model: CompileModel, data: Callable[..., dict[str, Any]]
) -> None:
    """A tree of all kinds of joints with what may stand on them, parameters set or not, in C."""
    model = prepare(from_data(data()))
    assert _solves(model) == [TreeSolve]
    names = [o.name for o in model.native_program.outputs]
    for settings in ({}, {"payload": 4.0, "reach": 0.9, "inertia": 0.1}):
        rng, changed = np.random.default_rng(1), prepare(from_data(_dense(data(**settings))))
        staged = StagedModel(changed)
        with Instance(compile_model(model, "3.0").fmu, settings) as fmu:
            for state in random_states(model, rng, 5):
                found = fmu.values(names, 0.0, np.concatenate([state.q, state.qd, state.z]))
                values = staged(0.0, state.q, state.qd, z=state.z).outputs
                expected = np.array([values[name] for name in names])
                assert np.abs(found - expected).max() < EXACT * np.abs(expected).max()


def _dense(data: dict[str, Any]) -> dict[str, Any]:
    return data | {"simulation": data["simulation"] | {"accelerations": "dense"}}


def test_what_has_no_inertia_is_an_error(compile_model: CompileModel) -> None:
    """Where two axes of a spherical joint meet: which coordinate, when, and among which ones."""
    model = prepare(from_data(branched()))
    symbols = [c.symbol for c in model.mechanism.coordinates]
    states, n = np.zeros(len(model.native_program.states)), len(symbols)
    hand = [k for k, symbol in enumerate(symbols) if symbol.startswith("hand")]
    states[hand[1]] = np.pi / 2
    said = rf"no inertia resists the motion of coordinate {hand[0] + 1} of {n} at t = 0 s \(coordinates: .*turret"
    with Instance(compile_model(model, "3.0").fmu) as fmu, pytest.raises(SolveError, match=said):
        fmu.derivatives(0.0, states)


def test_the_one_with_fewer_operations_is_taken() -> None:
    """Short chains have matrices, long ones recursion; the description may say which, and `check` says it."""
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
        model = prepare(from_data(data | {"simulation": settings}))
        assert _solves(model) == [expected], (way, expected)
        said = "by recursion, " if expected is TreeSolve else "with the mass matrix, "
        assert facts(model)["accelerations"].startswith(said)
