"""Comparison of runs at output times that nearly coincide with an event."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers_backends import MODES, Compiled, CompileData, run_of
from helpers_oracle import oracle_run
from helpers_parts import Z, body, link, machine
from helpers_problem import simulate
from helpers_reference import mechanism_of

from gpmelica.analysis.system import assemble_system
from gpmelica.core.trajectory import Alternatives, Trajectory
from gpmelica.core.trajectory_bytes import read_trajectory, trajectory_bytes
from gpmelica.description.load import from_data
from gpmelica.runs.compare.compare import compare, error_over_time

IMPACT, GRAVITY, DAMPING, STIFFNESS = 0.1, 10.0, 40.0, 1e4  # s, m/s², N s/m, N/m
SPEED = GRAVITY * IMPACT  # m/s, at the impact
OFFSETS = (0.0, 1e-12, -1e-12, 2e-11, -2e-11, 2e-10, -2e-10)  # s


def dropped(offset: float = 0.0, stop: float = 0.2) -> dict[str, Any]:
    """A block that falls on a floor at the output time 0.1 s plus an offset, s."""
    block = link("block", "prismatic", Z, position=GRAVITY * (IMPACT + offset) ** 2 / 2) | body(2.0)
    plane = {"point": [0.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0]}
    floor = {"name": "floor", "link": "block", "plane": plane, "stiffness": STIFFNESS, "damping": DAMPING}
    times = {"start": "description", "stop": stop, "output_step": 0.01, "tolerance": 1e-9}
    return machine(
        block,
        name="Drop",
        gravity=[0.0, 0.0, -GRAVITY],
        contacts=[floor],
        simulation=times,
        outputs={"energy": True},
    )


def reference(data: dict[str, Any]) -> Trajectory:
    """The run of the reference solver with a tight tolerance."""
    return simulate(mechanism_of(data), tolerance=1e-11)


# ---- Both sides of an event ------------------------------------------------------------------------------------


@pytest.mark.parametrize("stop", [0.2, IMPACT])
@pytest.mark.parametrize("offset", OFFSETS)
def test_reference_reports_both_sides_of_an_impact(offset: float, stop: float) -> None:
    """The force is zero before the impact and d·v after it; position and velocity are the same."""
    run = reference(dropped(offset, stop))
    found = run.alternatives
    forces = np.append(found.signals["floor_force"], run.signals["floor_force"][10])
    np.testing.assert_allclose(found.time, IMPACT, rtol=1e-15)
    assert forces.min() == 0.0
    assert forces.max() == pytest.approx(DAMPING * SPEED, rel=1e-6)
    np.testing.assert_allclose(found.signals["block_position_dot"], -SPEED, rtol=1e-8)
    np.testing.assert_allclose(found.signals["block_position"], GRAVITY * IMPACT * offset, atol=1e-14)


def test_distant_and_shared_events_have_one_side() -> None:
    """An impact between output times has no alternatives, nor has a force that ends at an output time."""
    ending = {"name": "push", "joint": "block", "effort": f"5 if t < {IMPACT} else 0"}
    for data in (dropped(1e-4), dropped(1e-4) | {"forces": [ending]}):
        assert len(reference(data).alternatives.time) == 0
    late = ending | {"effort": f"5 if t < {IMPACT} + 1e-10 else 0"}
    found = reference(dropped(1e-4) | {"forces": [late]}).alternatives
    accelerations = found.signals["block_position_ddot"]
    assert sorted(accelerations) == pytest.approx([-GRAVITY, -GRAVITY + 5.0 / 2.0])


TIME = np.linspace(0.0, 1.0, 11)


def _stepped() -> Trajectory:
    """A ramp, and a force that jumps from 0 to 3 at t = 0.5, where the run has the later value."""
    signals = {"x": TIME.copy(), "force": np.where(TIME >= 0.5, 3.0, 0.0)}
    beside = Alternatives(np.array([0.5, 0.5]), {"x": np.array([0.5, 0.5]), "force": np.array([0.0, 3.0])})
    return Trajectory("reference", TIME, signals, alternatives=beside)


def _changed(name: str, row: int, value: float) -> Trajectory:
    signals = {key: values.copy() for key, values in _stepped().signals.items()}
    signals[name][row] = value
    return Trajectory("run", TIME, signals)


def test_values_on_either_side_of_an_event_agree() -> None:
    """At t = 0.5, forces of 0 and 3 are both right. Other forces, positions and times remain wrong."""
    units = {"x": "m", "force": "N"}
    early = _changed("force", 5, 0.0)
    outcome = compare(_stepped(), early, units, 1e-9)
    assert outcome.ok
    assert (
        outcome.note
        == "number of output times before which only one of the two runs has handled a nearby event: 1"
    )
    assert error_over_time(_stepped(), early, units)[1].max() == 0.0
    assert compare(_stepped(), _stepped(), units, 1e-9).note == ""
    faults = (("force", 5, 1.5, 0.5), ("force", 6, 0.0, 1.0), ("x", 5, 0.4, 0.1), ("force", 5, np.nan, np.inf))
    for name, row, value, error in faults:
        wrong = compare(_stepped(), _changed(name, row, value), units, 1e-9)
        assert not wrong.ok
        assert wrong.max_rel_error == pytest.approx(error)


def test_shortened_comparisons_keep_both_sides() -> None:
    """A comparison up to t = 0.7 s, or a reference with a crossed singular configuration, keeps the right rows."""
    outcome = compare(_stepped(), _changed("force", 5, 0.0), {}, 1e-9, until=0.7)
    assert outcome.ok
    assert not compare(_stepped(), _changed("force", 4, 3.0), {}, 1e-9, until=0.7).ok


def test_both_sides_survive_storage() -> None:
    """A stored run gives the same comparison as a new one."""
    again = read_trajectory(trajectory_bytes(_stepped())).alternatives
    assert again.time.tolist() == [0.5, 0.5]
    assert {name: values.tolist() for name, values in again.signals.items()} == {
        "x": [0.5, 0.5],
        "force": [0.0, 3.0],
    }


@pytest.fixture(scope="module")
def drop(compile_data: CompileData) -> Compiled:
    """The FMU of the falling block."""
    return compile_data(dropped())


@pytest.mark.slow
@pytest.mark.parametrize("offset", OFFSETS)
def test_runs_with_an_impact_close_to_an_output_time_agree(drop: Compiled, offset: float) -> None:
    """Model exchange, co-simulation and oracle agree. A damper or a spring that is wrong by 0.1 % does not."""
    data = dropped(offset)
    truth, height = reference(data), {"block_position_start": data["links"][0]["joint"]["position"]}
    runs = [run_of(drop, mode, stop=0.2, parameters=height) for mode in MODES]
    runs.append(oracle_run(assemble_system(from_data(data))))
    for run in runs:
        assert compare(truth, run, drop.model.units, 1e-6, complete=True).ok
    for wrong in ({"floor_stiffness": 1.001 * STIFFNESS}, {"floor_damping": 1.001 * DAMPING}):
        for mode in MODES:
            run = run_of(drop, mode, stop=0.2, parameters=height | wrong)
            assert compare(truth, run, drop.model.units, 1e-6).max_rel_error > 1e-5
