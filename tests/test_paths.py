"""Timing of paths: durations of legs, blends at waypoints, profiles."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from helpers_arm import arm
from helpers_levels import check_derivations, check_levels
from helpers_problem import evaluate, programmed_target, simulate, unreachable
from helpers_reference import crane, manipulator, mechanism_of, random_state, unchecked
from helpers_stages import StagedModel
from numpy.typing import NDArray
from scipy.integrate import quad

from gpmelica.analysis.system import assemble_system
from gpmelica.description.fields.numbers import value_of
from gpmelica.description.load import from_data
from gpmelica.description.tables.task import Path
from gpmelica.mechanism import Mechanism
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
def test_levels_of_path_constraints(kind: str) -> None:
    """The levels are time derivatives of each other, and both derivations agree in every phase and
    after the end.
    """
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
    legs, ways = np.diff(WAYPOINTS, axis=0), [duration for _, duration in path.legs(value_of)]
    for k, blend in enumerate(path.blends(value_of)):
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


def test_default_ramp_of_a_leg() -> None:
    """The default of `ramp` is 0.25, as documented: the speed is constant for half of each leg."""
    duration = 0.8
    target = Target(Path.model_validate(_path("times", leg_time=duration, profile="trapezoidal")))
    assert [*target.stops()][:4] == pytest.approx([0.0, 0.2, 0.6, 0.8], abs=1e-15)
    middle = target.motion(duration / 2, 0.2)[1]
    assert middle == pytest.approx(np.array(WAYPOINTS[1]) / (0.75 * duration), abs=1e-14)


def test_times_may_follow_parameters() -> None:
    """The generated equations with other parameters are the reference's of a description with these numbers."""
    numbers = {"T": 0.5, "b": 0.1, "r": 0.2}
    path = _path("rounded", leg_time=["T", "2*T", 0.8], blend_time="b", ramp="r")
    data = arm(parameters=numbers, programmed=[{"name": "line", "path": path}])
    model = assemble_system(from_data(data))
    q, qd = random_state(model.mechanism, np.random.default_rng(3))
    other = {"T": 0.7, "b": 0.15, "r": 0.35}
    program = model.native_program
    changed = [replace(p, value=np.array(other.get(p.name, p.value))) for p in program.parameters]
    staged = StagedModel(model, replace(program, parameters=changed))
    expected = assemble_system(from_data(data | {"parameters": other})).mechanism
    for t in (0.1, 0.3, 0.62, 1.2, 1.5, 1.9, 2.5):
        assert staged(t, q, qd).qdd == pytest.approx(evaluate(expected, t, q, qd).qdd, rel=1e-9, abs=1e-9)
    said = {required.message for required in program.requirements}
    assert {"duration of leg 2 of line, s", "ramp of line", "blend time at waypoints[1] of line, s"} <= said


# ---- Programmed targets and reachability ------------------------------------------------------------------------


PATH: dict[str, Any] = {
    "point": "E",
    "frame": {"xyz": [1.0, 0.0, 1.0], "rpy": [0.0, 0.5, 0.0]},
    "components": ["x", "z"],
    "waypoints": [[0.2, 0.0, 0.1], [0.0, 0.0, 0.3]],
    "leg_time": 0.3,
}


def _actual(run: Any) -> np.ndarray:
    return np.array([run.signals[f"E_{axis}"] for axis in "xyz"]).T


def test_target_of_expressions_is_the_foot_point() -> None:
    """The crane's target lies on ellipse and height, and the way to it is normal to both surfaces."""
    mechanism = crane("stabilisation")
    run = simulate(mechanism, stop=0.3, start=None)
    target, actual = programmed_target(mechanism, run)["E"], _actual(run)
    x, y, z = target.T
    tau = run.time
    height = actual[0, 2] + 0.2 * (10 * tau**3 - 15 * tau**4 + 6 * tau**5)
    assert (x / 3) ** 2 + (y / 2) ** 2 == pytest.approx(1.0, abs=1e-12)
    assert z == pytest.approx(height, abs=1e-12)
    tangent = np.array([-y / 4, x / 9, 0 * x]).T
    way = actual - target
    assert np.abs(way).max() > 1e-4
    assert np.abs(np.sum(way * tangent, axis=1)).max() < 1e-9


def test_target_of_a_path() -> None:
    """A path's target has its components, and the actual motion's for those that are not prescribed."""
    data = manipulator(programmed=[{"name": "p", "path": PATH | {"components": ["x"]}}])
    mechanism = mechanism_of(data | {"simulation": {"start": "description", "stop": 0.3}})
    run = simulate(mechanism)
    target, actual = programmed_target(mechanism, run)["E"], _actual(run)
    frame = mechanism.programmed[0].path.frame
    local, moved = ((r - frame.offset) @ frame.rotation for r in (target, actual))
    s = run.time / 0.3
    assert local[:, 0] == pytest.approx(0.2 - 0.2 * (10 * s**3 - 15 * s**4 + 6 * s**5), abs=1e-12)
    assert local[:, 1:] == pytest.approx(moved[:, 1:], abs=1e-12)
    assert np.abs(target - actual).max() > 1e-3


def test_target_exists_for_path_constraints_only() -> None:
    """Constraints on coordinates, velocities or two points have no target; without any target the
    signal is NaN.
    """
    points = {name: {"link": "lower", "position": [x, 0.0, 0.0]} for name, x in (("E", 0.8), ("F", 0.4))}
    for text, order, expected in (
        ("lower.angle - 0.9", 0, set()),
        ("E.x + F.z - start(E.x + F.z)", 0, set()),
        ("E.vx", 1, set()),
        ("F.x - start(F.x)", 0, {"F"}),
    ):
        entry = {"name": "c", "expression": text, "order": order}
        mechanism = mechanism_of(manipulator(points=points, programmed=[entry]))
        assert set(programmed_target(mechanism, simulate(mechanism, stop=0.02))) == expected
    empty = manipulator(programmed=[{"name": "c", "expression": "E.x^2 + E.z^2 + 1"}])
    mechanism = mechanism_of(empty | {"simulation": {"start": "description"}})
    run = simulate(mechanism_of(manipulator()), stop=0.02)
    assert np.isnan(programmed_target(mechanism, run)["E"]).all()


def test_reachable_waypoints() -> None:
    """Waypoints within the arm's reach raise no problem, however the arm starts."""
    mechanism = mechanism_of(manipulator(programmed=[{"name": "p", "path": PATH}]))
    assert unreachable(mechanism, [0.4, 0.9]) == []
    # Stretched out and aligned with the target, the Jacobian has no component along the way.
    inwards = PATH | {"frame": {}, "waypoints": [[1.8, 0.0, 0.0], [1.0, 0.0, 0.0]]}
    stretched = mechanism_of(manipulator(programmed=[{"name": "p", "path": inwards}]))
    assert "programmed[0].path.waypoints[1]" not in [p.where for p in unreachable(stretched, [0.0, 0.0])]


def test_unreachable_waypoint() -> None:
    """A waypoint beyond the stretched arm of 1.8 m is reported with what is missing."""
    far = PATH | {"frame": {}, "waypoints": [[1.0, 0.0, 0.5], [3.0, 0.0, 0.0]]}
    mechanism = mechanism_of(manipulator(programmed=[{"name": "p", "path": far}]))
    (problem,) = unreachable(mechanism, [0.4, 0.9])
    assert problem.where == "programmed[0].path.waypoints[1]"
    assert problem.message.startswith("cannot be reached by the joints: the closest configuration is 1.2 m away")


def test_only_prescribed_components_count() -> None:
    """A component that is not prescribed does not make a waypoint unreachable."""
    aside = PATH | {"waypoints": [[0.2, 7.0, 0.1], [0.0, -7.0, 0.3]]}
    mechanism = mechanism_of(manipulator(programmed=[{"name": "p", "path": aside}]))
    assert unreachable(mechanism, [0.4, 0.9]) == []
    blocked = aside | {"components": ["x", "y", "z"]}
    mechanism = unchecked(manipulator(programmed=[{"name": "p", "path": blocked}]))
    assert [p.where for p in unreachable(mechanism, [0.4, 0.9])] == [
        "programmed[0].path.waypoints[0]",
        "programmed[0].path.waypoints[1]",
        "programmed",
    ]


@pytest.mark.parametrize(
    ("demand", "what"),
    [
        ("E.x - start(E.x) - quintic(t, 0.5, 1, 0, 0.1)", "positions at t = 0.52"),
        ("2*E.x - 2*start(E.x) - t", "velocities at t = 0 s"),
        ("E.x - start(E.x) - t^2", "accelerations at t = 0 s"),
    ],
)
def test_rows_that_part_later(demand: str, what: str) -> None:
    """Two demands on one point are followed in time: where they part they are named."""
    rows = {"still": "E.x - start(E.x)", "other": "E.z - start(E.z)", "moving": demand}
    (problem,) = unreachable(_with_rows(rows), [0.4, 0.9])
    assert "still, moving are linearly dependent" in problem.message
    assert what in problem.message


def _with_rows(rows: dict[str, str]) -> Mechanism:
    return unchecked(manipulator(programmed=[{"name": name, "expression": text} for name, text in rows.items()]))
