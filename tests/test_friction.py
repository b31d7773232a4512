"""Friction of the reference, the native FMU and the Modelica text: bristles, joint loads, work, stick-slip."""

from __future__ import annotations

from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from helpers_absolute import AbsoluteModel
from helpers_backends import (
    CompileData,
    follows,
    largest_error,
    modelica_accelerations,
    native_accelerations,
    pendulum,
    random_states,
    reference_accelerations,
    run_of,
)
from helpers_friction import DAHL, LUGRE, STICK_SLIP, stick_slip
from helpers_loops import four_bar, random_loop, spatial_linkage
from helpers_parts import X, Y, link, machine
from helpers_problem import evaluate, joint_loads, simulate, start_state
from helpers_reference import manipulator, mechanism_of, random_mechanism, random_state
from scipy.integrate import simpson, solve_ivp

from gpmelica.analysis import energy
from gpmelica.analysis.system import System, assemble_system
from gpmelica.api.results import Run
from gpmelica.core.trajectory import Array, Trajectory
from gpmelica.description.load import from_data
from gpmelica.fmu.backends import native
from gpmelica.mechanism import Friction, Mechanism
from gpmelica.runs import rumoca as rumoca_backend
from gpmelica.runs.fmpy_runs import simulate as runs


def _bristles(friction: Friction, v: float, z: float) -> tuple[float, float]:
    """Return ż and μ of the LuGre or Dahl friction model."""
    if friction.model == "lugre":
        steady = friction.mu_k + (friction.mu_s - friction.mu_k) * np.exp(-((v / friction.v_s) ** 2))
        z_dot = v - friction.sigma0 * abs(v) * z / steady
        return z_dot, friction.sigma0 * z + friction.sigma1 * z_dot + friction.sigma2 * v
    x = 1 - friction.sigma0 * z * np.sign(v) / friction.mu_s
    return v * abs(x) ** friction.gamma * np.sign(x), friction.sigma0 * z


def _rubbing(seed: int, kind: str | None) -> tuple[Mechanism, Array, Array, Array]:
    """A random tree or loop, some of whose joints rub; q, q̇, z."""
    options: dict[str, Any] = {"joints": ("revolute", "prismatic", "revolute", "spherical")}
    if kind is None:
        mechanism, rng = random_mechanism(seed, links=5, **options)
        q, qd = random_state(mechanism, rng)
    else:
        mechanism, q, qd, rng = random_loop(seed, kind, links=6, **options)
    data = mechanism.chain.model_dump(by_alias=True, exclude_none=True)
    if "base" in data:
        data["base"]["linearized"] = False
    for i, entry in enumerate(data["links"]):
        if entry["joint"]["type"] in ("revolute", "prismatic"):
            size = {"diameter": 0.08} if entry["joint"]["type"] == "revolute" else {}
            given = {"normal_force": 5.0} if i % 3 == 2 else {}
            entry["joint"]["friction"] = (LUGRE if i % 2 else DAHL) | size | given
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


@pytest.mark.slow
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
    """A mass of 1 kg on a horizontal slide."""
    return machine(link("mass", "prismatic", X, friction=friction), gravity=[0.0, 0.0, -9.81]) | changes


def test_normal_force_of_a_slide_is_the_weight() -> None:
    """Without a given normal force, a horizontal slide rubs with μ m g; a vertical one hangs free."""
    for axis, normal in (([1.0, 0.0, 0.0], 9.81), ([0.0, 0.0, 1.0], 0.0)):
        data = _slider(LUGRE)
        data["links"][0]["joint"]["axis"] = axis
        found = evaluate(mechanism_of(data), 0.0, [0.0], [0.2], [0.001])
        mu = _bristles(mechanism_of(data).coordinates[0].friction, 0.2, 0.001)[1]
        assert found.friction[0] == pytest.approx(-mu * normal, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("model", ["lugre", "dahl"])
def test_friction_of_a_journal_acts_on_its_radius(model: str) -> None:
    """Bent bristles at rest hold the moment σ0·z·N·d/2."""
    friction = {"model": model, "sigma0": 100.0, "mu_s": 0.2} | (
        {"mu_k": 0.1, "v_s": 0.1} if model == "lugre" else {}
    )
    shaft = link("shaft", "revolute", X, friction=friction | {"diameter": 0.06, "normal_force": 50.0})
    found = evaluate(mechanism_of(machine(shaft, gravity=[0.0, 0.0, 0.0])), 0.0, [0.3], [0.0], [1e-3])
    assert found.friction == pytest.approx([-100.0 * 1e-3 * 50.0 * 0.03], rel=1e-12)


@pytest.mark.parametrize("mu", [0.5, 1.5, 3.0])
def test_loop_where_friction_outweighs_the_load(mu: float) -> None:
    """Two crossed slides of 1 kg each, pulled back by F: τ_x = μ τ_y and τ_y = μ (F/2 − τ_x/2).

    Beyond μ = √2 to insert one into the other does not converge; the solution is there all the same.
    """
    friction, F = {"model": "dahl", "sigma0": 100.0, "mu_s": 10.0}, 30.0
    lower = link("lower", "prismatic", X, friction=friction)
    upper = link("upper", "prismatic", Y, "lower", friction=friction)
    forces = [{"name": "f", "link": "upper", "force": [-F, 0.0, 0.0]}]
    data = machine(lower, upper, gravity=[0.0, 0.0, 0.0], forces=forces)
    found = evaluate(mechanism_of(data), 0.0, [0.0, 0.0], [1.0, 1.0], [mu / 100.0, mu / 100.0])
    across = mu * F / 2 / (1 + mu**2 / 2)
    assert found.friction == pytest.approx([-mu * across, -across], rel=1e-8)
    assert found.qdd == pytest.approx([(-F - mu * across) / 2, -across], rel=1e-8)
    assert found.friction_residual < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("by", "errors"),  # of x, v, z, in their ranges
    [("reference", (4e-7, 1e-6, 6e-6)), ("me", (1e-5, 1e-4, 2e-3)), ("cs", (1e-5, 1e-4, 2e-3))],
)
def test_stick_slip(compile_data: CompileData, by: runs.Mode, errors: tuple[float, ...]) -> None:
    """The benchmark of Canudas de Wit et al. (1995) has its limit cycle, that of a converged solution.

    The mass sticks until the spring pulls with nearly F_s = 1.5 N, slips with F_c = 1 N and viscous friction, and
    sticks again with a spring force as far below F_c, less what viscous friction has taken.
    """
    forces = [{"name": "pull", "joint": "mass", "effort": "2*(0.1*t - mass.position)"}]
    data = _slider(STICK_SLIP, forces=forces, simulation={"start": "description"})
    if by == "reference":
        run = simulate(mechanism_of(data), method="Radau", tolerance=1e-7, stop=18.0, output_step=0.05)
    else:
        run = run_of(compile_data(data), by, stop=18.0, tolerance=1e-9)
    exact = solve_ivp(stick_slip, (0.0, 18.0), [0.0, 0.0, 0.0], "Radau", run.time, rtol=1e-11, atol=1e-14).y
    x, v, z = (run.signals[f"mass_position{part}"] for part in ("", "_dot", "_z"))
    for found, expected, error in zip((x, v, z), exact, errors, strict=True):
        assert found == pytest.approx(expected, abs=error * np.ptp(expected))
    assert np.count_nonzero((v[1:] > 0.05) & (v[:-1] <= 0.05)) == 2
    friction = 2.0 * (0.1 * run.time - x) - run.signals["mass_position_ddot"]
    assert 1.45 < friction.max() < 1.505


def _driven(friction: dict[str, Any], amplitude: float, stop: float) -> Trajectory:
    """The slide moved as x = A sin t by a programmed equation; m = 1 kg."""
    program = [{"name": "swing", "expression": f"mass.position - {amplitude}*sin(t)"}]
    data = _slider(friction | {"normal_force": 1.0}, programmed=program)
    data["links"][0]["joint"]["velocity"] = amplitude
    data["simulation"] = {"stop": stop, "output_step": 2 * np.pi / 200, "tolerance": 1e-8}
    return simulate(mechanism_of(data))


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_energy_balance_with_friction() -> None:
    """A linkage with rubbing joints under gravity loses exactly the work of its friction, by its own loads.

    The powers of the run's friction, joint by joint, say the same.
    """
    data = four_bar(0.9, statics={"locked": ["crank"]})
    for rubbing, friction in zip(data["links"], (LUGRE, DAHL, LUGRE), strict=True):
        rubbing["joint"]["friction"] = friction | {"diameter": 0.1}
    data["simulation"] = {"stop": 0.6, "output_step": 0.0025, "tolerance": 1e-11}
    prepared = assemble_system(from_data(data))
    mechanism = prepared.mechanism
    run = simulate(mechanism)
    rows = [[run.signals[c.symbol + part] for c in mechanism.coordinates] for part in ("", "_dot", "_z")]
    q, qd, z = (np.array(part).T for part in rows)
    balance = [energy(prepared.problem, t, *state) for t, *state in zip(run.time, q, qd, z, strict=True)]
    taken = simpson([e.friction for e in balance], x=run.time)
    assert taken > 0.3
    assert balance[0].total - balance[-1].total == pytest.approx(taken, rel=1e-5)
    assert run.extra["friction_residual"] < 1e-8
    powers = Run(run, prepared.units, prepared).powers()
    assert set(powers) == {f"friction of {c.owner}" for c in mechanism.coordinates}
    assert simpson(sum(powers.values()), x=run.time) == pytest.approx(-taken, rel=1e-8)


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


# ---- Friction in the native FMU and the Modelica text, against the reference, a benchmark and closed forms ------


def _with_friction(data: dict[str, Any], *frictions: dict[str, Any]) -> dict[str, Any]:
    """The description with friction in its first joints; revolute ones get a journal."""
    for entry, friction in zip(data["links"], frictions, strict=False):
        size = {"diameter": 0.1} if entry["joint"]["type"] == "revolute" else {}
        entry["joint"]["friction"] = friction | size
    return data | {"simulation": {"start": "description", "stop": 1.0}, "outputs": {"loads": "all"}}


def _linkage() -> dict[str, Any]:
    data = spatial_linkage("spherical", crank=0.4, speed=2.0)
    single = [link for link in data["links"] if link["joint"]["type"] in ("revolute", "prismatic")]
    return data | _with_friction({"links": single}, LUGRE, DAHL) | {"links": data["links"]}


GIVEN = {"normal_force": 7.0}
MECHANISMS: dict[str, dict[str, Any]] = {
    "LuGre, given": _with_friction(pendulum(), LUGRE | GIVEN, LUGRE | GIVEN),
    "LuGre, load": _with_friction(pendulum(), LUGRE, LUGRE),
    "Dahl, given": _with_friction(pendulum(), DAHL | GIVEN, DAHL | GIVEN | {"gamma": 1.0}),
    "Dahl, load": _with_friction(pendulum(), DAHL, DAHL),
    "both": _with_friction(pendulum(), DAHL, LUGRE | GIVEN),
    "bars": _with_friction(four_bar(), LUGRE, DAHL, LUGRE | GIVEN),
    "linkage": _linkage(),
}
needs_rumoca = pytest.mark.skipif(not rumoca_backend.available(), reason="rumoca is not installed")


def _check(model: System, found: Array, expected: Array) -> None:
    """q̈ and ż, shape (N, n + f), agree to 1e-9 of the largest, each by itself."""
    n = model.mechanism.n
    assert largest_error(found[:, :n], expected[:, :n]) <= 1e-9
    assert largest_error(found[:, n:], expected[:, n:]) <= 1e-9
    assert np.abs(expected[:, n:]).max() > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_native_fmu_agrees_with_the_reference(compile_data: CompileData, name: str) -> None:
    """q̈ and ż of the compiled FMU agree with the reference at random states."""
    compiled = compile_data(MECHANISMS[name])
    states = random_states(compiled.model, np.random.default_rng(11), 20)
    found = native_accelerations(compiled.model, compiled.fmu, states)
    _check(compiled.model, found, reference_accelerations(compiled.model, states))


@pytest.mark.slow
@needs_rumoca
@pytest.mark.parametrize("name", MECHANISMS)
def test_modelica(name: str) -> None:
    """The Modelica source gives the same friction as the reference solver."""
    model = assemble_system(from_data(MECHANISMS[name]))
    states, found = modelica_accelerations(model, np.random.default_rng(12), 40)
    _check(model, found, reference_accelerations(model, states))


@pytest.mark.slow
def test_coulombs_limit(compile_data: CompileData) -> None:
    """A block sliding at 1 m/s stops after v²/(2μg), the closer the stiffer the bristles, and stays.

    Its normal force is its joint's load, the weight. Until the bristles are bent by μ/σ0, their damper takes the
    impulse m g σ1 μ/σ0, which shortens the way by σ1/σ0 times the velocity.
    """
    mu = 0.3
    for sigma0 in (1e4, 1e5):
        sigma1 = 2 * np.sqrt(sigma0 / 9.81)
        friction = {"model": "lugre", "sigma0": sigma0, "sigma1": sigma1, "mu_s": mu, "mu_k": mu, "v_s": 0.01}
        data = _slider(friction, simulation={"start": "description"})
        data["links"][0]["joint"]["velocity"] = 1.0
        run = run_of(compile_data(data), stop=1.0, tolerance=1e-9)
        assert abs(run.signals["mass_position_dot"][-1]) < 1e-6
        way = run.signals["mass_position"][-1]
        assert way - 1 / (2 * mu * 9.81) == pytest.approx(-sigma1 / sigma0, rel=0.1)


def test_no_friction_costs_nothing() -> None:
    """Without the key nothing of friction is in the program, and the C code is that of the plain description."""
    data = MECHANISMS["LuGre, load"]
    joints = [{k: v for k, v in entry["joint"].items() if k != "friction"} for entry in data["links"]]
    links = [entry | {"joint": joint} for entry, joint in zip(data["links"], joints, strict=True)]
    plain = pendulum(simulation=data["simulation"], outputs=data["outputs"])
    models = [assemble_system(from_data(x)) for x in (data, data | {"links": links}, plain)]
    rubbing, off, never = (native.generate(model.native_program, model.chain).files for model in models)
    assert off == never
    assert repr(models[1].program) == repr(models[2].program)
    assert rubbing != off
    names = {item.name for item in models[1].program.items}
    assert len(models[1].program.states) == 4
    assert not names & {"tau", "tau_0", "X", "B"}
    assert len(models[0].program.states) == 6


def test_friction_states_of_the_fmu(compile_data: CompileData) -> None:
    """z is a state that starts at its parameter; a run with deflected bristles follows the reference."""
    compiled = compile_data(MECHANISMS["linkage"])
    model = compiled.model
    names = [state.name for state in model.program.states]
    assert [name for name in names if name.endswith("_z")] == ["crank_angle_z", "slider_position_z"]
    truth = solving.simulate(
        model.mechanism, start=model.start, dependent=model.dependent, stop=0.3, output_step=0.01, tolerance=1e-10
    )
    follows(compiled, truth, tolerance=1e-11)
    assert set(truth.signals) >= set(names)
