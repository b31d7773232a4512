"""The arms of examples/arms in other people's tools: a controller in FMPy, and masters."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import helpers_problem as solving
import numpy as np
import pytest
from helpers_backends import EXAMPLES, Once
from helpers_masters import PACKAGES, alone, need_master, run_apart

from gpmelica import load
from gpmelica.core.trajectory import Trajectory
from gpmelica.fmu.backends.native import build_bare

ARMS = EXAMPLES / "arms"
STOP, STEP = 0.2, 0.01
READ = {
    "six_axis": "T_x T_y T_z base_psi base_y shoulder_angle wrist2_angle",
    "seven_axis": "flange_x flange_z a2_angle a4_angle a6_angle_dot",
}


@pytest.mark.slow
def test_computed_torque(once: Once) -> None:
    """The error from the target decays as the law has it, all seven alike; what the samples cost is of order 1."""
    arm = load(ARMS / "seven_axis.toml").prepared
    fmu = once("seven_axis", lambda folder: build_bare(arm, folder)) / f"{arm.name}.fmu"
    script, away = SimpleNamespace(**runpy.run_path(str(ARMS / "computed_torque.py"))), []
    for step in (4e-3, 2e-3):
        times, errors = script.follow(str(fmu), stop=0.4, step=step)
        away.append(np.abs(errors - script.expected(times)).max())
    assert away[0] / away[1] == pytest.approx(2.0, abs=0.2)
    assert away[1] < 0.01 * np.abs(script.OFFSET).max()


@pytest.fixture(scope="module")
def moved() -> Callable[[str], Trajectory]:
    """An arm's run by the reference solver; the one with seven axes falls, for nobody sets its torques."""

    @cache
    def run(name: str) -> Trajectory:
        arm = load(ARMS / f"{name}.toml").prepared
        return solving.simulate(arm.mechanism, start=arm.start, stop=STOP, output_step=STEP, loads=[])

    return run


@pytest.mark.slow
@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("master", PACKAGES)
def test_arms_in_masters(
    once: Once, moved: Callable[[str], Trajectory], tmp_path: Path, master: str, name: str
) -> None:
    """Nothing comes from outside, so every master's run is the reference's: joints, cart and tool.

    Within the size of the FMU's tolerance: 1e-6 of a state's size and one of its units, for each step.
    """
    need_master(master)
    arm, truth, names = load(ARMS / f"{name}.toml").prepared, moved(name), READ[name].split()
    fmu = once(name, lambda folder: build_bare(arm, folder)) / f"{arm.name}.fmu"
    [found] = run_apart(master, alone(fmu, names, tmp_path), [STEP], STOP, [f"Plant.{signal}" for signal in names])
    assert found[0] == pytest.approx(truth.time[1:], abs=1e-9)
    for signal, values in zip(names, found[1:], strict=True):
        expected = truth.signals[signal][1:]
        assert values == pytest.approx(expected, abs=1e-5), signal
