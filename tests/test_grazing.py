"""Touching for a moment within one step of a solver: a ball that just reaches a ceiling, by closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers_backends import CompileData
from helpers_reference import mechanism_of

from gpmelica.fmu.runs import simulate as runs
from gpmelica.reference import simulate

GRAVITY, HEIGHT, STIFFNESS, STOP = 9.81, 1.0, 1e5, 0.85
JUST = np.sqrt(2.0 * GRAVITY * HEIGHT)  # m/s, to reach the ceiling
ABOVE = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)  # of it


def thrown(speed: float) -> dict[str, Any]:
    """A ball of 1 kg under a springy ceiling."""
    joint = {"type": "prismatic", "axis": [0.0, 0.0, 1.0], "velocity": speed}
    roof = {"name": "roof", "link": "ball", "stiffness": STIFFNESS}
    return {
        "schema": 1,
        "name": "Thrown",
        "links": [{"name": "ball", "parent": "ground", "mass": 1.0, "inertia": [0.1, 0.1, 0.1], "joint": joint}],
        "contacts": [roof | {"plane": {"point": [0.0, 0.0, HEIGHT], "normal": [0.0, 0.0, -1.0]}}],
        "simulation": {"start": "description", "stop": STOP, "output_step": 0.05},
    }


def height(speed: float) -> float:
    """At the stop, m: up, pressed back by the ceiling for a moment, and down."""
    if speed < JUST:
        return float(speed * STOP - GRAVITY * STOP**2 / 2)
    meets, omega = np.sqrt(speed**2 - JUST**2), np.sqrt(STIFFNESS)
    left = STOP - (speed - meets) / GRAVITY - 2.0 / omega * np.arctan(meets * omega / GRAVITY)
    return float(HEIGHT - meets * left - GRAVITY * left**2 / 2)


@pytest.mark.parametrize("share", ABOVE)
def test_reference_meets_the_ceiling(share: float) -> None:
    """In two events, whose motion between is that of the spring."""
    found = simulate(mechanism_of(thrown(JUST * (1.0 + share))), tolerance=1e-10)
    assert found.signals["ball_position"][-1] == pytest.approx(height(JUST * (1.0 + share)), abs=1e-8)
    assert len(found.events) in (2, 4)  # the contact's force may vanish with its depth


def test_below_it_does_not() -> None:
    """And has no events."""
    assert simulate(mechanism_of(thrown(JUST * (1.0 - 1e-6)))).events == ()


@pytest.mark.parametrize("method", [1, 2, 3, 4])
def test_co_simulation_meets_it(compile_data: CompileData, method: int) -> None:
    """By every method, at communication steps shorter and longer than the flight to it."""
    fmu = compile_data(thrown(1.0)).fmu
    for share in (*ABOVE, -1e-6):
        speed = JUST * (1.0 + share)
        settings = {"ball_position_dot_start": speed, "solver_method": method, "solver_step": 2e-3}
        for step in (0.05, 0.85):
            options: dict[str, Any] = {"stop": STOP, "output_step": step, "tolerance": 1e-10}
            run = runs.simulate(fmu, "cs", ["ball_position"], name="cs", parameters=settings, **options)
            assert run.signals["ball_position"][-1] == pytest.approx(height(speed), abs=1e-6), (share, step)


def test_what_is_back_when_another_changes() -> None:
    """A damped stop is left by its force first and then by its depth, which the end of a step may not show."""
    joint = {"type": "revolute", "axis": [0.0, 0.0, 1.0], "velocity": 1.5 * (1.0 + 1.8e-6), "stiffness": 0.9}
    joint["limits"] = {"upper": 0.5, "stiffness": 2e3, "damping": 1.0}
    link = {"name": "arm", "parent": "ground", "mass": 1.0, "inertia": [0.1, 0.1, 0.1], "joint": joint}
    data = {"schema": 1, "name": "Arm", "gravity": [0.0, 0.0, 0.0], "links": [link]}
    simulation = {"start": "description", "stop": 1.0, "output_step": 0.05, "tolerance": 1e-11}
    found = simulate(mechanism_of(data | {"simulation": simulation}))
    assert len(found.events) == 4
    assert np.diff([event.t for event in found.events]).min() > 1e-4
