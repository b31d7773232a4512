"""A line whose length passes through zero ends the run with a message: its force has no direction there."""

from __future__ import annotations

import math
import re
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from helpers_backends import MODES, Compiled, CompileData, Fmu
from helpers_parts import Table, X, Y, body, link, machine

from gpmelica.analysis.system import assemble_system
from gpmelica.core.errors import SolveError
from gpmelica.core.trajectory import Trajectory
from gpmelica.description.load import from_data
from gpmelica.runs.fmpy_runs.simulate import Mode, simulate


def passing(offset: float, **law: Any) -> Table:
    """1 kg on a rail along x, at 1 m/s past the line's end on the ground, offset m beside the rail."""
    line = {"name": "leg", "a": {"link": "ground", "point": [0.0, offset, 0.0]}, "b": {"link": "cart"}} | law
    cart = link("cart", "prismatic", X, position=-0.5, velocity=1.0) | body()
    times = {"start": "description", "stop": 1.0}
    return machine(cart, gravity=[0.0, 0.0, 0.0], lines=[line], simulation=times)


LAWS = [{"stiffness": 3.0, "rest": 0.2}, {"force": "0"}, {"force": "2 - t"}, {"stiffness": 4.0, "rest": 0.0}]
MEETING = r"line leg passes through zero at t = (0\.\d+) s.*ends that stay apart"


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", ["DOP853", "Radau", "RK4"])
def test_a_line_through_zero_ends_the_run(law: Table, method: str) -> None:
    mechanism = assemble_system(from_data(passing(0.0, **law))).mechanism
    with pytest.raises(SolveError, match=MEETING):
        solving.simulate(mechanism, method=method, step=0.013)


@pytest.mark.parametrize("offset", [1e-3, 0.1])
def test_a_line_that_misses_its_end_runs_on(offset: float) -> None:
    """The shortest length is the offset; without a force the cart keeps its speed."""
    run = solving.simulate(assemble_system(from_data(passing(offset, force="0"))).mechanism)
    assert run.signals["cart_position"][-1] == pytest.approx(0.5, abs=1e-9)
    assert run.signals["leg_length"][-1] == pytest.approx(np.hypot(0.5, offset), abs=1e-9)


def swinging() -> Table:
    """A pendulum that swings about its lowest point, where its spring leg is shortest."""
    swing = link("swing", "revolute", Y, position=0.4) | body(1.0, [0.0, 0.0, -1.0], [0.1, 0.1, 0.1])
    leg = {"name": "leg", "a": {"link": "ground", "point": [0.0, 0.0, -1.2]}, "stiffness": 10.0, "rest": 0.1}
    leg |= {"b": {"link": "swing", "point": [0.0, 0.0, -1.0]}}
    return machine(swing, lines=[leg], simulation={"stop": 3.0})


def test_a_line_that_turns_back_runs_on() -> None:
    """The least length of the pendulum's leg is 0.2 m."""
    run = solving.simulate(assemble_system(from_data(swinging())).mechanism)
    assert run.signals["leg_length"].min() == pytest.approx(0.2, abs=1e-2)


def fmu_run(compiled: Compiled, mode: Mode, **options: Any) -> Trajectory:
    """Run of a compiled FMU, 1 s unless `options` give another `stop`."""
    settings = {"stop": 1.0, "output_step": 0.1, "tolerance": 1e-9} | options
    return simulate(compiled.fmu, mode, list(compiled.model.units), name=mode, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("law", LAWS)
def test_an_fmu_run_ends_at_a_length_of_zero(law: Table, mode: Mode, compile_data: CompileData) -> None:
    """Model exchange and co-simulation end at the reference's time, whatever the solver's steps."""
    compiled = compile_data(passing(0.0, **law))
    with pytest.raises(SolveError, match=MEETING) as expected:
        solving.simulate(compiled.model.mechanism)
    with pytest.raises(SolveError, match=MEETING) as found:
        fmu_run(compiled, mode)
    times = [float(re.search(MEETING, str(error.value))[1]) for error in (expected, found)]
    assert times[1] == pytest.approx(times[0], abs=2e-5)


@pytest.mark.parametrize("method", [1, 2, 3, 4])
@pytest.mark.parametrize("step", [0.7, 0.3, 0.03])
def test_every_solver_of_the_co_simulation_notices(method: int, step: float, compile_data: CompileData) -> None:
    """A free cart is stepped past the line's end at once by all but the Runge-Kutta method of fixed step."""
    compiled = compile_data(passing(0.0, force="0"))
    before = step * math.floor(0.5 / step)
    with Fmu(compiled) as fmu:
        fmu.start({"solver_method": method})
        fmu.run(np.arange(0.0, before + 0.5 * step, step))
        with pytest.raises(FMICallException, match="status 3"):
            fmu.fmi.doStep(before, step)
        assert re.search(MEETING, fmu.messages[-1])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("offset", [1e-3, 0.1])
def test_an_fmu_run_past_a_short_line_goes_on(offset: float, mode: Mode, compile_data: CompileData) -> None:
    """No false alarm of a line that is short, but never zero."""
    run = fmu_run(compile_data(passing(offset, force="0")), mode)
    assert run.signals["cart_position"][-1] == pytest.approx(0.5, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_an_fmu_run_of_a_line_that_turns_back_goes_on(mode: Mode, compile_data: CompileData) -> None:
    """No false alarm of the pendulum's leg."""
    run = fmu_run(compile_data(swinging()), mode, stop=3.0)
    assert run.signals["leg_length"].min() == pytest.approx(0.2, abs=1e-2)


@pytest.mark.parametrize("mode", MODES)
def test_a_line_that_dips_through_zero_within_a_step(mode: Mode, compile_data: CompileData) -> None:
    """The cart is pulled back 1 mm beyond the line's end: a polynomial that any step follows exactly."""
    line = {"name": "leg", "a": {"link": "ground"}, "b": {"link": "cart"}, "force": "0"}
    cart = link("cart", "prismatic", X, position=-0.1, velocity=1.0) | body()
    times = {"start": "description", "stop": 1.0}
    pull = -1.0 / (2.0 * 0.101)  # m/s²: the cart turns after 0.101 m
    data = machine(cart, gravity=[pull, 0.0, 0.0], lines=[line], simulation=times)
    with pytest.raises(SolveError, match=MEETING):
        fmu_run(compile_data(data), mode)
