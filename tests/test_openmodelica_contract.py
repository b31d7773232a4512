"""What the OpenModelica backend promises, on a machine with a real omc.

Run it as an ordinary user and as root: python -m pytest -m openmodelica
GPMELICA_OMC names another omc than the first one found, such as docker:IMAGE.
"""

from __future__ import annotations

import os
import re
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import psutil
import pytest
from helpers_backends import EVERY, EXAMPLES, example_model
from helpers_examples import changed
from helpers_openmodelica import Break, holding, holding_from, opened, pendulum, slider, torn, unknown

from gpmelica import load, reference
from gpmelica.commands.run import Options, reference_run, run
from gpmelica.errors import MissingToolError
from gpmelica.fmu.backends import native, openmodelica
from gpmelica.fmu.backends.attempts import solver_tolerance
from gpmelica.fmu.backends.backend import Compilers, write_modelica
from gpmelica.fmu.backends.omc import OpenModelica
from gpmelica.fmu.backends.openmodelica import BuildOutcome, Omc, OmcError, OmcTimeout
from gpmelica.fmu.backends.openmodelica.build import Request, compile_text
from gpmelica.fmu.backends.openmodelica.deadline import Deadline
from gpmelica.fmu.backends.openmodelica.log import Log
from gpmelica.fmu.backends.openmodelica.process import Child
from gpmelica.fmu.backends.openmodelica.transport import connected
from gpmelica.fmu.compare.compare import compare
from gpmelica.fmu.runs import simulate as runs
from gpmelica.fmu.runs.validation import validate
from gpmelica.generator import modelica
from gpmelica.prepared import Prepared, prepare
from gpmelica.trajectory import Trajectory

pytest_plugins = ["fixtures_openmodelica"]
pytestmark = pytest.mark.openmodelica

ROOT = hasattr(os, "getuid") and os.getuid() == 0
FLEXIBLE = ("crane", "flexible_boom")
MODEL_EXCHANGE, CO_SIMULATION = 1e-6, 1e-4  # of a signal's range
COMMUNICATION = 1e-3  # s
HORIZON, STIFF_HORIZON = 2.0, 0.3  # s, at most; beams that bend take CVODE and the reference minutes
ENDS = {"rocker_independent": 0.3}  # s, before the dead centre, at which this choice of coordinates ends
PATIENCE = 3600.0  # s of the clock for a build: a machine that does other things, too, is no fault of it
STIFF = 15  # coordinates and more: with beams that bend
OTHER_FORMULATIONS = [
    ("crane", "rigid_boom", "gpme_reduced"),
    ("crane", "rigid_boom", "lagrange"),
    ("crane", "rigid_boom_lugre", "gpme_reduced"),
    ("rsrrp", "cut_joint", "gpme_reduced"),
    ("rpsup", "S_fl_L_r_J_f", "lagrange"),
    ("mobile_robot", "without_C_y_W4", "gpme_reduced"),
]

# What omc makes different from the native FMU, and why; docs/openmodelica.md has the same list.
FORCED = {
    "`time`": "omc exports no independent variable",
    "`solver_…`, `projection…`": "settings and counters of the native FMU's own solver",
    "descriptions of derivatives": "omc writes der(…) around the state's",
    "units of derivatives": "omc computes them, with angles as numbers: der(column_angle_state) is in Hz",
    "`modelName`": "omc writes the class, Name.Experiment; modelIdentifier and file name are Name",
}


Record = Callable[[str, object], None]


@dataclass(frozen=True)
class Built:
    """One case of an example, built by omc."""

    model: Prepared
    outcome: BuildOutcome
    folder: Path


@pytest.fixture(scope="module", params=[*EVERY, *OTHER_FORMULATIONS], ids="-".join)
def built(request: pytest.FixtureRequest, omc: Omc, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Every case, FMI 2.0 for both modes; in a folder whose name is not plain."""
    example, case, *formulation = request.param
    keys: dict[str, Any] = {"constraints__formulation": formulation[0]} if formulation else {}
    model = prepare(changed(example, case, **keys))
    horizon = STIFF_HORIZON if model.mechanism.n >= STIFF else HORIZON
    stop = min(model.chain.simulation.stop, horizon, ENDS.get(case, np.inf))
    model = prepare(changed(example, case, simulation__stop=stop, **keys))
    folder = tmp_path_factory.mktemp("built") / "ein Ordner für omc"
    return Built(model, openmodelica.build(model, folder, omc=omc, timeout=PATIENCE), folder)


@pytest.fixture(scope="module")
def truth(built: Built) -> Trajectory:
    """The reference solver's run of the same case, as `run` compares with it."""
    return _truth(built.model)


def _truth(model: Prepared) -> Trajectory:
    return reference_run(model, None, lambda what, fraction: None)


def _simulated(model: Prepared, fmu: Path, mode: runs.Mode, step: float) -> Trajectory:
    simulation = model.chain.simulation
    return runs.simulate(
        fmu,
        mode,
        list(model.units),
        name=f"fmu-openmodelica-{mode}",
        stop=simulation.stop,
        output_step=step,
        tolerance=solver_tolerance(simulation.tolerance, mode),
    )


def _thinned(run: Trajectory, step: float, output_step: float) -> Trajectory:
    every = round(output_step / step)
    signals = {name: values[::every] for name, values in run.signals.items()}
    return replace(run, time=run.time[::every], signals=signals)


def test_build(built: Built) -> None:
    """omc takes the text, in a session unless we are root, finds it balanced, and says what it has built."""
    outcome = built.outcome
    assert outcome.equations == outcome.unknowns > 100
    assert outcome.transport == ("script" if ROOT else "session")
    assert "OpenModelica" in outcome.version or re.match(r"v?\d+\.\d+", outcome.version)
    assert outcome.fmu == built.folder / f"{built.model.name}.fmu"
    assert outcome.solver.startswith("CVODE")


def test_valid(built: Built) -> None:
    """FMPy finds no fault with the FMU."""
    assert validate(built.outcome.fmu) == []


def test_model_exchange(built: Built, truth: Trajectory, record_property: Record) -> None:
    """At tight tolerance, within 1e-6 of each signal's range of the reference."""
    step = built.model.chain.simulation.output_step
    run = _simulated(built.model, built.outcome.fmu, "me", step)
    found = compare(truth, run, built.model.units, MODEL_EXCHANGE)
    record_property(found.worst_signal, found.max_rel_error)
    assert found.ok, f"{found.worst_signal}: {found.max_rel_error:.2g}"


def test_co_simulation(built: Built, truth: Trajectory, record_property: Record) -> None:
    """CVODE at communication steps of 1 ms: within 1e-4 of each signal's range of the reference."""
    run = _simulated(built.model, built.outcome.fmu, "cs", COMMUNICATION)
    run = _thinned(run, COMMUNICATION, built.model.chain.simulation.output_step)
    found = compare(truth, run, built.model.units, CO_SIMULATION)
    record_property(found.worst_signal, found.max_rel_error)
    assert found.ok, f"{found.worst_signal}: {found.max_rel_error:.2g}"


def test_cvode_runs(built: Built, capfd: pytest.CaptureFixture[str]) -> None:
    """The FMU's own log names CVODE as the solver of its co-simulation."""
    messages: list[str] = []

    def log(component: Any, instance: bytes, status: int, category: bytes, message: bytes) -> None:
        messages.append(message.decode("utf-8", "replace"))

    fmpy.simulate_fmu(
        str(built.outcome.fmu),
        fmi_type="CoSimulation",
        stop_time=0.002,
        output_interval=0.001,
        logger=log,
        debug_logging=True,
    )
    captured = capfd.readouterr()
    assert "CVODE" in "\n".join([*messages, captured.out, captured.err])


def test_what_it_prints_goes_into_the_log(built: Built, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Nothing of the C library's own words reaches standard output in a run of ours."""
    log = tmp_path / "run.log"
    runs.simulate(
        built.outcome.fmu, "cs", [], name="cs", stop=0.002, output_step=0.001, tolerance=1e-6, log_file=log
    )
    assert "CVODE" in log.read_text()
    assert capfd.readouterr().out == ""


@pytest.fixture(scope="module")
def described(built: Built) -> tuple[Any, Any]:
    """What FMPy reads of the FMU, and of the native one."""
    path = built.folder / "native" / "modelDescription.xml"
    path.parent.mkdir()
    path.write_text(native.generate(built.model.native_program, built.model.chain).description, "utf-8")
    return fmpy.read_model_description(str(built.outcome.fmu)), fmpy.read_model_description(str(path.parent))


def _variable(variable: Any) -> tuple[Any, float]:
    start = np.nan if variable.start is None or variable.causality == "output" else float(variable.start)
    attributes = variable.type, variable.causality, variable.variability, variable.unit, variable.description
    return attributes, start


def _dimension(description: Any, name: str | None) -> dict[str, int]:
    """Base exponents of a unit as the model description defines it; angles are numbers to omc."""
    base = next(unit.baseUnit for unit in description.unitDefinitions if unit.name == name)
    return {key: getattr(base, key) for key in ("kg", "m", "s", "A", "K", "mol", "cd")}


def test_same_variables(built: Built, described: tuple[Any, Any]) -> None:
    """Variable by variable as in the native FMU: name, causality, variability, unit, start, description."""
    theirs, ours = ({v.name: v for v in description.modelVariables} for description in described)
    own = {name for name in ours if name == "time" or name.startswith(("solver_", "projection"))}
    assert set(theirs) == set(ours) - own
    for description in described:
        states = [unknown.variable.derivative.name for unknown in description.derivatives]
        assert sorted(states) == sorted(s.variable for s in built.model.program.states)
        assert {u.variable.name for u in description.outputs} - own == set(built.model.units)
    derivatives = {name for name in theirs if name.startswith("der(")}
    for name in sorted(set(theirs) - derivatives):
        (found, start), (expected, expected_start) = _variable(theirs[name]), _variable(ours[name])
        assert found == expected, name
        assert start == pytest.approx(expected_start, rel=1e-14, nan_ok=True), name
    for name in sorted(derivatives):
        one, other = theirs[name], ours[name]
        assert one.derivative.name == other.derivative.name
        assert one.causality == other.causality == "local"
        if one.unit:
            assert _dimension(described[0], one.unit) == _dimension(described[1], other.unit), name


def test_same_experiment(described: tuple[Any, Any]) -> None:
    """Name of the library, stop time, tolerance and step are the native FMU's; the model's name is the class."""
    theirs, ours = described
    assert theirs.modelName == f"{ours.modelName}.Experiment"
    for one, other in ((theirs.modelExchange, ours.modelExchange), (theirs.coSimulation, ours.coSimulation)):
        assert one.modelIdentifier == other.modelIdentifier
    for key in ("startTime", "stopTime", "tolerance", "stepSize"):
        one, other = (getattr(d.defaultExperiment, key) for d in (theirs, ours))
        assert float(one) == pytest.approx(float(other), rel=1e-12), key


def test_parameters_can_be_set(built: Built) -> None:
    """A parameter that is set before the start changes the motion, as it does in the native FMU."""
    model = built.model
    name = f"{model.mechanism.coordinates[-1].symbol}_start"
    value = float(next(p.value for p in model.program.parameters if p.name == name)) + 1e-3
    results = fmpy.simulate_fmu(
        str(built.outcome.fmu),
        fmi_type="ModelExchange",
        stop_time=0.01,
        start_values={name: value},
        output=[model.mechanism.coordinates[-1].symbol],
    )
    assert results[0][1] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(("example", "case"), dict(reversed(EVERY)).items())
def test_script_beside_the_text(omc: Omc, tmp_path: Path, example: str, case: str) -> None:
    """The `.mos` file simulates and plots without gpmelica: the first case of each example."""
    model = example_model(example, case)
    write_modelica(model, tmp_path)
    environment = omc.environment | {"QT_QPA_PLATFORM": "offscreen"}
    child = Child([*omc.command(tmp_path), f"{model.name}.mos"], tmp_path, "mos.out", environment)
    child.wait(Deadline(600.0), "the script")
    assert "The simulation finished successfully" in child.text()
    assert (tmp_path / f"{model.name}_res.mat").is_file()


@pytest.mark.parametrize("step", [0.01, 1 / 1024])
def test_switches_within_a_communication_step(built: Built, step: float) -> None:
    """Co-simulation switches when the description says, whatever the step: as model exchange does."""
    if built.model.name != "Crane" or built.model.mechanism.n != 9 or len(built.model.program.states) != 18:
        pytest.skip("about the rigid crane without friction")
    names = [f"{c.symbol}_dot" for c in built.model.mechanism.coordinates]
    one, other = (
        runs.simulate(built.outcome.fmu, mode, names, name=mode, stop=0.12, output_step=step, tolerance=1e-10)
        for mode in ("me", "cs")
    )
    for name in names:
        scale = np.ptp(one.signals[name])
        assert other.signals[name] == pytest.approx(one.signals[name], abs=CO_SIMULATION * scale), name


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_conditions_on_time(omc: Omc, tmp_path: Path, fmi: Any) -> None:
    """They hold as the description says, at points on a switching time, too; nothing is searched for."""
    fmu = openmodelica.build(slider(), tmp_path, omc=omc, fmi=fmi).fmu
    assert not _indicators(fmu)
    kinds = ("ModelExchange", "CoSimulation") if fmi == "2.0" else ("ModelExchange",)
    for kind, w, start, step in product(kinds, (2.0, 0.0, -2.0), (0.0, 0.3, 0.31), (0.1, 0.01, 1 / 64)):
        run = fmpy.simulate_fmu(
            str(fmu),
            fmi_type=kind,
            start_time=start,
            stop_time=start + 0.6,
            output_interval=step,
            start_values={"w": w},
            output=["mass_position_ddot"],
        )
        last = {round(float(t), 9): (t, acceleration) for t, acceleration in run}  # of several at an event
        for t, acceleration in last.values():
            assert holding(acceleration) == holding_from(t, w), (kind, w, start, step, t)


def _indicators(fmu: Path) -> int:
    with zipfile.ZipFile(fmu) as archive:
        text = archive.read("modelDescription.xml").decode()
    return len(re.findall(r'numberOfEventIndicators="[1-9]|<EventIndicator ', text))


def test_conditions_on_time_in_simulate(omc: Omc, tmp_path: Path) -> None:
    """omc's own simulation stops at each switching time, and has both sides of it."""
    model = slider()
    write_modelica(model, tmp_path)
    settings = 'stopTime = 0.6, numberOfIntervals = 6, outputFormat = "csv", fileNamePrefix = "run"'
    with connected(omc, tmp_path, Deadline(120.0), Log()) as transport:
        transport.ask(f'loadFile("{model.name}.mo")', keep=True)
        transport.ask(f"simulate({modelica.experiment(model.name)}, {settings})")
    run = np.genfromtxt(tmp_path / "run_res.csv", delimiter=",", names=True)
    assert {0.25, 0.3, 0.35, 0.5} <= {round(float(t), 9) for t in run["time"]}
    last = dict(zip(np.round(run["time"], 9).tolist(), run["mass_position_ddot"], strict=True))
    assert {t: holding(acceleration) for t, acceleration in last.items()} == {
        t: holding_from(t, 2.0) for t in last
    }


def test_run_with_a_switch_between_communication_points(omc: Omc, tmp_path: Path) -> None:
    """The verdict of `run` has both modes agree: neither is late by a part of a step, and the report says how."""
    force = {"name": "push", "link": "lower", "force": ["5.0 if t < 0.43217 else -5.0", "0", "0"]}
    model = pendulum(forces=[force])
    report = run(model, Options(tmp_path, rumoca=False, compilers=Compilers((OpenModelica(omc),))))
    assert report.ok, report.findings
    assert max(comparison.max_rel_error for comparison in report.comparisons) < 1e-6


@pytest.mark.parametrize("kind", ["me", "cs"])
def test_one_mode_alone(omc: Omc, tmp_path: Path, kind: Any) -> None:
    """FMUs for one mode only."""
    outcome = openmodelica.build(example_model("crane", "rigid_boom"), tmp_path, omc=omc, kind=kind)
    assert validate(outcome.fmu) == []
    description = fmpy.read_model_description(str(outcome.fmu))
    assert (description.modelExchange is not None, description.coSimulation is not None) == (
        kind == "me",
        kind == "cs",
    )


def test_fmi_3(omc: Omc, tmp_path: Path) -> None:
    """FMI 3.0 where this omc has it: valid, the same motion, and its co-simulation is said to be Euler."""
    model = example_model("crane", "rigid_boom")
    try:
        outcome = openmodelica.build(model, tmp_path, omc=omc, fmi="3.0")
    except OmcError as error:
        if "Unknown FMU version" not in str(error):
            raise
        pytest.skip("this omc exports no FMI 3.0")
    assert outcome.solver.startswith("explicit Euler")
    assert validate(outcome.fmu) == []
    variables = fmpy.read_model_description(str(outcome.fmu)).modelVariables
    assert {s.variable for s in model.program.states} <= {v.name for v in variables}
    assert not [v.name for v in variables if "_D_" in v.name]
    run = _simulated(model, outcome.fmu, "me", model.chain.simulation.output_step)
    found = compare(_truth(model), run, model.units, MODEL_EXCHANGE)
    assert found.ok, f"{found.worst_signal}: {found.max_rel_error:.2g}"


def test_plant(omc: Omc, tmp_path: Path) -> None:
    """The plant is balanced too, and its FMU has an input for the applied force."""
    model = example_model("crane", "rigid_boom")
    request = Request(model.name, model.modelica(), f"{model.name}.Plant", "2.0", "me_cs")
    outcome = compile_text(request, tmp_path, omc)
    assert outcome.equations == outcome.unknowns
    variables = fmpy.read_model_description(str(outcome.fmu)).modelVariables
    assert [v.name for v in variables if v.causality == "input"] == ["slew_torque_input"]


def test_in_a_diagram(omc: Omc, tmp_path: Path) -> None:
    """What omc tells OMEdit: icons, a place for the input, documentation; its check warns of nothing."""
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
    truth = reference.simulate(told.prepared.mechanism, start=told.prepared.start, stop=0.2, output_step=0.01)
    for name in names:
        scale = np.ptp(truth.signals[name])
        assert found.signals[f"crane.{name}"] == pytest.approx(truth.signals[name], abs=1e-5 * scale), name


@pytest.mark.parametrize("sessions", [pytest.param(True, marks=pytest.mark.skipif(ROOT, reason="root")), False])
@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (unknown, r"Crane\.mo:\d+, constraint ellipse: Variable nowhere not found"),
        (opened, r"equations for \d+ unknowns\n  Too few equations"),
        (torn, r"cannot read the Modelica text\n  Crane\.mo:\d+"),
    ],
    ids=["unknown name", "unbalanced", "syntax"],
)
def test_errors(omc: Omc, tmp_path: Path, sessions: bool, broken: Break, message: str) -> None:
    """omc's own errors, at our line and in the description's words, at once and without the network."""
    model = example_model("crane", "rigid_boom")
    source = model.modelica_source()
    text, simulated = broken(source.text), modelica.experiment(model.name)
    request = Request(model.name, text, simulated, "2.0", "me", origins=source.origins)
    begin = time.monotonic()
    with pytest.raises(OmcError, match=message) as caught:
        compile_text(request, tmp_path, omc, sessions=sessions)
    assert time.monotonic() - begin < 20.0
    assert "Curl" not in str(caught.value)
    if broken is unknown:
        line = int(re.findall(r"Crane\.mo:(\d+)", str(caught.value))[0])
        assert "nowhere" in text.splitlines()[line - 1]


def test_session_refused_at_once(omc: Omc, tmp_path: Path) -> None:
    """Connecting takes no time, whether omc gives a session or, to root, refuses it."""
    begin, log = time.monotonic(), Log()
    with connected(omc, tmp_path, Deadline(60.0), log) as transport:
        assert time.monotonic() - begin < 5.0
        assert transport.name == ("script" if ROOT else "session")
        assert transport.ask("1 + 1").value == "2"
    assert not ROOT or "root user" in log.text()


@pytest.mark.parametrize("sessions", [True, False])
def test_timeout(omc: Omc, tmp_path: Path, sessions: bool) -> None:
    """At the deadline omc, cmake and the C compilers are gone."""
    with pytest.raises(OmcTimeout, match="longer than 6 s"):
        openmodelica.build(example_model(*FLEXIBLE), tmp_path, omc=omc, timeout=6.0, sessions=sessions)
    time.sleep(1.0)
    assert [
        p.info["name"] for p in psutil.process_iter(["name", "cwd"]) if "gpmelica-omc-" in (p.info["cwd"] or "")
    ] == []


def test_two_builds_at_once(omc: Omc, tmp_path: Path) -> None:
    """Two builds at the same time both succeed."""
    model = example_model("crane", "rigid_boom")
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda name: openmodelica.build(model, tmp_path / name, omc=omc), ("a", "b")))
    assert all(validate(outcome.fmu) == [] for outcome in outcomes)


def test_differences_are_documented() -> None:
    """What omc forces to differ is listed in the docs."""
    docs = (EXAMPLES.parent / "docs" / "openmodelica.md").read_text("utf-8")
    assert [key for key in FORCED if key not in docs] == []
