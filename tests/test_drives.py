"""The plant with flanges of the Modelica Standard Library, and the slewing crane on a motor in three ways."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from helpers_backends import Once, example_model
from helpers_masters import SLEWING, controller, need_master, plant, run_apart, slewing
from helpers_parts import X, Z, link, machine

from gpmelica import reference
from gpmelica.errors import MissingToolError
from gpmelica.fmu.backends.backend import write_modelica
from gpmelica.fmu.backends.openmodelica import Omc
from gpmelica.fmu.backends.openmodelica.build import Request, compile_text
from gpmelica.fmu.runs import simulate as runs
from gpmelica.fmu.ssp.system import write_ssp
from gpmelica.generator.description.load import from_data
from gpmelica.prepared import prepare
from gpmelica.trajectory import Trajectory

pytest_plugins = ["fixtures_openmodelica"]

STOP = 0.4
CONNECTOR = re.compile(r"^    Modelica\.([\w.]+) (\w+)", re.MULTILINE)


@pytest.fixture(scope="module")
def one_model() -> Trajectory:
    """The crane with motor and controller as an expression, the rotor as armature, by the reference solver."""
    model = slewing("motor")
    return reference.simulate(model.mechanism, start=model.start, stop=STOP, output_step=2.5e-3, loads=[])


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
    text = prepare(from_data(data)).modelica_drives()
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
    for equation in (
        "plant.s = plant_.cart_position",
        "plant_.plant_input = plant.f",
        "turn.phi = plant_.arm_angle",
        "plant_.turn = turn.tau",
        "plant_.wind_x_input = wind_x",
        "plant_.push_z = push_z",
    ):
        assert f"    {equation};\n" in text


def test_command_writes_both_packages(tmp_path: Path) -> None:
    """`Drive` takes and gives what `Plant` has."""
    paths = write_modelica(example_model("crane", "rigid_boom"), tmp_path, drives=True)
    assert [path.name for path in paths] == ["Crane.mo", "Crane.mos", "CraneDrives.mo"]
    package, drives = paths[0].read_text("utf-8"), paths[2].read_text("utf-8")
    used = set(re.findall(r"plant\.(\w+)", drives))
    assert "slew_torque_input" in used and "E_vz" in used
    assert all(re.search(rf"Real(?:Input)? {name}\b", package) for name in used)


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
    found = runs.simulate(
        outcome.fmu,
        "me",
        [f"crane.plant.{name}" for name in names],
        name="me",
        stop=STOP,
        output_step=2.5e-3,
        tolerance=1e-9,
    )
    for name in names:
        expected = one_model.signals[name]
        assert found.signals[f"crane.plant.{name}"] == pytest.approx(expected, abs=1e-6 * np.ptp(expected)), name
