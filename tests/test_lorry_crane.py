"""The lorry crane of the examples: both derivations, and its FMU where outriggers lift."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_backends import Compile, Compiled, example_model
from helpers_parameters import Fmu, motion_signals
from helpers_settings import described, errors, setting
from helpers_stages import StagedModel
from numpy.typing import NDArray

from gpmelica.fmu.runs import simulate as runs
from gpmelica.reference import Model, evaluate

Array = NDArray[np.float64]
NAMES = ("base_phi", "column_angle", "boom_angle", "hook_x", "hook_y", "hook_z", "rope_force")
LEGS = [f"{end}_{side}_force" for end in ("front", "rear") for side in ("left", "right")]


@pytest.fixture(scope="module")
def crane(compile_example: Compile) -> Compiled:
    """The FMU of the case that tips."""
    return compile_example("lorry_crane", "tips")


@pytest.mark.parametrize("case", ["tips", "sets_down"])
def test_both_derivations_agree(case: str) -> None:
    """About the start, on all sides of outriggers, rope and ground."""
    model, rng = example_model("lorry_crane", case), np.random.default_rng(1)
    staged, n, (q0, _) = StagedModel(model), model.mechanism.n, model.start
    numbers = Model(model.mechanism, start=model.start)
    for _ in range(8):
        t = float(rng.uniform(0.0, 4.0))
        q, qd = (
            q0 + rng.uniform(-1, 1, n) * np.array([0.02] * 6 + [1.0, 0.3, 0.5, 0.8, 0.8, 2.0]),
            rng.normal(size=n),
        )
        found, expected = staged(t, q, qd), evaluate(model.mechanism, t, q, qd, start=model.start)
        assert np.abs(found.qdd - expected.qdd).max() < 1e-9 * np.abs(expected.qdd).max()
        for name, value in numbers.forces.signals(numbers.state(t, q, qd)).items():
            assert found.outputs[name] == pytest.approx(value, rel=1e-9, abs=1e-6), name


def test_the_start_is_at_rest() -> None:
    """In the equilibrium of base, boom, telescope and load on the rope nothing accelerates."""
    model = example_model("lorry_crane", None)
    found = evaluate(model.mechanism, 0.0, *model.start, start=model.start)
    assert np.abs(found.qdd).max() < 1e-6
    numbers = Model(model.mechanism, start=model.start)
    signals = numbers.forces.signals(numbers.state(0.0, *model.start))
    weight = 9.81 * sum(float(body.mass) for body in model.mechanism.bodies)
    assert sum(signals[leg] for leg in LEGS) == pytest.approx(weight, rel=1e-9)


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


@pytest.mark.parametrize(
    "values",
    [
        {"payload": 1500.0, "rope": 3.15},
        {"payload": 300.0, "rope": 1.5},
        {"payload": 800.0, "rope": 5.0},  # it lies where the description has it
    ],
)
def test_the_start_where_the_rope_goes_slack(crane: Compiled, values: dict[str, float]) -> None:
    """The load hangs on a longer or a shorter rope, or lies, as in a description with these numbers."""
    model = described(values)
    with Fmu(crane, "2.0", "cs") as fmu:
        found = fmu.start(values).read(motion_signals(model)[0])
    assert found == pytest.approx(model.start[0], abs=1e-9)


def test_parameters_that_are_set_are_numbers_of_the_description(crane: Compiled) -> None:
    """Start and motion at a random setting of masses, lengths, springs, friction and start values."""
    found = errors(crane.fmu, setting(np.random.default_rng(20)), tolerance=1e-12, stop=0.04)
    assert max(found.values()) < 1e-9
