"""Equations of motion of the reference: kinematics, Lagrange's equations, energy, forces of velocities."""

from __future__ import annotations

import copy
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from helpers_parts import X, Y, body, link, machine
from helpers_problem import evaluate, simulate
from helpers_reference import manipulator, mechanism_of, random_mechanism, random_state, slope
from helpers_stages import StagedModel
from numpy.typing import NDArray
from scipy.integrate import simpson

from gpmelica import analysis
from gpmelica.analysis import Energy, InitialValueProblem, ReferenceModel, energy
from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.errors import DescriptionError, SolveError
from gpmelica.core.trajectory import Trajectory
from gpmelica.description.load import from_data
from gpmelica.mechanism import Mechanism
from gpmelica.reference.kinematics.kinematics import Kinematics

Array = NDArray[np.float64]
SEEDS = range(12)


def _columns(mechanism: Mechanism, trajectory: Trajectory, suffix: str) -> Array:
    """Shape (N, n)."""
    return np.array([trajectory.signals[c.symbol + suffix] for c in mechanism.coordinates]).T


def _energies(mechanism: Mechanism, trajectory: Trajectory) -> list[Energy]:
    q, qd = _columns(mechanism, trajectory, ""), _columns(mechanism, trajectory, "_dot")
    problem = InitialValueProblem(mechanism, (q[0], qd[0]))
    return [energy(problem, t, *state) for t, *state in zip(trajectory.time, q, qd, strict=True)]


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix_is_the_kinetic_energy(seed: int) -> None:
    """M is symmetric positive definite, and ½ q̇ᵀMq̇ is Σ ½ m v² + ½ ωᵀ I ω of the bodies."""
    mechanism, rng = random_mechanism(seed)
    model, (q, qd) = ReferenceModel(mechanism), random_state(mechanism, rng)
    posture = model.state(0.0, q, qd).posture
    M, _ = model.mass(posture)
    assert np.abs(M - M.T).max() < 1e-12 * np.abs(M).max()
    assert np.linalg.eigvalsh(M)[0] > 0
    kinetic = 0.0
    for b, entry in enumerate(mechanism.bodies, start=1):
        R, T_dot = posture.T[:3, b, :3], posture.T_dot[:3, b]
        spin = T_dot[:, :3] @ R.T
        omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        v = T_dot @ [*entry.com, 1.0]
        kinetic += 0.5 * (entry.mass * v @ v + omega @ R @ entry.inertia @ R.T @ omega)
    assert 0.5 * qd @ M @ qd == pytest.approx(kinetic, rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_inertial_forces_are_lagranges(seed: int) -> None:
    """h = Ṁ q̇ − ∂(½ q̇ᵀMq̇)/∂q, the velocity part of d/dt ∂E_k/∂q̇ − ∂E_k/∂q."""
    mechanism, rng = random_mechanism(seed)
    model, (q, qd) = ReferenceModel(mechanism), random_state(mechanism, rng)

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
    model, (q, qd) = ReferenceModel(mechanism), random_state(mechanism, rng)
    if mechanism.supports and mechanism.chain.base.linearized:
        q[:6] *= 0.1
    problem = InitialValueProblem(mechanism, (q, qd))
    gradient = [slope(lambda x, e=e: energy(problem, 0.0, q + x * e, qd).potential) for e in np.eye(mechanism.n)]
    loads = model.forces(model.state(0.0, q, qd))
    assert np.abs(loads.gravity + loads.elastic + gradient).max() < 1e-8 * np.abs(gradient).max()


@pytest.mark.parametrize("seed", SEEDS)
def test_power_of_the_dampers(seed: int) -> None:
    """Dampers take power at every state, quadratic in the velocities."""
    mechanism, rng = random_mechanism(seed)
    q, qd = random_state(mechanism, rng)
    problem = InitialValueProblem(mechanism, (q, qd))
    once, twice = (energy(problem, 0.0, q, factor * qd).dissipated for factor in (1, 2))
    assert once >= 0
    assert twice == pytest.approx(4 * once, rel=1e-12)


@pytest.mark.slow
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
    mechanism = mechanism_of(machine(link("a", "spherical")))
    with pytest.raises(SolveError, match=r"singular at t = 0\.5 s, where the acceleration of a\.(psi|phi)"):
        evaluate(mechanism, 0.5, [0.0, np.pi / 2, 0.0], [0.1, 0.1, 0.1])


# ---- Kinematics of the reference --------------------------------------------------------------------------------


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


# ---- Terms that the papers print and no equation here has -------------------------------------------------------


def test_printed_terms_double_viscous_damping() -> None:
    """With the printed terms ΔQ = q̇ ∂Q/∂q̇, a mass on a damper, m ẍ = −d ẋ, would decay twice as fast.

    The terms occur in Jarzębowska et al. 2023, (26), and Jarzębowska et al. 2020, (20).
    """
    damping, inertia = 3.0, 2.0
    mass = link("m", "prismatic", X, velocity=1.0, damping=damping) | body(inertia)
    mechanism = mechanism_of(machine(mass, simulation={"stop": 1.0, "tolerance": 1e-10}))
    model = analysis.ReferenceModel(mechanism, start=(np.zeros(1), np.ones(1)))

    def force(rate: float) -> float:
        return float(model.forces(model.state(0.0, np.zeros(1), np.array([rate]))).total[0])

    printed = force(1.0) + float(slope(lambda x: force(1.0 + x)))
    assert printed == pytest.approx(-2.0 * damping, abs=1e-7)
    run = solving.simulate(mechanism)
    decay = np.exp(-damping / inertia * run.time)
    assert run.signals["m_position_dot"] == pytest.approx(decay, abs=1e-8)


# ---- Frames without mass ----------------------------------------------------------------------------------------


DOWN = [0.0, -1.0, 0.0]
BODY = body(1.5, [0.3, 0.1, 0.0], [0.02, 0.1, 0.11])
WRIST: dict[str, Any] = {"xyz": [0.8, 0.0, 0.1], "rpy": [0.2, 0.1, 0.3], "position": [0.3, -0.4]}
ARM = machine(
    link("arm", "revolute", DOWN) | BODY,
    link("hand", "universal", None, "arm", **WRIST) | BODY,
    points={"E": {"link": "hand", "position": [0.4, 0.1, 0.0]}},
    outputs={"loads": "all"},
    simulation={"stop": 0.1},
)


def arm(*links: dict[str, Any], **changes: dict[str, Any]) -> System:
    """The arm with further links, and with changes of those that it has."""
    data = copy.deepcopy(ARM)
    data["links"] += links
    for entry in data["links"]:
        entry.update(changes.get(entry["name"], {}))
    return assemble_system(from_data(data))


def frame(name: str, parent: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "parent": parent, "joint": {"type": "fixed"}} | more


def _random_states(seed: int) -> list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    rng = np.random.default_rng(seed)
    return [(rng.uniform(-1.0, 1.0, 3), rng.normal(size=3)) for _ in range(5)]


def _same(model: System, expected: System) -> None:
    """M, h and q̈ by the reference, q̈ and the common outputs by the generated equations."""
    ours, theirs = StagedModel(model), StagedModel(expected)
    for q, qd in _random_states(3):
        found, truth = (solving.evaluate(m.mechanism, 0.0, q, qd) for m in (model, expected))
        np.testing.assert_allclose(found.M, truth.M, rtol=0, atol=1e-13)
        np.testing.assert_allclose(found.h, truth.h, rtol=0, atol=1e-12)
        mine, other = ours(0.0, q, qd), theirs(0.0, q, qd)
        np.testing.assert_allclose(mine.qdd, truth.qdd, rtol=1e-11, atol=1e-11)
        common = set(mine.outputs) & set(other.outputs)
        assert {"E_vx", "arm_load_fz"} <= common
        for name in common:
            assert mine.outputs[name] == pytest.approx(other.outputs[name], rel=1e-9, abs=1e-9), name


def test_fixed_frames() -> None:
    """Frames on frames, and a point on the last one: the machine is the one without them."""
    turn = {"xyz": [0.1, -0.2, 0.3], "rpy": [0.4, 0.5, 0.6]}
    model = arm(frame("flange", "hand", frame=turn), frame("tool0", "flange", frame=turn))
    _same(model, arm())
    loads = StagedModel(model)(0.0, *_random_states(1)[0]).outputs
    assert {loads[f"{name}_load_{part}"] for name in ("tool0", "flange") for part in ("fx", "nz")} == {0.0}


def test_frame_carries_a_link() -> None:
    """A link hung on a frame is where the product of both frames has it."""
    lifted = {"xyz": [0.8, 0.0, 0.1]}
    turned = {"rpy": [0.2, 0.1, 0.3]}
    _same(arm(frame("mount", "arm", frame=lifted), hand={"parent": "mount", "frame": turned}), arm())


def test_moving_frame() -> None:
    """A universal joint is a revolute one about z, a frame without mass, and a revolute one about y."""
    psi = {"type": "revolute", "axis": [0.0, 0.0, 1.0], "position": 0.3}
    theta = {"type": "revolute", "axis": [0.0, 1.0, 0.0], "position": -0.4}
    cross = frame("spider", "arm", frame=ARM["links"][1]["frame"]) | {"joint": psi}
    split = arm(cross, hand={"parent": "spider", "frame": {}, "joint": theta})
    assert [c.name for c in split.mechanism.coordinates] == ["arm.angle", "spider.angle", "hand.angle"]
    _same(split, arm())


def test_point_mass() -> None:
    """A body without extent, away from its axis: a mathematical pendulum."""
    bob = link("bob", "revolute", DOWN) | body(2.0, [0.5, 0.0, 0.0], [0.0, 0.0, 0.0])
    qdd = StagedModel(assemble_system(from_data(machine(bob))))(0.0, np.array([0.3]), np.array([1.0])).qdd
    assert qdd == pytest.approx([-9.81 / 0.5 * np.cos(0.3)], rel=1e-13)


TIP = frame("tip", "hand", joint={"type": "revolute", "axis": X})
ABOUT_Y = {"joint": {"type": "revolute", "axis": Y}}
SINGULAR = {
    "a frame alone": ([TIP], "links[2].mass (tip): tip.angle moves no mass"),
    "frames on a frame": ([TIP, frame("tool0", "tip")], "links[2].mass (tip): tip.angle moves no mass"),
    "a point about itself": (
        [TIP | body(inertia=[0.0, 0.0, 0.0])],
        "links[2].inertia (tip): tip.angle moves no mass",
    ),
    "a rod about itself": (
        [TIP | body(1.0, [1, 0, 0], [0, 1, 1])],
        "links[2].inertia (tip): tip.angle moves no mass",
    ),
    "two on one axis": (
        [TIP | ABOUT_Y, frame("tool", "tip", frame={"xyz": [0, 1, 0]}) | BODY | ABOUT_Y],
        "links[2].mass (tip): tip.angle, tool.angle can move together without moving mass",
    ),
    "two fingers": (
        [TIP | {"name": name} for name in ("left", "right")],
        "links[2].mass (left): left.angle moves no mass",
    ),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_singular(name: str) -> None:
    """The error names the link that lacks mass."""
    links, says = SINGULAR[name]
    with pytest.raises(DescriptionError) as caught:
        arm(*links)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(f"description: {says}")
    assert len(lines) == (2 if name == "two fingers" else 1)


def test_rounding_is_no_mass() -> None:
    """A point on its joint's axis resists nothing in any posture, though rounding moves it off the axis."""
    chain = [("ground", "a"), ("a", "b"), ("b", "c")]
    turned = {"xyz": [0.7, -0.3, 0.4], "rpy": [0.3, 0.5, -0.4]}
    links = [link(name, "revolute", (0.0, 0.6, 0.8), parent, **turned) for parent, name in chain]
    links[-1] |= body(inertia=[0.0, 0.0, 0.0])
    mechanism = mechanism_of(machine(*links))
    postures = np.random.default_rng(1).uniform(-1.5, 1.5, (40, 3))
    assert all(solving.massless(mechanism, q) for q in postures)


def test_aligned_angles_are_not_massless() -> None:
    """At theta = ±π/2 the axes of psi and phi meet: nothing is wrong with the masses."""
    data = copy.deepcopy(ARM)
    data["links"][1]["joint"] = {"type": "spherical", "position": [0.1, np.pi / 2, 0.2]}
    mechanism = assemble_system(from_data(ARM)).mechanism
    assert solving.massless(mechanism, np.array([0.1, 0.2, np.pi / 2])) == []
    with pytest.raises(DescriptionError) as caught:
        assemble_system(from_data(data))
    assert "mass" not in str(caught.value).partition(":")[0]
    assert "moves nothing" not in str(caught.value)
