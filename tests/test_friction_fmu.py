"""Friction in the native FMU and the Modelica text, against the reference, a benchmark and closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers_backends import (
    Array,
    CompileData,
    follows,
    largest_error,
    modelica_accelerations,
    native_accelerations,
    pendulum,
    random_states,
    reference_accelerations,
    run_of,
)
from helpers_friction import DAHL, LUGRE, STICK_SLIP, stick_slip
from helpers_loops import four_bar, spatial_linkage
from scipy.integrate import solve_ivp

from gpmelica import reference
from gpmelica.fmu.backends import native
from gpmelica.fmu.backends import rumoca as rumoca_backend
from gpmelica.fmu.runs import simulate as runs
from gpmelica.generator.description.load import from_data
from gpmelica.prepared import Prepared, prepare


def _slide(friction: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """1 kg on a horizontal slide, at rest."""
    joint = {"type": "prismatic", "axis": [1.0, 0.0, 0.0], "friction": friction}
    link = {"name": "slide", "parent": "ground", "joint": joint, "mass": 1.0, "inertia": [1.0, 1.0, 1.0]}
    return {"schema": 1, "name": "Slide", "links": [link], "simulation": {"start": "description"}} | changes


def _rubbing(data: dict[str, Any], *frictions: dict[str, Any]) -> dict[str, Any]:
    """The description with friction in its first joints; revolute ones get a journal."""
    for link, friction in zip(data["links"], frictions, strict=False):
        size = {"diameter": 0.1} if link["joint"]["type"] == "revolute" else {}
        link["joint"]["friction"] = friction | size
    return data | {"simulation": {"start": "description", "stop": 1.0}, "outputs": {"loads": "all"}}


def _linkage() -> dict[str, Any]:
    data = spatial_linkage("spherical", crank=0.4, speed=2.0)
    single = [link for link in data["links"] if link["joint"]["type"] in ("revolute", "prismatic")]
    return data | _rubbing({"links": single}, LUGRE, DAHL) | {"links": data["links"]}


GIVEN = {"normal_force": 7.0}
MECHANISMS: dict[str, dict[str, Any]] = {
    "LuGre, given": _rubbing(pendulum(), LUGRE | GIVEN, LUGRE | GIVEN),
    "LuGre, load": _rubbing(pendulum(), LUGRE, LUGRE),
    "Dahl, given": _rubbing(pendulum(), DAHL | GIVEN, DAHL | GIVEN | {"gamma": 1.0}),
    "Dahl, load": _rubbing(pendulum(), DAHL, DAHL),
    "both": _rubbing(pendulum(), DAHL, LUGRE | GIVEN),
    "bars": _rubbing(four_bar(), LUGRE, DAHL, LUGRE | GIVEN),
    "linkage": _linkage(),
}
needs_rumoca = pytest.mark.skipif(not rumoca_backend.available(), reason="rumoca is not installed")


def _check(model: Prepared, found: Array, expected: Array) -> None:
    """q̈ and ż, shape (N, n + f), agree to 1e-9 of the largest, each by itself."""
    n = model.mechanism.n
    assert largest_error(found[:, :n], expected[:, :n]) <= 1e-9
    assert largest_error(found[:, n:], expected[:, n:]) <= 1e-9
    assert np.abs(expected[:, n:]).max() > 0.1


@pytest.mark.parametrize("name", MECHANISMS)
def test_native(compile_data: CompileData, name: str) -> None:
    """q̈ and ż of the compiled FMU are the reference's at random states."""
    compiled = compile_data(MECHANISMS[name])
    states = random_states(compiled.model, np.random.default_rng(11), 20)
    found = native_accelerations(compiled.model, compiled.fmu, states)
    _check(compiled.model, found, reference_accelerations(compiled.model, states))


@needs_rumoca
@pytest.mark.parametrize("name", MECHANISMS)
def test_modelica(name: str) -> None:
    """The same of the Modelica text."""
    model = prepare(from_data(MECHANISMS[name]))
    states, found = modelica_accelerations(model, np.random.default_rng(12), 40)
    _check(model, found, reference_accelerations(model, states))


@pytest.mark.parametrize("mode", ["me", "cs"])
def test_stick_slip(compile_data: CompileData, mode: runs.Mode) -> None:
    """The benchmark of Canudas de Wit et al. (1995) in the FMU: three slips of a converged solution."""
    forces = [{"name": "pull", "joint": "slide", "effort": "2*(0.1*t - slide.position)"}]
    run = run_of(compile_data(_slide(STICK_SLIP, forces=forces)), mode, stop=25.0, tolerance=1e-9)
    exact = solve_ivp(stick_slip, (0.0, 25.0), [0.0, 0.0, 0.0], "Radau", run.time, rtol=1e-10, atol=1e-13).y
    x, v, z = (run.signals[f"slide_position{part}"] for part in ("", "_dot", "_z"))
    for found, expected, error in zip((x, v, z), exact, (1e-5, 1e-4, 2e-3), strict=True):
        assert found == pytest.approx(expected, abs=error * np.ptp(expected))
    assert np.count_nonzero((v[1:] > 0.05) & (v[:-1] <= 0.05)) >= 3


def test_coulombs_limit(compile_data: CompileData) -> None:
    """A block sliding at 1 m/s stops after v²/(2μg), the closer the stiffer the bristles, and stays.

    Its normal force is its joint's load, the weight. Until the bristles are bent by μ/σ0, their damper takes the
    impulse m g σ1 μ/σ0, which shortens the way by σ1/σ0 times the velocity.
    """
    mu = 0.3
    for sigma0 in (1e4, 1e5):
        sigma1 = 2 * np.sqrt(sigma0 / 9.81)
        friction = {"model": "lugre", "sigma0": sigma0, "sigma1": sigma1, "mu_s": mu, "mu_k": mu, "v_s": 0.01}
        data = _slide(friction, gravity=[0.0, 0.0, -9.81])
        data["links"][0]["joint"]["velocity"] = 1.0
        run = run_of(compile_data(data), stop=1.0, tolerance=1e-9)
        assert abs(run.signals["slide_position_dot"][-1]) < 1e-6
        way = run.signals["slide_position"][-1]
        assert way - 1 / (2 * mu * 9.81) == pytest.approx(-sigma1 / sigma0, rel=0.1)


def test_no_friction_costs_nothing() -> None:
    """Without the key nothing of friction is in the program, and the C code is that of the plain description."""
    data = MECHANISMS["LuGre, load"]
    links = [
        link | {"joint": {k: v for k, v in link["joint"].items() if k != "friction"}} for link in data["links"]
    ]
    plain = pendulum(simulation=data["simulation"], outputs=data["outputs"])
    models = [prepare(from_data(x)) for x in (data, data | {"links": links}, plain)]
    rubbing, off, never = (native.generate(model.native_program, model.chain).files for model in models)
    assert off == never
    assert repr(models[1].program) == repr(models[2].program)
    assert rubbing != off
    names = {item.name for item in models[1].program.items}
    assert len(models[1].program.states) == 4
    assert not names & {"tau", "tau_0", "X", "B"}
    assert len(models[0].program.states) == 6


def test_friction_states_of_the_fmu(compile_data: CompileData) -> None:
    """z is a state that starts at its parameter; a run with deflected bristles follows the reference."""
    compiled = compile_data(MECHANISMS["linkage"])
    model = compiled.model
    names = [state.name for state in model.program.states]
    assert [name for name in names if name.endswith("_z")] == ["crank_angle_z", "slider_position_z"]
    truth = reference.simulate(
        model.mechanism, start=model.start, dependent=model.dependent, stop=0.3, output_step=0.01, tolerance=1e-10
    )
    follows(compiled, truth, tolerance=1e-11)
    assert set(truth.signals) >= set(names)
