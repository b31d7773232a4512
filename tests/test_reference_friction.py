"""Friction of the reference: bristle models, the loop with the joint loads, work, stick-slip."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers_absolute import AbsoluteModel
from helpers_friction import DAHL, LUGRE, STICK_SLIP, stick_slip
from helpers_loops import random_loop
from helpers_random import random_chain
from helpers_reference import manipulator, mechanism_of, random_state
from numpy.typing import NDArray
from scipy.integrate import simpson, solve_ivp

from gpmelica.generator.mechanism import Friction, Mechanism
from gpmelica.reference import evaluate, joint_loads, simulate, start_state
from gpmelica.trajectory import Trajectory

Array = NDArray[np.float64]


def _bristles(friction: Friction, v: float, z: float) -> tuple[float, float]:
    """ż and μ as design 4.8 writes them."""
    if friction.model == "lugre":
        steady = friction.mu_k + (friction.mu_s - friction.mu_k) * np.exp(-((v / friction.v_s) ** 2))
        z_dot = v - friction.sigma0 * abs(v) * z / steady
        return z_dot, friction.sigma0 * z + friction.sigma1 * z_dot + friction.sigma2 * v
    x = 1 - friction.sigma0 * z * np.sign(v) / friction.mu_s
    return v * abs(x) ** friction.gamma * np.sign(x), friction.sigma0 * z


def _rubbing(seed: int, kind: str | None) -> tuple[Mechanism, Array, Array, Array]:
    """A random tree or loop, some of whose joints rub; q, q̇, z."""
    rng = np.random.default_rng(seed)
    options: dict[str, Any] = {"joints": ("revolute", "prismatic", "revolute", "spherical")}
    if kind is None:
        data = random_chain(rng, 5, (None, "flexible", "rigid")[seed % 3], **options)
        mechanism = mechanism_of(data)
        q, qd = random_state(mechanism, rng)
    else:
        mechanism, q, qd, rng = random_loop(seed, kind, links=6, **options)
    data = mechanism.chain.model_dump(by_alias=True, exclude_none=True)
    if "base" in data:
        data["base"]["linearized"] = False
    for i, link in enumerate(data["links"]):
        if link["joint"]["type"] in ("revolute", "prismatic"):
            size = {"diameter": 0.08} if link["joint"]["type"] == "revolute" else {}
            given = {"normal_force": 5.0} if i % 3 == 2 else {}
            link["joint"]["friction"] = (LUGRE if i % 2 else DAHL) | size | given
    mechanism = mechanism_of(data)
    if mechanism.base_fixed:
        q[:6] = qd[:6] = 0.0
    count = sum(c.friction is not None for c in mechanism.coordinates)
    return mechanism, q, qd, rng.uniform(-0.005, 0.005, count)


def _converged(mechanism: Mechanism, q: Array, qd: Array, z: Array) -> Array:
    """Friction efforts of the absolute model, whose loads they fit to rounding; shape (n,)."""
    rubbing = [k for k, c in enumerate(mechanism.coordinates) if c.friction is not None]
    efforts = np.zeros(mechanism.n)
    change = np.inf
    while not change < 1e-13 * np.abs(efforts).max():
        model = AbsoluteModel(mechanism, q, qd)
        joints = model.solve(efforts).joints
        following = np.zeros(mechanism.n)
        for k, deflection in zip(rubbing, z, strict=True):
            c, b = mechanism.coordinates[k], next(b for b, x in enumerate(mechanism.bodies) if k in x.coordinates)
            assert c.friction is not None
            e = model.frames[b].R @ np.array(c.axis)
            normal = c.friction.normal_force or np.linalg.norm(np.cross(e, joints[b, :3]))
            following[k] = -_bristles(c.friction, qd[k], deflection)[1] * c.friction.arm * normal
        change, efforts = np.abs(following - efforts).max(), following
    return efforts


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", [None, "revolute", "distance"])
def test_friction_fits_the_loads(kind: str | None, seed: int) -> None:
    """Friction efforts, found by sweeps, are those of an absolute model whose own loads they fit; ż likewise."""
    mechanism, q, qd, z = _rubbing(seed, kind)
    found, efforts = evaluate(mechanism, 0.0, q, qd, z), _converged(mechanism, q, qd, z)
    assert found.friction_residual < 1e-8
    assert np.abs(found.friction - efforts).max() < 1e-8 * np.abs(efforts).max()
    rubbing = [k for k, c in enumerate(mechanism.coordinates) if c.friction is not None]
    expected = [_bristles(mechanism.coordinates[k].friction, qd[k], x)[0] for k, x in zip(rubbing, z, strict=True)]
    assert found.z_dot == pytest.approx(expected, rel=1e-12)
    assert not np.delete(found.friction, rubbing).any()
    result = AbsoluteModel(mechanism, q, qd).solve(efforts)
    link = mechanism.bodies[-1].link
    first = next(b for b, body in enumerate(mechanism.bodies) if body.link == link)
    load = joint_loads(mechanism, 0.0, q, qd, z, links=[link])[link]
    assert np.linalg.norm(load[:3]) == pytest.approx(np.linalg.norm(result.joints[first, :3]), rel=1e-6)


def _slider(friction: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A mass of 1 kg on a horizontal slide with a given normal force of 1 N."""
    joint = {"type": "prismatic", "axis": [1.0, 0.0, 0.0], "friction": friction | {"normal_force": 1.0}}
    link = {"name": "mass", "parent": "ground", "joint": joint, "mass": 1.0, "inertia": [1.0, 1.0, 1.0]}
    return {"schema": 1, "name": "Slide", "gravity": [0.0, 0.0, -9.81], "links": [link]} | changes


def test_normal_force_of_a_slide_is_the_weight() -> None:
    """Without a given normal force, a horizontal slide rubs with μ m g; a vertical one hangs free."""
    for axis, normal in (([1.0, 0.0, 0.0], 9.81), ([0.0, 0.0, 1.0], 0.0)):
        data = _slider(LUGRE)
        data["links"][0]["joint"] |= {"axis": axis, "friction": LUGRE}
        found = evaluate(mechanism_of(data), 0.0, [0.0], [0.2], [0.001])
        mu = _bristles(mechanism_of(data).coordinates[0].friction, 0.2, 0.001)[1]
        assert found.friction[0] == pytest.approx(-mu * normal, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("mu", [0.5, 1.5, 3.0])
def test_loop_where_friction_outweighs_the_load(mu: float) -> None:
    """Two crossed slides of 1 kg each, pulled back by F: τ_x = μ τ_y and τ_y = μ (F/2 − τ_x/2).

    Beyond μ = √2 to insert one into the other does not converge; the solution is there all the same.
    """
    friction, F = {"model": "dahl", "sigma0": 100.0, "mu_s": 10.0}, 30.0
    links, parent = [], "ground"
    for name, axis in (("lower", [1.0, 0.0, 0.0]), ("upper", [0.0, 1.0, 0.0])):
        joint = {"type": "prismatic", "axis": axis, "friction": friction}
        links.append({"name": name, "parent": parent, "joint": joint, "mass": 1.0, "inertia": [1.0, 1.0, 1.0]})
        parent = name
    forces = [{"name": "f", "link": "upper", "force": [-F, 0.0, 0.0]}]
    data = {"schema": 1, "name": "Slides", "gravity": [0.0, 0.0, 0.0], "links": links, "forces": forces}
    found = evaluate(mechanism_of(data), 0.0, [0.0, 0.0], [1.0, 1.0], [mu / 100.0, mu / 100.0])
    across = mu * F / 2 / (1 + mu**2 / 2)
    assert found.friction == pytest.approx([-mu * across, -across], rel=1e-8)
    assert found.qdd == pytest.approx([(-F - mu * across) / 2, -across], rel=1e-8)
    assert found.friction_residual < 1e-8


def test_stick_slip() -> None:
    """The benchmark of Canudas de Wit et al. (1995) has its limit cycle, that of a converged solution.

    The mass sticks until the spring pulls with nearly F_s = 1.5 N, slips once with F_c = 1 N and viscous friction,
    and sticks again with a spring force as far below F_c, less what viscous friction has taken.
    """
    forces = [{"name": "pull", "joint": "mass", "effort": "2*(0.1*t - mass.position)"}]
    mechanism = mechanism_of(_slider(STICK_SLIP, forces=forces))
    run = simulate(mechanism, method="Radau", tolerance=1e-7, stop=23.0, output_step=0.05)
    exact = solve_ivp(stick_slip, (0.0, 23.0), [0.0, 0.0, 0.0], "Radau", run.time, rtol=1e-11, atol=1e-14)
    x, v, z = (run.signals[f"mass_position{part}"] for part in ("", "_dot", "_z"))
    for found, expected, tolerance in ((x, exact.y[0], 1e-6), (v, exact.y[1], 1e-6), (z, exact.y[2], 1e-10)):
        assert np.abs(found - expected).max() < tolerance
    friction = 2.0 * (0.1 * run.time - x) - run.signals["mass_position_ddot"]
    assert 1.45 < friction.max() < 1.505


def _driven(friction: dict[str, Any], amplitude: float, stop: float) -> Trajectory:
    """The slide moved as x = A sin t by a programmed equation; m = 1 kg."""
    program = [{"name": "swing", "expression": f"mass.position - {amplitude}*sin(t)"}]
    data = _slider(friction, programmed=program)
    data["links"][0]["joint"]["velocity"] = amplitude
    data["simulation"] = {"stop": stop, "output_step": 2 * np.pi / 200, "tolerance": 1e-8}
    return simulate(mechanism_of(data))


def test_dahls_hysteresis_loop() -> None:
    """With γ = 1, x = A sin t gives a loop of exponentials with ends ±μ_s tanh(σ0 A/μ_s); the work is its area."""
    amplitude, sigma0, mu_s = 0.01, 40.0, 0.2
    friction = {"model": "dahl", "sigma0": sigma0, "mu_s": mu_s, "gamma": 1.0}
    run = _driven(friction, amplitude, 4 * np.pi)
    x, force = run.signals["mass_position"], sigma0 * run.signals["mass_position_z"]
    # The drive overcomes inertia and friction.
    drive = run.signals["mass_position_effort"]
    assert drive == pytest.approx(run.signals["mass_position_ddot"] + force, abs=1e-9)
    last = slice(-201, None)
    ends = mu_s * np.tanh(sigma0 * amplitude / mu_s)
    assert force[last][np.argmax(x[last])] == pytest.approx(ends, rel=1e-4)
    assert force[last][np.argmin(x[last])] == pytest.approx(-ends, rel=1e-4)
    taken = simpson(force[last] * run.signals["mass_position_dot"][last], x=run.time[last])
    decay = 1 - np.exp(-2 * sigma0 * amplitude / mu_s)
    assert taken == pytest.approx(2 * (2 * amplitude * mu_s - (mu_s + ends) * mu_s / sigma0 * decay), rel=1e-4)


@pytest.mark.parametrize(("friction", "amplitude"), [(LUGRE, 0.002), (DAHL, 0.02)])
def test_work_over_closed_cycles(friction: dict[str, Any], amplitude: float) -> None:
    """Over every stretch that ends with the bristles as they were at its begin, friction takes work."""
    run = _driven(friction, amplitude, 2.7 * np.pi)
    z, v = run.signals["mass_position_z"], run.signals["mass_position_dot"]
    power = (run.signals["mass_position_effort"] - run.signals["mass_position_ddot"]) * v
    work = np.concatenate([[0.0], np.cumsum(np.diff(run.time) * (power[1:] + power[:-1]) / 2)])
    assert power.min() < 0 < power.max()
    crossings = np.flatnonzero(z[1:] * z[:-1] <= 0)
    assert len(crossings) >= 3
    assert np.all(np.diff(work[crossings]) > 0)


def test_states_start_undeformed() -> None:
    """z begins at 0, is a signal of its coordinate alone, and `evaluate` takes it for 0 where it is not given."""
    data = manipulator()
    data["links"][1]["joint"] |= {"friction": LUGRE | {"diameter": 0.1}, "velocity": 1.0}
    mechanism = mechanism_of(data)
    run = simulate(mechanism, stop=0.05)
    assert [name for name in run.signals if name.endswith("_z") and "angle" in name] == ["lower_angle_z"]
    assert run.signals["lower_angle_z"][0] == 0.0
    assert run.signals["lower_angle_z"][-1] > 0.0
    q, qd = start_state(mechanism)
    first = evaluate(mechanism, 0.0, q, qd)
    assert first.qdd == pytest.approx(evaluate(mechanism, 0.0, q, qd, [0.0]).qdd, rel=1e-15)
    assert first.z_dot == pytest.approx([1.0], rel=1e-15)
