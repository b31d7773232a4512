"""Everything at one state: all backends evaluate conditions there, not where the run starts."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_parts import X, link, machine

from gpmelica.analysis.system import assemble_system
from gpmelica.description.load import from_data
from gpmelica.runs.fmpy_runs.states import State
from gpmelica.tasks.evaluate import evaluate


@pytest.mark.parametrize(
    ("effort", "position", "expected"),
    [
        ("-3 if slider.position <= 2 else -67", 2.5, -67.0),
        ("-3 if slider.position <= 2 else -67", 1.5, -3.0),
        ("-10*abs(slider.position)", -0.5, -5.0),
        ("-10*max(slider.position - 1, 0)", 3.0, -20.0),
    ],
)
def test_conditions_have_the_values_of_the_state(effort: str, position: float, expected: float) -> None:
    """1 kg on a rail, 1 m from its origin at the start: its acceleration is the force."""
    push = {"name": "push", "joint": "slider", "effort": effort}
    model = assemble_system(from_data(machine(link("slider", "prismatic", X, position=1.0), forces=[push])))
    found = evaluate(model, State(0.5, np.array([position]), np.zeros(1), np.zeros(0)))["backends"]
    assert {name: values["qdd"] for name, values in found.items()} == {
        name: [pytest.approx(expected)] for name in found
    }


def test_a_stop_acts_at_the_state_that_is_given() -> None:
    """Beyond the stop its spring pushes back; at the start nothing touches."""
    stops = {"lower": -0.5, "upper": 2.0, "stiffness": 1e4, "damping": 0.0}
    model = assemble_system(from_data(machine(link("slider", "prismatic", X, position=1.0, limits=stops))))
    found = evaluate(model, State(0.0, np.array([2.25]), np.zeros(1), np.zeros(0)))["backends"]
    for values in found.values():
        assert values["qdd"] == pytest.approx([-2500.0])
