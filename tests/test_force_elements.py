"""Lines, contacts, stops, friction, armature, one-sided supports: closed forms, energies, both derivations."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from helpers_energy import Balance
from helpers_force_elements import everything, hoist, measuring_hoist
from helpers_parts import Table, X, Z, body, link, machine
from helpers_problem import evaluate, simulate
from helpers_reference import mechanism_of, slope
from helpers_stages import StagedModel
from scipy.integrate import quad, solve_ivp

from gpmelica.analysis import ReferenceModel
from gpmelica.analysis.system import assemble_system
from gpmelica.core.trajectory import Array, Trajectory
from gpmelica.description.load import from_data
from gpmelica.reference.solve import requested

G = 9.81


def _run(*links: Table, stop: float, output_step: float, tolerance: float = 1e-12, **parts: Any) -> Trajectory:
    """From the positions and velocities of the links."""
    mechanism = mechanism_of(machine(*links, simulation={"start": "description"}, **parts))
    return simulate(mechanism, tolerance=tolerance, stop=stop, output_step=output_step)


# ---- Closed forms -----------------------------------------------------------------------------------------------


def test_pendulum_on_a_slack_rope() -> None:
    """Free fall until the rope is taut, at the time that theory has; then a mass on a spring in the plane."""
    x, z, rest, stiffness, damping = 0.6, -0.3, 1.0, 2e3, 8.0
    cross = link("rail", "prismatic", X, position=x) | body(1e-9, inertia=[1e-9, 1e-9, 1e-9])
    bob = link("bob", "prismatic", Z, "rail", position=z) | body(2.0)
    rope = {"name": "rope", "a": {"link": "ground"}, "b": {"link": "bob"}, "rest": rest, "tension_only": True}
    rope |= {"stiffness": stiffness, "damping": damping}
    found = _run(cross, bob, lines=[rope], stop=0.6, output_step=0.01)
    taut = np.sqrt(2 * (z + np.sqrt(rest**2 - x**2)) / G)
    # the damper pulls from the instant on at which the rope has its length, and not before
    ropes = [event for event in found.events if event.word in ("is taut", "is slack")]
    event, slack = ropes[:2]
    assert event.label == "line rope"
    assert event.holds
    assert event.t == pytest.approx(taut, abs=1e-9)
    assert np.all(found.signals["rope_force"][found.time < taut] == 0.0)
    pulling = [e.t for e in found.events if e.word == "would push" and e.t > taut]
    last = int(np.searchsorted(found.time, pulling[0])) - 1
    assert found.time[last] > event.t + 0.02
    assert slack.t > pulling[0]

    def rate(t: float, y: Array) -> Array:
        length = np.hypot(*y[:2])
        tension = stiffness * (length - rest) + damping * (y[:2] @ y[2:]) / length
        mass = np.array([2.0 + 1e-9, 2.0])
        return np.concatenate([y[2:], -tension * y[:2] / length / mass - [0.0, G]])

    start = [x, z - G * event.t**2 / 2, 0.0, -G * event.t]
    exact = solve_ivp(rate, (event.t, found.time[last]), start, rtol=1e-12, atol=1e-13, method="DOP853").y[:, -1]
    reached = [found.signals[f"{name}_position"][last] for name in ("rail", "bob")]
    assert reached == pytest.approx(exact[:2], abs=1e-9)


def test_block_on_a_rough_plane() -> None:
    """A block slows down by regularised friction: t = ∫ dv/a(v)."""
    angle, mu, v_s, v0 = 0.2, 0.5, 0.01, 1.0
    normal, depth = [np.sin(angle), 0.0, np.cos(angle)], 2.0 * G * np.cos(angle) / 1e5
    position = [-depth * normal[0], 0.0, -depth * normal[2], 0.0, 0.0, 0.0]
    velocity = [v0 * np.cos(angle), 0.0, -v0 * np.sin(angle), 0.0, 0.0, 0.0]
    block = link("mass", "free", position=position, velocity=velocity) | body(2.0)
    contact = {"name": "floor_", "link": "mass", "plane": {"normal": normal}, "stiffness": 1e5, "damping": 10.0}
    contact |= {"friction": {"mu": mu, "v_s": v_s}}
    found = _run(block, contacts=[contact], tolerance=1e-11, stop=0.25, output_step=0.05)
    speed = np.hypot(found.signals["mass_x_dot"], found.signals["mass_z_dot"])

    def slowness(v: float) -> float:
        return 1.0 / (G * (mu * np.cos(angle) * np.tanh(v / v_s) - np.sin(angle)))

    times = [quad(slowness, v, v0, epsabs=1e-13, epsrel=1e-13, limit=500)[0] for v in speed.tolist()]
    assert times == pytest.approx(found.time.tolist(), abs=1e-8)
    assert found.signals["floor__force"] == pytest.approx(np.full(6, 2.0 * G * np.cos(angle)), abs=1e-6)
    assert np.abs(found.signals["mass_theta"]).max() < 1e-12  # it acts on the centre of mass


def test_block_creeps_on_a_rough_plane() -> None:
    """Below the angle of friction it creeps: g sin α = μ g cos α tanh(v/v_s), a speed that follows from v_s."""
    angle, mu, v_s = 0.2, 0.5, 0.05
    along, normal = np.array([np.cos(angle), 0.0, -np.sin(angle)]), np.array([np.sin(angle), 0.0, np.cos(angle)])
    creeping = v_s * np.arctanh(np.tan(angle) / mu)
    start = -2.0 * G * np.cos(angle) / 1e5 * normal
    state = {"position": [*start, 0.0, 0.0, 0.0], "velocity": [*(creeping * along), 0.0, 0.0, 0.0]}
    contact = {"name": "floor_", "link": "mass", "plane": {"normal": [*normal]}, "stiffness": 1e5}
    contact |= {"friction": {"mu": mu, "v_s": v_s}}
    block = link("mass", "free", **state) | body(2.0)
    found = _run(block, contacts=[contact], tolerance=1e-10, stop=0.2, output_step=0.05)
    speed = found.columns(["mass_x_dot", "mass_z_dot"]) @ along[[0, 2]]
    assert speed == pytest.approx(np.full(len(speed), creeping), rel=1e-7)


def test_motor_runs_up() -> None:
    """Armature beside the inertia, friction against the motion: t = J ∫ dω/(T − c tanh(ω/ω_s))."""
    friction = {"model": "coulomb", "effort": 4.0, "v_s": 0.1}
    wheel = link("wheel", "revolute", Z, armature=3.0, friction=friction) | body(inertia=[1.0, 1.0, 2.0])
    drive = {"name": "drive", "joint": "wheel", "effort": 10.0}
    found = _run(wheel, forces=[drive], stop=1.0, output_step=0.25)

    def slowness(w: float) -> float:
        return 5.0 / (10.0 - 4.0 * np.tanh(w / 0.1))

    times = [quad(slowness, 0.0, w, epsabs=1e-13)[0] for w in found.signals["wheel_angle_dot"].tolist()]
    assert times == pytest.approx(found.time.tolist(), abs=1e-9)


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_mass_runs_into_a_stop(way: float) -> None:
    """Half an oscillation on the spring, and back with the same speed: contact time π √(m/k)."""
    limits = {"lower": -0.5, "upper": 0.5, "stiffness": 800.0}
    mass = link("mass", "prismatic", X, velocity=2.0 * way, limits=limits) | body(2.0)
    found = _run(mass, stop=0.6, output_step=0.1)
    beyond = [event.t for event in found.events]
    length = np.pi * np.sqrt(2.0 / 800.0)
    assert beyond[0] == pytest.approx(0.25, abs=1e-9)
    assert beyond[-1] - beyond[0] == pytest.approx(length, abs=1e-9)
    assert found.signals["mass_position"][-1] == pytest.approx(way * (0.5 - 2.0 * (0.35 - length)), abs=1e-9)
    assert found.signals["mass_position_dot"][-1] == pytest.approx(-2.0 * way, abs=1e-9)


def test_outriggers_leave_the_ground_and_come_back() -> None:
    """Pulled up for 0.2 s, in flight, and back: each presses from the instant on at which it meets the ground."""
    corners = [[x, y, 0.0] for x in (1.0, -1.0) for y in (1.0, -1.0)]
    supports = [{"position": p, "stiffness": [1e5] * 3, "damping": [2e3] * 3, "one_sided": True} for p in corners]
    base = body(100.0, inertia=[50.0, 50.0, 50.0]) | {"supports": supports}
    pull = {"name": "pull", "link": "base", "force": [0, 0, "1500 if t < 0.2 else 0"]}
    found = _run(base=base, forces=[pull], stop=0.5, output_step=0.1)
    up = 1500 / 100 - G
    z, v = up * 0.2**2 / 2, up * 0.2
    landing = 0.2 + (v + np.sqrt(v * v + 2 * G * z)) / G
    landed = [event for event in found.events if event.t < 0.5 and event.word == "touches"]
    assert {event.label for event in landed} == {f"support support{k}" for k in (1, 2, 3, 4)}
    assert [event.t for event in landed] == pytest.approx([landing] * 4, abs=1e-9)
    in_flight = (found.time > 0) & (found.time < landing)
    assert np.all(found.signals["support1_force"][in_flight] == 0.0)
    assert found.signals["support1_gap"][2] == pytest.approx(z, abs=1e-9)

    def rate(t: float, y: Array) -> Array:
        return np.array([y[1], -G - 4 * (1e5 * y[0] + 2e3 * y[1]) / 100])

    flight = landing - 0.2
    start = [z + v * flight - G * flight**2 / 2, v - G * flight]
    exact = solve_ivp(rate, (landing, found.time[-1]), start, rtol=1e-12, atol=1e-14, method="DOP853").y[:, -1]
    assert found.signals["base_z"][-1] == pytest.approx(exact[0], abs=1e-9)


# ---- Energy and both derivations --------------------------------------------------------------------------------


def _states(rng: np.random.Generator, n: int, count: int) -> list[tuple[Array, Array]]:
    """Return states of the hoist on both sides of every relation."""
    return [(rng.uniform(-0.3, 0.3, n) + np.eye(n)[7] * 0.5, rng.uniform(-1.0, 1.0, n)) for _ in range(count)]


@pytest.mark.parametrize("linearized", [False, True])
def test_rows_of_lengths_have_their_derivatives(linearized: bool) -> None:
    """C and γ of rows with lengths, rates and gaps against central differences."""
    data = measuring_hoist()
    data["base"]["linearized"] = linearized
    mechanism = mechanism_of(data)
    n, rng = mechanism.n, np.random.default_rng(6)
    q, qd = _states(rng, n, 1)[0]
    model = ReferenceModel(mechanism, start=(np.zeros(n), np.zeros(n)))
    holonomic = model.constraints.orders == 0

    def rows(t: float, q: Array, qd: Array = qd) -> Any:
        return model.constraints(model.state(t, q, qd))

    at = rows(0.4, q)
    by_q = np.array([slope(lambda h, e=e: rows(0.4, q + h * e).Phi) for e in np.eye(n)]).T
    by_rate = np.array([slope(lambda h, e=e: rows(0.4, q, qd + h * e).Phi_dot) for e in np.eye(n)]).T
    assert pytest.approx(np.where(holonomic[:, None], by_q, by_rate), abs=1e-8) == at.C
    along = slope(lambda h: rows(0.4 + h, q + h * qd).Phi)
    assert at.Phi_dot[holonomic] == pytest.approx(along[holonomic], abs=1e-8)
    assert -at.gamma == pytest.approx(slope(lambda h: rows(0.4 + h, q + h * qd).Phi_dot), abs=1e-8)


def test_springs_have_a_potential() -> None:
    """Elastic forces are the negative gradient of the potential, of lines and stops too; contacts apart."""
    rope = hoist()["lines"][1] | {"tension_only": False}
    base = hoist()["base"]
    base["supports"] = [support | {"one_sided": False} for support in base["supports"]]
    mechanism = mechanism_of(hoist(base=base, lines=[rope], contacts=[]))
    model, rng = ReferenceModel(mechanism), np.random.default_rng(3)
    for q, qd in _states(rng, mechanism.n, 4):
        forces = model.forces(model.state(0.4, q, qd))

        def potential(h: float, e: Array, q: Array = q, qd: Array = qd) -> float:
            return model.forces.potential(model.state(0.4, q + h * e, qd))

        gradient = [slope(partial(potential, e=e), 1e-4) for e in np.eye(mechanism.n)]
        expected = -(forces.elastic + forces.gravity)
        assert np.array(gradient) == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())


def test_powers_are_those_of_the_forces() -> None:
    """The powers of all elements add up to the power of the generalised forces; each element is named once."""
    mechanism = mechanism_of(everything())
    model, rng = ReferenceModel(mechanism, inputs={"tug": 200.0}), np.random.default_rng(8)
    for _ in range(8):
        q, qd = rng.uniform(-0.3, 0.3, mechanism.n), rng.uniform(-1.0, 1.0, mechanism.n)
        state = model.state(0.4, q, qd)
        forces, powers = model.forces(state), model.forces.powers(state)
        expected = (forces.elastic + forces.dissipative + forces.applied) @ qd
        assert sum(powers.values()) == pytest.approx(expected, rel=1e-9, abs=1e-9 * max(map(abs, powers.values())))
    kinds = {name.partition(" ")[0] for name in powers}
    assert kinds == {"springs", "support", "closure", "force", "line", "stops", "friction", "contact"}


@pytest.mark.slow
def test_energy_is_balanced() -> None:
    """For all elements at once, through events, stored energy equals supplied minus dissipated energy."""
    found = Balance(everything(), stop=0.03, tolerance=1e-8)
    assert {"line rope", "support front", "support support2"} <= {event.label for event in found.events}
    assert found.given > 400.0  # J
    assert found.taken > 100.0
    assert found.error < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("named", [False, True])
def test_both_derivations_agree(named: bool) -> None:
    """Accelerations and outputs of the generated equations and of the reference, at states on all sides."""
    wanted = {"loads": "all", "energy": True}
    description = measuring_hoist(outputs=wanted) if named else hoist(outputs=wanted)
    sides = _sides_of_agreeing_derivations(description)
    assert np.all(np.ptp(np.array(sides, dtype=int), axis=0) == 1)  # both sides of each have been there


@pytest.mark.slow
def test_both_derivations_agree_on_a_linearized_base() -> None:
    """Deflections of the supports are linear in the base's angles, in forces and in constraints on gaps."""
    description = measuring_hoist(outputs={"energy": True})
    description["base"]["linearized"] = True
    assert _sides_of_agreeing_derivations(description)


def _sides_of_agreeing_derivations(description: dict[str, Any]) -> list[list[bool]]:
    """For each state: whether deck, rope, front support and third support exert a force."""
    model, rng = assemble_system(from_data(description)), np.random.default_rng(5)
    staged, sides = StagedModel(model), []
    for q, qd in _states(rng, model.mechanism.n, 12):
        t, inputs = float(rng.uniform(0, 1.4)), {"tug": float(rng.uniform(-300, 300))}
        found = staged(t, q, qd, inputs)
        expected = evaluate(model.mechanism, t, q, qd, inputs=inputs)
        assert np.abs(found.qdd - expected.qdd).max() < 1e-9 * max(1.0, np.abs(expected.qdd).max())
        numbers = ReferenceModel(model.mechanism, inputs=inputs)
        signals = numbers.forces.signals(numbers.state(t, q, qd))
        signals |= requested.values(numbers, numbers.state(t, q, qd), expected.qdd)
        for name, value in signals.items():
            assert found.outputs[name] == pytest.approx(value, abs=1e-9 * max(1.0, abs(value))), name
        sides.append([signals[name] > 0 for name in ("deck_force", "rope_force", "front_force", "support3_force")])
    return sides
