"""The mobile robot of the examples against P1's results and against its own equations in absolute coordinates."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from helpers_examples import changed
from helpers_mobile_robot import NOT_UNIQUE, UNIQUE, reactions
from helpers_reference import slope
from numpy.typing import NDArray

from gpmelica import reference
from gpmelica.generator.mechanism import Mechanism, build
from gpmelica.trajectory import Trajectory

Array = NDArray[np.float64]
# P1 4.4: rows 6 and 21, 18 and 21, 19 and 21 of 22
LINKS = ("platform", "D", "E", "F", "G", "H", "A")  # bodies 1 to 7
FIRST = "without_W1_W4"
VARIANTS = {
    "without_C_y_W4": ("C_y", "W4"),
    FIRST: ("W1", "W4"),
    "without_W2_W4": ("W2", "W4"),
    "minimum_norm": (),
}


@cache
def robot(case: str) -> Mechanism:
    """One of the cases."""
    return build(changed("mobile_robot", case))


@cache
def run(case: str) -> Trajectory:
    """Its run; the others than the first one turn right, and no more."""
    return reference.simulate(robot(case), loads="all", stop=None if case == FIRST else 1.5)


def state_at(time: float) -> tuple[float, Array, Array]:
    """t, q and q̇ of the run at an output time, s."""
    found = run(FIRST)
    k = int(np.argmin(np.abs(found.time - time)))
    names = [c.symbol for c in robot(FIRST).coordinates]
    q, qd = (np.array([found.signals[name + end][k] for name in names]) for end in ("", "_dot"))
    return float(found.time[k]), q, qd


def absolute(q: Array) -> Array:
    """Centres of mass and angles of bodies 1 to 7, shape (7, 3), from joint coordinates."""
    mechanism = robot(FIRST)
    T = dict(zip((body.link for body in mechanism.bodies), reference.poses(mechanism, q), strict=True))
    com = {body.link: np.append(body.com, 1.0) for body in mechanism.bodies}
    places = [T[link] @ com[link] for link in LINKS]
    turns = [np.arctan2(T[link][1, 0], T[link][0, 0]) for link in LINKS]
    return np.column_stack([np.array(places)[:, :2], turns])


def steering(t: float) -> float:
    """d²/dt² of the slider's d(t), m/s²."""
    total = 0.0
    for begin, amount in ((0.0, 0.025), (2.0, -0.025), (4.0, -0.0248966), (6.0, 0.0248966)):
        x = min(max(t - begin, 0.0), 1.0)
        total += amount * 60 * x * (1 - x) * (1 - 2 * x)
    return total


def in_absolute_coordinates(
    t: float, q: Array, qd: Array, without: tuple[str, ...]
) -> tuple[Array, dict[str, Array]]:
    """q̈ of the bodies, and the force on the body further from the platform's centre, world axes, N, by pair."""
    rates = slope(lambda s: absolute(q + s * qd))
    qdd, forces = reactions(absolute(q), rates, steering(t), without)
    on_body = {"A": 7, "B": 2, "C": 3, "D": 2, "E": 3, "F": 4, "G": 5, "H": 6, "driving": 6}
    found = {pair: forces[pair][3 * body - 3 : 3 * body - 1] for pair, body in on_body.items()}
    # the joint of the slider transmits the force of its drive, too
    found["H"] = found["H"] + found.pop("driving")
    edges = {name: forces[name] for name in forces if name.startswith("W")}
    return qdd, found | {name: _along_normal(absolute(q), force) for name, force in edges.items()}


def _along_normal(bodies: Array, force: Array) -> Array:
    """Force of a knife edge from its generalised force, shape (21,): the normal is the body's y axis; N."""
    body = int(np.argmax(np.abs(force).reshape(7, 3)[:, :2].max(axis=1)))
    angle = bodies[body, 2]
    return np.array([-np.sin(angle), np.cos(angle)]) @ force[3 * body : 3 * body + 2, None]


def by_package(case: str, t: float, q: Array, qd: Array) -> dict[str, Array]:
    """The same forces as the package gives them."""
    mechanism = robot(case)
    start = reference.start_state(mechanism)
    found = {}
    for (link, load), T in zip(
        reference.joint_loads(mechanism, t, q, qd, start=start).items(), reference.poses(mechanism, q), strict=True
    ):
        if link != "platform":
            found[link] = (T[:3, :3] @ load[:3])[:2]
    for name, wrench in reference.closure_wrenches(mechanism, t, q, qd, start=start).items():
        found[name] = wrench[:2]
    evaluation = reference.evaluate(mechanism, t, q, qd, start=start)
    rows = dict(zip(evaluation.rows, evaluation.multipliers, strict=True))
    return found | {name: np.array([rows[name]]) for name in rows if name.startswith("W")}


def test_which_reactions_are_unique() -> None:
    """Ranks, degree of redundancy and the table of P1 4.2."""
    mechanism = robot("minimum_norm")
    found = reference.reactions(mechanism, reference.start_state(mechanism))
    assert (found.rows, found.columns, found.rank.rank, found.redundancy) == (22, 21, 20, 2)
    assert (found.holonomic, found.nonholonomic) == (17, 4)
    assert {verdict.name for verdict in found.verdicts if verdict.unique} == set(UNIQUE)
    assert set(found.not_unique) == set(NOT_UNIQUE)


def test_motion_is_that_of_the_paper() -> None:
    """Right turn, straight on, left turn, and at the end a line parallel to x0 (P1 Fig. 2, 3)."""
    found = run(FIRST)
    heading = dict(zip(found.time.round(6), found.signals["platform_angle"], strict=True))
    assert heading[0.0] == pytest.approx(0.0, abs=1e-12)
    assert heading[3.0] == pytest.approx(heading[4.0], abs=1e-8)
    assert heading[3.5] < -1.0
    assert heading[7.0] == pytest.approx(heading[9.0], abs=1e-8)
    assert heading[9.0] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("case", VARIANTS)
def test_same_motion(case: str) -> None:
    """Whichever rows are left out, and if none is: one motion, to 1e-8."""
    expected, found = run(FIRST), run(case)
    for coordinate in robot(case).coordinates:
        for suffix in ("", "_dot"):
            name = coordinate.symbol + suffix
            assert np.abs(found.signals[name] - expected.signals[name][: len(found.time)]).max() < 1e-8


@pytest.mark.parametrize("time", [0.0, 0.4, 1.6, 2.7, 4.5, 6.2])
@pytest.mark.parametrize("case", VARIANTS)
def test_accelerations_and_reactions(case: str, time: float) -> None:
    """Both are those of absolute coordinates; of the minimum norm, which depends on these, the unique forces."""
    t, q, qd = state_at(time)
    qdd, expected = in_absolute_coordinates(t, q, qd, VARIANTS[case])
    found = by_package(case, t, q, qd)
    evaluation = reference.evaluate(robot(case), t, q, qd, start=reference.start_state(robot(case)))
    assert evaluation.qdd[:3] == pytest.approx(qdd[0], abs=1e-8)
    compared = set(expected) - (set(NOT_UNIQUE) if case == "minimum_norm" else set())
    for pair in compared:
        assert found[pair] == pytest.approx(expected[pair], abs=1e-7), pair
    assert len(compared) >= 7


def test_exactly_the_non_unique_reactions_differ() -> None:
    """By newtons between the variants; the others agree to 1e-9 N, and act all the same (P1 Fig. 4)."""
    t, q, qd = state_at(0.4)
    cases = [by_package(case, t, q, qd) for case in VARIANTS]
    spread = {pair: np.ptp([found[pair] for found in cases], axis=0).max() for pair in cases[0]}
    assert {pair for pair, width in spread.items() if width > 1.0} == set(NOT_UNIQUE)
    for pair in set(UNIQUE) - {"driving"}:
        assert spread[pair] < 1e-9
        assert np.abs(cases[0][pair]).max() > 0.01
