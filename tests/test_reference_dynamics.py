"""Equations of motion of the reference: Lagrange's equations, energy and momentum."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_reference import (
    manipulator,
    mechanism_of,
    random_mechanism,
    random_state,
    slope,
)
from numpy.typing import NDArray
from scipy.integrate import simpson

from gpmelica.errors import SolveError
from gpmelica.generator.mechanism import Mechanism
from gpmelica.reference import Energy, Model, energy, evaluate, simulate
from gpmelica.trajectory import Trajectory

Array = NDArray[np.float64]
SEEDS = range(12)


def _columns(mechanism: Mechanism, trajectory: Trajectory, suffix: str) -> Array:
    """Shape (N, n)."""
    return np.array([trajectory.signals[c.symbol + suffix] for c in mechanism.coordinates]).T


def _energies(mechanism: Mechanism, trajectory: Trajectory) -> list[Energy]:
    q, qd = _columns(mechanism, trajectory, ""), _columns(mechanism, trajectory, "_dot")
    model = Model(mechanism, start=(q[0], qd[0]))
    return [energy(model, t, *state) for t, *state in zip(trajectory.time, q, qd, strict=True)]


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix_is_the_kinetic_energy(seed: int) -> None:
    """M is symmetric positive definite, and ½ q̇ᵀMq̇ is Σ ½ m v² + ½ ωᵀ I ω of the bodies."""
    mechanism, rng = random_mechanism(seed)
    model, (q, qd) = Model(mechanism), random_state(mechanism, rng)
    posture = model.state(0.0, q, qd).posture
    M, _ = model.mass(posture)
    assert np.abs(M - M.T).max() < 1e-12 * np.abs(M).max()
    assert np.linalg.eigvalsh(M)[0] > 0
    kinetic = 0.0
    for b, body in enumerate(mechanism.bodies, start=1):
        R, T_dot = posture.T[:3, b, :3], posture.T_dot[:3, b]
        spin = T_dot[:, :3] @ R.T
        omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        v = T_dot @ [*body.com, 1.0]
        kinetic += 0.5 * (body.mass * v @ v + omega @ R @ body.inertia @ R.T @ omega)
    assert 0.5 * qd @ M @ qd == pytest.approx(kinetic, rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_inertial_forces_are_lagranges(seed: int) -> None:
    """h = Ṁ q̇ − ∂(½ q̇ᵀMq̇)/∂q, the velocity part of d/dt ∂E_k/∂q̇ − ∂E_k/∂q."""
    mechanism, rng = random_mechanism(seed)
    model, (q, qd) = Model(mechanism), random_state(mechanism, rng)

    def M(at: Array) -> Array:
        return model.mass(model.state(0.0, at, qd).posture)[0]

    M_dot = slope(lambda x: M(q + x * qd))
    gradient = [slope(lambda x, e=e: 0.5 * qd @ M(q + x * e) @ qd) for e in np.eye(mechanism.n)]
    h = model.mass(model.state(0.0, q, qd).posture)[1]
    assert np.abs(h - (M_dot @ qd - gradient)).max() < 1e-8 * max(1.0, np.abs(h).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_conservative_forces_are_the_potentials_gradient(seed: int) -> None:
    """Gravity and springs together are −∂E_p/∂q, supports included."""
    mechanism, rng = random_mechanism(seed)
    model, (q, qd) = Model(mechanism), random_state(mechanism, rng)
    if mechanism.supports and mechanism.chain.base.linearized:
        q[:6] *= 0.1
    gradient = [slope(lambda x, e=e: energy(model, 0.0, q + x * e, qd).potential) for e in np.eye(mechanism.n)]
    loads = model.forces(model.state(0.0, q, qd))
    assert np.abs(loads.gravity + loads.elastic + gradient).max() < 1e-8 * np.abs(gradient).max()


@pytest.mark.parametrize("seed", SEEDS)
def test_power_of_the_dampers(seed: int) -> None:
    """Dampers take power at every state, quadratic in the velocities."""
    mechanism, rng = random_mechanism(seed)
    model, (q, qd) = Model(mechanism), random_state(mechanism, rng)
    once, twice = (energy(model, 0.0, q, factor * qd).dissipated for factor in (1, 2))
    assert once >= 0
    assert twice == pytest.approx(4 * once, rel=1e-12)


def test_energy_balance_with_everything() -> None:
    """Energy gained is the work of drives, follower forces and constraints, less what the dampers take."""
    data = manipulator(
        forces=[
            {"name": "drive", "joint": "upper", "effort": "8*sin(3*t) - lower.angle_dot"},
            {"name": "push", "link": "lower", "point": [0.5, 0.1, 0], "force": ["t", "0", "9"], "frame": "link"},
        ],
        programmed=[{"name": "height", "expression": "E.z - start(E.z) - quintic(t, 0, 1, 0, 0.3)"}],
        simulation={"start": "description"},
    )
    data["links"][0]["joint"] |= {"damping": 8.0, "stiffness": 60.0, "rest": 0.4}
    mechanism = mechanism_of(data)
    run = simulate(mechanism, tolerance=1e-11, stop=1.5, output_step=0.005)
    balance = _energies(mechanism, run)
    effort = np.zeros_like(_columns(mechanism, run, ""))
    for k, c in enumerate(mechanism.coordinates):
        effort[:, k] = run.signals[f"{c.symbol}_effort"]
    constraint = np.sum(effort * _columns(mechanism, run, "_dot"), axis=1)
    parts = {
        "applied": np.array([e.applied for e in balance]),
        "dissipated": -np.array([e.dissipated for e in balance]),
        "constraint": constraint,
    }
    work = {name: simpson(power, x=run.time) for name, power in parts.items()}
    assert all(abs(w) > 0.1 for w in work.values()), work
    assert balance[-1].total - balance[0].total == pytest.approx(sum(work.values()), abs=1e-7)


def test_inputs() -> None:
    """FMU inputs are zero unless given, as a number or as a function of time; unknown ones are refused."""
    forces = [{"name": "u", "joint": "upper", "input": True}, {"name": "w", "link": "lower", "input": True}]
    mechanism = mechanism_of(manipulator(forces=forces))
    q, qd = np.array([0.0, 0.0]), np.zeros(2)
    rest = evaluate(mechanism, 2.0, q, qd).Q
    driven = evaluate(mechanism, 2.0, q, qd, inputs={"u": lambda t: 3 * t, "w_z": 4.0}).Q
    assert driven - rest == pytest.approx([6.0 + 4.0, 0.0], abs=1e-12)
    with pytest.raises(SolveError, match=r"no input is called v; known are: u, w_x, w_y, w_z"):
        evaluate(mechanism, 2.0, q, qd, inputs={"v": 1.0})


def test_gimbal_lock_is_reported() -> None:
    """At theta = π/2 the Euler angles are singular: a SolveError names time and coordinate, no NaN."""
    body = {"mass": 1.0, "inertia": [1.0, 1.0, 1.0]}
    links = [{"name": "a", "parent": "ground", "joint": {"type": "spherical"}} | body]
    mechanism = mechanism_of({"schema": 1, "name": "S", "links": links})
    with pytest.raises(SolveError, match=r"singular at t = 0\.5 s, where a\.(psi|phi)"):
        evaluate(mechanism, 0.5, [0.0, np.pi / 2, 0.0], [0.1, 0.1, 0.1])
