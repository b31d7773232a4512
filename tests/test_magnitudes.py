"""Machines whose signals do not move: their runs agree, and what is wrong by little does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from helpers_parts import Y, Z, body, link, machine

from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.trajectory import Trajectory
from gpmelica.description.load import from_data
from gpmelica.runs.compare.compare import compare
from gpmelica.runs.compare.scales import scales

WRONG = 1e-4  # of a signal's natural magnitude
ROUNDING = 1e-13


HUNG, CENTRED = (body(2.0, [com, 0.0, 0.0], [0.1, 0.2, 0.3]) for com in (0.3, 0.0))
LOWER = link("lower", "revolute", Y, "upper", xyz=[0.6, 0.0, 0.0]) | HUNG
MACHINES: dict[str, dict[str, Any]] = {
    "constant effort": {
        "gravity": [0.0, 0.0, 0.0],
        "links": [link("arm", "revolute", Z) | CENTRED],
        "forces": [{"name": "drive", "joint": "arm", "effort": "3"}],
    },
    "coasting wheel": {"links": [link("wheel", "revolute", Y, velocity=7.0) | CENTRED]},
    "free fall": {"links": [link("body", "free", position=[0.1, 0.2, 3.0, 0.3, 0.2, 0.4]) | HUNG]},
    "hanging": {"links": [link("upper", "revolute", Y, position=np.pi / 2) | HUNG, LOWER]},
    "held": {
        "links": [link("arm", "revolute", Y, position=0.3) | HUNG],
        "programmed": [{"name": "hold", "expression": "arm.angle - 0.3"}],
    },
    "driven at constant speed": {
        "links": [link("arm", "revolute", Z, velocity=2.0) | HUNG],
        "programmed": [{"name": "turn", "expression": "arm.angle - 2*t"}],
    },
}


def still(name: str) -> System:
    """With a point and all joint loads, for half a second."""
    data = {"schema": 1, "name": "Still", "simulation": {"stop": 0.5, "output_step": 0.05}} | MACHINES[name]
    last = data["links"][-1]["name"]
    data |= {"points": {"E": {"link": last, "position": [0.5, 0.0, 0.0]}}, "outputs": {"loads": "all"}}
    return assemble_system(from_data(data))


@pytest.fixture(params=list(MACHINES))
def run(request: pytest.FixtureRequest) -> tuple[dict[str, str], Trajectory]:
    """Units, and a reference run with its signals' magnitudes."""
    model = still(request.param)
    found = solving.simulate(model.mechanism, start=model.start)
    return model.units, replace(found, natural=solving.magnitudes(model.mechanism, found, model.start))


def changed(run: Trajectory, change: Callable[[str], float]) -> Trajectory:
    """The run with something added to each signal."""
    signals = {name: values + change(name) for name, values in run.signals.items()}
    return replace(run, name="changed", signals=signals)


def natural(run: Trajectory) -> dict[str, float]:
    """Signal → its natural magnitude, without those that have none."""
    found = {entry.signal: entry.size for entry in run.natural if entry.signal in run.signals}
    return {name: size for name, size in found.items() if size > 0}


def of_link(run: Trajectory) -> dict[str, float]:
    """Signal → the largest natural magnitude among those of its unit and link, without those that have none."""
    entries = [entry for entry in run.natural if entry.signal in run.signals]
    sizes = {
        entry.signal: max(e.size for e in entries if (e.unit, e.owner) == (entry.unit, entry.owner))
        for entry in entries
    }
    return {name: size for name, size in sizes.items() if size > 0}


def test_every_signal_has_a_magnitude(run: tuple[dict[str, str], Trajectory]) -> None:
    """Violations apart; what the forces alone would do is not zero where they are in balance."""
    found, signals = natural(run[1]), run[1].signals
    named = {entry.signal for entry in run[1].natural}
    assert {name for name in signals if not name.startswith("violation_")} <= named
    assert {name for name in signals if name.endswith(("_ddot", "_effort"))} <= set(found)


def test_another_rounding_agrees(run: tuple[dict[str, str], Trajectory]) -> None:
    """Noise of the size that another order of the same sums leaves, on all signals."""
    sizes, random = natural(run[1]), np.random.default_rng(5)
    noisy = changed(run[1], lambda name: ROUNDING * sizes.get(name, 0.0) * random.uniform(-1.0, 1.0))
    assert compare(run[1], noisy, run[0], 1e-6).ok


def test_small_errors_are_detected(run: tuple[dict[str, str], Trajectory]) -> None:
    """Each signal with an error of 1e-4 of its natural magnitude disagrees."""
    for signal, size in of_link(run[1]).items():
        wrong = changed(run[1], lambda name, signal=signal, size=size: WRONG * size * (name == signal))  # type: ignore[misc]
        result = compare(run[1], wrong, run[0], 1e-6)
        assert not result.ok and result.worst_signal == signal, signal


def test_an_effort_of_zero_where_there_is_one_disagrees() -> None:
    """The moment that holds a link."""
    model = still("held")
    found = solving.simulate(model.mechanism, start=model.start)
    found = replace(found, natural=solving.magnitudes(model.mechanism, found, model.start))
    effort = found.signals["arm_angle_effort"]
    assert abs(effort[0]) > 5.0
    lost = changed(found, lambda name: -effort[0] * (name == "arm_angle_effort"))
    assert compare(found, lost, model.units, 1e-6).max_rel_error > 0.1


def test_a_finger_that_nothing_moves() -> None:
    """The finger slides along the axis of the falling arm and moves by rounding only, so its scale is that of
    the arm's fall.
    """
    arm, finger = link("arm", "revolute", Y) | HUNG, link("finger", "prismatic", Y, "arm") | CENTRED
    model = assemble_system(from_data(machine(arm, finger)))
    found = solving.simulate(model.mechanism, start=model.start, stop=1.0)
    found = replace(found, natural=solving.magnitudes(model.mechanism, found, model.start))
    for offset, agrees in ((2e-11, True), (1e-8, False)):
        moved = changed(found, lambda name, offset=offset: offset * (name == "finger_position"))  # type: ignore[misc]
        assert compare(found, moved, model.units, 1e-6).ok is agrees


def test_scales_follow_size_and_place_of_the_machine() -> None:
    """A hanging pendulum a thousand times as large and far away: lengths a thousand times, angles the same."""
    small = MACHINES["hanging"]
    large = {"links": [scaled(entry, 1e3) for entry in small["links"]]}
    found = []
    for links in (small, large):
        model = assemble_system(from_data(machine(*links["links"], outputs={"loads": "all"})))
        truth = solving.simulate(model.mechanism, start=model.start, stop=0.1)
        sizes = solving.magnitudes(model.mechanism, truth, model.start)
        found.append(scales(truth.signals, model.units, sizes))
    for name, factor in (("lower_load_fx", 1.0), ("lower_load_ny", 1e3), ("lower_angle_ddot", 1e-3)):
        assert found[1][name] == pytest.approx(factor * found[0][name], rel=1e-3), name


def bounce(output_step: float, stiffness: float = 1e8, height: float = 1.0) -> tuple[System, Trajectory]:
    """Ball of 1 kg that falls onto a stiff floor, from 1 m in 0.5 s, and its reference run."""
    floor = {"name": "floor", "link": "ball", "stiffness": stiffness}
    ball = link("ball", "prismatic", Z, position=height) | body(1.0)
    fall = {"gravity": [0.0, 0.0, -8.0], "simulation": {"stop": 0.9, "output_step": output_step}}
    model = assemble_system(from_data(machine(ball, contacts=[floor], outputs={"energy": True}, **fall)))
    run = solving.simulate(model.mechanism, start=model.start)
    return model, replace(run, natural=solving.magnitudes(model.mechanism, run, model.start))


def test_impact_at_an_output_time_multiplies_rounding_errors_by_the_stiffness() -> None:
    """The force of a position error of 1e-13 m agrees; that of 1e-11 m and a stiffness 1 % off do not."""
    model, found = bounce(0.05)
    for error, agrees in ((1e-13, True), (1e-11, False)):
        force = 1e8 * error * (np.abs(found.time - 0.5) < 1e-9)
        sums = {name: found.signals[name] + force for name in ("floor_force", "ball_position_ddot")}
        assert compare(found, replace(found, signals=found.signals | sums), model.units, 1e-6).ok is agrees
    assert not compare(found, bounce(0.05, stiffness=1.01e8)[1], model.units, 1e-6).ok


def test_impact_at_an_output_time_raises_only_scales_of_accelerations_and_forces() -> None:
    """Without an output time at the impact, the scale of the force is a tenth of the weight."""
    (model, hit), (_, passed) = bounce(0.05), bounce(0.03)
    at, between = (scales(run.signals, model.units, run.natural) for run in (hit, passed))
    assert between["floor_force"] == pytest.approx(0.8, rel=1e-9)
    assert {name for name in at if at[name] > 2.0 * between[name]} == {"floor_force", "ball_position_ddot"}


def test_contact_does_not_pull_at_an_output_time_shortly_before_the_impact() -> None:
    """An output time that coincides with an event within rounding has the state of the event."""
    _, run = bounce(0.05, height=1.0 + 1e-10)
    assert run.signals["floor_force"].min() >= 0.0


def scaled(entry: dict[str, Any], factor: float) -> dict[str, Any]:
    """A link with all its lengths times a factor."""
    changes = {"com": [factor * x for x in entry["com"]], "inertia": [factor**2 * x for x in entry["inertia"]]}
    if "frame" in entry:
        changes["frame"] = {"xyz": [factor * x for x in entry["frame"]["xyz"]]}
    return entry | changes
