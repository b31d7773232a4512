"""Motions by inputs through filters and by tables: closed forms, in the reference and in the FMUs; wrong ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers_backends import EXAMPLES, Compiled, CompileData, Fmu, run_of
from helpers_motions import COMMAND, LENGTH, LOWERED, START, drives, lowering, reach
from helpers_parts import X, body, link, machine
from helpers_problem import evaluate, simulate
from helpers_reference import manipulator, mechanism_of
from helpers_stages import StagedModel
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator

from gpmelica.analysis.system import assemble_system
from gpmelica.core.trajectory import Trajectory
from gpmelica.description.load import from_data, load
from gpmelica.fmu.archive.validation import validate
from gpmelica.runs.fmpy_runs import simulate as runs
from gpmelica.runs.rumoca import CompiledModel

Array = NDArray[np.float64]
INPUTS = {"reach": COMMAND, "hoist": LOWERED}


def _swing(t: Array) -> dict[str, Array]:
    """The polynomial that the table has been made of, begun 0.05 s late."""
    tau = np.clip((t - 0.05) / 0.9, 0.0, 1.0)
    inside = (tau > 0.0) & (tau < 1.0)
    return {
        "swing_angle": 0.8 * (3 * tau**2 - 2 * tau**3),
        "swing_angle_dot": 0.8 * (6 * tau - 6 * tau**2) / 0.9,
        "swing_angle_ddot": 0.8 * (6 - 12 * tau) / 0.81 * inside,
    }


def _check(run: Trajectory, tolerance: float) -> None:
    for name, exact in (reach(run.time) | lowering(run.time) | _swing(run.time)).items():
        size = np.abs(exact).max()
        assert run.signals[name] == pytest.approx(exact, abs=tolerance * size), name


def test_closed_forms_in_the_reference() -> None:
    """Steps of two commands, a table of a cubic: motions, rates, and what the drive delivers."""
    _check(simulate(mechanism_of(drives()), inputs=INPUTS), 1e-8)


@pytest.fixture(scope="module", params=["2.0", "3.0"])
def driven(request: pytest.FixtureRequest, compile_data: CompileData) -> Compiled:
    """Compile the FMU in each version of the standard."""
    return compile_data(drives(), request.param)


@pytest.mark.parametrize("mode", ["me", "cs"])
def test_closed_forms_in_the_fmu(driven: Compiled, mode: runs.Mode) -> None:
    """The FMU follows the closed forms of the reference solver's test."""
    some = np.linspace(0.0, 1.0, 3)
    names = [*reach(some), *lowering(some), *_swing(some)]
    _check(run_of(driven, mode, names, stop=1.0, output_step=0.02, parameters=INPUTS), 3e-8)


def test_nothing_moves_without_a_command(driven: Compiled) -> None:
    """Inputs start where joints and lengths do; the description of the FMU is sound."""
    assert validate(driven.fmu) == []
    variables = {v.name: v for v in driven.description.modelVariables}
    starts = [float(variables[name].start) for name in ("reach", "hoist")]
    assert np.array_equal(starts, [START, LENGTH])
    names = ["arm_angle", "reach_offset", "hoist_filtered"]
    run = run_of(driven, "cs", names, stop=0.4, output_step=0.1)
    assert run.signals["arm_angle"] == pytest.approx(START, abs=1e-12)
    assert not run.signals["reach_offset"].any()
    assert run.signals["hoist_filtered"] == pytest.approx(LENGTH, abs=1e-14)


def test_kinks_of_linear_tables_are_time_events(compile_data: CompileData) -> None:
    """Each, and both ends of cubic ones, in model exchange."""
    compiled = compile_data(drives())
    with Fmu(compiled, "me") as fmu:
        fmu.start()
        found, t = [], 0.0
        while np.isfinite(t):
            fmu.fmi.setTime(t)
            t = fmu.enter_continuous_time()
            found.append(t)
            fmu.fmi.enterEventMode()
    kinks = np.array([0.1, 0.25, 0.4, 0.6, 0.8, 0.9]) / 1.5
    assert found[:-1] == pytest.approx(sorted([*kinks, 0.05, 0.95]), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["me", "cs"])
def test_a_mass_that_a_monotone_table_pushes(tmp_path: Path, compile_data: CompileData, mode: str) -> None:
    """Velocity and position are the integrals of the force, which rests at both ends of its table."""
    time, push = np.array([0.1, 0.3, 0.35, 0.7, 0.8]), np.array([0.0, 0.0, 4.0, 4.0, -1.0])
    (tmp_path / "push.csv").write_text("time,x\n" + "".join(f"{t},{x}\n" for t, x in zip(time, push, strict=True)))
    tables = {"push": {"file": str(tmp_path / "push.csv"), "value": "x", "interpolation": "pchip"}}
    forces = [{"name": "f", "joint": "slide", "effort": "table(push, t)"}]
    settings = {"simulation": {"stop": 1.0, "start": "description"}, "gravity": [0.0, 0.0, 0.0]}
    compiled = compile_data(
        machine(link("slide", "prismatic", X) | body(2.0), tables=tables, forces=forces, **settings)
    )
    run = run_of(compiled, mode, ["slide_position", "slide_position_dot"], stop=1.0, output_step=0.05)
    longer = np.concatenate([[-1.0], time, [2.0]])
    force = PchipInterpolator(longer, np.concatenate([push[:1], push, push[-1:]]))
    for order, name in ((1, "slide_position_dot"), (2, "slide_position")):
        integral = force.antiderivative(order)
        exact = (integral(run.time) - integral(0.0)) / 2.0
        assert run.signals[name] == pytest.approx(exact, abs=1e-8)


def test_a_state_that_is_restored_goes_on_the_same(compile_data: CompileData) -> None:
    """Filters, pieces of tables and kinks included, to the last bit."""
    names = ["arm_angle", "reach_filtered", "swing_angle", "tail_angle", "load_position"]
    with Fmu(compile_data(drives())) as fmu:
        fmu.start(INPUTS)
        fmu.run(np.linspace(0.0, 0.3, 4))
        state = fmu.saved()
        later = np.linspace(0.3, 0.9, 7)
        first = fmu.run(later, names)
        fmu.restart()
        fmu.restore(state)
        assert np.array_equal(fmu.run(later, names), first)


@pytest.mark.parametrize("formulation", ["gpme", "gpme_reduced", "lagrange"])
def test_both_derivations_agree(formulation: str) -> None:
    """At any state of filters, time and command, with rows, efforts and forces."""
    model = assemble_system(from_data(drives(constraints={"formulation": formulation})))
    staged, rng, n = StagedModel(model), np.random.default_rng(5), model.mechanism.n
    for t in (0.0, 0.3, 0.7, 1.2):
        q, qd = model.start[0] + rng.uniform(-0.3, 0.3, n), rng.uniform(-1.0, 1.0, n)
        z, inputs = rng.uniform(-0.5, 0.5, 4), {"reach": 0.8, "hoist": 2.1}
        found = staged(t, q, qd, inputs, z.tolist())
        exact = evaluate(model.mechanism, t, q, qd, z, start=model.start, inputs=inputs)
        assert found.qdd == pytest.approx(exact.qdd, rel=1e-9, abs=1e-9)
        # A joint without a drive has no effort, neither as an output nor in the other derivation.
        efforts = [found.outputs.get(f"{c.symbol}_effort", 0.0) for c in model.mechanism.coordinates]
        assert efforts == pytest.approx(exact.drive, rel=1e-9, abs=1e-8)
        assert [name for name in found.outputs if name.endswith("_effort")] == [
            "arm_angle_effort",
            "swing_angle_effort",
        ]


def test_a_length_begins_with_the_distance_of_its_ends() -> None:
    """A rope without an initial length is free of force as described, and statics stretch the rope."""
    rope = {"name": "rope", "a": {"link": "ground", "point": [0.0, 0.0, 2.0]}, "b": {"link": "lower"}}
    rope |= {"stiffness": 1e3, "rest": {"input": "hoist", "cutoff": 10.0}}
    model = assemble_system(from_data(manipulator(lines=[rope], simulation={"start": "description"})))
    (length,) = model.native_program.inputs
    tip = np.array([np.cos(0.4), np.sin(0.4)])
    assert length.start == pytest.approx(np.hypot(tip[0], tip[1] - 2.0), rel=1e-14)
    without = evaluate(mechanism_of(manipulator()), 0.0, *model.start).Q
    assert np.abs(evaluate(model.mechanism, 0.0, *model.start).Q - without).max() < 1e-9


@pytest.mark.slow
def test_closed_forms_in_the_text() -> None:
    """Run by rumoca, where commands are parameters; at its tolerance."""
    model = assemble_system(from_data(drives()))
    model.program.inputs[:] = [replace(entry, start=INPUTS[entry.name]) for entry in model.program.inputs]
    compiled = CompiledModel(model.modelica(start_values=model.start_values()), "Drives.Experiment")
    some = np.linspace(0.0, 1.0, 3)
    names = [*reach(some), *lowering(some), *_swing(some)]
    _check(compiled.simulate(names, stop=1.0, output_step=0.02, tolerance=1e-9, budget=60.0), 1e-5)


def test_the_tower_crane() -> None:
    """Both derivations near its start, where nothing moves but what the table and the commands demand."""
    model = assemble_system(load(EXAMPLES / "tower_crane" / "tower_crane.toml"))
    staged, rng, n = StagedModel(model), np.random.default_rng(2), model.mechanism.n
    assert np.abs(evaluate(model.mechanism, 0.0, *model.start, start=model.start).qdd[2:]).max() < 1e-7
    for t in (0.3, 4.1, 9.0):
        q, qd = model.start[0] + rng.uniform(-0.1, 0.1, n), rng.uniform(-1.0, 1.0, n)
        found = staged(t, q, qd, {"travel": 15.0}, [0.5, 0.1, -0.2, 0.3])
        given = {"start": model.start, "inputs": {"travel": 15.0}}
        exact = evaluate(model.mechanism, t, q, qd, [0.5, 0.1, -0.2, 0.3], **given)
        assert np.abs(found.qdd - exact.qdd).max() < 1e-9 * np.abs(exact.qdd).max()
