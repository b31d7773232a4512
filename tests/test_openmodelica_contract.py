"""Contract of the OpenModelica backend, on a computer with a real omc. Run the file as an ordinary user and as
root: python -m pytest -m openmodelica. GPMELICA_OMC names another omc than the first one found, such as
docker:IMAGE.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from helpers_backends import EVERY, EXAMPLES, example_model
from helpers_examples import changed

from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.trajectory import Trajectory
from gpmelica.fmu.archive.validation import validate
from gpmelica.fmu.backends import native, openmodelica
from gpmelica.fmu.backends.backend import write_modelica
from gpmelica.fmu.backends.openmodelica import BuildOutcome, Omc, OmcError
from gpmelica.fmu.backends.openmodelica.deadline import Deadline
from gpmelica.fmu.backends.openmodelica.process import Child
from gpmelica.runs.attempts import solver_tolerance
from gpmelica.runs.compare.compare import compare
from gpmelica.runs.fmpy_runs import simulate as runs
from gpmelica.tasks.reference_run import reference_run

pytest_plugins = ["fixtures_openmodelica"]
pytestmark = pytest.mark.openmodelica

ROOT = hasattr(os, "getuid") and os.getuid() == 0
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

    model: System
    outcome: BuildOutcome
    folder: Path


@pytest.fixture(scope="module", params=[*EVERY, *OTHER_FORMULATIONS], ids="-".join)
def built(request: pytest.FixtureRequest, omc: Omc, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Every case, FMI 2.0 for both modes; in a folder whose name is not plain."""
    example, case, *formulation = request.param
    keys: dict[str, Any] = {"constraints__formulation": formulation[0]} if formulation else {}
    model = assemble_system(changed(example, case, **keys))
    horizon = STIFF_HORIZON if model.mechanism.n >= STIFF else HORIZON
    stop = min(model.chain.simulation.stop, horizon, ENDS.get(case, np.inf))
    model = assemble_system(changed(example, case, simulation__stop=stop, **keys))
    folder = tmp_path_factory.mktemp("built") / "ein Ordner für omc"
    return Built(model, openmodelica.build(model, folder, omc=omc, timeout=PATIENCE), folder)


@pytest.fixture(scope="module")
def truth(built: Built) -> Trajectory:
    """The reference solver's run of the same case, as `run` compares with it."""
    return _truth(built.model)


def _truth(model: System) -> Trajectory:
    return reference_run(model, None, lambda what, fraction: None)


def _simulated(model: System, fmu: Path, mode: runs.Mode, step: float) -> Trajectory:
    simulation = model.chain.simulation
    tolerance = solver_tolerance(simulation.tolerance, mode)
    settings: Any = {"stop": simulation.stop, "output_step": step, "tolerance": tolerance}
    return runs.simulate(fmu, mode, list(model.units), name=f"fmu-openmodelica-{mode}", **settings)


def _thinned(run: Trajectory, step: float, output_step: float) -> Trajectory:
    every = round(output_step / step)
    signals = {name: values[::every] for name, values in run.signals.items()}
    return replace(run, time=run.time[::every], signals=signals)


def test_omc_builds_the_model(built: Built) -> None:
    """omc accepts the source, in a session unless the user is root, finds equal counts and reports
    the build.
    """
    outcome = built.outcome
    assert outcome.equations == outcome.unknowns > 100
    assert outcome.transport == ("script" if ROOT else "session")
    assert "OpenModelica" in outcome.version or re.match(r"v?\d+\.\d+", outcome.version)
    assert outcome.fmu == built.folder / f"{built.model.name}.fmu"
    assert outcome.solver.startswith("CVODE")


def test_fmpy_validates_the_fmu(built: Built) -> None:
    """FMPy's validation reports no problem of the FMU."""
    assert validate(built.outcome.fmu) == []


def test_efforts_of_drives_follow(built: Built) -> None:
    """From accelerations: they are no unknowns of a linear system, whose time goes with the cube of these."""
    with zipfile.ZipFile(built.outcome.fmu) as archive:
        sources = [archive.read(name).decode() for name in archive.namelist() if name.endswith(".c")]
    unknowns = {name for text in sources for name in re.findall(r"<var>(\w+)</var>", text)}
    assert {name for name in unknowns if name.endswith("_effort")} == set()


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

    short = {"fmi_type": "CoSimulation", "stop_time": 0.002, "output_interval": 0.001}
    fmpy.simulate_fmu(str(built.outcome.fmu), **short, logger=log, debug_logging=True)
    captured = capfd.readouterr()
    assert "CVODE" in "\n".join([*messages, captured.out, captured.err])


def test_output_of_the_fmu_goes_into_the_log(
    built: Built, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Output of the FMU's C library does not reach standard output."""
    log = tmp_path / "run.log"
    runs.simulate(
        built.outcome.fmu, "cs", [], name="cs", stop=0.002, output_step=0.001, tolerance=1e-6, log_file=log
    )
    assert "CVODE" in log.read_text()
    assert capfd.readouterr().out == ""


@pytest.fixture(scope="module")
def described(built: Built) -> tuple[Any, Any]:
    """Return the model descriptions of omc's and of the native FMU as read by FMPy."""
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


def test_differences_are_documented() -> None:
    """The documentation lists all differences that omc causes."""
    docs = (EXAMPLES.parent / "docs" / "openmodelica.md").read_text("utf-8")
    assert [key for key in FORCED if key not in docs] == []
