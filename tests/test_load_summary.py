"""Summary of loads: reactions of a fixed base, and rounding errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers_parts import Y, body, link, machine

from gpmelica.analysis.system import assemble_system
from gpmelica.core.trajectory import Trajectory
from gpmelica.description.load import from_data
from gpmelica.options.model import MotionOptions
from gpmelica.tasks.loads import LoadSummary, loads


def test_reactions_of_a_fixed_base_are_no_drives() -> None:
    """The drive of the boom holds 20 kg at 3 m; the base carries both weights."""
    boom = link("boom", "revolute", Y, parent="base") | body(20.0, [3.0, 0.0, 0.0], [0.1, 0.1, 0.1])
    base = body(1000.0, [0.0, 0.0, 0.0], [400.0, 400.0, 700.0]) | {"support": "rigid"}
    hold = {"name": "hold", "joint": "boom", "position": "0"}
    data = machine(boom, base=base, motions=[hold], simulation={"stop": 0.1})
    found = loads(assemble_system(from_data(data)), MotionOptions())
    assert found.drives.keys() == {"boom.angle"}
    assert found.drives["boom.angle"]["max"] == pytest.approx(20.0 * 9.81 * 3.0)
    assert found.base["base.z"]["max"] == pytest.approx(1020.0 * 9.81)
    assert found.data()["base"] == found.base


def test_rounding_errors_are_shown_as_zero() -> None:
    """A carriage without forces between its ends carries 1e-13 N, which the table does not show."""
    heavy = {part: {"rms": 0.0, "max": 5.0} for part in ("fx", "fy", "fz", "nx", "ny", "nz")}
    light = {part: {"rms": 0.0, "max": 1e-12} for part in heavy}
    heavy["axial"], light["axial"] = {"rms": 3.0, "max": 5.0}, {"rms": 4e-13, "max": 1e-12}
    run = Trajectory("reference", np.zeros(1), {})
    table = LoadSummary(run, {"boom": heavy, "slide": light}, {}, {}, {}, {}, {}).table()
    columns = [list(column.cells) for column in table.columns]
    assert columns == [["boom", "slide"], ["3", "0"], ["", ""], ["8.66", "0"], ["8.66", "0"]]


def four_bar(**further: Any) -> dict[str, Any]:
    """Plane four-bar linkage on the ground, closed by the spherical joint `pin` at the rocker's end."""
    crank = link("crank", "revolute", Y) | body(1.0, [0.1, 0.0, 0.0], [0.01, 0.01, 0.01])
    coupler = link("coupler", "revolute", Y, parent="crank", xyz=[0.2, 0.0, 0.0], position=-1.0)
    rocker = link("rocker", "revolute", Y, xyz=[0.5, 0.0, 0.0], position=-1.0)
    pin = {"name": "pin", "type": "spherical"}
    ends = {"a": {"link": "coupler", "xyz": [0.4, 0.0, 0.0]}, "b": {"link": "rocker", "xyz": [0.3, 0.0, 0.0]}}
    return machine(crank, coupler, rocker, closures=[pin | ends], simulation={"stop": 0.05}) | further


HOLD = {"name": "hold", "joint": "crank.angle", "input": True, "cutoff": 5.0}
PID = {"name": "slew", "type": "pid", "measured": "crank.angle", "setpoint": "0.1", "gain": 10.0}
STATES = {"integral_time": 0.5, "derivative_time": 0.1, "drives": "torque"}
TORQUE = {"name": "torque", "joint": "crank", "input": True}


@pytest.mark.parametrize("further", [{"motions": [HOLD]}, {"controllers": [PID | STATES], "forces": [TORQUE]}])
def test_closures_beside_filters_and_controllers(further: dict[str, Any]) -> None:
    """Angular momentum of the rocker about its bearing: only the closure's force changes it."""
    found = loads(assemble_system(from_data(four_bar(**further))), MotionOptions())
    signals = found.run.signals
    angle, acceleration = signals["rocker_angle"], signals["rocker_angle_ddot"]
    fx, fz = signals["pin_closure_fx"], signals["pin_closure_fz"]
    moment = -0.3 * (np.sin(angle) * fx + np.cos(angle) * fz)
    assert moment == pytest.approx(1.0 * acceleration, rel=1e-6, abs=1e-9 * np.abs(fz).max())
    assert found.closures["pin"][0] == fx[-1]
    assert found.closure_loads["pin"]["fx"]["max"] == np.abs(fx).max()


def test_supports_carry_the_weight() -> None:
    """A base at rest on four springs: their vertical forces sum up to the weight; the table names each force."""
    feet = [[x, y, 0.0] for x in (-1.0, 1.0) for y in (-0.5, 0.5)]
    springs = [{"position": foot, "stiffness": [1e5, 1e5, 1e6]} for foot in feet]
    base = body(1000.0, [0.1, 0.0, 0.2], [400.0, 400.0, 700.0]) | {"support": "flexible", "supports": springs}
    data = machine(link("boom", "fixed", parent="base"), base=base, simulation={"stop": 0.1})
    found = loads(assemble_system(from_data(data)), MotionOptions())
    assert sum(parts["fz"]["max"] for parts in found.supports.values()) == pytest.approx(1001.0 * 9.81, rel=1e-6)
    assert found.data()["units"]["supports"]["fz"] == "N"
    columns = [list(column.cells) for column in found.other_table().columns]
    assert columns[0] == ["support1", "support2", "support3", "support4"]
    assert set(columns[1]) == {"support"}
    assert set(columns[5]) == {"N"}


def test_units_of_drives() -> None:
    """The table of `loads` contains the drive of the crank and the closure, each with its unit."""
    found = loads(assemble_system(from_data(four_bar(motions=[HOLD]))), MotionOptions())
    assert found.data()["units"]["drives"] == {"crank.angle": "N.m"}
    rows = list(zip(*(column.cells for column in found.other_table().columns), strict=True))
    assert [(row[0], row[1], row[2], row[5]) for row in rows] == [
        ("crank.angle", "drive", "effort", "N.m"),
        ("pin", "closure", "force", "N"),
        ("pin", "closure", "moment", "N.m"),
    ]
