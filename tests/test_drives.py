"""The plant with flanges of the Modelica Standard Library, and the slewing crane on a motor in three ways."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from helpers_backends import Once, example_model
from helpers_examples import FORMULATIONS
from helpers_masters import SLEWING, controller, need_master, plant, run_apart, slewing
from helpers_parts import X, Z, body, link, machine
from helpers_redundant import started
from helpers_reference import manipulator, mechanism_of

from gpmelica import analysis
from gpmelica.analysis.system import assemble_system
from gpmelica.core.errors import MissingToolError, SolveError
from gpmelica.core.trajectory import Trajectory
from gpmelica.description.load import from_data
from gpmelica.exchange.ssp.system import write_ssp
from gpmelica.fmu.backends.backend import write_modelica
from gpmelica.fmu.backends.openmodelica import Omc
from gpmelica.fmu.backends.openmodelica.build import Request, compile_text
from gpmelica.runs.fmpy_runs import simulate as runs

pytest_plugins = ["fixtures_openmodelica"]

STOP = 0.4
CONNECTOR = re.compile(r"^    Modelica\.([\w.]+) (\w+)", re.MULTILINE)


@pytest.fixture(scope="module")
def one_model() -> Trajectory:
    """The crane with motor and controller as an expression, the rotor as armature, by the reference solver."""
    model = slewing("motor")
    return solving.simulate(model.mechanism, start=model.start, stop=STOP, output_step=2.5e-3, loads=[])


def test_flanges_where_forces_act_on_joints() -> None:
    """Rotational or translational ones; forces on links and inputs of the description are signals."""
    forces = [
        {"name": "plant", "joint": "cart", "effort": "3*t"},
        {"name": "turn", "joint": "arm", "input": True},
        {"name": "wind", "link": "arm", "force": ["t", 0.0, 0.0]},
        {"name": "push", "link": "arm", "input": True},
    ]
    links = [link("cart", "prismatic", X), link("arm", "revolute", Z, "cart")]
    data = machine(*links, points={"E": {"link": "arm", "position": X}}, forces=forces)
    text = assemble_system(from_data(data)).modelica_drives()
    kinds: dict[str, set[str]] = {}
    for kind, name in CONNECTOR.findall(text):
        kinds.setdefault(kind, set()).add(name)
    assert kinds == {
        "Mechanics.Translational.Interfaces.Flange_a": {"plant"},
        "Mechanics.Rotational.Interfaces.Flange_a": {"turn"},
        "Blocks.Interfaces.RealInput": {f"{name}_{axis}" for name in ("wind", "push") for axis in "xyz"},
        "Blocks.Interfaces.RealOutput": {
            *("cart_position", "cart_position_dot", "arm_angle", "arm_angle_dot"),
            *(f"E_{level}{axis}" for level in ("", "v") for axis in "xyz"),
        },
    }
    cart = ("plant.s = plant_.cart_position", "plant_.plant_input = plant.f")
    arm = ("turn.phi = plant_.arm_angle", "plant_.turn = turn.tau")
    for equation in (*cart, *arm, "plant_.wind_x_input = wind_x", "plant_.push_z = push_z"):
        assert f"    {equation};\n" in text


def test_command_writes_both_packages(tmp_path: Path) -> None:
    """`Drive` takes and gives what `Plant` has."""
    paths = write_modelica(example_model("crane", "rigid_boom"), tmp_path, drives=True)
    assert [path.name for path in paths] == ["Crane.mo", "Crane.mos", "CraneDrives.mo"]
    package, drives = paths[0].read_text("utf-8"), paths[2].read_text("utf-8")
    used = set(re.findall(r"plant\.(\w+)", drives))
    assert "slew_torque_input" in used and "E_vz" in used
    assert all(re.search(rf"(?:RealInput|Real|SI\.\w+) {name}\b", package) for name in used)


@pytest.mark.slow
def test_the_motor_as_an_fmu(once: Once, one_model: Trajectory, tmp_path: Path) -> None:
    """In an SSP: the error against one model of both shrinks like the communication step."""
    need_master("FMPy")
    archive = write_ssp(plant(once, "2.0", case="shaft"), tmp_path, controller("2.0", tmp_path, "motor.py"))
    errors = []
    for time, angle in run_apart("FMPy", archive, (0.005, 0.0025), STOP, ["Plant.column_angle"]):
        rows = np.searchsorted(one_model.time, time - 1e-9)
        errors.append(np.abs(angle - one_model.signals["column_angle"][rows]).max())
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.3)
    assert errors[1] < 0.02 * np.ptp(one_model.signals["column_angle"])


@pytest.mark.openmodelica
def test_the_motor_of_the_library(omc: Omc, one_model: Trajectory, tmp_path: Path) -> None:
    """drive.mo, whose rotor and gear are the library's: the motion with armature and expression."""
    model = slewing("plant")
    text = model.modelica() + model.modelica_drives() + (SLEWING / "drive.mo").read_text("utf-8")
    try:
        request = Request("SlewingCrane", text, "SlewingDrive", "2.0", "me", libraries=("Modelica",))
        outcome = compile_text(request, tmp_path, omc)
    except MissingToolError as error:
        pytest.skip(str(error))
    names = [c.symbol for c in model.mechanism.coordinates]
    signals, times = [f"crane.plant.{name}" for name in names], {"stop": STOP, "output_step": 2.5e-3}
    found = runs.simulate(outcome.fmu, "me", signals, name="me", tolerance=1e-9, **times)
    for name in names:
        expected = one_model.signals[name]
        assert found.signals[f"crane.plant.{name}"] == pytest.approx(expected, abs=1e-6 * np.ptp(expected)), name


# ---- `constraints.actuated` -------------------------------------------------------------------------------------


def linkage(spatial: bool = False, **constraints: Any) -> dict[str, Any]:
    """A four-bar linkage in the x–z plane, whose rocker's angle is programmed."""
    down, bar = [0.0, -1.0, 0.0], body(2.0, [0.4, 0.0, 0.0], [0.01, 0.1, 0.1])
    links = [
        link("crank", "revolute", down, position=1.2) | bar,
        link("coupler", "revolute", down, "crank", xyz=X, position=-0.7) | bar,
        link("rocker", "revolute", down, xyz=X, position=1.6) | body(1.5, [0.3, 0.05, 0.1], [0.02, 0.1, 0.1]),
    ]
    places = {"a": ("coupler", 0.8), "b": ("rocker", 0.9)}
    ends = {k: {"link": of, "xyz": [x, 0.0, 0.0], "rpy": [np.pi / 2, 0.0, 0.0]} for k, (of, x) in places.items()}
    pin = {"name": "pin", "type": "revolute" if spatial else "point_on_line"} | ends
    swing = {"name": "swing", "expression": "rocker.angle - start(rocker.angle) - 0.3*quintic(t, 0, 1, 0, 1)"}
    simulation = {"start": "description", "stop": 1.0, "output_step": 0.02, "tolerance": 1e-10}
    tables = {"closures": [pin], "programmed": [swing], "simulation": simulation, "constraints": constraints}
    return machine(*links, **tables)


@pytest.mark.parametrize("spatial", [False, True])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_efforts_by_virtual_power(formulation: str, spatial: bool) -> None:
    """The crank's drive does what is left of M q̈ + h − Q along the linkage's own motion; other joints are idle."""
    mechanism, start = started(linkage(spatial, formulation=formulation, actuated=["crank"]))
    model = analysis.ReferenceModel(mechanism, start=start)
    for t in (0.0, 0.3, 0.6):
        q, qd = start[0], np.zeros(mechanism.n)
        found = solving.evaluate(mechanism, t, q, qd, start=start)
        loops = model.constraints(model.state(t, q, qd)).C[model.constraints.closure_rows]
        virtual = np.linalg.svd(loops)[2][-1]  # the loop's motion at one degree of freedom
        assert loops @ virtual == pytest.approx(np.zeros(len(loops)), abs=1e-12)
        torque = found.effort @ virtual / virtual[0]
        assert abs(torque) > 0.1
        assert found.drive == pytest.approx([torque, 0.0, 0.0], abs=1e-9)


def test_loads_belong_to_the_drives() -> None:
    """An idle joint transmits no moment about its axis, and the closure's force is what makes it so."""
    mechanism, start = started(linkage(actuated=["crank"]))
    by_all, _ = started(linkage())
    for some, idle in ((mechanism, True), (by_all, False)):
        loads = solving.joint_loads(some, 0.2, *start, start=start)
        about = {name: loads[name][4] for name in loads}  # axes are along −y
        assert (abs(about["rocker"]) < 1e-9) == idle
        assert abs(about["coupler"]) < 1e-9
        assert (abs(about["crank"]) > 0.1) == idle


def test_power_of_the_drive() -> None:
    """Over a run the chosen drive does all the work: d(energy)/dt = τ q̇."""
    mechanism, start = started(linkage(actuated=["crank"]))
    run = solving.simulate(mechanism, start=start)
    problem = solving.problem(mechanism, start)
    symbols = [c.symbol for c in mechanism.coordinates]
    q, qd = (np.array([run.signals[f"{s}{end}"] for s in symbols]).T for end in ("", "_dot"))
    total = np.array([analysis.energy(problem, t, a, b).total for t, a, b in zip(run.time, q, qd, strict=True)])
    power = run.signals["crank_angle_effort"] * run.signals["crank_angle_dot"]
    work = np.concatenate([[0.0], np.cumsum((power[1:] + power[:-1]) / 2 * np.diff(run.time))])
    assert np.ptp(total) > 0.5
    assert total - total[0] == pytest.approx(work, abs=2e-3 * float(np.ptp(total)))
    assert [name for name in run.signals if name.endswith("_effort")] == ["crank_angle_effort"]


@pytest.mark.parametrize(
    ("actuated", "text"),
    [
        (["crank", "rocker"], "drives of crank.angle, rocker.angle are not unique: closures"),
        ([], "the drives of no joint cannot realise swing"),
    ],
)
def test_drives_that_do_not_do(actuated: list[str], text: str) -> None:
    """Too many drives have no unique efforts, too few cannot do the task; the key is named."""
    mechanism, start = started(linkage(actuated=actuated))
    with pytest.raises(SolveError, match=text):
        solving.evaluate(mechanism, 0.0, *start, start=start)
    (problem,) = solving.unreachable(mechanism, start[0])
    assert problem.where == "constraints.actuated"


def test_serial_arm_needs_the_right_joint() -> None:
    """A drive in the wrong place is told which coordinate lacks what it needs."""
    rows = [{"name": "level", "expression": "lower.angle - start(lower.angle)"}]
    data = manipulator(programmed=rows, constraints={"actuated": ["upper"]})
    data["simulation"] = {"start": "description"}
    mechanism = mechanism_of(data)
    start = solving.start_state(mechanism)
    said = "drives of upper.angle cannot realise level: this constraint also needs an effort on lower.angle"
    with pytest.raises(SolveError, match=said):
        solving.evaluate(mechanism, 0.0, *start, start=start)
