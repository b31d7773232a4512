"""Kinematics of the reference: derivatives of transforms against differences."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_reference import random_mechanism, random_state, slope

from gpmelica.reference.kinematics.kinematics import Kinematics

SEEDS = range(12)


@pytest.mark.parametrize("seed", SEEDS)
def test_first_derivatives(seed: int) -> None:
    """T_b,i is the difference quotient of T_b along each coordinate, zero for coordinates that do not move b."""
    mechanism, rng = random_mechanism(seed)
    kinematics, (q, qd) = Kinematics(mechanism), random_state(mechanism, rng)
    T_q = kinematics(q, qd).T_q
    for i, e in enumerate(np.eye(mechanism.n)):
        expected = slope(lambda x, e=e: kinematics(q + x * e, qd).world, 1e-2)
        assert np.abs(T_q[i] - expected).max() < 1e-9
        still = [b + 1 for b in range(len(mechanism.bodies)) if i not in mechanism.ancestors(b)]
        assert not T_q[i][:, [0, *still]].any()


@pytest.mark.parametrize("seed", SEEDS)
def test_second_derivatives(seed: int) -> None:
    """T_b,mn, read from Σ T_b,mn q̇_m q̇_n by polarisation, is the derivative of T_b,m along q_n."""
    mechanism, rng = random_mechanism(seed)
    kinematics, (q, _) = Kinematics(mechanism), random_state(mechanism, rng)
    unit = np.eye(mechanism.n)
    square = [kinematics(q, e).T_bias for e in unit]
    for k, e in enumerate(unit):
        expected = slope(lambda x, e=e: kinematics(q + x * e, e).T_q, 1e-2)
        found = np.array([(kinematics(q, e + f).T_bias - square[k] - square[j]) / 2 for j, f in enumerate(unit)])
        assert np.abs(found - expected).max() < 1e-9
