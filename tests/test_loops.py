"""Closed loops in every backend: the staged equations and the Modelica text against the reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from helpers_backends import (
    Compile,
    example_model,
    follows,
    largest_error,
    modelica_accelerations,
    reference_accelerations,
)
from helpers_loops import CLOSURES, four_bar, random_loop, spatial_linkage
from helpers_parts import body, link, machine
from helpers_random import random_chain, random_closure
from helpers_reference import BASES
from helpers_replacement import FORCES, MOTION, STIFFNESSES, differences, model_of, parameters, slope
from helpers_stages import StagedModel, Values
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import qr
from test_properties import PROFILE

from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.trajectory import Array
from gpmelica.description.load import from_data
from gpmelica.generator import equations
from gpmelica.generator.equations.solution import linear_solves
from gpmelica.generator.equations.solution.system import Partition
from gpmelica.reference.forces.joint_loads import COMPONENTS
from gpmelica.runs import rumoca as rumoca_backend

EXACT = 1e-9  # of the largest value of a kind
AS_GIVEN: dict[str, Any] = {"outputs": {"loads": "all"}, "simulation": {"start": "description", "stop": 1.0}}
needs_rumoca = pytest.mark.skipif(not rumoca_backend.available(), reason="rumoca is not installed")


def _check(model: System, t: float, q: Array, qd: Array) -> None:
    """All that the staged equations give in a state is what the reference gives."""
    about = {"start": model.start, "dependent": model.dependent}
    expected = solving.evaluate(model.mechanism, t, q, qd, **about)
    found = StagedModel(model)(t, q, qd)
    assert _error(found.qdd, expected.qdd) <= EXACT
    loads = solving.joint_loads(model.mechanism, t, q, qd, **about)
    assert _error(np.array([_load(found, link) for link in loads]), np.array(list(loads.values()))) <= EXACT
    if not len(expected.rows):
        return
    driven = [k for k, c in enumerate(model.mechanism.coordinates) if f"{c.symbol}_effort" in found.outputs]
    efforts = np.array([found.outputs[f"{model.mechanism.coordinates[k].symbol}_effort"] for k in driven])
    # an effort is a difference: it is as exact as what it is the difference of
    scale = np.abs(expected.M @ expected.qdd).max() + np.abs(expected.h).max() + np.abs(expected.Q).max()
    assert efforts == pytest.approx(expected.drive[driven], abs=EXACT * scale)
    for name, rows in (("position", expected.Phi), ("velocity", expected.Phi_dot)):
        assert found.outputs[f"violation_{name}"] == pytest.approx(np.linalg.norm(rows), rel=EXACT, abs=1e-13)


def _error(found: Array, expected: Array) -> float:
    return float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-6))


def _load(found: Values, link: str) -> list[float]:
    return [found.outputs[f"{link}_load_{part}"] for part in COMPONENTS]


def _closed(seed: int, kind: str, *programmed: str) -> tuple[System, Array, Array, np.random.Generator]:
    """A random closed loop in motion, with programmed constraints."""
    rows = [{"name": f"task{i}", "expression": text} for i, text in enumerate(programmed)]
    mechanism, q, qd, rng = random_loop(seed, kind, changes={"programmed": rows})
    data = mechanism.chain.model_dump(by_alias=True, exclude_none=True) | AS_GIVEN
    return assemble_system(from_data(data)), q, qd, rng


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", CLOSURES)
def test_closed_loops(kind: str, seed: int) -> None:
    """q̈, efforts, violations and joint loads are the reference's: without base, on springs, on a rigid one.

    The loop is closed and moves first, then it is open: the equations hold there, too. A point is driven.
    """
    model, q, qd, rng = _closed(seed, kind, "E.x - 0.2*t")
    assert any(name.endswith("_effort") for name in (output.name for output in model.program.outputs))
    _check(model, 0.3, q, qd)
    _check(model, 0.3, q + 0.02 * rng.normal(size=len(q)), rng.normal(size=len(q)))


@st.composite
def _springs(draw: st.DrawFn) -> dict[str, Any]:
    """A random tree with one to three replacement joints anywhere on it, base, ground and beams included."""
    seed, kinds = draw(st.integers(0, 10_000)), [kind for kind in CLOSURES if kind != "distance"]
    rng = np.random.default_rng(seed)
    data = random_chain(rng, draw(st.integers(2, 5)), draw(st.sampled_from(BASES)))
    if "base" in data:
        data["base"]["linearized"] = False
    names = ["ground", *(["base"] if "base" in data else []), *(link["name"] for link in data["links"])]
    closures = []
    for i in range(draw(st.integers(1, 3))):
        a, b = draw(st.permutations(names))[:2]
        closure = random_closure(rng, draw(st.sampled_from(kinds)), (a, b)) | {"name": f"ring{i}"}
        numbers = {key: draw(st.lists(st.sampled_from((0.0, 3.0, 80.0)), min_size=6, max_size=6)) for key in _SIX}
        if all(numbers["stiffness"][3:]):
            numbers["stiffness"][5] = 0.0  # springs about all axes are refused for frames far apart
        closures.append(closure | numbers | {"model": "spring_damper", "axes": draw(st.sampled_from(_AXES))})
    return data | {"closures": closures} | AS_GIVEN


_SIX, _AXES = ("stiffness", "damping"), ("local", "world")


@pytest.mark.slow
@PROFILE
@given(_springs())
def test_replacement_joints(data: dict[str, Any]) -> None:
    """q̈ and joint loads of any spring-dampers between any frames are the reference's."""
    model = assemble_system(from_data(data))
    rng, n = np.random.default_rng(3), model.mechanism.n
    _check(model, 0.2, rng.uniform(-0.6, 0.6, n), rng.normal(size=n))


@pytest.mark.parametrize("axes", _AXES)
def test_one_replacement_joint(axes: str) -> None:
    """q̈ and joint loads of six different springs and dampers between frames on two bodies are the reference's."""
    inertia = body(2.0, [0.1, -0.05, 0.2], [0.3, 0.4, 0.5])
    links = [link(name, "spherical", xyz=[x, 0.1, 0.3]) | inertia for name, x in (("left", 0.0), ("right", 0.8))]
    a = {"link": "left", "xyz": [0.3, 0.1, -0.1], "rpy": [0.2, -0.1, 0.3]}
    b = {"link": "right", "xyz": [-0.4, 0.2, 0.1], "rpy": [-0.1, 0.2, 0.1]}
    springs = {"stiffness": [100.0, 200.0, 400.0, 10.0, 40.0, 90.0], "damping": [3.0, 5.0, 7.0, 0.2, 0.4, 0.6]}
    soft = {"name": "soft", "type": "fixed", "model": "spring_damper", "axes": axes, "a": a, "b": b} | springs
    model = assemble_system(from_data(machine(*links, closures=[soft]) | AS_GIVEN))
    rng, n = np.random.default_rng(3), model.mechanism.n
    _check(model, 0.2, rng.uniform(-0.6, 0.6, n), rng.normal(size=n))


@pytest.mark.slow
@pytest.mark.parametrize("kind", CLOSURES)
def test_partition_does_not_matter(kind: str) -> None:
    """Accelerations and loads are the same whichever coordinates are called dependent."""
    model, q, qd, _ = _closed(1, kind)
    n, m, extent = model.mechanism.n, len(model.rows), model.solvability.extent
    names = [c.name for c in model.mechanism.coordinates]
    C = solving.evaluate(model.mechanism, 0.0, q, qd, start=model.start, dependent=model.dependent).C
    weights = np.random.default_rng(8).lognormal(sigma=2.0, size=(20, n))
    held = np.array([c.role == "base" and model.mechanism.base_fixed for c in model.mechanism.coordinates])
    choices = {tuple(sorted(qr(C * np.where(held, 1e6, w), mode="r", pivoting=True)[1][:m])) for w in weights}
    found = []
    for chosen in sorted(choices, key=lambda chosen: float(np.linalg.cond(C[:, chosen])))[:3]:
        dependent = tuple(names[k] for k in chosen)
        initial = equations.InitialValues(model.start, extent)
        program = equations.derive(model.chain, initial, Partition(dependent, model.rows))
        found.append(StagedModel(model, linear_solves.with_linear_solves(program, "gpme"))(0.0, q, qd))
    assert len(found) == 3
    for other in found[1:]:
        assert _error(other.qdd, found[0].qdd) <= EXACT
        loads = [[x.outputs[name] for name in x.outputs if "_load_f" in name] for x in (other, found[0])]
        assert _error(*map(np.array, loads)) <= EXACT


def _texts() -> dict[str, dict[str, Any]]:
    """Linkages cut at each kind of joint, of bars that meet or are a rod apart, and one without any force."""
    found = {cut: spatial_linkage(cut) for cut in ("revolute", "spherical", "universal", "prismatic")}
    for closure in ({"type": "point_on_line"}, {"type": "distance", "length": 0.3}):
        found[str(closure["type"])] = bars = four_bar()
        bars["closures"][0] |= closure
    still = spatial_linkage("spherical", crank=0.4, speed=2.0) | {"gravity": [0.0, 0.0, 0.0]}
    return found | {"without forces": still}  # each entry of Q is zero


@pytest.mark.slow
@needs_rumoca
@pytest.mark.parametrize("data", _texts().values(), ids=_texts())
def test_modelica_of_closed_loops(data: dict[str, Any]) -> None:
    """q̈ of the Modelica text is the reference's for closed loops, at states around the start."""
    _check_modelica(assemble_system(from_data(data)))


@pytest.mark.slow
@needs_rumoca
@pytest.mark.parametrize("case", ["cut_joint", "spherical_replacement", "revolute_replacement"])
def test_modelica_of_rsrrp(case: str) -> None:
    """The Modelica source of the example RSRRP with three closures agrees with the reference solver."""
    _check_modelica(example_model("rsrrp", case))


def _check_modelica(model: System) -> None:
    states, found = modelica_accelerations(model, np.random.default_rng(4), 20)
    assert largest_error(found, reference_accelerations(model, states)) <= EXACT


# ---- Replacement joints against the cut joint, and the closed linkages' FMUs against the reference --------------


@pytest.mark.slow
@pytest.mark.parametrize("case", ["spherical_replacement", "revolute_replacement"])
def test_difference_is_inverse_to_the_stiffness(tmp_path: Path, case: str) -> None:
    """Deviations of motion and joint loads from the cut joint are proportional to 1/stiffness over three decades.

    Replacement joints are those of Urbaś 2016.
    """
    assert STIFFNESSES[-1] / STIFFNESSES[0] == pytest.approx(1000.0)
    found = differences(case, tmp_path)
    for name in (*MOTION, *FORCES):
        assert slope(STIFFNESSES, found[name]) == pytest.approx(-1.0, abs=0.05), name
        assert np.all(np.diff(found[name]) < 0), name
    assert found["slider_position"][0] > 1e-5  # the soft one can be seen


def test_stiffness_is_a_parameter() -> None:
    """All that differs between stiffnesses is parameters of one FMU: springs, dampers, start values."""
    soft, stiff = (model_of("spherical_replacement", stiffness) for stiffness in (1e5, 1e8))
    assert repr(soft.program.items) == repr(stiff.program.items)
    first, second = parameters(soft), parameters(stiff)
    changed = {name for name in first if first[name] != second[name]}
    assert all(name.startswith(("S_stiffness", "S_damping")) or name.endswith("_start") for name in changed)
    assert any(name.startswith("S_stiffness") for name in changed)


def test_statics_of_a_replacement_joint() -> None:
    """At rest its spring is bent by what it carries, 1000 times less where it is 1000 times stiffer."""
    sags = []
    for stiffness in (1e5, 1e8):
        model = model_of("spherical_replacement", stiffness)
        q, qd = model.start
        wrench = solving.closure_wrenches(model.mechanism, 0.0, q, qd)["S"]
        moved = q - model_of("cut_joint").start[0]
        sags.append([np.linalg.norm(moved), stiffness * np.linalg.norm(moved) / np.linalg.norm(wrench[:3])])
        assert np.abs(solving.evaluate(model.mechanism, 0.0, q, qd).qdd[1:]).max() < 1e-6
    assert sags[0][0] == pytest.approx(1000 * sags[1][0], rel=0.01)
    assert sags[0][1] == pytest.approx(sags[1][1], rel=0.01)


# stiff ones over shorter horizons, s; rpsup all rigid, and with elastic links
HORIZONS = [
    ("rsrrp", "cut_joint", 3.0),
    ("rsrrp", "spherical_replacement", 0.3),
    ("rsrrp", "revolute_replacement", 0.1),
    pytest.param("rpsup", "S_r_L_r_J_nf", 0.2, marks=pytest.mark.campaign),
    ("rpsup", "S_r_L_fl_J_nf", 0.005),
]


@pytest.mark.slow
@pytest.mark.parametrize(("example", "case", "stop"), HORIZONS)
def test_runs_agree(compile_example: Compile, example: str, case: str, stop: float) -> None:
    """The FMU follows the reference to 1e-6 of each signal's range in both modes, joint loads included."""
    compiled = compile_example(example, case)
    model, step = compiled.model, stop / 50
    truth = solving.simulate(
        model.mechanism, start=model.start, dependent=model.dependent, stop=stop, output_step=step, tolerance=1e-11
    )
    follows(compiled, truth, output_step=step, tolerance=1e-12)
    assert any("_load_" in name for name in truth.signals)
