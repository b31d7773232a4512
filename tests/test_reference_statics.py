"""Statics of the reference, and elastic beams against Euler–Bernoulli theory."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_reference import cantilever, crane, manipulator, mechanism_of, slope
from scipy.linalg import eigh

from gpmelica.errors import SolveError
from gpmelica.reference import Model, equilibrium, evaluate, start_state


def test_supports_carry_the_weight() -> None:
    """In the crane's equilibrium the supports' springs together push up with its weight, and nothing sideways."""
    mechanism = crane()
    model, q = Model(mechanism), equilibrium(mechanism)
    posture = model.state(0.0, q, 0 * q).posture
    force = sum(
        support.stiffness * (support.position - posture.world[:3, 1] @ [*support.position, 1.0])
        for support in mechanism.supports
    )
    weight = 9.81 * sum(body.mass for body in mechanism.bodies)
    assert force == pytest.approx([0.0, 0.0, weight], rel=1e-9, abs=1e-6)


def test_locked_joints_stay_and_the_others_rest() -> None:
    """Locked joints keep their start values; on all other coordinates the forces are in balance."""
    mechanism = crane()
    q = equilibrium(mechanism)
    found = evaluate(mechanism, 0.0, q, 0 * q)
    for k, c in enumerate(mechanism.coordinates):
        if c.role == "joint":
            assert q[k] == c.position
        else:
            assert abs(found.Q[k] - found.h[k]) < 1e-6


def test_springs_decide_what_is_free() -> None:
    """Without `locked`, joints with a spring settle, joints without keep their start value."""
    data = manipulator(gravity=[0.0, 0.0, -9.81])
    data["links"][1]["joint"] = data["links"][1]["joint"] | {"stiffness": 30.0, "rest": 0.2}
    q = equilibrium(mechanism_of(data))
    assert q[0] == 0.4
    moment = 2.0 * 9.81 * 0.4 * np.cos(q[0] + q[1])
    assert 30.0 * (q[1] - 0.2) == pytest.approx(-moment, rel=1e-9)


@pytest.mark.parametrize("start", [(0.4, 0.9), (1.5, 0.1), (0.0, 0.0), (-2.0, 3.0), (2.5, 2.5)])
def test_unlocked_arm_hangs(start: tuple[float, float]) -> None:
    """Joints that are not locked settle where the arm hangs straight down, not where it stands upright."""
    data = manipulator(statics={"locked": []})
    for link, angle in zip(data["links"], start, strict=True):
        link["joint"] = link["joint"] | {"position": angle}
    q = equilibrium(mechanism_of(data))
    assert [np.sin(q[0]), np.sin(q[0] + q[1])] == pytest.approx([-1.0, -1.0], abs=1e-12)
    assert np.abs(q).max() < 2 * np.pi


def test_large_deflections_settle() -> None:
    """A soft cantilever bent far beyond small angles by a follower force: its free end takes F times the lever."""
    force = {"name": "f", "link": "beam", "point": [2.0, 0.0, 0.0], "force": [0.0, 0.0, 150.0], "frame": "link"}
    mechanism = mechanism_of(cantilever(8, forces=[force]))
    model, q = Model(mechanism), equilibrium(mechanism)
    state = model.state(0.0, q, 0 * q)
    assert abs(np.sum(q)) > 1.0
    first = mechanism.bodies[1]
    lever = np.linalg.inv(np.vstack([state.posture.world[:3, 2], [0, 0, 0, 1]])) @ [*state.x[:3], 1.0]
    R = state.posture.T[:3, 2, :3].T @ state.posture.T[:3, 8, :3]
    moment = np.cross(lever[:3], R @ [0.0, 0.0, 150.0])
    theta = first.coordinates[1]
    assert mechanism.coordinates[theta].stiffness * q[theta] == pytest.approx(moment[1], rel=1e-9)


def test_applied_forces_take_part() -> None:
    """Forces act in statics with their value at t = 0, where start(x) is x."""
    force = {"name": "f", "link": "beam", "point": [2.0, 0, 0], "force": ["0", "0", "2 + t + E.z - start(E.z)"]}
    mechanism = mechanism_of(cantilever(8, forces=[force]))
    q = equilibrium(mechanism)
    tip = Model(mechanism).state(0.0, q, 0 * q).x[2]
    assert tip == pytest.approx(2.0 * 2.0**3 / (3 * 2.1e11 * 1e-9), rel=0.02)


def test_cantilever_deflection_converges() -> None:
    """The tip under a small load approaches F L³/(3 E I) with second order in the section's length (P0: RFEM)."""
    load, exact = 1e-3, 1e-3 * 2.0**3 / (3 * 2.1e11 * 1e-9)
    force = {"name": "f", "link": "beam", "point": [2.0, 0.0, 0.0], "force": [0.0, 0.0, load]}
    errors = []
    for elements in (2, 4, 8, 16):
        mechanism = mechanism_of(cantilever(elements, forces=[force]))
        q = equilibrium(mechanism)
        errors.append(abs(Model(mechanism).state(0.0, q, 0 * q).x[2] / exact - 1))
    sections = np.array([1, 3, 7, 15])
    orders = np.diff(np.log(errors)) / np.diff(np.log(1 / sections))
    assert orders == pytest.approx([2.0, 2.0, 2.0], abs=0.02)
    # The midpoint rule in the springs' places: a relative error of (Δ/L)²/4.
    assert errors == pytest.approx(0.25 / sections**2, rel=1e-3)


def test_cantilever_frequency_converges() -> None:
    """The first bending frequency approaches 1.8751² √(EI/(ρAL⁴)) with second order."""
    exact = 1.8751040687**2 * np.sqrt(2.1e11 * 1e-9 / (7800.0 * 1e-4 * 2.0**4))
    errors = []
    for elements in (4, 8, 16, 32):
        model = Model(mechanism_of(cantilever(elements)))
        zero = np.zeros(model.mechanism.n)

        def elastic(q: np.ndarray, model: Model = model, zero: np.ndarray = zero) -> np.ndarray:
            return model.forces(model.state(0.0, q, zero)).elastic

        K = -np.array([slope(lambda x, e=e: elastic(x * e)) for e in np.eye(len(zero))])
        M, _ = model.mass(model.state(0.0, zero, zero).posture)
        errors.append(abs(np.sqrt(eigh(K, M, eigvals_only=True)[0]) / exact - 1))
    orders = np.diff(np.log(errors)) / np.diff(np.log(1 / np.array([3, 7, 15, 31])))
    assert errors[-1] < 1e-3
    assert orders == pytest.approx([2.0, 2.0, 2.0], abs=0.15)


def test_start_state() -> None:
    """`start = "description"` takes the values of the file, "statics" only their velocities."""
    data = cantilever(3, gravity=[0.0, 0.0, -9.81])
    data["links"][0]["joint"] = {"type": "revolute", "axis": [0, 0, 1], "position": 0.3, "velocity": 0.2}
    for start, settled in (("description", False), ("statics", True)):
        q, qd = start_state(mechanism_of(data | {"simulation": {"start": start}}))
        assert (q[0], qd[0]) == (0.3, 0.2)
        assert bool(np.abs(q[1:]).max() > 1e-6) is settled
        assert not qd[1:].any()


def test_no_equilibrium_is_reported() -> None:
    """A coordinate without any support ends in an error that names it and what is left, once that is clear."""
    data = manipulator(statics={"locked": ["lower"]})
    data["links"][0]["joint"] = {"type": "prismatic", "axis": [0.0, 0.0, 1.0]}
    with pytest.raises(SolveError, match=r"found in 21 steps: .* 39\.2 N are left on upper\.position; give it a"):
        equilibrium(mechanism_of(data))
