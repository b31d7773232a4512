"""Margin of time events, which FMU, reference solver and oracle share."""

from __future__ import annotations

from typing import Any

import pytest
from helpers_backends import MODES, CompileData, run_of
from helpers_oracle import oracle_run
from helpers_parts import Z, body, link, machine
from helpers_problem import simulate
from helpers_reference import mechanism_of

from gpmelica.analysis.system import assemble_system
from gpmelica.core.trajectory import TIME_MARGIN, Trajectory, coincide
from gpmelica.description.load import from_data
from gpmelica.runs.compare.compare import compare


def reference(data: dict[str, Any]) -> Trajectory:
    """The run of the reference solver with a tight tolerance."""
    return simulate(mechanism_of(data), tolerance=1e-11)


def test_margin_includes_its_end() -> None:
    """Time events happen at times that are up to 2⁻⁴⁰ s away, and up to 2⁻⁴⁰ of the time after one second."""
    for time, margin in ((0.5, TIME_MARGIN), (1024.0, 1024.0 * TIME_MARGIN)):
        for sign in (1.0, -1.0):
            assert coincide(time + sign * margin * (1.0 - 1e-3), time)
            assert not coincide(time + sign * margin * (1.0 + 1e-3), time)
    assert coincide(0.5 + TIME_MARGIN, 0.5)


def sampled(period: float, stop: float) -> dict[str, Any]:
    """A rotor with a sampled controller whose first sample after the start is at the time `period`, s."""
    rotor = link("rotor", "revolute", Z, position=0.3) | body(1.0, inertia=[2.0] * 3)
    control = {"name": "pid", "type": "pid", "measured": "rotor.angle", "setpoint": 1.0, "drives": "torque"}
    control |= {"gain": 30.0, "integral_time": 0.8, "derivative_time": 0.25, "sample": period}
    times = {"start": "description", "stop": stop, "output_step": 0.25, "tolerance": 1e-9}
    return machine(
        rotor,
        name="Sampled",
        gravity=[0.0, 0.0, 0.0],
        forces=[{"name": "torque", "joint": "rotor", "input": True}],
        controllers=[control],
        simulation=times,
    )


def _has_sampled(run: Trajectory) -> bool:
    """Whether the controller's second sample belongs to the output time 0.5 s."""
    output = run.signals["pid_output"]
    return bool(output[2] != output[1])


SHIFTS = (0.0, TIME_MARGIN / 2, -TIME_MARGIN / 2, TIME_MARGIN, -TIME_MARGIN, 2 * TIME_MARGIN, -2 * TIME_MARGIN)


@pytest.mark.parametrize("stop", [0.5, 1.0])
@pytest.mark.parametrize("shift", [*SHIFTS, 5e-10, -5e-10])
def test_a_sample_close_to_an_output_time(shift: float, stop: float) -> None:
    """Reference and oracle take a sample at an output time or at the end if it is at most 2⁻⁴⁰ s later."""
    data = sampled(0.5 + shift, stop)
    truth, other = reference(data), oracle_run(assemble_system(from_data(data)))
    assert _has_sampled(truth) is _has_sampled(other) is (shift <= TIME_MARGIN)
    assert compare(truth, other, {}, 1e-6, complete=True).ok


@pytest.mark.slow
@pytest.mark.parametrize("shift", [TIME_MARGIN, 2 * TIME_MARGIN, 5e-10, -5e-10])
def test_fmus_sample_at_the_same_output_times(compile_data: CompileData, shift: float) -> None:
    """The FMU uses the margin of reference and oracle, also at the end of the run."""
    compiled = compile_data(sampled(0.5 + shift, 1.0))
    for stop in (0.5, 1.0):
        truth = reference(sampled(0.5 + shift, stop))
        for mode in MODES:
            run = run_of(compiled, mode, stop=stop, output_step=0.25)
            assert mode == "me" or _has_sampled(run) is (shift <= TIME_MARGIN)
            assert compare(truth, run, compiled.model.units, 1e-6, complete=True).ok
