"""Trajectories of the reference: accuracy, events, signals."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from awkward_machines import MACHINES
from helpers_loops import CLOSURES, four_bar, random_loop
from helpers_parts import X, body, link, machine
from helpers_problem import evaluate, simulate, singular_times, solvability, start_notes, start_state
from helpers_random import random_chain, tied
from helpers_reference import crane, manipulator, mechanism_of, unchecked
from numpy.typing import NDArray

from gpmelica import analysis
from gpmelica.analysis.along import effort
from gpmelica.analysis.system import assemble_system
from gpmelica.core.errors import MissingToolError, SolveError
from gpmelica.core.trajectory import Trajectory
from gpmelica.description.load import from_data
from gpmelica.fmu.backends.backend import Compilers
from gpmelica.fmu.backends.omc import OpenModelica
from gpmelica.fmu.backends.openmodelica import Omc
from gpmelica.mechanism import Mechanism, build
from gpmelica.options.model import RunOptions
from gpmelica.reference.integration.motion import FormulatedModel
from gpmelica.reference.kinematics.segment import Segment
from gpmelica.reference.solve.solver import formulation
from gpmelica.tasks.run import verify

METHODS = {"RK4": 1e-7, "DOP853": 1e-9, "Radau": 1e-7, "BDF": 1e-5, "LSODA": 1e-7}


def _slider(effort: str | None = None) -> dict[str, Any]:
    """A mass of 2 kg on a horizontal slide."""
    force = {"name": "f", "joint": "mass"} | ({"effort": effort} if effort else {"input": True})
    return machine(link("mass", "prismatic", X) | body(2.0), forces=[force])


def _largest_difference(a: Trajectory, b: Trajectory) -> float:
    return max(float(np.abs(a.signals[key] - b.signals[key]).max()) for key in ("upper_angle", "lower_angle_dot"))


@pytest.mark.slow
def test_runge_kutta_has_order_four() -> None:
    """Halving RK4's step divides the error by 16, also at output times that are no steps."""
    mechanism, errors = mechanism_of(manipulator()), []
    for stop, output_step in ((0.5, 0.1), (0.495, 0.033)):
        options: dict[str, Any] = {"stop": stop, "output_step": output_step}
        exact = simulate(mechanism, method="DOP853", tolerance=1e-12, **options)
        runs = [simulate(mechanism, method="RK4", step=h, **options) for h in (0.01, 0.005, 0.0025)]
        errors.append([_largest_difference(run, exact) for run in runs])
    assert np.log2(errors[0][0] / errors[0][1]) == pytest.approx(4.0, abs=0.25)
    assert np.log2(errors[0][1] / errors[0][2]) == pytest.approx(4.0, abs=0.15)
    assert errors[1][0] / errors[1][1] > 12


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_methods_agree(method: str) -> None:
    """All integrators give the same motion of the same constrained arm, within their tolerances."""
    entry = {"name": "height", "expression": "E.z - start(E.z) - quintic(t, 0, 0.5, 0, -0.2)"}
    mechanism = mechanism_of(manipulator(programmed=[entry]))
    exact = simulate(mechanism, method="DOP853", tolerance=1e-12, stop=0.6)
    run = simulate(mechanism, method=method, tolerance=1e-9, step=2e-3, stop=0.6)
    assert _largest_difference(run, exact) < METHODS[method]
    assert run.steps > 10


@pytest.mark.parametrize("method", METHODS)
def test_switches_are_not_stepped_over(method: str) -> None:
    """A force that ends at 0.1 s leaves exactly F/m · 0.1 s of speed; outputs at 0.1 s have the value after it."""
    mechanism = mechanism_of(_slider("6 if t <= 0.1 else 0"))
    # RK4's step divides neither 0.1 nor 0.3: it has to land on the switch by itself.
    run = simulate(mechanism, method=method, step=0.03, stop=0.3, output_step=0.05, tolerance=1e-10)
    assert run.signals["mass_position_ddot"] == pytest.approx([3, 3, 0, 0, 0, 0, 0], abs=1e-12)
    assert run.signals["mass_position_dot"][2:] == pytest.approx(0.3, rel=1e-8)
    expected = np.where(run.time < 0.1, 1.5 * run.time**2, 0.015 + 0.3 * (run.time - 0.1))
    assert run.signals["mass_position"] == pytest.approx(expected, rel=1e-8, abs=1e-9)


def test_a_pulse_shorter_than_any_step_is_seen() -> None:
    """A narrow pulse in the middle of a smooth run has its full effect."""
    mechanism = mechanism_of(_slider("2e4 if t > 0.5 and t <= 0.5001 else 0"))
    run = simulate(mechanism, stop=1.0, output_step=0.25)
    assert run.signals["mass_position_dot"] == pytest.approx([0, 0, 0, 1, 1], abs=1e-8)


def test_signals() -> None:
    """Every coordinate, point and driven joint has its signals, those of `evaluate` at the same states."""
    mechanism = crane("rigid_boom")
    start = start_state(mechanism)
    run = simulate(mechanism, stop=0.05, loads=())
    joints = {f"{name}_angle" for name in ("column", "boom", "jib")}
    coordinates = joints | {f"base_{key}" for key in ("x", "y", "z", "psi", "theta", "phi")}
    assert set(run.signals) == (
        {c + suffix for c in coordinates for suffix in ("", "_dot", "_ddot")}
        | {f"E_{key}" for key in ("x", "y", "z", "vx", "vy", "vz")}
        | {"violation_position", "violation_velocity"}
        | {f"{joint}_effort" for joint in joints}
    )
    q, qd = (
        np.array([run.signals[c.symbol + suffix][-1] for c in mechanism.coordinates]) for suffix in ("", "_dot")
    )
    found = evaluate(mechanism, 0.05, q, qd, start=start)
    for k, c in enumerate(mechanism.coordinates):
        assert run.signals[f"{c.symbol}_ddot"][-1] == pytest.approx(found.qdd[k], rel=1e-9, abs=1e-12)
    assert run.signals["violation_position"][-1] == pytest.approx(np.linalg.norm(found.Phi), abs=1e-14)
    assert run.signals["violation_velocity"][-1] == pytest.approx(np.linalg.norm(found.Phi_dot), abs=1e-14)
    assert run.signals["jib_angle_effort"][-1] == pytest.approx(found.effort[-1], rel=1e-9)
    assert run.extra["min_det"] == pytest.approx(abs(np.linalg.det(found.C[:, -2:])), rel=1e-3)
    assert 0.0 <= run.extra["min_det_time"] <= 0.05


def test_fixed_base() -> None:
    """A fixed base stays where it is, and its efforts carry the arm's weight."""
    base = {"mass": 5.0, "inertia": [1.0, 1.0, 1.0], "support": "rigid"}
    data = manipulator(base=base)
    data["links"][0]["parent"] = "base"
    alone, based = simulate(mechanism_of(manipulator()), stop=0.3), simulate(mechanism_of(data), stop=0.3)
    assert _largest_difference(alone, based) < 1e-7
    assert np.abs(based.signals["base_z"]).max() < 1e-12
    com = 0.5 * (based.signals["upper_angle_ddot"] != 0)  # moving, so the effort is not the weight alone
    assert com.any()
    assert based.signals["base_z_effort"][0] == pytest.approx(_vertical_force(based), rel=1e-9)


def _vertical_force(run: Trajectory) -> float:
    """Newton's second law for the arm and its base at t = 0, at rest, N: Σ m (z̈ + g)."""
    a, b = (run.signals[f"{name}_angle"][0] for name in ("upper", "lower"))
    a_ddot, b_ddot = (run.signals[f"{name}_angle_ddot"][0] for name in ("upper", "lower"))
    upper = 0.4 * np.cos(a) * a_ddot
    lower = np.cos(a) * a_ddot + 0.4 * np.cos(a + b) * (a_ddot + b_ddot)
    return float(2.0 * (upper + lower) + 9.81 * 9.0)


@pytest.mark.slow
def test_progress_and_grid() -> None:
    """Progress rises to 1 and is not reported at every step; the output grid is the description's."""
    seen: list[float] = []

    def progress(what: str, fraction: float) -> None:
        assert what == "reference solver"
        seen.append(fraction)

    run = simulate(mechanism_of(manipulator()), method="RK4", step=5e-4, stop=0.5, progress=progress)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert 20 < len(seen) <= 101 < run.steps
    assert run.time == pytest.approx(np.linspace(0, 0.5, 51))


def test_two_mechanisms_at_once() -> None:
    """Runs of two mechanisms in two threads are those of one after the other: there is no shared state."""
    mechanisms = [mechanism_of(manipulator(gravity=[0.0, 0.0, -g])) for g in (9.81, 1.62)]
    alone = [simulate(mechanism, stop=0.2) for mechanism in mechanisms]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(lambda mechanism: simulate(mechanism, stop=0.2), mechanisms))
    for a, b in zip(alone, together, strict=True):
        assert all(np.array_equal(a.signals[key], b.signals[key]) for key in a.signals)


@pytest.mark.slow
def test_failures_name_the_time() -> None:
    """A force that ceases to be defined, and a method that does not exist, end in errors that say so."""
    with pytest.raises(SolveError, match=r"force f has no value at t = 0\.2\d*"):
        simulate(mechanism_of(_slider("sqrt(0.2 - t)")), stop=1.0)
    with pytest.raises(SolveError, match="expected one of the methods RK4, DOP853"):
        simulate(mechanism_of(_slider("0")), method="Euler")
    with pytest.raises(SolveError, match=r"the motion ends at t = [\d.]+ s: the rate of mass.position .* RK4"):
        simulate(mechanism_of(_slider("-1e9*mass.position_dot + 1")), method="RK4", step=1e-2, stop=9.0)


def test_a_slow_motion_that_rows_give_is_exact() -> None:
    """On a smooth motion steps do not grow beyond what stabilisation lets through: a table's rate is constant."""
    run = simulate(mechanism_of(MACHINES["turning_earth"].make()))
    assert np.abs(run.signals["earth_angle_dot"] - 5.5e-5).max() <= 1e-14


# ---- The reference's rates of many states at once, as its stages want them, are those of each -------------------


Array = NDArray[np.float64]
STATES = 5


def _assert_same(mechanism: Mechanism, q: Array, qd: Array, rng: np.random.Generator) -> None:
    model = analysis.ReferenceModel(mechanism, start=(q, qd))
    motion = FormulatedModel(model, formulation(model, model.state(0.0, q, qd)))
    rate, t = motion.rate(Segment(0.0)), np.linspace(0.0, 0.01, STATES)
    y = motion.states(q, qd) + 1e-3 * rng.normal(size=(STATES, motion.size))
    each = np.array([rate(float(at), one) for at, one in zip(t, y, strict=True)])
    assert np.abs(rate(t, y) - each).max() <= 1e-12 * np.abs(each).max()


@pytest.mark.parametrize("linearized", [False, True])
@pytest.mark.parametrize("base", ["flexible", "rigid"])
@pytest.mark.parametrize("seed", range(2))
def test_rates_of_many_states_equal_those_of_single_states_on_supports(
    seed: int, base: str, linearized: bool
) -> None:
    """Rates of many states at once equal those of single states, for flexible and rigid bases."""
    rng = np.random.default_rng(seed)
    data: dict[str, Any] = random_chain(rng, base=base) | {"simulation": {"start": "description"}}
    data["base"] |= {"linearized": linearized}
    mechanism = build(from_data(data))
    q = np.array([c.position for c in mechanism.coordinates])
    _assert_same(mechanism, q, rng.uniform(-1.0, 1.0, mechanism.n), rng)


@pytest.mark.parametrize("kind", CLOSURES)
def test_loops(kind: str) -> None:
    """Mechanisms with every kind of closure, on bases of all kinds."""
    for seed in range(3):
        mechanism, q, qd, rng = random_loop(seed, kind)
        _assert_same(mechanism, q, qd, rng)


def test_all_at_once() -> None:
    """Joints of many kinds, armatures, friction by the load, rows, a held joint."""
    mechanism = build(from_data(tied()))
    q, qd = solving.start_state(mechanism)
    _assert_same(mechanism, q, qd, np.random.default_rng(1))


# ---- Where a run of the reference ends before its time, or might ------------------------------------------------


STRETCHED = "at the limit of the joints' motion"
# rows on a planar arm of 1 m and 0.8 m → what the message says
ENDS: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "beyond reach": (
        {"x": "E.x - 5"},
        ("equations x become singular", STRETCHED, "violates x by 3.2"),
    ),
    "out of reach on the way": (
        {"x": "E.x - start(E.x) - t", "z": "E.z - start(E.z)"},
        ("the constraint equations x, z become singular", STRETCHED, "at t = 1 s the nearest position violates"),
    ),
    "root": (
        {"x": "upper.angle - sqrt(0.2 - t)"},
        ("ends at t = ", "accelerates without bound", "sqrt in programmed constraint x reaches the end"),
    ),
    "runaway": (
        {"x": "upper.angle - start(upper.angle) - 1e-6*exp(1e6*t)"},
        ("the rate of upper.angle grows without bound",),
    ),
    "logarithm": ({"x": "upper.angle - 0.1*log(0.1 - t)"}, ("without bound", "log in programmed constraint x")),
}


def _arm(rows: dict[str, str], **simulation: Any) -> Mechanism:
    data = manipulator(programmed=[{"name": name, "expression": text} for name, text in rows.items()])
    return unchecked(data | {"simulation": {"start": "description", "stop": 1.0} | simulation})


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDS)
def test_why_a_run_ends(name: str) -> None:
    """Rows that become singular and how far the target is, or the function that reaches the end of its domain."""
    rows, words = ENDS[name]
    with pytest.raises(SolveError) as raised:
        simulate(_arm(rows, tolerance=1e-7))
    assert all(text in str(raised.value) for text in words), str(raised.value)


@pytest.mark.slow
def test_a_row_that_opens_stops_the_run() -> None:
    """Two rows that agree until an angle is passed: the run ends there, within a step, with name and residual."""
    extra = "0.1*(upper.angle - 0.5) if upper.angle > 0.5 else 0"
    rows = {"still": "E.x - start(E.x)", "other": f"2*(E.x - start(E.x)) + ({extra})"}
    with pytest.raises(
        SolveError, match=r"other: omitted as redundant.* at t = 0\.\d+ s its positions are violated by \d"
    ):
        simulate(_arm(rows, output_step=0.5, violation=1e-5))


def test_changes_of_the_initial_state_are_reported() -> None:
    """The report names the old and new values of a moved loop closure and of an inconsistent
    velocity.
    """
    data = four_bar(0.7, statics={"locked": ["crank"]})
    mechanism = mechanism_of(data)
    assert start_notes(mechanism, start_state(mechanism)) == []
    data["links"][1]["joint"] = data["links"][1]["joint"] | {"position": -2.0, "velocity": 3.0}
    mechanism = mechanism_of(data)
    moved, slowed = start_notes(mechanism, start_state(mechanism))
    assert "closing the loops moved joints far: coupler.angle from -2 to " in moved
    assert slowed.startswith("initial velocities were changed to fulfil closures")
    assert "coupler.angle from 3 to " in slowed


def test_rows_that_cannot_be_fulfilled_are_noted() -> None:
    """A target beyond reach is said before a run."""
    mechanism = _arm({"x": "E.x - 5"})
    (note,) = start_notes(mechanism, start_state(mechanism))
    assert "the nearest position violates x by 3.2" in note
    assert np.isfinite(start_state(mechanism)[0]).all()


def _falling_bob(**keys: Any) -> dict[str, Any]:
    """A mass on a rod, in x and z, that falls from beside: what is chosen there does not do straight below."""
    bob = link("bob", "planar", rpy=[np.pi / 2, 0.0, 0.0], position=[1.0, 0.0, 0.0]) | body(
        1.0, inertia=[0.1, 0.1, 0.1]
    )
    rod = {"name": "rod", "type": "distance", "length": 1.0, "a": {"link": "ground"}, "b": {"link": "bob"}}
    simulation = {"stop": 2.0, "output_step": 0.01, "start": "description"} | keys
    return {"schema": 1, "name": "Bob", "links": [bob], "closures": [rod], "simulation": simulation}


def test_where_a_choice_of_coordinates_ends() -> None:
    """The times of the falling bob straight below."""
    pendulum = mechanism_of(_falling_bob())
    start = start_state(pendulum)
    motion = simulate(pendulum)
    quarter = 1.854074677301372 / np.sqrt(9.81)  # of the period from 90°, s
    names = solvability(pendulum, start).dependent
    assert singular_times(pendulum, motion, start, names) == pytest.approx([quarter, 3 * quarter], abs=0.01)
    assert singular_times(pendulum, motion, start, ["bob.y"]) == []


@pytest.mark.slow
def test_limits_of_the_modelica_source_are_reported_before_the_build(tmp_path: Path) -> None:
    """The end of the validity of Modelica coordinates is reported whether or not the build
    succeeds.
    """
    told: list[str] = []
    options = RunOptions(tmp_path, progress=lambda what, fraction: told.append(what))
    compilers = Compilers((OpenModelica(Omc(str(tmp_path / "nowhere"))),))
    with pytest.raises(MissingToolError):
        verify(assemble_system(from_data(_falling_bob(stop=0.8))), options, tmp_path, compilers)
    assert [text for text in told if "keeps the dependent coordinates of the initial state, bob.x" in text]
    assert "FMU by openmodelica: starting omc" in told


# ---- Gimbal lock ------------------------------------------------------------------------------------------------


def _near_gimbal_lock() -> Mechanism:
    """A body that turns about y with 1 rad/s from θ = 1.5 rad, and about z with 1e-7 rad/s."""
    joint = {"type": "spherical", "position": [0.0, 1.5, 0.0], "velocity": [1e-7, 1.0, 0.0]}
    top = {"name": "top", "parent": "ground", "joint": joint} | body(2.0, inertia=[0.1, 0.2, 0.3])
    simulation = {"start": "description", "stop": 1.0}
    return mechanism_of(machine(top, gravity=[0.0, 0.0, 0.0], simulation=simulation))


@pytest.mark.slow
def test_a_run_into_gimbal_lock_ends_with_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps shrink with the distance of θ from π/2, and the message names the angle, the time and a remedy."""
    monkeypatch.setattr(effort, "_STEPS", 100)
    with pytest.raises(
        SolveError, match=r"ends at t = 0\.0707\d* s: expected top\.theta away from ±pi/2, found 1\.57"
    ):
        simulate(_near_gimbal_lock())


def test_short_steps_end_a_run_with_their_reason() -> None:
    """2,000 steps within 1e-5 of a run end it; far from gimbal lock, the angle is not named as the reason."""
    mechanism = _near_gimbal_lock()

    def steps(length: float, theta: float) -> list[tuple[float, Array]]:
        return [(0.5 + k * length, np.array([0.0, theta, 0.0])) for k in range(2001)]

    effort.check_effort(mechanism, steps(6e-9, 1.57), 1.0)
    effort.check_effort(mechanism, steps(4e-9, 1.57)[1:], 1.0)
    with pytest.raises(
        SolveError, match=r"found 1\.57 rad, 0\.0008 rad from gimbal lock; .*rotate the joint's frame"
    ):
        effort.check_effort(mechanism, steps(4e-9, 1.57), 1.0)
    with pytest.raises(
        SolveError, match=r"2,000 integration steps cover only 8e-06 s; soften or remove stiff elem"
    ):
        effort.check_effort(mechanism, steps(4e-9, 1.5), 1.0)
