"""The four-bar linkage of the examples: its spatial joints' redundant rows leave the planar motion as it is."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from helpers_examples import changed
from numpy.typing import NDArray

from gpmelica import reference
from gpmelica.errors import SolveError
from gpmelica.generator.mechanism import build
from gpmelica.trajectory import Trajectory

Array = NDArray[np.float64]
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


def test_fixed_partition_ends_at_the_dead_centre() -> None:
    """The rocker as independent coordinate: the run stops with time and names where crank and coupler align."""
    mechanism = build(changed("four_bar_3d", "rocker_independent"))
    with pytest.raises(SolveError, match=r"crank\.angle, coupler\.angle at t = 0\.\d+ s: C_d is singular"):
        reference.simulate(mechanism)
