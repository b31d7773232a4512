"""The reference's rates of many states at once, as its stages want them, are those of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers_loops import CLOSURES, random_loop
from helpers_random import random_chain, tied
from numpy.typing import NDArray

from gpmelica import reference
from gpmelica.generator.description.load import from_data
from gpmelica.generator.mechanism import Mechanism, build
from gpmelica.reference.integration.motion import Motion
from gpmelica.reference.kinematics.segment import Segment
from gpmelica.reference.solve.solver import formulation

Array = NDArray[np.float64]
STATES = 5


def _assert_same(mechanism: Mechanism, q: Array, qd: Array, rng: np.random.Generator) -> None:
    model = reference.Model(mechanism, start=(q, qd))
    motion = Motion(model, formulation(model, model.state(0.0, q, qd)))
    rate, t = motion.rate(Segment(0.0)), np.linspace(0.0, 0.01, STATES)
    y = motion.states(q, qd) + 1e-3 * rng.normal(size=(STATES, motion.size))
    each = np.array([rate(float(at), one) for at, one in zip(t, y, strict=True)])
    assert np.abs(rate(t, y) - each).max() <= 1e-12 * np.abs(each).max()


@pytest.mark.parametrize("linearized", [False, True])
@pytest.mark.parametrize("base", ["flexible", "rigid"])
@pytest.mark.parametrize("seed", range(2))
def test_bases(seed: int, base: str, linearized: bool) -> None:
    """With supports as points or by small motions, and without any."""
    rng = np.random.default_rng(seed)
    data: dict[str, Any] = random_chain(rng, base=base) | {"simulation": {"start": "description"}}
    data["base"] |= {"linearized": linearized}
    mechanism = build(from_data(data))
    q = np.array([c.position for c in mechanism.coordinates])
    _assert_same(mechanism, q, rng.uniform(-1.0, 1.0, mechanism.n), rng)


@pytest.mark.parametrize("kind", CLOSURES)
def test_loops(kind: str) -> None:
    """Of every closure, on bases of all kinds."""
    for seed in range(3):
        mechanism, q, qd, rng = random_loop(seed, kind)
        _assert_same(mechanism, q, qd, rng)


def test_all_at_once() -> None:
    """Joints of many kinds, armatures, friction by the load, rows, a held joint."""
    mechanism = build(from_data(tied()))
    q, qd = reference.start_state(mechanism)
    _assert_same(mechanism, q, qd, np.random.default_rng(1))
