"""The delta robot and the four-bar linkage of the examples against textbook geometry, written out here."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from helpers_examples import FORMULATIONS, changed
from numpy.typing import NDArray

from gpmelica import reference
from gpmelica.generator.mechanism import build
from gpmelica.trajectory import Trajectory

Array = NDArray[np.float64]
ARMS = ("arm1", "arm2", "arm3")
ANGLES = 2 * np.pi / 3 * np.arange(3)  # of the arms' directions from above
BASE, ARM, ROD, PLATFORM = 0.2, 0.25, 0.6, 0.05  # m
# kg, kg·m² about the arm's axis, kg·m
PLATFORM_MASS, ARM_INERTIA, ARM_MOMENT = 0.68, 2.35e-3 + 0.36 * 0.14583333333333334**2, 0.36 * 0.14583333333333334
GRAVITY = np.array([0.0, 0.0, -9.81])


@cache
def robot(formulation: str = "gpme") -> Trajectory:
    """The run of the example."""
    return reference.simulate(build(changed("delta_robot", constraints__formulation=formulation)))


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
    """Where the platform has to be, shape (N, 3), m."""
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


def test_platform_follows_the_spiral_level() -> None:
    """The platform is on its path to 1e-9 m and keeps level: the parallelograms hold its orientation."""
    run = robot()
    assert np.abs(platform(run) - spiral(run.time)).max() < 1e-9
    for angle in ("psi", "theta", "phi"):
        assert np.abs(run.signals[f"platform_{angle}"]).max() < 1e-9


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_inverse_kinematics(formulation: str) -> None:
    """Elbows are where closed-form inverse kinematics of the path puts them, to 1e-9 m; they move far."""
    run = robot(formulation)
    expected = arm_angles(spiral(run.time))
    assert np.abs(arms(run) - expected).max() * ARM < 1e-9
    assert np.ptp(expected, axis=0).min() > 0.5


def test_rates_of_the_arms() -> None:
    """Rods keep their length: along them platform and elbow have the same velocity."""
    run = robot()
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
    run = robot(formulation)
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
    return reference.simulate(build(changed("four_bar_3d", **keys)))


def rocker_angle(crank: Array) -> Array:
    """Freudenstein's equation solved for the rocker, coupler above the ground link: the half-angle formula."""
    x, y = CRANK * np.cos(crank) - GROUND, CRANK * np.sin(crank)
    a, b = -2 * ROCKER * x, -2 * ROCKER * y
    k = COUPLER**2 - ROCKER**2 - x**2 - y**2
    return np.asarray(np.arctan2(b, a) + np.arccos(k / np.hypot(a, b)))


def turned(angle: Array) -> Array:
    """The angle between −π and π."""
    return np.asarray(np.angle(np.exp(1j * angle)))


@pytest.mark.parametrize("redundant", ["auto", "minimum_norm"])
def test_same_motion_as_the_planar_linkage(redundant: str) -> None:
    """Spatial and planar cut joint give one motion, to 1e-8, over more than three turns of the crank."""
    spatial, planar = motion("revolute", redundant), motion("point_on_line")
    for name in JOINTS:
        for suffix, allowed in (("", 1e-8), ("_dot", 1e-7), ("_ddot", 1e-5)):
            assert np.abs(spatial.signals[name + suffix] - planar.signals[name + suffix]).max() < allowed
    assert np.ptp(planar.signals["crank_angle"]) > 6 * np.pi


def test_closed_form() -> None:
    """The rocker is where the crank puts it, to 1e-9 rad, by the textbook formula of the four-bar."""
    run = motion()
    error = turned(run.signals["rocker_angle"] - rocker_angle(run.signals["crank_angle"]))
    assert np.abs(error).max() < 1e-9
    assert np.ptp(run.signals["rocker_angle"]) > 0.8
