"""How a path is gone through: times of legs, blends at waypoints, profiles."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from helpers_arm import arm
from helpers_levels import check_derivations, check_levels
from helpers_reference import mechanism_of, random_state
from helpers_stages import StagedModel
from numpy.typing import NDArray
from scipy.integrate import quad

from gpmelica.generator.description.load import from_data
from gpmelica.generator.description.tables.task import Path
from gpmelica.prepared import prepare
from gpmelica.reference import evaluate
from gpmelica.reference.constraints.paths import Target

Array = NDArray[np.float64]
WAYPOINTS = [[0.0, 0.0, 0.0], [0.2, 0.0, 0.05], [0.2, 0.15, 0.0], [0.0, 0.1, 0.1]]
PROFILES: dict[str, dict[str, Any]] = {
    "times": {"leg_time": [0.7, 0.5, 0.9]},
    "blended": {"leg_time": [0.7, 0.5, 0.9], "blend_time": [0.1, 0.3]},
    "trapezoidal": {"leg_time": 0.7, "profile": "trapezoidal", "ramp": 0.5, "components": ["z", "x"]},
    "rounded": {"leg_time": [0.7, 0.5, 0.9], "blend_time": 0.14, "profile": "trapezoidal", "ramp": 0.2},
}


def _path(kind: str, **changes: Any) -> dict[str, Any]:
    frame = {"xyz": [0.5, 0.1, 0.5], "rpy": [0.1, 0.2, 0.3]}
    return {"point": "T", "frame": frame, "waypoints": WAYPOINTS} | PROFILES[kind] | changes


def _target(kind: str) -> Target:
    return Target(Path.model_validate(_path(kind)))


@pytest.mark.parametrize("kind", PROFILES)
def test_rows(kind: str) -> None:
    """Their levels are derivatives of each other, and both derivations agree, in every phase and after the end."""
    data, rng = arm(programmed=[{"name": "line", "path": _path(kind)}]), np.random.default_rng(1)
    for t in (0.05, 0.3, 0.63, 0.95, 1.45, 3.0):
        check_levels(mechanism_of(data), rng, t)
    check_derivations(data, rng, np.array([0.0, 0.3, 0.63, 0.95, 1.45, 3.0]))


@pytest.mark.parametrize("kind", PROFILES)
def test_velocity_is_continuous_and_leads_to_the_end(kind: str) -> None:
    """At every switching time position and velocity are the same before and after, of quintics acceleration too.

    What the velocity sums up to from one of them to the next is the way between.
    """
    target = _target(kind)
    times = sorted({*target.stops(), 0.0, 3.0})
    for begin, end in pairwise(times):
        if end - begin < 1e-12:
            continue
        before, after = target.motion(end, begin), target.motion(end, end)
        same = 2 if PROFILES[kind].get("profile") else 3
        for level in range(same):
            assert after[level] == pytest.approx(before[level], abs=1e-12)
        way = [quad(lambda t, i=i, s=begin: target.motion(t, s)[1][i], begin, end)[0] for i in range(3)]
        assert before[0] - target.motion(begin, begin)[0] == pytest.approx(way, abs=1e-12)
    assert target.motion(3.0, 3.0)[0] == pytest.approx(WAYPOINTS[-1], abs=1e-15)
    assert not np.any(target.motion(3.0, 3.0)[1:])


def test_a_leg_for_every_time() -> None:
    """Without blends the point rests at each waypoint, when the times before it have gone by."""
    target = _target("times")
    assert target.visits == pytest.approx([0.0, 0.7, 1.2, 2.1])
    for t, waypoint in zip(target.visits, WAYPOINTS, strict=True):
        position, velocity, acceleration = target.motion(t, t)
        assert position == pytest.approx(waypoint, abs=1e-15)
        assert np.abs([velocity, acceleration]).max() < 1e-12


@pytest.mark.parametrize("kind", ["blended", "rounded"])
def test_blends_do_not_stop(kind: str) -> None:
    """In the middle of a blend of two legs the point is as far from the corner as the page on paths says."""
    target, path = _target(kind), Path.model_validate(_path(kind))
    legs, ways = np.diff(WAYPOINTS, axis=0), [duration for _, duration in path.legs()]
    for k, blend in enumerate(path.blends()):
        t = target.visits[k + 1]
        share = [_step(kind, blend / 2 / ways[k]), _step(kind, blend / 2 / ways[k + 1])]
        expected = WAYPOINTS[k + 1] - legs[k] * share[0] + legs[k + 1] * share[1]
        position, velocity, _ = target.motion(t, t)
        assert position == pytest.approx(expected, abs=1e-14)
        assert np.linalg.norm(velocity) > 0.02


def _step(kind: str, tau: float) -> float:
    if kind == "blended":
        return tau**3 * (10 - 15 * tau + 6 * tau * tau)
    assert tau <= 0.2
    return tau * tau / (2 * 0.2 * 0.8)


def test_trapezoid_with_blends_of_its_ramps_is_lines_with_parabolas() -> None:
    """Speed is constant on lines, and acceleration, (v₂ − v₁)/blend, around corners."""
    path = {"leg_time": 0.5, "ramp": 0.2, "blend_time": 0.1, "profile": "trapezoidal"}
    target = Target(Path.model_validate(_path("times", **path)))
    speeds = np.diff(WAYPOINTS, axis=0) / (0.8 * 0.5)
    for k in range(2):
        corner = target.visits[k + 1]
        for t, wanted in ((corner - 0.06, speeds[k]), (corner + 0.06, speeds[k + 1])):
            assert target.motion(t, t)[1] == pytest.approx(wanted, abs=1e-14)
        for t in (corner - 0.04, corner + 0.04):
            assert target.motion(t, t)[2] == pytest.approx((speeds[k + 1] - speeds[k]) / 0.1, abs=1e-13)


def test_times_may_follow_parameters() -> None:
    """The generated equations with other parameters are the reference's of a description with these numbers."""
    numbers = {"T": 0.5, "b": 0.1, "r": 0.2}
    path = _path("rounded", leg_time=["T", "2*T", 0.8], blend_time="b", ramp="r")
    data = arm(parameters=numbers, programmed=[{"name": "line", "path": path}])
    model = prepare(from_data(data))
    q, qd = random_state(model.mechanism, np.random.default_rng(3))
    other = {"T": 0.7, "b": 0.15, "r": 0.35}
    program = model.native_program
    changed = [replace(p, value=np.array(other.get(p.name, p.value))) for p in program.parameters]
    staged = StagedModel(model, replace(program, parameters=changed))
    expected = prepare(from_data(data | {"parameters": other})).mechanism
    for t in (0.1, 0.3, 0.62, 1.2, 1.5, 1.9, 2.5):
        assert staged(t, q, qd).qdd == pytest.approx(evaluate(expected, t, q, qd).qdd, rel=1e-9, abs=1e-9)
    said = {required.message for required in program.requirements}
    assert {"duration of leg 2 of line, s", "ramp of line", "blend time at waypoints[1] of line, s"} <= said
