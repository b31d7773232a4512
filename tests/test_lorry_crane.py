"""Machines of the examples with cylinders: both derivations, equilibria, and the lorry crane's FMU that tips."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_backends import Compile, Compiled, Fmu, example_model, motion_signals, random_states
from helpers_problem import evaluate
from helpers_settings import described, errors, setting
from helpers_stages import StagedModel

from gpmelica.analysis import ReferenceModel
from gpmelica.analysis.system import System
from gpmelica.runs.fmpy_runs import simulate as runs
from gpmelica.runs.fmpy_runs.states import State

NAMES = ("base_phi", "column_angle", "boom_angle", "hook_x", "hook_y", "hook_z", "rope_force")
CYLINDERS = [("stewart", None), ("stewart", "legs"), ("excavator_arm", "digs")]
LEGS = [f"{end}_{side}_force" for end in ("front", "rear") for side in ("left", "right")]


@pytest.fixture(scope="module")
def crane(compile_example: Compile) -> Compiled:
    """The FMU of the case that tips."""
    return compile_example("lorry_crane", "tips")


def _around(model: System, rng: np.random.Generator) -> State:
    """About the lorry crane's start, on all sides of outriggers, rope and ground."""
    n, reach = model.mechanism.n, np.array([0.02] * 6 + [1.0, 0.3, 0.5, 0.8, 0.8, 2.0])
    q = model.start[0] + rng.uniform(-1, 1, n) * reach
    return State(float(rng.uniform(0.0, 4.0)), q, rng.normal(size=n), np.zeros(0))


@pytest.mark.slow
@pytest.mark.parametrize(("example", "case"), [*CYLINDERS, ("lorry_crane", "tips"), ("lorry_crane", "sets_down")])
def test_both_derivations_agree(example: str, case: str | None) -> None:
    """Accelerations and forces about the start, over the time of the run."""
    model, rng = example_model(example, case), np.random.default_rng(1)
    lorry = example == "lorry_crane"
    states = [_around(model, rng) for _ in range(8)] if lorry else random_states(model, rng, 3)
    staged, numbers = StagedModel(model), ReferenceModel(model.mechanism, start=model.start)
    for s in states:
        found = staged(s.t, s.q, s.qd)
        expected = evaluate(model.mechanism, s.t, s.q, s.qd, start=model.start, dependent=model.dependent)
        assert np.abs(found.qdd - expected.qdd).max() < 1e-9 * np.abs(expected.qdd).max()
        for name, value in numbers.forces.signals(numbers.state(s.t, s.q, s.qd)).items():
            assert found.outputs[name] == pytest.approx(value, rel=1e-9, abs=1e-6), name


def test_the_start_is_at_rest() -> None:
    """In the equilibrium of base, boom, telescope and load on the rope nothing accelerates."""
    model = example_model("lorry_crane", None)
    found = evaluate(model.mechanism, 0.0, *model.start, start=model.start)
    assert np.abs(found.qdd).max() < 1e-6
    numbers = ReferenceModel(model.mechanism, start=model.start)
    signals = numbers.forces.signals(numbers.state(0.0, *model.start))
    weight = 9.81 * sum(float(body.mass) for body in model.mechanism.bodies)
    assert sum(signals[leg] for leg in LEGS) == pytest.approx(weight, rel=1e-9)


@pytest.mark.slow
def test_model_exchange_and_co_simulation_agree(crane: Compiled) -> None:
    """Over a lift-off of two outriggers and their landing: to 1e-6 of range, by solvers that share nothing."""
    options = {"stop": 3.5, "output_step": 0.02, "tolerance": 1e-10}
    signals = [*NAMES, *LEGS]
    me, cs = (runs.simulate(crane.fmu, mode, signals, name=mode, **options) for mode in ("me", "cs"))
    for name in signals:
        scale = np.ptp(cs.signals[name])
        assert np.abs(me.signals[name] - cs.signals[name]).max() < 1e-6 * scale, name
    lifted = cs.signals["rear_right_force"] == 0.0
    assert 0.5 < lifted.sum() * 0.02 < 1.2  # s
    assert np.all(np.array([cs.signals[leg] for leg in LEGS]) >= 0.0)


# on a rope of 5 m the load lies where the description has it
@pytest.mark.parametrize(("payload", "rope"), [(1500.0, 3.15), (300.0, 1.5), (800.0, 5.0)])
def test_the_start_where_the_rope_goes_slack(crane: Compiled, payload: float, rope: float) -> None:
    """The load hangs on a longer or a shorter rope, or lies, as in a description with these numbers."""
    values = {"payload": payload, "rope": rope}
    model = described(values)
    with Fmu(crane) as fmu:
        found = fmu.start(values).get(motion_signals(model)[0])
    assert found == pytest.approx(model.start[0], abs=1e-9)


@pytest.mark.slow
def test_parameters_that_are_set_are_numbers_of_the_description(crane: Compiled) -> None:
    """Start and motion at a random setting of masses, lengths, springs, friction and start values."""
    found = errors(crane.fmu, setting(np.random.default_rng(20)), tolerance=1e-12, stop=0.04)
    assert max(found.values()) < 1e-9


def test_six_cylinders_carry_the_platform() -> None:
    """In equilibrium each bears a sixth of the weight, along its inclined axis; places have six digits."""
    model = example_model("stewart", "heavy")
    numbers = ReferenceModel(model.mechanism, start=model.start)
    signals = numbers.forces.signals(numbers.state(0.0, *model.start))
    height = model.start[0][2]
    for k in range(1, 7):
        force, length = signals[f"cylinder{k}_force"], signals[f"cylinder{k}_length"]
        assert force == pytest.approx(-2000.0 * 9.81 * length / height / 6, rel=1e-5)


def test_both_platforms_start_alike() -> None:
    """Cylinders as lines and as bodies, whose own weight alone makes a difference."""
    lines, legs = (example_model("stewart", case).start[0][:6] for case in (None, "legs"))
    assert np.abs(lines - legs).max() < 1e-4  # m, rad
    assert lines[2] < legs[2] + 1e-4 < 1.2 + 1e-4
