"""Pulses, gusts and short motions between long rests: no run steps over them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_backends import CompileData
from helpers_parts import X, Z, link, machine
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

import gpmelica as gp
from gpmelica.analysis import ReferenceModel
from gpmelica.analysis.system import assemble_system
from gpmelica.description.load import from_data
from gpmelica.language import differentiate, expressions
from gpmelica.language.pace import Pace, merged, sampled, searched
from gpmelica.language.timely import timed_pace
from gpmelica.reference.kinematics import timely
from gpmelica.reference.kinematics.expression import compile_tree
from gpmelica.runs import rumoca as rumoca_backend
from gpmelica.runs.fmpy_runs import simulate as runs

Array = NDArray[np.float64]

# ---- Longest steps ----------------------------------------------------------------------------------------------


def _walk(pace: Pace, stop: float) -> list[float]:
    """Ends of the longest steps from 0 to the stop, s."""
    times = [0.0]
    while times[-1] < stop:
        times.append(min(pace.end(times[-1]), stop))
    return times


@pytest.mark.slow
@pytest.mark.parametrize("width", [1e-3, 0.05, 1.0])
def test_steps_resolve_a_pulse_and_no_more(width: float) -> None:
    """In a pulse at any time the longest steps are a fraction of its width; the rests beside it take few steps."""
    rng = np.random.default_rng(4)
    for centre in rng.uniform(1.0, 99.0, 5).tolist():

        def gust(t: Array, begin: float, centre: float = centre) -> Array:
            del begin
            return np.asarray(np.exp(-(((t - centre) / width) ** 2)))

        times = np.array(_walk(searched(gust, (0.0, 100.0), [], smooth=False), 100.0))
        assert np.count_nonzero(np.abs(times - centre) < width) >= 2
        assert len(times) < 60


def test_straight_functions_bound_no_step() -> None:
    """A constant, and a line in any number of points."""
    time = np.sort(np.random.default_rng(0).uniform(0.0, 5.0, 400))
    assert sampled(time, 3.0 - 2.0 * time).is_steady
    assert searched(lambda t, _: 0.0 * t + 7.0, (0.0, 5.0), [], smooth=False).is_steady


def test_steps_of_an_oscillation_are_those_of_its_period() -> None:
    """A sustained oscillation has steps of a part of its period, and marks at its begin alone."""
    pace = searched(lambda t, _: np.sin(40.0 * t), (0.0, 10.0), [], smooth=False)
    assert 0.2 < 40.0 * pace.bounds.min() < 4.0
    assert np.count_nonzero(pace.marks) <= 8


def test_merged_step_limits_are_the_strictest() -> None:
    """The latest end of a step is the earliest of the ends by each limit."""
    rng = np.random.default_rng(2)
    paces = [Pace(np.sort(rng.uniform(0, 9, 6)), rng.uniform(0.1, 3.0, 6)) for _ in range(3)]
    both = merged(paces)
    for t in rng.uniform(0.0, 10.0, 50).tolist():
        assert both.end(t) <= min(pace.end(t) for pace in paces) + 1e-12
        assert both.end(t) > t


@pytest.mark.slow
@pytest.mark.parametrize(
    "expression",
    [
        "exp(-((t - 3.3)/0.003)^2 - x.position^2)",
        "exp(-((t - 3.3)/0.003)^2 - 1e5*(x.position - 18)^2)",
        "sqrt(1 + x.position^2)/(1 + ((t - 3.3)/0.003)^2)",
        "min(x.position, exp(-((t - 3.3)/0.003)^2))",
        "max(0, 1 - ((t - 3.3)/0.003)^2 - x.position_dot^2)",
        "x.position if (t - 3.3)^2 < 1e-5 else x.position_dot",
        "tanh(x.position + 5*exp(-((t - 3.3)/0.003 - x.position_dot)^2))",
    ],
)
@pytest.mark.parametrize("position", [0.0, 12.0])
def test_short_features_of_time_and_states(expression: str, position: float) -> None:
    """Reference and FMU take short steps in a feature of 3 ms, whatever the other names are at the start."""
    tree = differentiate.expand(expressions.parse(expression))
    initial = {"x.position": position, "x.position_dot": 0.0}
    node = compile_tree(tree, {}, None)
    reference = timely.features(timely.Timed(node, initial), 10.0).pace
    fmu = timed_pace([tree], {}, initial, 10.0).pace
    for pace in (reference, fmu):
        assert pace.end(3.3) - 3.3 < 0.01
        assert len(_walk(pace, 10.0)) < 400


@pytest.mark.parametrize(
    "expression",
    [
        "1/table(w, t)",
        "mass.position/table(w, t)",
        "mass.position*(1 if table(w, t) < 1.5 else 0)",
        "1/(2 + mass.position + table(w, t))",
        "mass.position if table(w, t) < mass.position else 0.0",
    ],
)
def test_lookup_tables_in_divisors_and_conditions(expression: str, tmp_path: Path) -> None:
    """A lookup table has its own pace and is no part of what is searched."""
    tables = _table(tmp_path, np.array([0.0, 5.0, 10.0]), np.array([1.0, 2.0, 1.0]), "linear")
    model = assemble_system(from_data(_pushed(expression, 10.0, tables=tables)))
    assert model.native_program.outputs and "w_" in model.modelica()


def test_a_condition_on_a_constant_step_of_quintic() -> None:
    """The jump is at quintic(0.25, 0, 1, 0, 10) = 10·(10τ³ − 15τ⁴ + 6τ⁵) at τ = 1/4; runs stop there anyway."""
    tree = differentiate.expand(expressions.parse("sin(t) if t > quintic(0.25, 0, 1, 0, 10) else 0"))
    pace = timed_pace([tree], {}, {}, 10.0).pace
    assert pace.known.tolist() == pytest.approx([10.0 * (10 / 4**3 - 15 / 4**4 + 6 / 4**5)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("expression", "is_wandering"),
    [
        ("exp(-((t - x.position)/0.003)^2)", True),
        ("exp(-((t - 3.3)/0.003)^2 - x.position^2)", False),
        ("tanh((2*sin(3*t) - x.position)/1e-3)", False),
        ("sin(20*t + x.position)", False),
        ("10 if sin(3*t) > x.position else 0", False),
    ],
)
def test_pulses_at_times_that_depend_on_states(expression: str, is_wandering: bool) -> None:
    """A pulse that follows a state cannot be bounded; fronts and oscillations are met wherever they are."""
    node = compile_tree(differentiate.expand(expressions.parse(expression)), {}, None)
    assert timely.features(timely.Timed(node, {"x.position": 0.4}), 10.0).wanders == is_wandering


# ---- Runs -------------------------------------------------------------------------------------------------------


def _table(folder: Path, time: Array, values: Array, interpolation: str) -> dict[str, Any]:
    rows = "\n".join(f"{t!r},{x!r}" for t, x in zip(time.tolist(), values.tolist(), strict=True))
    (folder / "table.csv").write_text(f"time,value\n{rows}\n")
    common = {"file": str(folder / "table.csv"), "time": "time", "value": "value"}
    return {"w": common | {"interpolation": interpolation}}


def _pushed(effort: str, stop: float, **tables: Any) -> dict[str, Any]:
    """A mass of 1 kg at rest that is pushed."""
    simulation = {"start": "description", "stop": stop, "output_step": stop / 20}
    force = {"name": "push", "joint": "mass", "effort": effort}
    mass = link("mass", "prismatic", X)
    return machine(mass, gravity=[0.0, 0.0, 0.0], forces=[force], simulation=simulation, **tables)


def _blow(folder: Path) -> tuple[dict[str, Any], float]:
    """A linear lookup table of 2,001 points with a blow of 20 ms."""
    time = np.linspace(0.0, 10.0, 2001)
    values = np.where((time > 3.3) & (time < 3.32), 100.0, 0.0)
    return _pushed("table(w, t)", 10.0, tables=_table(folder, time, values, "linear")), np.trapezoid(values, time)


def _gust(folder: Path) -> tuple[dict[str, Any], float]:
    """A smooth gust of 30 ms in an expression of time."""
    del folder
    return _pushed("100*exp(-((t - 3.3)/0.006)^2)", 10.0), 0.6 * np.sqrt(np.pi)


def _cubic(folder: Path) -> tuple[dict[str, Any], float]:
    """A cubic lookup table of 601 points."""
    time = np.linspace(0.0, 10.0, 601)
    values = np.where((time > 3.3) & (time < 3.38), 100.0, 0.0)
    spline = CubicSpline(time, values, bc_type="clamped")
    return _pushed("table(w, t)", 10.0, tables=_table(folder, time, values, "cubic")), spline.integrate(0.0, 10.0)


def _wind(folder: Path) -> tuple[dict[str, Any], float]:
    """Wind sampled at 10 Hz over 60 s, with one gust."""
    time = np.linspace(0.0, 60.0, 601)
    values = np.where(np.abs(time - 33.3) < 0.05, 100.0, 0.0)
    return _pushed("table(w, t)", 60.0, tables=_table(folder, time, values, "linear")), np.trapezoid(values, time)


def _product(folder: Path) -> tuple[dict[str, Any], float]:
    """A gust within an expression of states."""
    del folder
    return _pushed("100*exp(-((t - 3.3)/0.006)^2) - 0*mass.position", 10.0), 0.6 * np.sqrt(np.pi)


def _gust_of_states(folder: Path) -> tuple[dict[str, Any], float]:
    """A gust whose exponent depends on time and on a position, which is too short to matter."""
    del folder
    return _pushed("100*exp(-((t - 3.3)/0.006)^2 - (1e-5*mass.position)^2)", 10.0), 0.6 * np.sqrt(np.pi)


def _resonance(folder: Path) -> tuple[dict[str, Any], float]:
    """A Lorentz curve with a position in its divisor; its integral is that of 1/(1 + x²)."""
    del folder
    area = 0.6 * (np.arctan(6.7 / 0.006) + np.arctan(3.3 / 0.006))
    return _pushed("100/(1 + ((t - 3.3)/0.006)^2 + (1e-5*mass.position)^2)", 10.0), area


def _window(folder: Path) -> tuple[dict[str, Any], float]:
    """A condition on time and a position, which is true for 4 ms."""
    del folder
    return _pushed("100 if (t - 3.3)^2 + (1e-7*mass.position)^2 < 4e-6 else 0", 10.0), 0.4


ALL_PULSES = [_blow, _gust, _cubic, _wind, _product, _gust_of_states, _resonance, _window]
PULSES = pytest.mark.parametrize("pulse", ALL_PULSES)


@pytest.mark.slow
@PULSES
def test_the_reference_resolves_pulses(pulse: Any, tmp_path: Path) -> None:
    """The speed at the end is the pulse's impulse."""
    data, speed = pulse(tmp_path)
    assert gp.Model(from_data(data)).simulate()["mass_position_dot"][-1] == pytest.approx(speed, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["RK4", "DOP853", "Radau", "BDF", "LSODA"])
def test_every_method_resolves_a_gust(method: str, tmp_path: Path) -> None:
    """Methods with a fixed step too, whose step is longer than the gust."""
    data, speed = _gust(tmp_path)
    data["simulation"] |= {"method": method} | ({"step": 0.1} if method == "RK4" else {})
    found = gp.Model(from_data(data)).simulate()["mass_position_dot"][-1]
    assert found == pytest.approx(speed, rel=1e-2 if method == "RK4" else 1e-5)


def _excursion(folder: Path) -> dict[str, Any]:
    """A joint that goes out and back within 100 ms, by a table, after 5 s of rest."""
    tables = _table(folder, np.array([0.0, 5.0, 5.05, 5.1, 10.0]), np.array([0.0, 0.0, 0.1, 0.0, 0.0]), "linear")
    tables["w"]["interpolation"] = "cubic"
    simulation = {"stop": 10.0, "output_step": 0.025}
    motion = {"name": "swing", "joint": "arm", "position": "table(w, t)"}
    arm = link("arm", "revolute", Z)
    return machine(arm, gravity=[0.0, 0.0, 0.0], tables=tables, motions=[motion], simulation=simulation)


def test_a_gust_that_vanishes_is_searched_at_many_times_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exponential that underflows is zero, and is searched at many times at once."""
    evaluations = []
    instant = timely.Instant
    monkeypatch.setattr(timely, "Instant", lambda *of: evaluations.append(of) or instant(*of))
    effort = "100*exp(-((t - 63.217)/0.01)^2)"
    data = machine(link("mass", "prismatic", X), forces=[{"name": "gust", "joint": "mass", "effort": effort}])
    ReferenceModel(assemble_system(from_data(data)).mechanism).pace(100.0)
    assert 0 < len(evaluations) < 100


@pytest.mark.slow
def test_the_reference_follows_a_short_motion(tmp_path: Path) -> None:
    """The joint is where SciPy's spline is."""
    data = _excursion(tmp_path)
    run = gp.Model(from_data(data)).simulate()
    time, values = np.loadtxt(tmp_path / "table.csv", delimiter=",", skiprows=1).T
    expected = CubicSpline(time, values, bc_type="clamped")(run.time)
    assert run["arm_angle"] == pytest.approx(expected, abs=1e-6 * np.ptp(expected))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["me", "cs"])
@PULSES
def test_the_fmu_resolves_pulses(pulse: Any, mode: runs.Mode, tmp_path: Path, compile_data: CompileData) -> None:
    """An importer that knows nothing of pulses gets the impulse, even with a single communication step."""
    data, speed = pulse(tmp_path)
    stop = data["simulation"]["stop"]
    step = stop / 20 if mode == "me" else stop
    fmu = compile_data(data).fmu
    run = runs.simulate(fmu, mode, ["mass_position_dot"], name=mode, stop=stop, output_step=step, tolerance=1e-8)
    assert run.signals["mass_position_dot"][-1] == pytest.approx(speed, rel=1e-5)


@pytest.mark.parametrize("method", [1, 2, 3, 4])
def test_every_inner_solver_resolves_a_gust(method: int, tmp_path: Path, compile_data: CompileData) -> None:
    """Runge and Kutta's with a fixed step too."""
    data, speed = _gust(tmp_path)
    parameters = {"solver_method": method, "solver_step": 0.1}
    settings: dict[str, Any] = {"stop": 10.0, "output_step": 10.0, "tolerance": 1e-8, "parameters": parameters}
    run = runs.simulate(compile_data(data).fmu, "cs", ["mass_position_dot"], name="cs", **settings)
    assert run.signals["mass_position_dot"][-1] == pytest.approx(speed, rel=1e-2 if method == 1 else 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["me", "cs"])
def test_a_gust_that_a_parameter_moves(mode: runs.Mode, compile_data: CompileData) -> None:
    """The time of the gust is a parameter that is set in the FMU."""
    data = _pushed("100*exp(-((t - gust_time)/0.006)^2)", 10.0, parameters={"gust_time": 3.3})
    settings: dict[str, Any] = {
        "stop": 10.0,
        "output_step": 0.5,
        "tolerance": 1e-8,
        "parameters": {"gust_time": 7.9},
    }
    run = runs.simulate(compile_data(data).fmu, mode, ["mass_position_dot"], name=mode, **settings)
    assert run.signals["mass_position_dot"][-1] == pytest.approx(0.6 * np.sqrt(np.pi), rel=1e-5)


BEGIN = "start(mass.position)"
STEP_BACK = f"quintic(t - 0.006*sqrt(pi), {BEGIN}, {BEGIN} + 0.001, 0, 1)"
SHIFTED = [
    (f"{BEGIN} + 100*exp(-((t - {BEGIN})/0.006)^2) - {BEGIN}", 0.0),
    (f"100*exp(-((3.3*t/{BEGIN} - 3.3)/0.006)^2)", 1.0),
    (f"100*exp(-(({BEGIN}*t - 10.89)/0.0198)^2)", -1.0),
    (f"100 if abs(t - {BEGIN}) < 0.003*sqrt(pi) else 0", 0.0),
    (f"100*(quintic(t, {BEGIN}, {BEGIN} + 0.001, 0, 1) - {STEP_BACK})", 0.0),
]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["me", "cs"])
@pytest.mark.parametrize(("effort", "power"), SHIFTED)
def test_pulses_at_times_that_depend_on_initial_values(
    effort: str, power: float, mode: runs.Mode, compile_data: CompileData
) -> None:
    """The final speed is the impulse, also if another initial position moves the pulse or changes its duration."""
    data = _pushed(effort, 10.0)
    data["links"][0]["joint"] |= {"position": 3.3}
    fmu, step = compile_data(data).fmu, 10.0 if mode == "cs" else 0.5
    for position in (3.3, 5.7):
        parameters = {"mass_position_start": position}
        settings: dict[str, Any] = {"stop": 10.0, "output_step": step, "tolerance": 1e-8, "parameters": parameters}
        run = runs.simulate(fmu, mode, ["mass_position_dot"], name=mode, **settings)
        speed = 0.6 * np.sqrt(np.pi) * (position / 3.3) ** power
        assert run.signals["mass_position_dot"][-1] == pytest.approx(speed, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["me", "cs"])
def test_the_fmu_follows_a_short_motion(mode: runs.Mode, tmp_path: Path, compile_data: CompileData) -> None:
    """The joint is where SciPy's spline is."""
    data = _excursion(tmp_path)
    settings: dict[str, Any] = {"stop": 10.0, "output_step": 0.025, "tolerance": 1e-8}
    run = runs.simulate(compile_data(data).fmu, mode, ["arm_angle"], name=mode, **settings)
    time, values = np.loadtxt(tmp_path / "table.csv", delimiter=",", skiprows=1).T
    expected = CubicSpline(time, values, bc_type="clamped")(run.time)
    assert run.signals["arm_angle"] == pytest.approx(expected, abs=1e-5 * np.ptp(expected))


@pytest.mark.slow
@pytest.mark.skipif(not rumoca_backend.available(), reason="rumoca is not installed")
@pytest.mark.parametrize("pulse", [_blow, pytest.param(_gust, marks=pytest.mark.campaign), _gust_of_states])
def test_the_verdict_is_right_about_pulses(pulse: Any, tmp_path: Path) -> None:
    """All runs agree, that of the Modelica source too, and all have the impulse."""
    data, speed = pulse(tmp_path)
    report = gp.Model(from_data(data)).run(tmp_path / "out", compiler="native")
    assert [c.name for c in report.comparisons if not c.ok] == []
    assert len(report.runs) == 4
    for run in report.runs:
        assert run.signals["mass_position_dot"][-1] == pytest.approx(speed, rel=1e-5)


@pytest.mark.slow
def test_short_pulses_of_lines_late_in_a_long_run() -> None:
    """Lines of 50 m keep their length, and a divisor that is constant comes to no end of a domain.

    The impulses are ∫F dt: 100 N, and 1e-6 N/m · 1e8 m, over a Gaussian of 0.2 ms.
    """
    end = {"link": "ground", "point": [-50.0, 0.0, 0.0]}
    pull = {"name": "pull", "a": end, "b": {"link": "pulled"}, "force": "100*exp(-((t-66.2211)/0.0002)^2)"}
    rest = "50+1e8*exp(-((t-91.4602)/0.0002)^2)"
    spring = {"name": "spring", "a": end, "b": {"link": "sprung"}, "stiffness": 1e-6, "rest": rest}
    slides = (link("pulled", "prismatic", X), link("sprung", "prismatic", X))
    settings = {"start": "description", "stop": 100.0, "output_step": 5.0}
    chain = from_data(machine(*slides, gravity=[0.0, 0.0, 0.0], lines=[pull, spring], simulation=settings))
    run = gp.Model(chain).simulate()
    impulse = 100.0 * 0.0002 * np.sqrt(np.pi)
    assert run["pulled_position_dot"][-1] == pytest.approx(-impulse, rel=1e-5)
    assert run["sprung_position_dot"][-1] == pytest.approx(impulse, rel=1e-4)
