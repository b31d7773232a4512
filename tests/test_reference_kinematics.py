"""Kinematics of the reference: derivatives of transforms against differences."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_reference import crane, mechanism_of, random_mechanism, random_state, slope

from gpmelica.generator.description.tables.frame import roll_pitch_yaw
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


def test_transforms_are_rigid_and_in_place() -> None:
    """A free body with angles psi, theta, phi stands at (x, y, z) with R = Rz(psi) Ry(theta) Rx(phi)."""
    body = {"mass": 1.0, "inertia": [1.0, 1.0, 1.0]}
    mechanism = mechanism_of(
        {
            "schema": 1,
            "name": "Body",
            "links": [{"name": "a", "parent": "ground", "joint": {"type": "free"}} | body],
        }
    )
    q = np.array([0.1, -0.2, 0.3, 0.7, -0.4, 0.5])
    T = Kinematics(mechanism)(q, q).world[:, 1]
    expected = np.eye(4)
    expected[:3, :3], expected[:3, 3] = roll_pitch_yaw(0.5, -0.4, 0.7), q[:3]
    assert np.abs(T - expected).max() < 1e-15


def test_fixed_links_ride_along() -> None:
    """A chain of fixed links keeps its constant transform to the moving link, whatever the state."""
    body = {"mass": 1.0, "inertia": [1.0, 1.0, 1.0]}
    frame = {"xyz": [0.1, 0.2, 0.3], "rpy": [0.3, 0.2, 0.1]}
    links = [
        {"name": "a", "parent": "ground", "joint": {"type": "spherical"}} | body,
        {"name": "b", "parent": "a", "frame": frame, "joint": {"type": "fixed"}} | body,
        {"name": "c", "parent": "b", "frame": frame, "joint": {"type": "fixed"}} | body,
    ]
    kinematics = Kinematics(mechanism_of({"schema": 1, "name": "Fixed", "links": links}))
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = roll_pitch_yaw(0.3, 0.2, 0.1), frame["xyz"]
    q = np.array([0.4, -0.3, 0.9])
    T = kinematics(q, q).T
    assert np.abs(T[:, 3] - T[:, 1] @ X @ X).max() < 1e-15


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
