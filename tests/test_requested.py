"""Requested outputs (`[outputs]`): points, frames, energy, expressions; every output has an independent
counterpart.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from helpers_backends import CompileData
from helpers_examples import EXAMPLES
from helpers_parts import Z, body, link, machine
from helpers_reference import mechanism_of, slope
from helpers_stages import StagedModel
from machines.scales import resized
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from gpmelica import analysis
from gpmelica.analysis import ReferenceModel
from gpmelica.analysis.system import assemble_system
from gpmelica.api.results import Run
from gpmelica.core.errors import SolveError
from gpmelica.description.load import from_data, load
from gpmelica.description.types.origin import Signal, joint_load
from gpmelica.generator import modelica
from gpmelica.reference.solve import requested
from gpmelica.reference.solve.solver import formulation
from gpmelica.runs import rumoca
from gpmelica.runs.compare.compare import compare
from gpmelica.runs.compare.scales import scales
from gpmelica.runs.fmpy_runs import simulate as runs
from gpmelica.tasks.reference_run import reference_run

Array = NDArray[np.float64]
AXES = "xyz"
WANTED = {
    "points": ["E"],
    "links": ["boom", "jib", "tool"],
    "energy": True,
    "expressions": {
        "reach": {"expression": "sqrt(E.x^2 + E.y^2)", "unit": "m", "description": "tip to column"},
        "pull": "rope_force*rope_rate + 0*start(E.z)",
        "push": {"expression": "abs(E.ax) + boom.angle_ddot if t < 0.2 else min(E.vz, stretch)", "unit": "m/s2"},
    },
}


def arm(damping: float = 0.0, **changes: Any) -> dict[str, Any]:
    """A boom whose joint's axis is tilted by a parameter, a jib in a ball joint, a tool by DH numbers, a rope."""
    hinge = {"position": 0.3, "damping": damping, "limits": {"upper": 0.35, "stiffness": 2e3}}
    boom = link("boom", "revolute", [0.0, -0.6, 0.8], xyz=[0.1, 0.2, 0.5], rpy=["tilt", 0.2, 4.0], **hinge)
    jib = link("jib", "spherical", None, "boom", xyz=[0.8, 0.0, 0.0], velocity=[3.0, 0.5, 1.0])
    boom, jib = (
        boom | body(5.0, [0.4, 0.0, 0.1], [0.1, 0.3, 0.3]),
        jib | body(2.0, [0.3, 0.0, 0.0], [0.02, 0.1, 0.1]),
    )
    tool = {"name": "tool", "parent": "jib", "frame": {"dh": [0.6, 0.4, 0.1, -3.0]}, "joint": {"type": "fixed"}}
    rope = {"name": "rope", "a": {"link": "ground", "point": [0.0, 0.0, 2.0]}, "b": {"link": "tool"}}
    rope |= {"stiffness": 300.0, "damping": damping, "rest": 1.2, "tension_only": True}
    times = {"stop": 0.4, "output_step": 0.01, "start": "description"}
    points = {"E": {"link": "tool", "position": [0.1, 0.0, 0.2]}}
    tables = {"points": points, "lines": [rope], "outputs": WANTED, "simulation": times}
    return machine(boom, jib, tool, parameters={"tilt": 0.3, "stretch": 0.1}, **tables) | changes


def _at(model: ReferenceModel, t: float, q: Array, qd: Array) -> tuple[dict[str, float], Array]:
    """The requested signals and q̈."""
    state = model.state(t, q, qd)
    qdd = model.evaluate(state, formulation(model, state)).qdd
    return requested.values(model, state, qdd), qdd


def _vector(values: dict[str, float], names: list[str]) -> Array:
    return np.array([values[name] for name in names])


def _states(count: int) -> list[tuple[Array, Array]]:
    rng = np.random.default_rng(2)
    return [(rng.uniform(-4.0, 4.0, 4), rng.uniform(-2.0, 2.0, 4)) for _ in range(count)]


@pytest.mark.parametrize("link", ["boom", "jib", "tool"])
def test_quaternions_and_angular_velocities(link: str) -> None:
    """Norm 1, the frame's rotation, and 2·q̇ = ω⊗q along a motion."""
    mechanism = mechanism_of(arm())
    model, b = ReferenceModel(mechanism), [body.name for body in mechanism.bodies].index(link)
    names = [f"{link}_quaternion_{x}" for x in "wxyz"]
    for q, qd in _states(5):
        values, qdd = _at(model, 0.0, q, qd)
        found, pose = _vector(values, names), analysis.poses(mechanism, q)[b]
        assert np.linalg.norm(found) == pytest.approx(1.0, abs=1e-14)
        assert Rotation.from_quat([*found[1:], found[0]]).as_matrix() == pytest.approx(pose[:3, :3], abs=1e-13)
        assert _vector(values, [f"{link}_origin_{x}" for x in AXES]) == pytest.approx(pose[:3, 3], abs=1e-13)

        def along(h: float, q: Array = q, qd: Array = qd, qdd: Array = qdd) -> Array:
            return _vector(_at(model, 0.0, q + h * qd + h * h / 2 * qdd, qd + h * qdd)[0], names)

        omega = _vector(values, [f"{link}_omega_{x}" for x in AXES])
        turning = np.array([-omega @ found[1:], *(found[0] * omega + np.cross(omega, found[1:]))])
        assert 2.0 * slope(along) == pytest.approx(turning, abs=1e-7)


def test_quaternions_do_not_jump() -> None:
    """Through two turns of a joint; after one turn the opposite one means the same rotation."""
    model = ReferenceModel(mechanism_of(arm()))
    angles, still = np.linspace(0.0, 4.0 * np.pi, 81), np.zeros(4)
    names = [f"boom_quaternion_{x}" for x in "wxyz"]
    states = [model.state(0.0, np.array([angle, 0.0, 0.0, 0.0]), still) for angle in angles]
    found = np.array([_vector(requested.values(model, state, still), names) for state in states])
    assert np.linalg.norm(np.diff(found, axis=0), axis=1) == pytest.approx(np.full(80, 2 * np.sin(np.pi / 80)))
    assert found[40] == pytest.approx(-found[0], abs=1e-12)
    assert found[80] == pytest.approx(found[0], abs=1e-12)


def test_accelerations_are_rates_of_velocities() -> None:
    """Along the motion that the forces make, of a point and in an expression."""
    model = ReferenceModel(mechanism_of(arm()))
    for q, qd in _states(4):
        values, qdd = _at(model, 0.1, q, qd)

        def velocity(h: float, q: Array = q, qd: Array = qd, qdd: Array = qdd) -> Array:
            at = model.quantities.point("E")
            return model.state(0.1, q + h * qd + h * h / 2 * qdd, qd + h * qdd).x_dot[at]

        expected = slope(velocity, 1e-4)
        assert _vector(values, ["E_ax", "E_ay", "E_az"]) == pytest.approx(
            expected, abs=1e-7 * np.abs(expected).max()
        )
        assert values["push"] == pytest.approx(abs(expected[0]) + qdd[0], abs=1e-7 * np.abs(qdd).max())


def test_energy_output_is_conserved() -> None:
    """The output is ½ q̇ᵀ M q̇ plus the energies of gravity, spring and stop; without other forces
    the sum is constant.
    """
    mechanism = mechanism_of(arm())
    run = solving.simulate(mechanism, tolerance=1e-10, stop=0.3)
    assert {event.label for event in run.events} >= {"line rope", "stop boom.angle upper"}
    kinetic, total = run.signals["kinetic_energy"], run.signals["total_energy"]
    assert np.ptp(total) < 1e-8 * np.ptp(kinetic)
    assert run.signals["potential_energy"] == pytest.approx(total - kinetic, abs=1e-12)
    model, (q, qd) = ReferenceModel(mechanism), _states(1)[0]
    values, _ = _at(model, 0.0, q, qd)
    frames = analysis.poses(mechanism, q)[:2]
    height = [
        (frame[:3, :3] @ body.com + frame[:3, 3])[2]
        for frame, body in zip(frames, mechanism.bodies[:2], strict=True)
    ]
    length = np.hypot.reduce(_vector(values, [f"tool_origin_{x}" for x in AXES]) - [0.0, 0.0, 2.0])
    springs = 150.0 * max(length - 1.2, 0.0) ** 2 + 1000.0 * max(q[0] - 0.35, 0.0) ** 2
    expected = 9.81 * np.dot([5.0, 2.0], height) + springs
    assert values["potential_energy"] == pytest.approx(expected, rel=1e-12)


def test_both_derivations_agree() -> None:
    """All outputs agree in states on both sides of rope and stop, with the initial height in an expression."""
    model = assemble_system(from_data(arm(damping=1.0)))
    staged, numbers = StagedModel(model), ReferenceModel(model.mechanism, start=model.start)
    for (q, qd), t in zip(_states(8), np.linspace(0.0, 0.4, 8).tolist(), strict=True):
        found, (expected, qdd) = staged(t, q, qd), _at(numbers, t, q, qd)
        assert found.qdd == pytest.approx(qdd, rel=1e-9, abs=1e-9)
        for name, value in expected.items():
            assert found.outputs[name] == pytest.approx(value, rel=1e-9, abs=1e-9), name


@pytest.mark.slow
def test_runs_agree(compile_data: CompileData) -> None:
    """Model exchange, co-simulation and the text; the units and descriptions are in the FMU."""
    compiled = compile_data(arm(damping=1.0))
    model, units = compiled.model, compiled.model.units
    truth = reference_run(model, None, lambda what, fraction: None)
    grid = {"stop": 0.4, "output_step": 0.01}
    tried = [
        runs.simulate(compiled.fmu, mode, [*units], name=mode, tolerance=1e-9, **grid) for mode in ("me", "cs")
    ]
    text = rumoca.CompiledModel(model.modelica(), modelica.experiment(model.name))
    tried.append(text.simulate([*units], **grid, tolerance=1e-9, budget=60.0))
    for run, tolerance in zip(tried, (1e-6, 1e-6, 1e-5), strict=True):
        found = compare(truth, run, units, tolerance, complete=True)
        assert found.ok, (run.name, found.worst_signal, found.max_rel_error, found.note)
    given = Run(truth, units, model).powers()
    assert given["line rope"] == pytest.approx(-truth.signals["rope_force"] * truth.signals["rope_rate"], abs=1e-9)
    variables = {v.name: v for v in compiled.description.modelVariables}
    said = {name: (variables[name].unit, variables[name].description) for name in ("reach", "pull", "E_ax")}
    assert said["reach"] == ("m", "tip to column")
    assert said["pull"] == (None, "rope_force*rope_rate + 0*start(E.z)")
    assert said["E_ax"] == ("m/s2", "acceleration of E, world x, without gravity")
    assert Signal("value", model.signals["reach"].origin) == model.signals["reach"]


def test_scales_of_signals_in_equilibrium() -> None:
    """In equilibrium, no signal is compared on the scale of its own rounding errors."""
    rest = arm(damping=1.0, simulation={"stop": 0.2, "output_step": 0.01})
    rest["links"][0]["joint"] |= {"stiffness": 400.0}
    rest["links"][1]["joint"] = {"type": "spherical", "stiffness": [80.0] * 3, "damping": [1.0] * 3}
    rest["outputs"] = WANTED | {"expressions": {"reach": "E.x - 0.1", "cosine": "E.y/E.z", "pull": "rope_force"}}
    model = assemble_system(from_data(rest))
    run = reference_run(model, None, lambda what, fraction: None)
    found = scales(run.signals, model.units, run.natural)
    assert max(np.ptp(run.signals[name]) for name in found) < 1e-6
    assert min(found.values()) > 1e-6, found


# ---- Every output of the equations has its counterpart in the reference, and the other way round ----------------


INSTANT = 1e-6  # s


def _cases() -> list[tuple[str, str | None]]:
    """Examples as they are, and their last case, which has friction, loops or loads more than that."""
    found: list[tuple[str, str | None]] = []
    for file in sorted(EXAMPLES.glob("*.toml")):
        cases = tomllib.loads(file.read_text(encoding="utf-8")).get("cases", [])
        found += [(file.stem, None), *((file.stem, case["name"]) for case in cases[-1:])]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("example", "case"), _cases())
def test_every_output_has_its_counterpart(example: str, case: str | None) -> None:
    """By its name, in both directions; each says what it is."""
    model = assemble_system(load(EXAMPLES / f"{example}.toml", case))
    run = solving.simulate(model.mechanism, start=model.start, stop=INSTANT, output_step=INSTANT)
    assert set(run.signals) == set(model.units) == set(model.signals)


def test_a_missing_counterpart_stops_the_run() -> None:
    """Before anything is compared, and by name."""
    model = assemble_system(load(EXAMPLES / "four_bar_3d.toml"))
    shortened = model.chain.simulation.model_copy(update={"stop": INSTANT, "output_step": INSTANT})
    chain = model.chain.model_copy(update={"simulation": shortened})
    new = replace(model.program.outputs[0], signal=joint_load("unheard", "of"))
    program = replace(model.program, outputs=[*model.program.outputs, new])
    problem = replace(model.problem, mechanism=replace(model.mechanism, chain=chain))
    model = replace(model, chain=chain, problem=problem, program=program)
    with pytest.raises(SolveError, match=r"only one of them has: unheard_load_of$"):
        reference_run(model, None, lambda what, fraction: None)


@pytest.mark.parametrize(("length", "nominal"), [(1.0, 1.0), (1e-3, 1e-3), (1e3, 1.0)])
def test_small_machines_have_small_tolerances_of_lengths(length: float, nominal: float) -> None:
    """A slide of 1 mm is as much in a machine of 1 cm as one of 1 m in a machine of 10 m."""
    centre = body(1.0, [0.1, 0.0, 0.0], [0.1, 0.1, 0.1])
    slide = link("slide", "prismatic", Z) | centre
    data = machine(slide, link("arm", "revolute", Z, "slide", xyz=[5.0, 0.0, 0.0]) | centre)
    states = assemble_system(from_data(resized(data, 1.0, length))).program.states
    found = {state.name.removesuffix("_state"): state.nominal for state in states}
    assert found["slide_position"] == found["slide_position_dot"] == pytest.approx(nominal)
    assert found["arm_angle"] == found["arm_angle_dot"] == 1.0
