"""Projection onto the constraints: the generated steps, where a run starts, all formulations, dependent rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from helpers_backends import CompileModel
from helpers_examples import FORMULATIONS, changed
from helpers_loops import CLOSURES, four_bar, random_loop
from helpers_parts import Z, body, link, machine
from helpers_projection import ON, Projector, skate, swing
from numpy.typing import NDArray
from scipy.linalg import null_space

from gpmelica import analysis
from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.trajectory import Trajectory
from gpmelica.description.load import from_data
from gpmelica.generator import modelica
from gpmelica.reference.solve.projection import project
from gpmelica.runs.compare.findings import start_consistency
from gpmelica.runs.fmpy_runs import simulate as runs

Array = NDArray[np.float64]


def _projected_loop(seed: int, kind: str) -> tuple[System, Array, Array, np.random.Generator]:
    """A random closed loop, and a state on it."""
    mechanism, q, qd, rng = random_loop(seed, kind)
    data = mechanism.chain.model_dump(by_alias=True, exclude_none=True)
    data |= {"constraints": ON, "simulation": {"start": "description"}}
    return assemble_system(from_data(data)), q, qd, rng


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", CLOSURES)
def test_steps_are_the_smallest(kind: str, seed: int) -> None:
    """A step removes the linearised violation, and is orthogonal, by the masses, to all motions C lets free."""
    model, q, qd, rng = _projected_loop(seed, kind)
    n, moved = len(q), q + 0.02 * rng.normal(size=len(q))
    found = solving.evaluate(model.mechanism, 0.3, moved, qd, start=model.start, dependent=model.dependent)
    projector, free = Projector(model), null_space(found.C)
    for level, own, residual in (
        ("position", slice(0, n), found.Phi),
        ("velocity", slice(n, 2 * n), found.Phi_dot),
    ):
        change = projector.change(level, 0.3, moved, qd)
        assert np.count_nonzero(np.delete(change, np.r_[own])) == 0
        scale = np.abs(change).max()
        assert scale > 0
        assert found.C @ change[own] == pytest.approx(-residual, abs=1e-9 * np.abs(residual).max())
        assert free.T @ found.M @ change[own] == pytest.approx(0.0, abs=1e-9 * scale * np.abs(found.M).max())


def test_rates_are_projected_on_their_level_only() -> None:
    """A row of order 1 leaves positions alone, and its violated velocity is corrected."""
    model = assemble_system(from_data(skate()))
    q, qd = np.array([0.4, 0.05, 0.7]), np.array([1.0, -0.3, 0.2])
    found = solving.evaluate(model.mechanism, 0.0, q, qd, start=model.start, dependent=model.dependent)
    projector = Projector(model)
    position, velocity = projector.change("position", 0.0, q, qd), projector.change("velocity", 0.0, q, qd)
    assert position[2] == 0.0
    assert position[:2] @ found.C[0, :2] == pytest.approx(-found.Phi[0])
    assert found.C @ velocity[3:] == pytest.approx(-found.Phi_dot, rel=1e-12)


def test_bristles_are_not_projected() -> None:
    """Friction states keep their values."""
    friction = {"model": "lugre", "sigma0": 300.0, "mu_s": 0.2, "mu_k": 0.15, "v_s": 0.05, "diameter": 0.1}
    data = four_bar(constraints=ON, simulation={"start": "description"})
    data["links"][0]["joint"]["friction"] = friction
    model = assemble_system(from_data(data))
    q, qd = (part + 0.01 for part in model.start)
    change = Projector(model).change("position", 0.0, q, qd, np.array([1e-4]))
    assert np.abs(change[:3]).max() > 1e-4
    assert not change[3:].any()


@pytest.mark.parametrize(
    ("off", "slow", "expected"),
    [
        (4e-7, 5e-7, ([1.0, 0.0, 0.0], [0.0, 0.5, 0.7])),  # digits that the description lacks are projected
        (0.77, 0.0, ([1.0, 0.77, 0.0], [0.0, 0.5, 0.7])),
        (0.0, 0.3, ([1.0, 0.0, 0.0], [0.0, 0.8, 0.7])),
    ],
)
def test_a_violated_start_is_not_moved(off: float, slow: float, expected: tuple[list[float], list[float]]) -> None:
    """Neither positions nor velocities, and the verdict on it is the one without projection."""
    joint = {"position": [1.0, off, 0.0], "velocity": [0.0, 0.5 + slow, 0.7]}
    links = [swing()["links"][0]]
    links[0] = links[0] | {"joint": links[0]["joint"] | joint}
    rows = [{"name": "line", "expression": "right.y - 0.5*t"}]
    about = {"links": links, "closures": [], "programmed": rows, "simulation": {"stop": 1.0}}
    models = [
        assemble_system(from_data(swing(**about, constraints=ON | {"projection": projects})))
        for projects in (True, False)
    ]
    assert models[0].start[0] == pytest.approx(expected[0], abs=1e-12)
    assert models[0].start[1] == pytest.approx(expected[1], abs=1e-12)
    verdicts = [start_consistency(model) for model in models]
    assert verdicts[0].ok == verdicts[1].ok == (max(off, slow) < 1e-6)
    assert verdicts[0].ok or verdicts[0].text == verdicts[1].text


def test_a_static_equilibrium_is_not_moved() -> None:
    """A load on a spring hangs where it is at rest, whatever a programmed constraint asks of it."""
    load = link("load", "prismatic", Z, stiffness=100.0) | body(2.0)
    rows = [{"name": "height", "expression": "load.position - 0.77 - arm.angle"}]
    about: dict[str, Any] = {"programmed": rows, "constraints": ON}
    for permitted in ([], ["height"]):
        data = machine(load, link("arm", "revolute", Z), **about, simulation={"starts_violated": permitted})
        model = assemble_system(from_data(data))
        assert model.start[0] == pytest.approx([-2.0 * 9.81 / 100.0, 0.0], rel=1e-9)
        assert start_consistency(model).ok == bool(permitted)


def test_modelica_text_has_no_projection() -> None:
    """The text is the same with and without the option."""
    texts = [
        modelica.render(model.program, model.chain, "0").text
        for model in (
            assemble_system(from_data(swing(constraints=ON | {"projection": on}))) for on in (True, False)
        )
    ]
    assert texts[0] == texts[1]


# ---- Projection in all formulations, with rows that depend on each other and with knife edges -------------------


Start = tuple[NDArray[np.float64], NDArray[np.float64]]
STOP, OUTPUT_STEP = 0.5, 0.05  # s
LEFT = 1e-10  # default of projection_tolerance
VIOLATIONS = ["violation_position", "violation_velocity"]
UNKEPT = {f"constraints__{key}": 0.0 for key in ("alpha", "beta", "kappa")}


def _projected(example: str, formulation: str) -> System:
    return assemble_system(
        changed(example, constraints__formulation=formulation, constraints__projection=True, **UNKEPT)
    )


def _run(model: System, fmu: Path, start: Start, on: int) -> Trajectory:
    symbols = [c.symbol for c in model.mechanism.coordinates]
    known = {state.name for state in model.program.states}
    values = dict(zip([*symbols, *(f"{s}_dot" for s in symbols)], np.concatenate(start), strict=True))
    parameters = {f"{name}_start": float(x) for name, x in values.items() if name in known} | {"projection": on}
    if model.program.start is not None:
        parameters["solver_finds_start"] = 0
    settings = {"stop": STOP, "output_step": OUTPUT_STEP, "tolerance": 1e-5}
    return runs.simulate(fmu, "cs", [*symbols, *VIOLATIONS], name=model.name, parameters=parameters, **settings)


def _expected(model: System, start: Start) -> Trajectory:
    """The reference's run from the nearest point on the constraints."""
    projected = project(analysis.ReferenceModel(model.mechanism, start=model.start), *start)
    if model.chain.constraints.formulation == "gpme_reduced":
        projected = (projected[0], start[1])  # the independent velocities are as given
    settings = {"stop": STOP, "output_step": OUTPUT_STEP, "tolerance": 1e-9}
    return solving.simulate(model.mechanism, start=projected, **settings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "formulation"),
    [("mobile_robot", "gpme"), ("mobile_robot", "gpme_reduced"), ("four_bar_3d", "lagrange")],
)
def test_projection_keeps_all_rows(example: str, formulation: str, compile_model: CompileModel) -> None:
    """A start that lacks digits comes onto them by the smallest change, and stays; left out rows, too."""
    model = _projected(example, formulation)
    fmu = compile_model(model).fmu
    rng = np.random.default_rng(3)
    start = (model.start[0] + 1e-7 * rng.normal(size=model.mechanism.n), model.start[1])
    found, unprojected = (_run(model, fmu, start, on).signals for on in (1, 0))
    assert unprojected["violation_position"].min() > 1e-8
    for name in VIOLATIONS:
        assert found[name].max() <= LEFT
    expected = _expected(model, start).signals
    for coordinate in model.mechanism.coordinates:
        own = expected[coordinate.symbol]
        assert found[coordinate.symbol] == pytest.approx(own, abs=1e-4 * max(float(np.ptp(own)), 1e-2))


def test_reduced_form_projects_positions_alone() -> None:
    """Velocities of the reduced form fulfil the constraints without projection."""
    levels = {form: [*_projected("four_bar_3d", form).native_program.projections] for form in FORMULATIONS}
    assert levels == {
        "gpme": ["position", "velocity"],
        "gpme_reduced": ["position"],
        "lagrange": ["position", "velocity"],
    }
