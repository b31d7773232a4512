"""The C layer looks into a step for a length of zero where a line may reach it within the step, only there."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_c_layer import Make, fails

pytest_plugins = ["fixtures_c_layer"]

RK4, DORMAND_PRINCE, BDF = 1, 2, 4


@pytest.mark.parametrize("method", [RK4, DORMAND_PRINCE, BDF])
def test_a_line_far_from_zero_is_evaluated_once_a_step(method: int, make: Make) -> None:
    """A line of 5 m that becomes shorter by 0.1 m/s for 2 s: one length per step, at its end."""
    fmu = make("cart").start(solver_method=method, solver_step=0.01, solver_longest_step=0.01)
    fmu.run(np.linspace(0.0, 2.0, 21))
    asked, steps = fmu.get("asked")[0], fmu.count("solver_steps")
    assert steps >= 200
    assert asked <= 1.25 * steps


@pytest.mark.parametrize("method", [RK4, DORMAND_PRINCE, BDF])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("step", [1.0, 0.1, 0.013])
def test_no_passage_is_missed(step: float, share: float, method: int, make: Make) -> None:
    """The cart passes the line's other end in any part of a step, whatever the step's length."""
    crossing = step * (np.ceil(0.4 / step) - 1.0 + share)
    settings = {"solver_method": method, "solver_step": step, "solver_longest_step": step}
    fmu = make("cart").start(start=-float(crossing), speed=1.0, **settings)
    end = step * np.ceil(crossing / step + 0.5)
    points = np.arange(0.0, end + 0.5 * step, step)
    fails(fmu, lambda: fmu.run(points), "length of line leg passes through zero")


@pytest.mark.parametrize("method", [RK4, DORMAND_PRINCE, BDF])
@pytest.mark.parametrize("step", [0.5, 0.15, 0.03])
def test_no_dip_through_zero_is_missed(step: float, method: int, make: Make) -> None:
    """The cart is thrown against a force that turns it 1 mm beyond the line's other end."""
    way = 0.101
    settings = {"solver_method": method, "solver_step": step, "solver_longest_step": step}
    fmu = make("cart").start(start=-0.1, speed=1.0, force=-1.0 / (2.0 * way), **settings)
    points = np.arange(0.0, 0.5 + step, step)
    fails(fmu, lambda: fmu.run(points), "length of line leg passes through zero")
