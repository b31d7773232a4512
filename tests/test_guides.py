"""The how-to guides as a reader follows them."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from helpers_reader import ROOT, Reader, blocks

import gpmelica as gp

GUIDES = sorted((ROOT / "docs" / "howto").glob("*.md"))


@pytest.mark.campaign
@pytest.mark.slow
@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_the_commands_of_a_guide_run(page: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    reader = Reader(tmp_path)
    for block in blocks(page):
        reader.follow(block)
        assert [answer.status for answer in reader.answers if answer.status] == [], reader.answers


ROTOR = """schema = 1
name = "SlewingCrane"
gravity = [0.0, 0.0, 0.0]
[[links]]
name = "column"
parent = "ground"
mass = 1.0
inertia = [2000.0, 2000.0, 2000.0]
joint = { type = "revolute", axis = [0.0, 0.0, 1.0] }
[[forces]]
name = "slewing"
joint = "column"
input = true
"""


def _angles(table: Any, t: Any) -> Any:
    """Angle of the rotor at rest at t = 0: two integrals of the torque over 2,000 kg·m²."""
    angle, rate = 0.0, 0.0
    angles = []
    for begin, end in pairwise(t):
        a, b = (np.interp(x, table["time"], table["slewing"]) / 2000.0 for x in (begin, end))
        step = end - begin
        angle, rate = angle + rate * step + (2 * a + b) * step**2 / 6, rate + (a + b) * step / 2
        angles.append(angle)
    return np.array([0.0, *angles])


@pytest.mark.slow
def test_inputs_of_the_script_are_exact_and_held_inputs_are_late(tmp_path: Path) -> None:
    """The error of held inputs is proportional to the step; the script's inputs follow the file in both modes."""
    (tmp_path / "rotor.toml").write_text(ROTOR, "utf-8")
    fmu = gp.load(tmp_path / "rotor.toml").build(tmp_path / "plant", compiler="native").path
    reader, page = Reader(tmp_path), list(blocks(ROOT / "docs" / "howto" / "use_in_fmpy.md"))
    first = next(k for k, block in enumerate(page) if block.title == "torque.csv")
    reader.follow(page[first])
    table = np.genfromtxt(tmp_path / "torque.csv", delimiter=",", names=True)
    t = np.linspace(0.0, 1.0, 101)
    known = np.column_stack([t, _angles(table, t)])
    np.savetxt(fmu.parent / "reference.csv", known, delimiter=",", header="time,column_angle", comments="")
    for block in page[first + 2 :]:
        reader.follow(block)
    errors = []
    for step in (0.02, 0.01):
        settings = {"fmi_type": "CoSimulation", "stop_time": 1.0, "output_interval": step}
        found = fmpy.simulate_fmu(str(fmu), input=table, **settings)
        errors.append(np.interp(1.0, found["time"], found["column_angle"]) - known[-1, 1])
    assert abs(errors[1]) > 1e-4
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.05)
