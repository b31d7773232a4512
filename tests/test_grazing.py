"""Touching for a moment within one step of a solver: a ball that just reaches a ceiling, by closed form."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from helpers_backends import CompileData
from helpers_parts import X, Z, link, machine
from helpers_reference import mechanism_of

from gpmelica.fmu.runs import simulate as runs
from gpmelica.reference import simulate

GRAVITY, HEIGHT, STIFFNESS, STOP = 9.81, 1.0, 1e5, 0.85
JUST = np.sqrt(2.0 * GRAVITY * HEIGHT)  # m/s, to reach the ceiling
ABOVE = (1e-6, 1e-4, 1e-2)  # of it


def thrown(speed: float) -> dict[str, Any]:
    """A ball of 1 kg under a springy ceiling."""
    roof = {"name": "roof", "link": "ball", "stiffness": STIFFNESS}
    roof |= {"plane": {"point": [0.0, 0.0, HEIGHT], "normal": [0.0, 0.0, -1.0]}}
    times = {"start": "description", "stop": STOP, "output_step": 0.05}
    return machine(link("ball", "prismatic", Z, velocity=speed), contacts=[roof], simulation=times)


def flight(speed: float) -> float:
    """Height at the stop without a ceiling, m."""
    return speed * STOP - GRAVITY * STOP**2 / 2


def height(speed: float) -> float:
    """The same with it, m: up, pressed back for a moment, and down."""
    if speed < JUST:
        return flight(speed)
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
    fmu, inexact = compile_data(thrown(1.0)).fmu, 0.03 if method == 1 else 0.0  # the fixed step is a long one
    for share in (1e-6, 1e-3, -1e-6):
        speed = JUST * (1.0 + share)
        settings = {"ball_position_dot_start": speed, "solver_method": method, "solver_step": 2e-3}
        for step in (0.05, 0.85):
            options: dict[str, Any] = {"stop": STOP, "output_step": step, "tolerance": 1e-10}
            run = runs.simulate(fmu, "cs", ["ball_position"], name="cs", parameters=settings, **options)
            found = run.signals["ball_position"][-1]
            assert found == pytest.approx(height(speed), abs=inexact * abs(height(speed) - flight(speed)) + 1e-9)


FREE, BOUND, TURN, FROM = 2.0 * np.pi, 1e3, 0.99, 3.0  # rad/s, N/m, m of an amplitude of 1 m, m
LINE = {"a": {"link": "ground", "point": [-FROM, 0.0, 0.0]}, "b": {"link": "mass"}, "rest": FROM + TURN}
PLANE = {"point": [TURN, 0.0, 0.0], "normal": [-1.0, 0.0, 0.0]}
BACK = f"-{BOUND}*(mass.position - {TURN})"
KINKS: dict[str, dict[str, Any]] = {
    "stop": {"limits": {"upper": TURN, "stiffness": BOUND}},
    "contact": {"contacts": [{"name": "wall", "link": "mass", "plane": PLANE, "stiffness": BOUND}]},
    "rope": {"lines": [{"name": "rope", "stiffness": BOUND, "tension_only": True} | LINE]},
    "condition": {
        "forces": [{"name": "f", "joint": "mass", "effort": f"{BACK} if mass.position > {TURN} else 0"}]
    },
    "max": {"forces": [{"name": "f", "joint": "mass", "effort": f"min({BACK}, 0)"}]},
}


def swinging(kink: dict[str, Any]) -> dict[str, Any]:
    """A mass of 1 kg on a spring, through its rest, with something that begins shortly before its turn."""
    limits = {key: kink[key] for key in kink.keys() & {"limits"}}
    mass = link("mass", "prismatic", X, velocity=FREE, stiffness=FREE**2, **limits)
    times = {"start": "description", "stop": 2.2, "output_step": 0.1, "tolerance": 1e-9}
    others = {key: value for key, value in kink.items() if key != "limits"}
    return machine(mass, gravity=[0.0, 0.0, 0.0], simulation=times, **others)


@pytest.mark.parametrize("kind", KINKS)
def test_long_steps_see_what_comes_and_goes(kind: str) -> None:
    """Every element that has kinks, in the first steps after an event, too: times by closed form."""
    found = simulate(mechanism_of(swinging(KINKS[kind])), method="Radau")
    phase, fast = np.arcsin(TURN), np.sqrt(FREE**2 + BOUND)
    balance, speed = BOUND * TURN / fast**2, FREE * np.cos(phase)
    beyond, around = 2.0 / fast * np.arctan2(speed / fast, TURN - balance), (np.pi + 2.0 * phase) / FREE
    expected = phase / FREE + np.cumsum([0.0, beyond, around, beyond, around, beyond])
    times = sorted({round(event.t, 9) for event in found.events})
    apart = times[:1] + [b for a, b in pairwise(times) if b - a > 1e-6]
    np.testing.assert_allclose(apart, [t for t in expected if t < 2.2], atol=1e-7)


def test_conditions_on_time_within_a_long_step() -> None:
    """Pulses of a fiftieth of a second in a motion without anything else to shorten steps."""
    effort = "1 if cos(8*t) > 0.999 else 0"
    joint = {"type": "prismatic", "axis": [1.0, 0.0, 0.0]}
    link = {"name": "mass", "parent": "ground", "mass": 1.0, "inertia": [1.0, 1.0, 1.0], "joint": joint}
    data = {"schema": 1, "name": "Pulses", "gravity": [0.0, 0.0, 0.0], "links": [link]}
    simulation = {"start": "description", "stop": 10.0, "output_step": 0.5, "tolerance": 1e-9}
    force = {"name": "f", "joint": "mass", "effort": effort}
    found = simulate(mechanism_of(data | {"simulation": simulation, "forces": [force]}), method="Radau")
    centres, half = 2.0 * np.pi / 8.0 * np.arange(13), np.arccos(0.999) / 8.0
    expected = np.sort(np.concatenate([centres - half, centres + half]))[1:]
    np.testing.assert_allclose([event.t for event in found.events], expected[expected < 10.0], atol=1e-9)


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
