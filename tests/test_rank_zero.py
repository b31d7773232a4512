"""Constraints of which the joints alone keep every row: the equations are those of a mechanism without them."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_program import Numeric

from gpmelica.generator.description.load import from_data
from gpmelica.prepared import prepare

DOOR = {
    "schema": 1,
    "name": "Door",
    "gravity": [0.0, -9.81, 0.0],
    "links": [
        {
            "name": "door",
            "parent": "ground",
            "mass": 2.0,
            "com": [0.5, 0.0, 0.0],
            "inertia": [0.1, 0.1, 0.1],
            "joint": {"type": "revolute", "axis": [0.0, 0.0, 1.0], "velocity": 1.0},
        }
    ],
    "closures": [{"name": "hinge", "type": "revolute", "a": {"link": "ground"}, "b": {"link": "door"}}],
    "nonholonomic": [{"name": "blade", "link": "door", "point": [0.5, 0.0, 0.0], "normal": [1.0, 0.0, 0.0]}],
    "outputs": {"loads": "all"},
}


@pytest.mark.parametrize("redundant", ["auto", "minimum_norm"])
@pytest.mark.parametrize("formulation", ["gpme", "gpme_reduced", "lagrange"])
@pytest.mark.parametrize("actuated", ["all", ["door"]])
def test_no_row_is_left(redundant: str, formulation: str, actuated: str | list[str]) -> None:
    """A door on two hinges, and a blade that it carries along: the joint alone keeps all rows."""
    settings = {"redundant": redundant, "formulation": formulation, "actuated": actuated}
    model = prepare(from_data(DOOR | {"constraints": settings}))
    assert model.solvability.rank == 0
    values = Numeric(model.program, {"time": 0.0, "door_angle": 0.3, "door_angle_dot": 1.0}).values
    expected = -2.0 * 9.81 * 0.5 * np.cos(0.3) / (0.1 + 2.0 * 0.5**2)
    assert values["door_angle_ddot"] == pytest.approx(expected, rel=1e-12)
    assert values["blade_force"] == 0.0
    assert values["violation_position"] == pytest.approx(0.0, abs=1e-12)
