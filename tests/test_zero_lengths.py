"""A line whose length passes through zero ends the run with a message: its force has no direction there."""

from __future__ import annotations

from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from helpers_parts import Table, X, Y, body, link, machine

from gpmelica.analysis.prepared import prepare
from gpmelica.core.errors import SolveError
from gpmelica.description.load import from_data


def passing(offset: float, **law: Any) -> Table:
    """1 kg on a rail along x, at 1 m/s past the line's end on the ground, offset m beside the rail."""
    line = {"name": "leg", "a": {"link": "ground", "point": [0.0, offset, 0.0]}, "b": {"link": "cart"}} | law
    cart = link("cart", "prismatic", X, position=-0.5, velocity=1.0) | body()
    times = {"start": "description", "stop": 1.0}
    return machine(cart, gravity=[0.0, 0.0, 0.0], lines=[line], simulation=times)


@pytest.mark.parametrize(
    "law",
    [{"stiffness": 3.0, "rest": 0.2}, {"force": "0"}, {"force": "2 - t"}, {"stiffness": 4.0, "rest": 0.0}],
)
@pytest.mark.parametrize("method", ["DOP853", "Radau", "RK4"])
def test_a_line_through_zero_ends_the_run(law: Table, method: str) -> None:
    mechanism = prepare(from_data(passing(0.0, **law))).mechanism
    with pytest.raises(SolveError, match=r"line leg passes through zero at t = 0\.\d+ s.*ends that stay apart"):
        solving.simulate(mechanism, method=method, step=0.013)


@pytest.mark.parametrize("offset", [1e-3, 0.1])
def test_a_line_that_misses_its_end_runs_on(offset: float) -> None:
    """The shortest length is the offset; without a force the cart keeps its speed."""
    run = solving.simulate(prepare(from_data(passing(offset, force="0"))).mechanism)
    assert run.signals["cart_position"][-1] == pytest.approx(0.5, abs=1e-9)
    assert run.signals["leg_length"][-1] == pytest.approx(np.hypot(0.5, offset), abs=1e-9)


def test_a_line_that_turns_back_runs_on() -> None:
    """A pendulum swings about its lowest point, where its spring leg is shortest."""
    swing = link("swing", "revolute", Y, position=0.4) | body(1.0, [0.0, 0.0, -1.0], [0.1, 0.1, 0.1])
    leg = {"name": "leg", "a": {"link": "ground", "point": [0.0, 0.0, -1.2]}, "stiffness": 10.0, "rest": 0.1}
    leg |= {"b": {"link": "swing", "point": [0.0, 0.0, -1.0]}}
    run = solving.simulate(prepare(from_data(machine(swing, lines=[leg], simulation={"stop": 3.0}))).mechanism)
    assert run.signals["leg_length"].min() == pytest.approx(0.2, abs=1e-2)
