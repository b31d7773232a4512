"""Summary of loads: reactions of a fixed base, and rounding errors."""

from __future__ import annotations

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
