"""Kinematics of the reference: derivatives of transforms against differences."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_reference import crane, random_mechanism, random_state, slope

from gpmelica.generator.mechanism import Place
from gpmelica.reference.kinematics.kinematics import Kinematics, Places

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


def test_places_move_with_their_bodies() -> None:
    """Velocity and bias of a place are its first and second difference quotients along q + q̇ t."""
    mechanism, rng = crane(), np.random.default_rng(1)
    kinematics, (q, qd) = Kinematics(mechanism), random_state(mechanism, rng)
    places = Places([Place(b, rng.normal(size=3)) for b in range(-1, len(mechanism.bodies))], kinematics.slots)
    motion = places.motion(kinematics(q, qd))

    def along(t: float) -> np.ndarray:
        posture = kinematics(q + t * qd, qd)
        return places.motion(posture).position + posture.datum[:, None]

    def velocity(t: float) -> np.ndarray:
        return places.motion(kinematics(q + t * qd, qd)).velocity

    assert np.abs(motion.velocity - slope(along)).max() < 1e-9 * np.abs(motion.velocity).max()
    assert np.abs(motion.bias - slope(velocity)).max() < 1e-9 * np.abs(motion.bias).max()
    assert np.abs(np.tensordot(qd, motion.jacobian, 1) - motion.velocity).max() < 1e-12
    assert not motion.jacobian[:, :, 0].any()
