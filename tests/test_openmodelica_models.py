"""The Modelica text in a real omc: the plant and models around it, linear models, the verdict on examples."""

from __future__ import annotations

import re
import runpy
from dataclasses import replace
from pathlib import Path

import fmpy
import helpers_problem as solving
import numpy as np
import pytest
from helpers_backends import EXAMPLES, example_model, largest_error, random_states, reference_accelerations
from helpers_masters import slewing
from helpers_multibody import state_names
from helpers_multibody_crane import crane
from helpers_parts import X, Z, body, link, machine

import gpmelica as gp
from gpmelica import load
from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.errors import MissingToolError
from gpmelica.description.load import from_data
from gpmelica.fmu.backends.backend import Compilers, write_modelica
from gpmelica.fmu.backends.omc import OpenModelica
from gpmelica.fmu.backends.openmodelica import Omc
from gpmelica.fmu.backends.openmodelica.build import Request, compile_text
from gpmelica.fmu.backends.openmodelica.deadline import Deadline
from gpmelica.fmu.backends.openmodelica.log import Log
from gpmelica.fmu.backends.openmodelica.process import Child
from gpmelica.fmu.backends.openmodelica.transport import connected
from gpmelica.generator import modelica
from gpmelica.generator.program.program import STATE
from gpmelica.linear import linearize
from gpmelica.options.linear import LinearizeOptions
from gpmelica.options.model import RunOptions
from gpmelica.runs.fmpy_runs import simulate as runs
from gpmelica.runs.fmpy_runs.instance import Instance
from gpmelica.tasks.run import verify

pytest_plugins = ["fixtures_openmodelica"]
pytestmark = pytest.mark.openmodelica


def test_plant(omc: Omc, tmp_path: Path) -> None:
    """The plant is balanced too, and its FMU has an input for the applied force."""
    model = example_model("crane", "rigid_boom")
    request = Request(model.name, model.modelica(), f"{model.name}.Plant", "2.0", "me_cs")
    outcome = compile_text(request, tmp_path, omc)
    assert outcome.equations == outcome.unknowns
    variables = fmpy.read_model_description(str(outcome.fmu)).modelVariables
    assert [v.name for v in variables if v.causality == "input"] == ["slew_torque_input"]


def test_in_a_diagram(omc: Omc, tmp_path: Path) -> None:
    """The source gives OMEdit icons, a place for the input and documentation; checkModel reports no warning."""
    model = example_model("crane", "rigid_boom")
    write_modelica(model, tmp_path)
    with connected(omc, tmp_path, Deadline(60.0), Log()) as transport:
        transport.ask(f'loadFile("{model.name}.mo")', keep=True)
        checked = transport.ask(f"checkModel({model.name}.Plant)")
        icons = [transport.ask(f"getIconAnnotation({model.name}.{name})") for name in ("Mechanism", "RealInput")]
        places = transport.ask(f"getComponentAnnotations({model.name}.Plant)")
        documentation = transport.ask(f"getDocumentationAnnotation({model.name})")
    assert "completed successfully" in checked.value
    assert checked.messages == ()
    assert "Rectangle" in icons[0].value
    assert "Polygon" in icons[1].value
    assert "Placement" in places.value
    assert documentation.value.startswith('{"<html>')


def test_plant_in_another_model(omc: Omc, tmp_path: Path) -> None:
    """The worked example of docs/openmodelica.md."""
    model = example_model("crane", "rigid_boom")
    docs = (EXAMPLES.parent / "docs" / "openmodelica.md").read_text("utf-8")
    user = re.search(r"```modelica\n(model Controlled.*?)```", docs, re.DOTALL)
    assert user
    text = model.modelica() + user[1]
    outcome = compile_text(Request("Crane", text, "Controlled", "2.0", "me"), tmp_path, omc)
    assert outcome.equations == outcome.unknowns


WITH_BLOCKS = """model Controlled "The crane with a controller of its slewing angle"
  Crane.Plant crane;
  Modelica.Blocks.Sources.Constant target(k = 4.9) "slewing angle to reach, rad";
  Modelica.Blocks.Math.Add3 torque(k1 = 2e4, k2 = -2e4, k3 = -8e3) "of target, angle and rate";
equation
  connect(target.y, torque.u1);
  torque.u2 = crane.column_angle;
  torque.u3 = crane.column_angle_dot;
  connect(torque.y, crane.slew_torque_input);
end Controlled;
"""


def test_plant_among_blocks_of_the_library(omc: Omc, tmp_path: Path) -> None:
    """A user's model with standard blocks around the plant moves as a description with the same torque does."""
    description, effort = EXAMPLES / "crane.toml", "2e4*(4.9 - column.angle) - 8e3*column.angle_dot"
    force = {"name": "slew_torque", "joint": "column", "effort": effort}
    plant, told = (load(description, "rigid_boom", **changes) for changes in ({}, {"forces": [force]}))
    text = plant.modelica() + WITH_BLOCKS
    try:
        request = Request("Crane", text, "Controlled", "2.0", "me", libraries=("Modelica",))
        outcome = compile_text(request, tmp_path, omc)
    except MissingToolError as error:
        pytest.skip(str(error))
    names = [c.symbol for c in told.prepared.mechanism.coordinates]
    found = runs.simulate(
        outcome.fmu, "me", [f"crane.{n}" for n in names], name="me", stop=0.2, output_step=0.01, tolerance=1e-9
    )
    truth = solving.simulate(told.prepared.mechanism, start=told.prepared.start, stop=0.2, output_step=0.01)
    for name in names:
        scale = np.ptp(truth.signals[name])
        assert found.signals[f"crane.{name}"] == pytest.approx(truth.signals[name], abs=1e-5 * scale), name


def test_the_crane_in_the_library(omc: Omc, tmp_path: Path) -> None:
    """MultiBody's bodies and joints, on supports and path, have the reference's accelerations."""
    model = example_model("crane", "rigid_boom")
    try:
        request = Request("Crane", crane(model, "Crane"), "Crane", "2.0", "me", libraries=("Modelica",))
        outcome = compile_text(request, tmp_path, omc)
    except MissingToolError as error:
        pytest.skip(str(error))
    names, n, times = state_names(model.mechanism), model.mechanism.n, (0.0, 0.05, 0.2, 0.5, 0.9, 1.5)
    near = random_states(model, np.random.default_rng(17), len(times))
    states, found = [replace(state, t=t) for state, t in zip(near, times, strict=True)], []
    with Instance(outcome.fmu) as instance:
        own = [u.variable.derivative.name for u in instance.description.derivatives]
        for state in states:
            x = dict(zip(names, [*state.q, *state.qd], strict=True))
            torque = model.chain.parameters["torque"].value if state.t <= 0.1 else 0.0
            instance.move(state.t, np.array([x[name] for name in own]), {"torque": torque})
            found.append(instance.read([f"der({name})" for name in names[n:]]))
    assert largest_error(np.array(found), reference_accelerations(model, states)) < 1e-11


# ---- The linear model that a real omc makes of the text is the one by the native FMU's derivatives --------------


ROUNDING = 1e-10  # of a row's largest entry, or a hundredth of the matrix's


@pytest.fixture(scope="module", params=["loop", "knife edges", "base, task and input"])
def model(request: pytest.FixtureRequest) -> System:
    """Machines with rows of all kinds, one with an input."""
    match request.param:
        case "loop":
            return example_model("four_bar_3d", "planar")
        case "knife edges":
            return example_model("mobile_robot", "without_C_y_W4")
    return slewing("plant")


def test_linearize(model: System, omc: Omc, tmp_path: Path) -> None:
    """A, B, C and D of all states at the start, by omc's symbolic derivatives: to rounding, name by name."""
    write_modelica(model, tmp_path)
    (tmp_path / "linear.mos").write_text(
        'setCommandLineOptions("--generateSymbolicLinearization --linearizationDumpLanguage=python");\n'
        f'loadFile("{model.name}.mo");\n'
        f"linearize({modelica.experiment(model.name)}, startTime = 0.0, stopTime = 0.0);\n"
    )
    child = Child([*omc.command(tmp_path), "linear.mos"], tmp_path, "linear.out", omc.environment)
    child.wait(Deadline(600.0), "linearize")
    if not (tmp_path / "linearized_model.py").read_bytes().startswith(b"def linearized_model"):
        pytest.skip(f"the linear model that {omc.version()} wrote is not text (seen in omc 1.25.7)")
    found = runpy.run_path(str(tmp_path / "linearized_model.py"), {"nan": np.nan})["linearized_model"]()
    states, inputs, outputs = found[9:]
    ours = linearize(model, LinearizeOptions(full=True))
    assert sorted(states) == sorted(f"{name}{STATE}" for name in ours.states)
    assert sorted(inputs) == sorted(ours.inputs)
    x = [states.index(f"{name}{STATE}") for name in ours.states]
    u, y = [inputs.index(name) for name in ours.inputs], [outputs.index(name) for name in ours.outputs]
    shapes = ((len(x), len(x)), (len(x), len(u)), (len(outputs), len(x)), (len(outputs), len(u)))
    A, B, C, D = (np.reshape(matrix, shape) for matrix, shape in zip(found[5:9], shapes, strict=True))
    pairs = (
        (A[np.ix_(x, x)], ours.A),
        (B[np.ix_(x, u)], ours.B),
        (C[np.ix_(y, x)], ours.C),
        (D[np.ix_(y, u)], ours.D),
    )
    for theirs, expected in pairs:
        rows, most = np.abs(expected).max(axis=1, initial=0.0), np.abs(expected).max(initial=0.0)
        assert np.all(np.abs(theirs - expected) <= ROUNDING * np.maximum(rows, 0.01 * most)[:, None])


# ---- Examples with lines, tables, contacts and orientations by a real omc ---------------------------------------


FILES = ["arms/seven_axis", "arms/six_axis", "excavator_arm", "lorry_crane", "stewart", "tower_crane/tower_crane"]
STOP = 0.5  # s


@pytest.mark.parametrize("file", FILES)
def test_verdict(omc: Omc, tmp_path: Path, file: str) -> None:
    """Both modes agree with the reference, start included."""
    _agrees(gp.load(EXAMPLES / f"{file}.toml", simulation={"stop": STOP}).prepared, omc, tmp_path)


def test_motors(omc: Omc, tmp_path: Path) -> None:
    """A carriage with an arm, whose linear motors saturate by expressions of time, of states and of parameters."""
    links = [
        link("cart", "prismatic", X, stiffness=40.0) | body(2.0),
        link("arm", "revolute", Z, "cart", position=0.4) | body(1.0, [0.3, 0.0, 0.0], [0.1, 0.1, 0.1]),
    ]
    current = "1.5*sin(4*t) - 0.5*arm.angle_dot"
    motors = [
        {"name": "drive", "joint": "cart", "constant": 10.0, "limit": 8.0, "current": current},
        {"name": "wrist", "joint": "arm", "constant": "gain", "limit": 0.05, "current": "cos(3*t)"},
    ]
    simulation = {"start": "description", "stop": 1.5, "output_step": 0.02}
    data = machine(*links, name="Robot", motors=motors, parameters={"gain": 0.1}, simulation=simulation)
    _agrees(assemble_system(from_data(data)), omc, tmp_path)


def test_controllers(omc: Omc, tmp_path: Path) -> None:
    """Samples of two controllers coincide, with each other, a time event and communication points."""
    rotor = link("rotor", "revolute", Z, position=0.3) | body(1.0, inertia=[2.0] * 3)
    turn = {"name": "turn", "type": "pid", "measured": "rotor.angle", "setpoint": "ramp_output", "sample": 0.05}
    turn |= {"drives": "torque", "gain": 20.0, "integral_time": 1.5, "derivative_time": 0.3, "lower": -5.0}
    ramp = {"name": "ramp", "type": "rate_limit", "signal": "calm_output", "rate": 1.5, "sample": 0.1}
    calm = {"name": "calm", "type": "filter", "signal": "1 if t > 0.2 else 0", "time_constant": 0.03}
    force = {"name": "torque", "joint": "rotor", "input": True}
    simulation = {"stop": 1.0, "output_step": 0.02, "start": "description"}
    data = machine(rotor, name="Turning", forces=[force], controllers=[turn, ramp, calm], simulation=simulation)
    _agrees(assemble_system(from_data(data)), omc, tmp_path)


def _agrees(model: System, omc: Omc, folder: Path) -> None:
    report = verify(model, RunOptions(rumoca=False), folder, Compilers((OpenModelica(omc),)))
    assert report.ok, [*report.findings, *report.notes]


@pytest.mark.parametrize("kind", ["fixed", "prismatic"])
def test_turned_frames_are_refused(omc: Omc, tmp_path: Path, kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    """omc's FMU initialises while a closure's frames start turned by 60°, and stops with our words at 130°."""
    ends = {"a": {"link": "ball", "rpy": [0.0, "pitch", 0.0]}, "b": {"link": "ground"}}
    closure = {"name": "lock", "type": kind} | ends
    tables = {"closures": [closure], "parameters": {"pitch": 0.3}, "simulation": {"start": "description"}}
    model = assemble_system(
        from_data(machine(link("ball", "spherical") | body(), gravity=[0.0, 0.0, 0.0], **tables))
    )
    request = Request(model.name, model.modelica(), modelica.experiment(model.name), "2.0", "me")
    fmu = compile_text(request, tmp_path, omc).fmu

    def start(pitch: float) -> None:
        settings = {"stop_time": 1e-3, "start_values": {"pitch": np.radians(pitch)}, "fmi_type": "ModelExchange"}
        fmpy.simulate_fmu(str(fmu), **settings)

    start(60.0)
    with pytest.raises(fmpy.fmi1.FMICallException):
        start(130.0)
    # omc's C code prints, whatever logger it is given
    assert "closure lock are rotated relative to each other at the start" in capfd.readouterr().out
