"""Programmed targets and reachability."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers_reference import crane, manipulator, mechanism_of, unchecked

from gpmelica.generator.mechanism import Mechanism
from gpmelica.reference import programmed_target, simulate, unreachable

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
    mechanism = crane("rigid_boom")
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


def test_target_leaves_out_what_has_none() -> None:
    """Constraints on coordinates, velocities or two points do not give a target; where none exists it is NaN."""
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
    assert problem.message.startswith("cannot be reached by the joints: the closest is 1.2 m away")


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
    assert "still, moving depend" in problem.message
    assert what in problem.message


def _with_rows(rows: dict[str, str]) -> Mechanism:
    return unchecked(manipulator(programmed=[{"name": name, "expression": text} for name, text in rows.items()]))
