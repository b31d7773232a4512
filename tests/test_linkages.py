"""The delta robot and the four-bar linkage of the examples against textbook geometry, written out here."""

from __future__ import annotations

from functools import cache

import helpers_problem as solving
import numpy as np
import pytest
from helpers_examples import FORMULATIONS, changed
from helpers_mobile_robot import NOT_UNIQUE, UNIQUE, reactions
from helpers_reference import slope

from gpmelica import analysis
from gpmelica.core.trajectory import Array, Trajectory
from gpmelica.mechanism import Mechanism, build

ARMS = ("arm1", "arm2", "arm3")
ANGLES = 2 * np.pi / 3 * np.arange(3)  # of the arms' directions from above
BASE, ARM, ROD, PLATFORM = 0.2, 0.25, 0.6, 0.05  # m
# kg, kg·m² about the arm's axis, kg·m
PLATFORM_MASS, ARM_INERTIA, ARM_MOMENT = 0.68, 2.35e-3 + 0.36 * 0.14583333333333334**2, 0.36 * 0.14583333333333334
GRAVITY = np.array([0.0, 0.0, -9.81])


@cache
def delta_robot(formulation: str = "gpme") -> Trajectory:
    """The run of the example."""
    return solving.simulate(build(changed("delta_robot", constraints__formulation=formulation)))


def platform(run: Trajectory, suffix: str = "") -> Array:
    """Position of the platform or its rates, shape (N, 3)."""
    return np.column_stack([run.signals[f"platform_{axis}{suffix}"] for axis in "xyz"])


def arms(run: Trajectory, suffix: str = "angle") -> Array:
    """Angles of the arms or their rates or torques, shape (N, 3)."""
    return np.column_stack([run.signals[f"{arm}_{suffix}"] for arm in ARMS])


def arm_angles(P: Array) -> Array:
    """Closed-form inverse kinematics: angles of the arms, shape (N, 3), elbows outwards; P of shape (N, 3).

    With the platform's joint at (x, y, z) in the arm's plane and across it, |elbow − joint| = ROD is
    a·cos(angle) + b·sin(angle) = k.
    """
    x = np.cos(ANGLES) * P[:, :1] + np.sin(ANGLES) * P[:, 1:2] + PLATFORM - BASE
    y = np.cos(ANGLES) * P[:, 1:2] - np.sin(ANGLES) * P[:, :1]
    z = P[:, 2:]
    a, b, k = 2 * ARM * x, -2 * ARM * z, x**2 + y**2 + z**2 + ARM**2 - ROD**2
    return np.asarray(np.arctan2(b, a) - np.arccos(k / np.hypot(a, b)))


def spiral(t: Array) -> Array:
    """Return the required positions of the platform, shape (N, 3), m."""
    s = (t / 3) ** 3 * (10 - 15 * (t / 3) + 6 * (t / 3) ** 2)
    phase = 6 * np.pi * s
    return np.column_stack([0.12 * s * np.cos(phase), 0.12 * s * np.sin(phase), -0.52 - 0.1 * s])


def rods(P: Array, angle: Array) -> tuple[Array, Array]:
    """Vector along the rods of each arm, and the elbow's displacement per angle; shape (N, 3 arms, 3), m."""
    out = np.column_stack([np.cos(ANGLES), np.sin(ANGLES), np.zeros(3)])
    up = np.array([0.0, 0.0, 1.0])
    c, s = np.cos(angle)[..., None], np.sin(angle)[..., None]
    elbow = (BASE + ARM * c) * out - ARM * s * up
    return P[:, None] + PLATFORM * out - elbow, -ARM * s * out - ARM * c * up


@pytest.mark.slow
def test_platform_follows_the_spiral_level() -> None:
    """The platform is on its path to 1e-9 m and keeps level: the parallelograms hold its orientation."""
    run = delta_robot()
    assert np.abs(platform(run) - spiral(run.time)).max() < 1e-9
    for angle in ("psi", "theta", "phi"):
        assert np.abs(run.signals[f"platform_{angle}"]).max() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_inverse_kinematics(formulation: str) -> None:
    """Elbows are where closed-form inverse kinematics of the path puts them, to 1e-9 m; they move far."""
    run = delta_robot(formulation)
    expected = arm_angles(spiral(run.time))
    assert np.abs(arms(run) - expected).max() * ARM < 1e-9
    assert np.ptp(expected, axis=0).min() > 0.5


def test_rates_of_the_arms() -> None:
    """Rods keep their length: along them platform and elbow have the same velocity."""
    run = delta_robot()
    way, per_angle = rods(platform(run), arms(run))
    moving = np.einsum("kai,ki->ka", way, platform(run, "_dot"))
    elbow = np.einsum("kai,kai,ka->ka", way, per_angle, arms(run, "angle_dot"))
    assert np.abs(moving - elbow).max() < 1e-8
    assert np.abs(moving).max() > 0.05


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_torques(formulation: str) -> None:
    """Torques follow from the balance of platform and arms, rods being two-force members without mass.

    platform  m (r̈ − g) = Σ f_k s_k, arm  I θ̈ = τ + moment of gravity − f_k s_k·∂elbow/∂θ
    """
    run = delta_robot(formulation)
    way, per_angle = rods(platform(run), arms(run))
    needed = PLATFORM_MASS * (platform(run, "_ddot") - GRAVITY)
    along = np.linalg.solve(way.transpose(0, 2, 1), needed[..., None])[..., 0]
    weight = ARM_MOMENT * 9.81 * np.cos(arms(run))
    rod_moment = along * np.einsum("kai,kai->ka", way, per_angle)
    expected = ARM_INERTIA * arms(run, "angle_ddot") - weight + rod_moment
    torque = arms(run, "angle_effort")
    assert np.abs(torque - expected).max() < 1e-7 * np.abs(expected).max()
    assert np.abs(expected).max() > 1.0


# ---- The four-bar linkage of the examples -----------------------------------------------------------------------


GROUND, CRANK, COUPLER, ROCKER = 0.9, 0.3, 1.0, 0.8  # m
JOINTS = ("crank_angle", "coupler_angle", "rocker_angle")


@cache
def motion(closure: str = "revolute", redundant: str = "auto") -> Trajectory:
    """The run of the example with this cut joint."""
    keys = {"closures__pin__type": closure, "constraints__redundant": redundant}
    return solving.simulate(build(changed("four_bar_3d", **keys)))


def rocker_angle(crank: Array) -> Array:
    """Freudenstein's equation solved for the rocker, coupler above the ground link: the half-angle formula."""
    x, y = CRANK * np.cos(crank) - GROUND, CRANK * np.sin(crank)
    a, b = -2 * ROCKER * x, -2 * ROCKER * y
    k = COUPLER**2 - ROCKER**2 - x**2 - y**2
    return np.asarray(np.arctan2(b, a) + np.arccos(k / np.hypot(a, b)))


def turned(angle: Array) -> Array:
    """The angle between −π and π."""
    return np.asarray(np.angle(np.exp(1j * angle)))


@pytest.mark.slow
@pytest.mark.parametrize("redundant", ["auto", "minimum_norm"])
def test_same_motion_as_the_planar_linkage(redundant: str) -> None:
    """Spatial and planar cut joint give one motion, to 1e-8, over more than three turns of the crank."""
    spatial, planar = motion("revolute", redundant), motion("point_on_line")
    for name in JOINTS:
        for suffix, allowed in (("", 1e-8), ("_dot", 1e-7), ("_ddot", 1e-5)):
            assert np.abs(spatial.signals[name + suffix] - planar.signals[name + suffix]).max() < allowed
    assert np.ptp(planar.signals["crank_angle"]) > 6 * np.pi


@pytest.mark.slow
def test_closed_form() -> None:
    """The rocker is where the crank puts it, to 1e-9 rad, by the textbook formula of the four-bar."""
    run = motion()
    error = turned(run.signals["rocker_angle"] - rocker_angle(run.signals["crank_angle"]))
    assert np.abs(error).max() < 1e-9
    assert np.ptp(run.signals["rocker_angle"]) > 0.8


# ---- Mobile robot of the examples: results of Wojtyra and Frączek 2013, and equations in absolute coordinates


# Wojtyra and Frączek 2013, section 4.4: equations 6 and 21, 18 and 21, 19 and 21 of 22 are removed
LINKS = ("platform", "D", "E", "F", "G", "H", "A")  # bodies 1 to 7
FIRST = "without_W1_W4"
VARIANTS = {
    "without_C_y_W4": ("C_y", "W4"),
    FIRST: ("W1", "W4"),
    "without_W2_W4": ("W2", "W4"),
    "minimum_norm": (),
}


@cache
def mobile_robot(case: str) -> Mechanism:
    """One of the cases."""
    return build(changed("mobile_robot", case))


@cache
def run(case: str) -> Trajectory:
    """Run the linkage; all joints except the first one are passive."""
    return solving.simulate(mobile_robot(case), loads="all", stop=None if case == FIRST else 1.5)


def state_at(time: float) -> tuple[float, Array, Array]:
    """t, q and q̇ of the run at an output time, s."""
    found = run(FIRST)
    k = int(np.argmin(np.abs(found.time - time)))
    names = [c.symbol for c in mobile_robot(FIRST).coordinates]
    q, qd = (np.array([found.signals[name + end][k] for name in names]) for end in ("", "_dot"))
    return float(found.time[k]), q, qd


def absolute(q: Array) -> Array:
    """Centres of mass and angles of bodies 1 to 7, shape (7, 3), from joint coordinates."""
    mechanism = mobile_robot(FIRST)
    T = dict(zip((body.link for body in mechanism.bodies), analysis.poses(mechanism, q), strict=True))
    com = {body.link: np.append(body.com, 1.0) for body in mechanism.bodies}
    return np.array([[*(T[b] @ com[b])[:2], np.arctan2(T[b][1, 0], T[b][0, 0])] for b in LINKS])


def steering(t: float) -> float:
    """d²/dt² of the slider's d(t), m/s²."""
    x = np.clip(t - np.array([0.0, 2.0, 4.0, 6.0]), 0.0, 1.0)  # of each of its four moves
    return float([0.025, -0.025, -0.0248966, 0.0248966] @ (60 * x * (1 - x) * (1 - 2 * x)))


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
    """Return the forces as computed by the package."""
    mechanism = mobile_robot(case)
    start = solving.start_state(mechanism)
    loads = solving.joint_loads(mechanism, t, q, qd, start=start)
    frames = dict(zip(loads, analysis.poses(mechanism, q), strict=True))
    found = {link: (frames[link][:3, :3] @ load[:3])[:2] for link, load in loads.items() if link != "platform"}
    wrenches = solving.closure_wrenches(mechanism, t, q, qd, start=start)
    found |= {name: wrench[:2] for name, wrench in wrenches.items()}
    evaluation = solving.evaluate(mechanism, t, q, qd, start=start)
    rows = dict(zip(evaluation.rows, evaluation.multipliers, strict=True))
    return found | {name: np.array([rows[name]]) for name in rows if name.startswith("W")}


def test_which_reactions_are_unique() -> None:
    """Ranks, degree of redundancy and unique reactions are those of Wojtyra and Frączek 2013, section 4.2."""
    mechanism = mobile_robot("minimum_norm")
    found = solving.reactions(mechanism, solving.start_state(mechanism))
    assert (found.rows, found.columns, found.rank.rank, found.redundancy) == (22, 21, 20, 2)
    assert (found.holonomic, found.nonholonomic) == (17, 4)
    assert {verdict.name for verdict in found.verdicts if verdict.unique} == set(UNIQUE)
    assert set(found.not_unique) == set(NOT_UNIQUE)


@pytest.mark.slow
def test_motion_is_that_of_the_paper() -> None:
    """The robot turns right, moves straight on, turns left and finally moves parallel to x0.

    Source: Wojtyra and Frączek 2013, Fig. 2 and 3.
    """
    found = run(FIRST)
    heading = dict(zip(found.time.round(6), found.signals["platform_angle"], strict=True))
    assert heading[0.0] == pytest.approx(0.0, abs=1e-12)
    assert heading[3.0] == pytest.approx(heading[4.0], abs=1e-8)
    assert heading[3.5] < -1.0
    assert heading[7.0] == pytest.approx(heading[9.0], abs=1e-8)
    assert heading[9.0] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("case", VARIANTS)
def test_same_motion(case: str) -> None:
    """Whichever rows are left out, and if none is: one motion, to 1e-8."""
    expected, found = run(FIRST), run(case)
    for coordinate in mobile_robot(case).coordinates:
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
    evaluation = solving.evaluate(mobile_robot(case), t, q, qd, start=solving.start_state(mobile_robot(case)))
    assert evaluation.qdd[:3] == pytest.approx(qdd[0], abs=1e-8)
    compared = set(expected) - (set(NOT_UNIQUE) if case == "minimum_norm" else set())
    for pair in compared:
        assert found[pair] == pytest.approx(expected[pair], abs=1e-7), pair
    assert len(compared) >= 7


def test_exactly_the_non_unique_reactions_differ() -> None:
    """Reactions that are not unique differ by newtons between the variants (Wojtyra and Frączek 2013, Fig. 4).

    The unique reactions agree to 1e-9 N.
    """
    t, q, qd = state_at(0.4)
    cases = [by_package(case, t, q, qd) for case in VARIANTS]
    spread = {pair: np.ptp([found[pair] for found in cases], axis=0).max() for pair in cases[0]}
    assert {pair for pair, width in spread.items() if width > 1.0} == set(NOT_UNIQUE)
    for pair in set(UNIQUE) - {"driving"}:
        assert spread[pair] < 1e-9
        assert np.abs(cases[0][pair]).max() > 0.01
