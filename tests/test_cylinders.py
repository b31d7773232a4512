"""Examples that cylinders move: the Stewart platform, also with cylinders as bodies, and the excavator's arm."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_backends import example_model, random_states
from helpers_stages import StagedModel

from gpmelica.reference import Model, evaluate

CASES = [("stewart", None), ("stewart", "legs"), ("excavator_arm", "digs")]


@pytest.mark.parametrize(("example", "case"), CASES)
def test_both_derivations_agree(example: str, case: str | None) -> None:
    """Accelerations and forces about the start, over the time of the run."""
    model = example_model(example, case)
    staged, numbers = StagedModel(model), Model(model.mechanism, start=model.start)
    for state in random_states(model, np.random.default_rng(6), 3):
        t, q, qd = state.t, state.q, state.qd
        found = staged(t, q, qd)
        expected = evaluate(model.mechanism, t, q, qd, start=model.start, dependent=model.dependent)
        assert np.abs(found.qdd - expected.qdd).max() < 1e-9 * np.abs(expected.qdd).max()
        for name, value in numbers.forces.signals(numbers.state(t, q, qd)).items():
            assert found.outputs[name] == pytest.approx(value, rel=1e-9, abs=1e-6), name


def test_six_cylinders_carry_the_platform() -> None:
    """In equilibrium each bears a sixth of the weight, along its inclined axis; places have six digits."""
    model = example_model("stewart", "heavy")
    numbers = Model(model.mechanism, start=model.start)
    signals = numbers.forces.signals(numbers.state(0.0, *model.start))
    height = model.start[0][2]
    for k in range(1, 7):
        force, length = signals[f"cylinder{k}_force"], signals[f"cylinder{k}_length"]
        assert force == pytest.approx(-2000.0 * 9.81 * length / height / 6, rel=1e-5)


def test_both_platforms_start_alike() -> None:
    """Cylinders as lines and as bodies, whose own weight alone makes a difference."""
    lines, legs = (example_model("stewart", case).start[0][:6] for case in (None, "legs"))
    assert np.abs(lines[:3] - legs[:3]).max() < 1e-4  # m
    assert np.abs(lines[3:] - legs[3:]).max() < 1e-4
    assert lines[2] < legs[2] + 1e-4 < 1.2 + 1e-4
