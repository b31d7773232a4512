"""State events: closed forms of machines with kinks, in the reference and in the FMUs, and what tells of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from helpers_backends import MODES, Compiled, CompileData, Fmu, run_of
from helpers_parts import X, Z, body, link, machine
from helpers_problem import simulate
from helpers_reference import mechanism_of
from scipy.optimize import brentq

from gpmelica.core.errors import SolveError
from gpmelica.core.trajectory import Array, Trajectory, output_grid
from gpmelica.fmu.archive.validation import validate
from gpmelica.runs.fmpy_runs import simulate as runs

Motion = Callable[[float], float]
MASS, STIFFNESS, DAMPING, GRAVITY, HEIGHT = 2.0, 2e4, 20.0, 9.81, 0.5
PUSH, ASIDE = 3.0, 0.3  # N, m
STOP, OUTPUT_STEP = 1.9, 0.0131  # s
NAMES = ("ball_position", "cart_position")


def _slider(name: str, axis: list[float] = X, position: float = ASIDE, **joint: Any) -> dict[str, Any]:
    return link(name, "prismatic", axis, position=position, **joint) | body(MASS)


def _machine(ball: str, cart: str) -> dict[str, Any]:
    """A ball above the ground and a cart on a track, with efforts by expressions."""
    forces = [{"name": "deck", "joint": "ball", "effort": ball}, {"name": "push", "joint": "cart", "effort": cart}]
    return machine(_slider("ball", Z, HEIGHT), _slider("cart"), gravity=[0.0, 0.0, -GRAVITY], forces=forces)


REPELLED = f"-{STIFFNESS}*ball.position - {DAMPING}*ball.position_dot"
MACHINE = _machine(f"max({REPELLED}, 0) if ball.position < 0 else 0", f"-{PUSH}*sign(cart.position)")


# ---- Closed forms -----------------------------------------------------------------------------------------------


def _flight(z: float, v: float) -> tuple[Motion, float]:
    """Under gravity from z, m, with v, m/s, and when it comes down to 0, s."""
    landing = (v + math.sqrt(v * v + 2 * GRAVITY * z)) / GRAVITY
    return lambda t: z + v * t - GRAVITY * t * t / 2, landing


def _on_deck(z: float, v: float) -> tuple[Motion, float]:
    """On spring and damper from z = 0 with v < 0, and when their force has gone."""
    rest, decay = -MASS * GRAVITY / STIFFNESS, DAMPING / (2 * MASS)
    omega = math.sqrt(STIFFNESS / MASS - decay**2)
    a, b = z - rest, (v + decay * (z - rest)) / omega

    def at(t: float) -> float:
        return rest + math.exp(-decay * t) * (a * math.cos(omega * t) + b * math.sin(omega * t))

    def force(t: float) -> float:
        slow = math.exp(-decay * t)
        rate = slow * (
            (b * omega - decay * a) * math.cos(omega * t) - (a * omega + decay * b) * math.sin(omega * t)
        )
        return STIFFNESS * at(t) + DAMPING * rate

    return at, float(brentq(force, 0.3 * math.pi / omega, 1.2 * math.pi / omega, xtol=1e-15))


def _slope(motion: Motion, t: float) -> float:
    """Return the slope of a smooth motion by finite differences of sixth order."""
    h = 1e-4
    parts = zip((3 / 4, -3 / 20, 1 / 60), (1, 2, 3), strict=True)
    return sum(weight * (motion(t + k * h) - motion(t - k * h)) for weight, k in parts) / h


def bounces(times: Array) -> tuple[Array, list[float]]:
    """Heights of the ball at the times, m, and when relations change: contact, lift-off, position zero."""
    z, begin, events, found = HEIGHT, 0.0, [], np.full(len(times), np.nan)
    v, phase = 0.0, 0
    while begin < times[-1]:
        motion, length = (_flight, _on_deck, _flight)[phase](z, v)
        if phase == 2:  # below zero without a force, up to zero
            length = (v - math.sqrt(v * v + 2 * GRAVITY * z)) / GRAVITY
        if phase == 0:  # spring and damper would press before they do
            pressing = STIFFNESS * GRAVITY / 2, DAMPING * GRAVITY - STIFFNESS * v, -STIFFNESS * z - DAMPING * v
            events.append(begin + max(np.roots(pressing)))
        inside = (times >= begin) & (times <= begin + length)
        found[inside] = [motion(t - begin) for t in times[inside]]
        z, v, begin = motion(length), _slope(motion, length), begin + length
        z = 0.0 if phase != 1 else z
        events.append(begin)
        phase = (phase + 1) % 3
    return found, [t for t in events if t < times[-1]]


def arcs(times: Array) -> tuple[Array, list[float]]:
    """Positions of the cart, m, parabolas between its passes through zero, and the times of these, s."""
    quarter = math.sqrt(2 * ASIDE * MASS / PUSH)
    within, half = np.mod(times + quarter, 2 * quarter) - quarter, (times + quarter) // (2 * quarter)
    positions = (-1.0) ** half * (ASIDE - PUSH / MASS * within**2 / 2)
    return positions, [t for t in quarter * np.arange(1, 99, 2) if t < times[-1]]


TIMES = output_grid(STOP, OUTPUT_STEP)


def _worst(signals: dict[str, Array]) -> float:
    """Largest deviation from the closed forms, of the range."""
    exact = (bounces(TIMES)[0], arcs(TIMES)[0])
    return max(float(np.abs(signals[n] - e).max() / np.ptp(e)) for n, e in zip(NAMES, exact, strict=True))


# ---- Runs -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["2.0", "3.0"])
def kinks(request: pytest.FixtureRequest, compile_data: CompileData) -> Compiled:
    """The machine's FMU."""
    return compile_data(MACHINE, request.param)


def _run(fmu: Compiled, mode: runs.Mode, tolerance: float, **settings: float) -> dict[str, Array]:
    options: dict[str, Any] = {"stop": STOP, "output_step": OUTPUT_STEP, "parameters": settings}
    return dict(run_of(fmu, mode, NAMES, tolerance=tolerance, **options).signals)


def _by_all(compile_data: CompileData, data: dict[str, Any], *names: str, stop: float) -> list[Trajectory]:
    """Runs of the reference and of the FMU in both modes."""
    options = {"stop": stop, "output_step": stop / 10, "tolerance": 1e-11}
    by_fmu = [run_of(compile_data(data), mode, names, **options) for mode in MODES]
    return [simulate(mechanism_of(data), **options), *by_fmu]


@pytest.mark.slow
def test_reference_at_closed_forms() -> None:
    """Motions to 1e-8 of range, and events in the order and at the times that theory has, to 1e-9 s."""
    found = simulate(mechanism_of(MACHINE), tolerance=1e-12, stop=STOP, output_step=OUTPUT_STEP)
    assert _worst(found.signals) < 1e-8
    for label, expected in (("force deck", bounces(TIMES)[1]), ("force push", arcs(TIMES)[1])):
        times = [event.t for event in found.events if event.label == label]
        # sign has two relations, which change together
        apart = times[:1] + [b for a, b in pairwise(times) if b - a > 1e-9]
        assert apart == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("mode", ["me", "cs"])
def test_fmu_at_closed_forms(kinks: Compiled, mode: runs.Mode) -> None:
    """Model exchange and co-simulation match the closed forms, and the model description has one event indicator
    per relation.
    """
    assert validate(kinks.fmu) == []
    assert len([v for v in kinks.description.modelVariables if v.name.startswith("event_indicator")]) == 4
    assert _worst(_run(kinks, mode, 1e-12)) < 1e-8


@pytest.mark.parametrize(("method", "error"), [(1, 1e-8), (2, 1e-8), (3, 1e-8), (4, 1e-6)])
def test_every_method_stops_at_events(compile_data: CompileData, method: int, error: float) -> None:
    """The fixed step of Runge-Kutta too, whose error is of order 4 while a step across a kink has order 1."""
    found = _run(compile_data(MACHINE), "cs", 1e-11, solver_method=method, solver_step=2e-4)
    assert _worst(found) < error


def test_communication_step_does_not_matter(compile_data: CompileData) -> None:
    """Nor whether a state was saved and restored: after it the run goes on to the last bit, across events too."""
    with Fmu(compile_data(MACHINE)) as fmu:
        fmu.start(tolerance=1e-11)
        at = 0.0
        for size in (0.1, 0.219, 0.002, 0.4):  # the second one lands in the first contact
            state = fmu.saved()
            fmu.fmi.doStep(at, size)
            first = fmu.get(NAMES)
            fmu.restore(state)
            fmu.fmi.doStep(at, size)
            at += size
            assert fmu.get(NAMES).tobytes() == first.tobytes()
        times = np.array([0.0, at])
        assert first == pytest.approx([bounces(times)[0][-1], arcs(times)[0][-1]], abs=1e-8)


def test_importer_that_sees_no_indicators(compile_data: CompileData) -> None:
    """At the end of a step the FMU requests an event, in which the relation changes."""
    with Fmu(compile_data(MACHINE), "me") as fmu:
        fmu.start()
        fmu.enter_continuous_time()
        assert fmu.slopes(1.0, [HEIGHT, -1e-3, 0.0, 0.0])[3] == pytest.approx(-PUSH / MASS)  # the side is kept
        assert fmu.fmi.completedIntegratorStep()[0]
        fmu.fmi.enterEventMode()
        fmu.discrete_states()
        fmu.fmi.enterContinuousTimeMode()
        assert fmu.slopes(1.0, [HEIGHT, -1e-3, 0.0, 0.0])[3] == pytest.approx(PUSH / MASS)
        assert not fmu.fmi.completedIntegratorStep()[0]


@pytest.mark.slow
def test_a_start_at_the_edge(compile_data: CompileData) -> None:
    """From rest, on the edge of every relation, the motion is that of the sides it moves to."""
    data = _machine("0 if ball.position_dot >= 0 else 5", "2*sign(cart.position_dot) + 0.1")
    for run in _by_all(compile_data, data, *NAMES, stop=0.5):
        fallen, pushed = (5 / MASS - GRAVITY) * run.time**2 / 2, 2.1 / MASS * run.time**2 / 2
        assert run.signals["ball_position"] == pytest.approx(HEIGHT + fallen, abs=1e-9)
        assert run.signals["cart_position"] == pytest.approx(ASIDE + pushed, abs=1e-9)


def test_one_condition_in_two_places() -> None:
    """A condition in two force components causes one event at the theoretical time."""
    push = f"{PUSH} if cart.position < 0.5 else -{PUSH}"
    data = _machine("0", "0") | {"forces": [{"name": "push", "link": "cart", "force": [push, push, 0.0]}]}
    found = simulate(mechanism_of(data), tolerance=1e-11, stop=1.0, output_step=0.1)
    assert [event.label for event in found.events] == ["force push"]
    assert found.events[0].t == pytest.approx(math.sqrt(2 * (0.5 - ASIDE) * MASS / PUSH), abs=1e-9)


def _on_kinks() -> dict[str, Any]:
    """Sliders pushed from rest exactly at a stop, a wall, the length of a rope, and where conditions change."""
    stopped = _slider("stopped", limits={"upper": ASIDE, "stiffness": STIFFNESS})
    links = [stopped, *map(_slider, ("touching", "tied", "closed", "open"))]
    wall = {"name": "wall", "link": "touching", "stiffness": STIFFNESS}
    wall["plane"] = {"point": [ASIDE, 0.0, 0.0], "normal": [-1.0, 0.0, 0.0]}
    rope = {"name": "rope", "a": {"link": "ground"}, "b": {"link": "tied"}, "rest": ASIDE, "stiffness": STIFFNESS}
    efforts = {name: str(PUSH) for name in ("stopped", "touching", "tied")}
    efforts |= {
        x: f"{PUSH} if {x}.position {sign} {ASIDE} else 0" for x, sign in (("closed", ">="), ("open", ">"))
    }
    forces = [{"name": f"push_{x}", "joint": x, "effort": effort} for x, effort in efforts.items()]
    lines = [rope | {"tension_only": True}]
    return machine(*links, gravity=[0.0, 0.0, 0.0], forces=forces, contacts=[wall], lines=lines)


@pytest.mark.slow
def test_a_start_on_kinks(compile_data: CompileData) -> None:
    """Conditions are what is written, `>=` holds; what is only touched acts from where it is passed."""
    names = [f"{link['name']}_position" for link in _on_kinks()["links"]]
    found = _by_all(compile_data, _on_kinks(), *names, stop=0.1)
    t = found[0].time
    sprung = ASIDE + PUSH / STIFFNESS * (1.0 - np.cos(math.sqrt(STIFFNESS / MASS) * t))
    expected = [sprung] * 3 + [ASIDE + PUSH / MASS * t**2 / 2, np.full(len(t), ASIDE)]
    for run in found:
        for name, exact in zip(names, expected, strict=True):
            assert run.signals[name] == pytest.approx(exact, abs=1e-8), (run.name, name)


def _nested() -> dict[str, Any]:
    """Sliders: pushed on one side of zero; with a root without value until conditions are settled; switched."""
    links = [_slider("pushed"), _slider("rooted", velocity=-1.0), _slider("switched")]
    efforts = {
        "pushed": f"-{PUSH}*sign(max(pushed.position, 0))",
        "rooted": "sqrt(abs(max(rooted.position_dot, 0.25)))",
        "switched": "sign(t - 0.5) + 2*sign(sin(10*t)) + sign(0.3*sin(10*t))",
    }
    forces = [{"name": f"on_{name}", "joint": name, "effort": effort} for name, effort in efforts.items()]
    return machine(*links, gravity=[0.0, 0.0, 0.0], forces=forces)


@pytest.mark.slow
def test_conditions_within_conditions(compile_data: CompileData) -> None:
    """A condition nested in another one is evaluated only while the outer condition is true. Undefined values of
    branches that are not taken do not prevent the search for the initial state.
    """
    names = ["pushed_position", "rooted_position"]
    found = _by_all(compile_data, _nested(), *names, stop=1.0)
    t, passed = found[0].time, math.sqrt(2.0 * ASIDE * MASS / PUSH)
    exact = ASIDE - PUSH / MASS * np.where(t < passed, t**2 / 2, passed * (t - passed / 2)), ASIDE - t + t**2 / 8
    for run in found:
        assert [run.signals[name] for name in names] == pytest.approx(np.array(exact), abs=1e-8), run.name


@pytest.mark.slow
def test_the_instants_of_kinks_in_time(compile_data: CompileData) -> None:
    """A start on a kink has what is written there, a time that is known before has what comes after it.

    Kinks that are passed right after the start, one after the other in the last digits, do not hold the run up.
    """
    efforts = [-1, 2, 2, 2, -4, -2, -2, 4, 4, 4, -2]
    for run in _by_all(compile_data, _nested(), "switched_position_ddot", stop=1.0):
        assert MASS * run.signals["switched_position_ddot"] == pytest.approx(efforts), run.name


CHATTERING = _machine("0", "-5*sign(cart.position + cart.position_dot)")


@pytest.mark.slow
def test_chattering_is_an_error(compile_data: CompileData) -> None:
    """A switch that pushes the state back onto itself: 1,000 events in no time, of what is named."""
    message = r"more than 1000 events within a second, up to t = 0\.\d+ s; the last one: .*force push"
    with pytest.raises(SolveError, match=message):
        simulate(mechanism_of(CHATTERING), stop=2.0)
    for mode in MODES:
        with pytest.raises(SolveError, match=message):
            run_of(compile_data(CHATTERING), mode, NAMES, stop=2.0, tolerance=1e-6)


@pytest.mark.parametrize("cart", ["-sqrt({0})", "(sqrt({0})*cart.position - 4)"])
def test_noevent_without_value(cart: str) -> None:
    """If an intermediate stage of an integrator reaches an undefined branch of noevent, the error message says
    so.
    """
    data = _machine("0", f"{PUSH}*{cart.format('noevent(-1 if cart.position < 0.1 else 1)')}")
    with pytest.raises(SolveError, match=r"force push has no value at t = .*: sqrt\(-1\)"):
        simulate(mechanism_of(data), tolerance=1e-9, stop=STOP, output_step=OUTPUT_STEP)


def test_noevent() -> None:
    """An expression in noevent causes no event and nearly the same motion."""
    data = _machine("0", f"-{PUSH}*noevent(sign(cart.position))")
    found = simulate(mechanism_of(data), tolerance=1e-9, stop=STOP, output_step=OUTPUT_STEP)
    assert not found.events
    assert found.signals["cart_position"] == pytest.approx(arcs(TIMES)[0], abs=1e-6)


# ---- Touching for a moment within one step of a solver ----------------------------------------------------------


CEILING, SPRING, GRAZED = 1.0, 1e5, 0.85
JUST = np.sqrt(2.0 * GRAVITY * CEILING)  # m/s, to reach the ceiling
ABOVE = (1e-6, 1e-4, 1e-2)  # of it


def thrown(speed: float) -> dict[str, Any]:
    """A ball of 1 kg under a springy ceiling."""
    roof = {"name": "roof", "link": "ball", "stiffness": SPRING}
    roof |= {"plane": {"point": [0.0, 0.0, CEILING], "normal": [0.0, 0.0, -1.0]}}
    times = {"start": "description", "stop": GRAZED, "output_step": 0.05}
    return machine(link("ball", "prismatic", Z, velocity=speed), contacts=[roof], simulation=times)


def flight(speed: float) -> float:
    """Height at the stop without a ceiling, m."""
    return speed * GRAZED - GRAVITY * GRAZED**2 / 2


def height(speed: float) -> float:
    """Return the height with the contact, m: up, pressed back for a moment, and down."""
    if speed < JUST:
        return flight(speed)
    meets, omega = np.sqrt(speed**2 - JUST**2), np.sqrt(SPRING)
    left = GRAZED - (speed - meets) / GRAVITY - 2.0 / omega * np.arctan(meets * omega / GRAVITY)
    return float(CEILING - meets * left - GRAVITY * left**2 / 2)


@pytest.mark.parametrize("share", ABOVE)
def test_reference_locates_the_contact(share: float) -> None:
    """The reference solver finds two events, with the motion of the spring between them."""
    found = simulate(mechanism_of(thrown(JUST * (1.0 + share))), tolerance=1e-10)
    assert found.signals["ball_position"][-1] == pytest.approx(height(JUST * (1.0 + share)), abs=1e-8)
    assert len(found.events) in (2, 4)  # the contact's force may vanish with its depth


def test_motion_below_the_ceiling_has_no_events() -> None:
    """A motion that does not reach the ceiling has no events."""
    assert simulate(mechanism_of(thrown(JUST * (1.0 - 1e-6)))).events == ()


@pytest.mark.slow
@pytest.mark.parametrize("method", [1, 2, 3, 4])
def test_co_simulation_locates_the_contact(compile_data: CompileData, method: int) -> None:
    """Each method locates the contact with communication steps shorter and longer than the flight."""
    fmu, inexact = compile_data(thrown(1.0)).fmu, 0.03 if method == 1 else 0.0  # the fixed step is a long one
    for share in (1e-6, 1e-3, -1e-6):
        speed = JUST * (1.0 + share)
        settings = {"ball_position_dot_start": speed, "solver_method": method, "solver_step": 2e-3}
        for step in (0.05, 0.85):
            options: dict[str, Any] = {"stop": GRAZED, "output_step": step, "tolerance": 1e-10}
            run = runs.simulate(fmu, "cs", ["ball_position"], name="cs", parameters=settings, **options)
            found = run.signals["ball_position"][-1]
            assert found == pytest.approx(height(speed), abs=inexact * abs(height(speed) - flight(speed)) + 1e-9)


FREE, BOUND, TURN, FROM = 2.0 * np.pi, 1e3, 0.99, 3.0  # rad/s, N/m, m of an amplitude of 1 m, m
LINE = {"a": {"link": "ground", "point": [-FROM, 0.0, 0.0]}, "b": {"link": "mass"}, "rest": FROM + TURN}
PLANE = {"point": [TURN, 0.0, 0.0], "normal": [-1.0, 0.0, 0.0]}
BACK = f"-{BOUND}*(mass.position - {TURN})"
KINKS: dict[str, dict[str, Any]] = {
    "stop": {"limits": {"upper": TURN, "stiffness": BOUND}},
    "contact": {"contacts": [{"name": "wall", "link": "mass", "plane": PLANE, "stiffness": BOUND}]},
    "rope": {"lines": [{"name": "rope", "stiffness": BOUND, "tension_only": True} | LINE]},
    "condition": {
        "forces": [{"name": "f", "joint": "mass", "effort": f"{BACK} if mass.position > {TURN} else 0"}]
    },
    "max": {"forces": [{"name": "f", "joint": "mass", "effort": f"min({BACK}, 0)"}]},
}


def swinging(kink: dict[str, Any]) -> dict[str, Any]:
    """A mass of 1 kg on a spring, through its rest, with something that begins shortly before its turn."""
    limits = {key: kink[key] for key in kink.keys() & {"limits"}}
    mass = link("mass", "prismatic", X, velocity=FREE, stiffness=FREE**2, **limits)
    times = {"start": "description", "stop": 2.2, "output_step": 0.1, "tolerance": 1e-9}
    others = {key: value for key, value in kink.items() if key != "limits"}
    return machine(mass, gravity=[0.0, 0.0, 0.0], simulation=times, **others)


@pytest.mark.parametrize("kind", KINKS)
def test_long_steps_detect_short_events(kind: str) -> None:
    """Event times of all elements with discontinuities agree with closed forms, also in the first
    step after an event.
    """
    found = simulate(mechanism_of(swinging(KINKS[kind])), method="Radau")
    phase, fast = np.arcsin(TURN), np.sqrt(FREE**2 + BOUND)
    balance, speed = BOUND * TURN / fast**2, FREE * np.cos(phase)
    beyond, around = 2.0 / fast * np.arctan2(speed / fast, TURN - balance), (np.pi + 2.0 * phase) / FREE
    expected = phase / FREE + np.cumsum([0.0, beyond, around, beyond, around, beyond])
    times = sorted({round(event.t, 9) for event in found.events})
    apart = times[:1] + [b for a, b in pairwise(times) if b - a > 1e-6]
    np.testing.assert_allclose(apart, [t for t in expected if t < 2.2], atol=1e-7)


@pytest.mark.slow
def test_conditions_on_time_within_a_long_step() -> None:
    """Pulses of a fiftieth of a second in a motion without anything else to shorten steps."""
    simulation = {"start": "description", "stop": 10.0, "output_step": 0.5, "tolerance": 1e-9}
    force = {"name": "f", "joint": "mass", "effort": "1 if cos(8*t) > 0.999 else 0"}
    data = machine(link("mass", "prismatic", X), gravity=[0.0, 0.0, 0.0], simulation=simulation, forces=[force])
    found = simulate(mechanism_of(data), method="Radau")
    centres, half = 2.0 * np.pi / 8.0 * np.arange(13), np.arccos(0.999) / 8.0
    expected = np.sort(np.concatenate([centres - half, centres + half]))[1:]
    np.testing.assert_allclose([event.t for event in found.events], expected[expected < 10.0], atol=1e-9)


def test_condition_that_reverts_during_another_event() -> None:
    """A damped stop loses contact first by its force and then by its depth, which the end of a
    step may not show.
    """
    limits = {"upper": 0.5, "stiffness": 2e3, "damping": 1.0}
    arm = link("arm", "revolute", Z, velocity=1.5 * (1.0 + 1.8e-6), stiffness=0.9, limits=limits)
    arm |= body(inertia=[0.1, 0.1, 0.1])
    simulation = {"start": "description", "stop": 1.0, "output_step": 0.05, "tolerance": 1e-11}
    found = simulate(mechanism_of(machine(arm, gravity=[0.0, 0.0, 0.0], simulation=simulation)))
    assert len(found.events) == 4
    assert np.diff([event.t for event in found.events]).min() > 1e-4
