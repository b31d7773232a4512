"""Controllers in the description: closed forms, linear systems of SciPy, independent derivations, FMUs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_backends import CompileData, Fmu, follows, run_of
from helpers_oracle import Oracle, oracle_run
from helpers_parts import Table, X, Z, body, link, machine
from helpers_problem import simulate
from helpers_reference import mechanism_of
from helpers_stages import StagedModel
from scipy import signal as lti

from gpmelica.analysis import ReferenceModel
from gpmelica.analysis.system import assemble_system
from gpmelica.api.model import Model
from gpmelica.core.errors import DescriptionError
from gpmelica.core.trajectory import Array, Trajectory
from gpmelica.description import Description
from gpmelica.description.load import from_data
from gpmelica.description.types import units
from gpmelica.generator import modelica
from gpmelica.reference.kinematics.piecewise import PiecewiseLinear
from gpmelica.runs import rumoca as rumoca_backend

INERTIA = 2.0  # kg m²
GAIN, INTEGRAL, DERIVATIVE, RATIO = 30.0, 0.8, 0.25, 12.0
TORQUE = {"name": "torque", "joint": "rotor", "input": True}


def _rotor(*controllers: Table, **tables: Any) -> Table:
    """A rotor without weight whose torque is an input."""
    rotor = link("rotor", "revolute", Z) | body(1.0, inertia=[INERTIA] * 3)
    simulation = {"start": "description", "stop": 2.0, "output_step": 0.02}
    parts = {"name": "Rotor", "gravity": [0.0, 0.0, 0.0], "forces": [TORQUE], "simulation": simulation}
    return machine(rotor, **parts | {"controllers": list(controllers)} | tables)


def _pid(**keys: Any) -> Table:
    given = {"name": "pid", "type": "pid", "measured": "rotor.angle", "drives": "torque", "setpoint": 1.0}
    given |= {"gain": GAIN, "integral_time": INTEGRAL, "derivative_time": DERIVATIVE, "derivative_filter": RATIO}
    return {key: value for key, value in (given | keys).items() if value is not None}


def _pi(**keys: Any) -> Table:
    speed = {"type": "pi", "measured": "rotor.angle_dot", "derivative_time": None, "derivative_filter": None}
    return _pid(**speed | keys)


def _run(data: Table, **settings: Any) -> Trajectory:
    return simulate(mechanism_of(data), tolerance=1e-12, **settings)


# ---- Closed loops against linear systems ------------------------------------------------------------------------


def test_pi_loop_of_the_speed_is_an_oscillator() -> None:
    """J ω' = K (1 − ω) + I and I' = K (1 − ω)/Ti: the error e = 1 − ω is a damped oscillation from e = 1."""
    found = _run(_rotor(_pi()))
    decay = GAIN / (2 * INERTIA)
    frequency = np.sqrt(complex(GAIN / (INERTIA * INTEGRAL) - decay**2))
    t = found.time
    error = np.exp(-decay * t) * (np.cos(frequency * t) - decay / frequency * np.sin(frequency * t)).real
    assert 1.0 - found.signals["rotor_angle_dot"] == pytest.approx(error, abs=1e-10)


def test_pid_loop_is_its_transfer_function() -> None:
    """K (b + 1/(Ti s)) acts on the setpoint, K (1 + 1/(Ti s) + Td s/(1 + Td s/N)) on the angle."""
    weight = 0.6
    found = _run(_rotor(_pid(setpoint_weight=weight)))
    slow, fast = np.array([INTEGRAL, 0.0]), np.array([DERIVATIVE / RATIO, 1.0])  # Ti s and 1 + Td s/N
    of_setpoint = GAIN * np.polymul([weight * INTEGRAL, 1.0], fast)
    of_angle = GAIN * np.polyadd(np.polymul([INTEGRAL, 1.0], fast), np.polymul(slow, [DERIVATIVE, 0.0]))
    plant = np.polymul(np.polymul([INERTIA, 0.0, 0.0], slow), fast)
    _, expected = lti.step((of_setpoint, np.polyadd(plant, of_angle)), T=found.time)
    assert found.signals["rotor_angle"] == pytest.approx(expected, abs=1e-9)


def test_pd_controller_is_a_spring_and_a_damper() -> None:
    """Without an integral part and with a fast filter, the rotor oscillates as with K and K Td in its joint."""
    found = _run(_rotor(_pid(integral_time=None, derivative_filter=1e7)), method="Radau")
    data = _rotor(forces=[])
    data["links"][0]["joint"] |= {"stiffness": GAIN, "rest": 1.0, "damping": GAIN * DERIVATIVE}
    expected = _run(data).signals["rotor_angle"]
    assert found.signals["rotor_angle"] == pytest.approx(expected, abs=1e-6)
    assert "pid_integral" not in found.signals


def test_a_filter_lags_behind_a_ramp() -> None:
    """The output is t − T (1 − exp(−t/T)), and with an initial value of its own it decays towards that."""
    lag = {"name": "lag", "type": "filter", "signal": "t", "time_constant": 0.3}
    late = lag | {"name": "late", "start": 2.0}
    found = _run(_rotor(lag, late))
    t, decay = found.time, np.exp(-found.time / 0.3)
    assert found.signals["lag_output"] == pytest.approx(t - 0.3 * (1 - decay), abs=1e-10)
    assert found.signals["late_output"] == pytest.approx(t - 0.3 * (1 - decay) + 2.0 * decay, abs=1e-10)


def test_a_rate_limiter_climbs_and_then_approaches() -> None:
    """From 0 to 1 with the rate r up to the distance r T, then exponentially; two events, one at each end."""
    rate, time = 0.8, 0.2
    ramp = {"name": "ramp", "type": "rate_limit", "rate": rate, "time_constant": time, "start": 0.0}
    found = _run(_rotor(ramp | {"signal": "1 if t < 1.8 else -1"}))
    t, turn = found.time[:90], 1.0 / rate - time  # s
    near = 1.0 - rate * time * np.exp(-(t - turn) / time)
    assert found.signals["ramp_output"][:90] == pytest.approx(np.where(t < turn, rate * t, near), abs=1e-10)
    steps = np.diff(found.signals["ramp_output"]) / np.diff(found.time)
    assert np.abs(steps).max() <= rate * (1 + 1e-9)
    assert steps[-1] == pytest.approx(-rate)
    assert [event.label for event in found.events] == ["controller ramp"] * 2


def test_anti_windup_shortens_the_overshoot() -> None:
    """A limited torque overshoots less with back-calculation, and the integral part leaves its excess sooner."""
    limits = {"lower": -8.0, "upper": 8.0, "setpoint": 2.0, "anti_windup_time": 0.2}
    data = _rotor(_pid(**limits), simulation={"start": "description", "stop": 8.0, "output_step": 0.02})
    found = _run(data)
    data["controllers"][0]["anti_windup_time"] = 1e9
    wound = _run(data)
    for run in (found, wound):
        assert np.abs(run.signals["pid_output"]).max() <= 8.0
        assert np.abs(run.signals["pid_unlimited"]).max() > 20.0
    overshoots = [run.signals["rotor_angle"].max() - 2.0 for run in (found, wound)]
    assert overshoots[0] < 0.15
    assert overshoots[1] > 3.5
    assert np.abs(found.signals["pid_integral"]).max() < 0.1 * np.abs(wound.signals["pid_integral"]).max()
    assert found.signals["rotor_angle"][-1] == pytest.approx(2.0, abs=1e-3)


def test_integral_part_begins_where_the_description_says() -> None:
    """The loop stays at rest if its integral part begins with the moment of a weight."""
    rotor = link("rotor", "revolute", X) | body(3.0, [0.0, 0.4, 0.0], [0.1, 0.1, 0.1])
    moment = 3.0 * 9.81 * 0.4
    data = _rotor(_pid(setpoint=0.0, integral_start=moment), gravity=[0.0, 0.0, -9.81]) | {"links": [rotor]}
    found = _run(data)
    assert np.abs(found.signals["rotor_angle"]).max() < 1e-12
    assert found.signals["pid_output"] == pytest.approx(np.full(len(found.time), moment))


# ---- Sampled controllers ----------------------------------------------------------------------------------------

PERIOD = 0.05  # s


def _recursion(count: int, limit: float, follow: float) -> Array:
    """Angle, output and integral part at the first samples of a PID loop on the rotor, exactly.

    Between samples the torque is constant, so that the angle is a parabola.
    """
    angle, rate, integral, filtered, found = 0.0, 0.0, 0.0, 0.0, []
    constant = DERIVATIVE / RATIO
    for _ in range(count):
        after = (constant * filtered + PERIOD * angle) / (constant + PERIOD)
        wanted = GAIN * (1.0 - angle) + integral - GAIN * DERIVATIVE * (after - filtered) / PERIOD
        output = float(np.clip(wanted, -limit, limit))
        integral += PERIOD * (GAIN * (1.0 - angle) / INTEGRAL + (output - wanted) / follow)
        filtered = after
        found.append((angle, output, integral))
        angle += PERIOD * rate + 0.5 * PERIOD**2 * output / INERTIA
        rate += PERIOD * output / INERTIA
    return np.array(found).T


def _sampled_loop(**keys: Any) -> Table:
    limits = {"lower": -9.0, "upper": 9.0, "anti_windup_time": 0.4, "sample": PERIOD, "unit": "rad"}
    return _rotor(_pid(**limits | {"output_unit": "N.m"} | keys))


def test_sampled_pid_is_an_exact_recursion() -> None:
    """At the samples and in between, in the reference solver and in the oracle; the output is held."""
    data = _sampled_loop() | {"simulation": {"start": "description", "stop": 2.0, "output_step": PERIOD / 2}}
    angle, output, integral = _recursion(41, 9.0, 0.4)
    assert np.abs(output).max() == 9.0
    for found in (_run(data), oracle_run(assemble_system(from_data(data)))):
        assert found.signals["rotor_angle"][::2] == pytest.approx(angle, abs=1e-8)
        assert found.signals["pid_output"][::2] == pytest.approx(output, abs=1e-6)
        assert found.signals["pid_integral"][::2] == pytest.approx(integral, abs=1e-6)
        held = found.signals["pid_output"]
        assert np.array_equal(held[1::2], held[:-1:2])


def test_fast_samples_approach_the_continuous_controller() -> None:
    """The error of the angle is proportional to the sample time."""
    data = _rotor(_pid(), simulation={"start": "description", "stop": 0.6, "output_step": 0.1})
    smooth = _run(data).signals["rotor_angle"]
    errors = []
    for period in (0.02, 0.01, 0.005):
        data["controllers"][0]["sample"] = period
        errors.append(np.abs(_run(data).signals["rotor_angle"] - smooth).max())
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx(1.0, abs=0.15)


def test_sampled_filter_and_rate_limiter() -> None:
    """The filter is the backward Euler method; the limiter needs no time constant and reaches its signal."""
    lag = {"name": "lag", "type": "filter", "signal": 1.0, "time_constant": 0.3, "sample": 0.1, "start": 0.0}
    ramp = {"name": "ramp", "type": "rate_limit", "signal": 1.0, "rate": 2.5, "sample": 0.1, "start": 0.0}
    found = _run(_rotor(lag, ramp, simulation={"start": "description", "stop": 1.0, "output_step": 0.1}))
    k = np.arange(1, 12)
    assert found.signals["lag_output"] == pytest.approx(1.0 - (0.3 / 0.4) ** k, abs=1e-12)
    assert found.signals["ramp_output"] == pytest.approx(np.minimum(0.25 * k, 1.0), abs=1e-12)


@pytest.mark.slow
def test_fmus_sample_between_communication_points(compile_data: CompileData) -> None:
    """With steps that do not divide the sample time, with another sample time, and after a restored state."""
    compiled = compile_data(_sampled_loop(), "3.0")
    angle, *_ = _recursion(41, 9.0, 0.4)
    for mode, step in (("cs", 0.017), ("cs", PERIOD), ("me", 0.17)):
        run = run_of(compiled, mode, stop=2.0, output_step=step)
        time, torque = run.time, run.signals["pid_output"]
        k = np.floor(time / PERIOD * (1 + 1e-9)).astype(int)
        rest = time - k * PERIOD
        rates = np.append(0.0, np.cumsum([PERIOD * u / INERTIA for u in _recursion(41, 9.0, 0.4)[1]]))[k]
        exact = angle[np.minimum(k, 40)] + rates * rest + 0.5 * rest**2 * torque / INERTIA
        assert run.signals["rotor_angle"] == pytest.approx(exact, abs=1e-7), (mode, step)
    data = _sampled_loop(sample=0.08)
    expected = _run(data | {"simulation": {"start": "description", "stop": 1.0, "output_step": 0.02}})
    follows(compiled, expected, parameters={"pid_sample": 0.08}, output_step=0.02)
    names, points = ["rotor_angle", "pid_integral", "pid_output"], 0.03 * np.arange(20)
    with Fmu(compiled).start() as fmu:
        fmu.run(points[:8])
        kept = fmu.fmi.getFMUState()
        first = fmu.run(points[7:], names)
        fmu.fmi.setFMUState(kept)
        assert np.array_equal(fmu.run(points[7:], names), first)
        fmu.fmi.freeFMUState(kept)


def _seen_limits() -> Table:
    """A sampled step drives a continuous controller to its limit, and a filter samples this controller."""
    step = {"name": "step", "type": "filter", "signal": "1 if t > 0.35 else 0", "sample": 0.1}
    limited = _pi(name="fast", drives=None, setpoint="(1 if t > 0.2 else 0) - 2*step_output", measured="0*t")
    seen = {"name": "seen", "type": "filter", "signal": "fast_output", "sample": 0.1, "start": 0.0}
    limits = {"lower": -1.0, "upper": 1.0}
    simulation = {"start": "description", "stop": 0.6, "output_step": 0.05}
    return _rotor(seen | {"drives": "torque"}, limited | limits, step, simulation=simulation)


_SEEN = np.repeat([0.0, 1.0, -1.0], [4, 4, 5])  # outputs of `seen` every 0.05 s


def test_samples_see_limits_that_act_at_the_same_time() -> None:
    """A time event and a sample drive an output to its limits; another sample at this time sees the limit."""
    data = _seen_limits()
    for found in (_run(data), oracle_run(assemble_system(from_data(data)))):
        assert found.signals["seen_output"] == pytest.approx(_SEEN)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["me", "cs"])
def test_samples_of_fmus_see_limits_that_act_at_the_same_time(compile_data: CompileData, mode: Any) -> None:
    """The switching conditions follow each sample before the next one."""
    found = run_of(compile_data(_seen_limits()), mode, stop=0.6, output_step=0.05)
    assert found.signals["seen_output"] == pytest.approx(_SEEN)


def test_limits_and_sample_times_are_checked_in_the_fmu() -> None:
    """The FMU requires lower < upper and a sample time of at least 1 µs, for parameters that are set later."""
    program = assemble_system(from_data(_sampled_loop())).program
    assert "pid_upper - pid_lower" in [required.message for required in program.requirements]
    assert {p.name: p.bounds.low for p in program.parameters}["pid_sample"] == 1e-6


@pytest.mark.slow
def test_an_fmu_refuses_limits_in_the_wrong_order(compile_data: CompileData) -> None:
    """The message names both parameters."""
    compiled = compile_data(_sampled_loop(), "3.0")
    with pytest.raises(Exception, match="pid_upper - pid_lower"):
        run_of(compiled, "cs", stop=0.1, output_step=0.05, parameters={"pid_lower": 10.0})


# ---- Ways to an input -------------------------------------------------------------------------------------------


def _driven(**tables: Any) -> Table:
    """A cart and a rotor; every kind of input of the description is driven by a controller."""
    links = [
        link("cart", "prismatic", X, stiffness=60.0, damping=2.0) | body(2.0, inertia=[0.1] * 3),
        link("rotor", "revolute", Z, "cart", position=0.3, damping=0.4) | body(1.5, [0.3, 0.0, 0.0], [0.2] * 3),
        link("arm", "revolute", Z, "rotor", position=-0.2) | body(0.5, [0.2, 0.0, 0.0], [0.05] * 3),
    ]
    points = {
        "E": {"link": "arm", "position": [0.4, 0.0, 0.0]},
        "O": {"link": "ground", "position": [1.0, 1.0, 0.0]},
    }
    line = {"name": "rod", "a": {"link": "ground", "point": [1.0, 1.0, 0.0]}, "b": {"link": "cart"}}
    wave = {"name": "wave", "type": "filter", "signal": "sin(3*t)", "time_constant": 0.1}
    controllers = [
        _pi(name="speed", drives="torque", measured="rotor.angle_dot", setpoint=None, gain=5.0)
        | {"lower": -3.0, "upper": 2.0},
        _pid(name="place", drives="speed_setpoint", measured="calm_output", setpoint="0.5*wave_output", gain=4.0),
        {"name": "calm", "type": "filter", "signal": "rotor.angle", "time_constant": "tau"},
        wave | {"drives": "wind_y"},
        {"name": "pull", "type": "rate_limit", "signal": "2*E.x + rod_rate", "rate": 5.0, "time_constant": 0.05}
        | {"drives": "rod"},
        wave | {"name": "follow", "drives": "slew"},
        wave | {"name": "current", "signal": "rod_force", "start": 0.5, "drives": "drive_current"},
    ]
    parts = {
        "name": "Driven",
        "gravity": [0.0, 0.0, 0.0],
        "parameters": {"tau": 0.08},
        "points": points,
        "lines": [line | {"input": True}],
        "motors": [{"name": "drive", "joint": "cart", "constant": 2.0, "limit": 5.0}],
        "motions": [{"name": "slew", "joint": "arm", "input": True, "cutoff": 3.0}],
        "forces": [TORQUE, {"name": "wind", "link": "arm", "point": [0.4, 0.0, 0.0], "input": True}],
        "controllers": controllers,
        "outputs": {"expressions": {"both": "speed_output + pull_output"}, "energy": True},
        "simulation": {"start": "description", "stop": 1.0, "output_step": 0.02},
    }
    return machine(*links, **parts | tables)


def test_driven_inputs_are_no_inputs_of_the_fmu() -> None:
    """Only the components of the wind that nobody drives remain; the outputs take the places of the others."""
    model = assemble_system(from_data(_driven()))
    assert {entry.name for entry in model.program.inputs} == {"wind_x", "wind_z"} == {*model.mechanism.inputs}
    assert {*model.units} >= {"speed_integral", "speed_unlimited", "place_lag", "place_derivative", "pull_offset"}


def test_the_derivations_agree() -> None:
    """Generated equations, reference and oracle have equal outputs and rates in random states."""
    model, rng = assemble_system(from_data(_driven())), np.random.default_rng(7)
    staged, oracle = StagedModel(model), Oracle(model)
    n, s = model.mechanism.n, model.problem.model.internal.size
    limits = set()
    for k in range(30):
        size = 0.02 if k % 2 else 1.0  # the smaller states are within the limits
        t, (q, qd), z = float(rng.uniform(0.0, 1.0)), size * rng.normal(size=(2, n)), size * rng.normal(size=s)
        inputs = {"wind_x": float(rng.normal()), "wind_z": 0.0}
        numbers = ReferenceModel(model.mechanism, start=model.start, inputs=inputs)
        state = numbers.state(t, q, qd, lag=z)
        found = numbers.evaluate(state, model.problem.form)
        generated, second = staged(t, q, qd, inputs, z), oracle.outputs(t, q, qd, z, inputs)
        expected = numbers.forces.signals(state)
        for name, value in expected.items():
            assert generated.outputs[name] == pytest.approx(value, abs=1e-9 * max(1.0, abs(value))), name
            assert second[name] == pytest.approx(value, abs=1e-9 * max(1.0, abs(value))), name
        assert generated.qdd == pytest.approx(found.qdd, rel=1e-8, abs=1e-8)
        assert [second[f"{c.symbol}_ddot"] for c in model.mechanism.coordinates] == pytest.approx(
            found.qdd, rel=1e-8
        )
        assert generated.z_dot == pytest.approx(numbers.internal_rates(state), rel=1e-9, abs=1e-9)
        rates = oracle.model.lag_rates(oracle.model.state(t, q, qd, z, inputs))
        assert rates == pytest.approx(numbers.internal_rates(state), rel=1e-9, abs=1e-9)
        limits.add(float(np.sign(expected["speed_unlimited"] - expected["speed_output"])))
    assert limits == {-1.0, 0.0, 1.0}


def test_many_states_at_once() -> None:
    """Rates of internal states of a block of states are those of each."""
    model, rng = ReferenceModel(mechanism_of(_driven())), np.random.default_rng(8)
    t, (q, qd), z = (
        rng.uniform(0.0, 1.0, 12),
        rng.normal(size=(2, 12, 3)),
        rng.normal(size=(12, model.internal.size)),
    )
    segment = model.state(0.0, q[0], qd[0], lag=z[0]).segment
    together = model.internal_rates(model.state(t, q, qd, segment, z))
    apart = [
        model.internal_rates(model.state(*one)) for one in zip(t.tolist(), q, qd, [segment] * 12, z, strict=True)
    ]
    assert together == pytest.approx(np.array(apart), abs=1e-12)


def test_initial_values_pass_through_controllers() -> None:
    """A filter of a sampled signal, a filter of this filter and a derivative begin in a steady state."""
    filters = [
        {"name": f"f{k}", "type": "filter", "signal": "rotor.angle" if k == 0 else f"2*f{k - 1}_output"}
        | {"time_constant": 0.1 * (k + 1)}
        for k in range(3)
    ]
    filters[0] = {"name": "f0", "type": "filter", "signal": "rotor.angle", "sample": 0.1}
    data = _rotor(*filters, _pid(measured="f2_output", setpoint="4*0.3", integral_time=None), forces=[TORQUE])
    data["links"][0]["joint"]["position"] = 0.3
    found, second = _run(data), oracle_run(assemble_system(from_data(data)))
    for run in (found, second):
        for k in range(3):
            assert run.signals[f"f{k}_output"] == pytest.approx(np.full(len(run.time), 0.3 * 2**k), abs=1e-12)
        assert run.signals["pid_derivative"] == pytest.approx(np.zeros(len(run.time)), abs=1e-9)


# ---- FMU and Modelica -------------------------------------------------------------------------------------------


STEPS = [
    "1 if t > 0 else 0",
    "1 if t > begin else 0",
    "sign(t)",
    "start(sign(t))",
    "1 if t > start(rotor.angle) else 0",
]


@pytest.mark.slow
def test_filters_begin_just_after_steps_at_the_initial_time(compile_data: CompileData) -> None:
    """If a signal jumps to 1 at t = 0 and stays there, the filter stays at 1 with the slope 0 in all backends."""
    table = {"type": "filter", "time_constant": 0.3}
    lags = [table | {"name": f"lag{i}", "signal": signal} for i, signal in enumerate(STEPS)]
    data = _rotor(*lags, forces=[], parameters={"begin": 0.0})
    names = [f"{lag['name']}_{quantity}" for quantity in ("output", "slope") for lag in lags]
    expected = np.repeat([1.0, 0.0], len(lags))
    with Fmu(compile_data(data)) as fmu:
        assert fmu.restart().run([0.0, 0.5], names) == pytest.approx(np.array([expected] * 2), abs=1e-12)
    for found in (_run(data), oracle_run(assemble_system(from_data(data)))):
        assert [found.signals[name][0] for name in names] == pytest.approx(expected, abs=1e-12)
        assert [found.signals[name][-1] for name in names] == pytest.approx(expected, abs=1e-12)


def test_outputs_of_time_agree_where_they_jump() -> None:
    """An output that jumps at an output time has the later value there, in reference and oracle."""
    jumps = {"s": "sign(t - 0.5)", "n": "noevent(sign(t))", "q": "1 if t > 0.3 else -1"}
    model = assemble_system(from_data(_rotor(forces=[], outputs={"expressions": jumps})))
    reference, oracle = simulate(model.mechanism), oracle_run(model)
    for name, time in (("s", 0.5), ("n", 0.0), ("q", 0.3)):
        expected = np.where(reference.time >= time - 1e-9, 1.0, -1.0)
        assert np.array_equal(reference.signals[name], expected)
        assert np.array_equal(oracle.signals[name], expected)


def test_modelica_declares_units_and_meanings() -> None:
    """The gain has the unit of output per measured quantity; the driven torque is no input."""
    data = _rotor(_pid(unit="rad", output_unit="N.m", lower=-9.0, upper=9.0, setpoint=None))
    text = Model(from_data(data)).modelica()
    assert 'parameter SI.RotationalSpringConstant pid_gain = 30.0 "gain of controller pid";' in text
    assert 'parameter SI.Torque pid_upper = 9.0 "largest output of controller pid";' in text
    assert 'output SI.Torque pid_integral = pid_integral_state "integral part of controller pid";' in text
    assert re.search(r'RealInput pid_setpoint\(start = 0\.0, unit = "rad"\)\s+"setpoint of controller pid"', text)
    assert "RealInput torque(" not in text  # the model `Plant` has torque_input


@pytest.mark.slow
def test_fmus_follow_the_reference(compile_data: CompileData) -> None:
    """Both kinds of run have the signals of the reference solver, also with parameters that are changed."""
    compiled = compile_data(_driven(), "3.0")
    follows(compiled, simulate(compiled.model.mechanism, tolerance=1e-11), limit=1e-6)
    data = _driven(parameters={"tau": 0.05})
    data["controllers"][0] |= {"gain": 20.0, "integral_start": 0.7}
    changed = simulate(mechanism_of(data), tolerance=1e-11)
    values = {"tau": 0.05, "speed_gain": 20.0, "speed_integral_start": 0.7}
    follows(compiled, changed, limit=1e-6, modes=("cs",), parameters=values)


@pytest.mark.slow
def test_equilibrium_includes_the_controller(compile_data: CompileData) -> None:
    """The FMU finds the equilibrium again for another mass: c x = −m g + K (r − x) + I with the initial I."""
    cart = link("cart", "prismatic", Z, stiffness=400.0, damping=5.0) | body("m", inertia=[0.1] * 3)
    calm = {"name": "calm", "type": "filter", "signal": "cart.position", "time_constant": 0.02}
    hold = _pi(measured="calm_output", setpoint=0.05, gain=200.0, integral_start=4.0, drives="lift")
    data = machine(cart, name="Hung", parameters={"m": 3.0}, controllers=[calm, hold])
    data |= {"forces": [{"name": "lift", "joint": "cart", "input": True}]}
    run = run_of(compile_data(data), "cs", stop=0.1, parameters={"m": 5.0})
    assert run.signals["cart_position"][0] == pytest.approx((-5.0 * 9.81 + 200.0 * 0.05 + 4.0) / 600.0)
    assert run.signals["cart_position_ddot"][0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.slow
def test_a_run_agrees_in_all_backends(tmp_path: Path) -> None:
    """Native FMU, Modelica in rumoca and the oracle, with simultaneous samples of two controllers.

    The controller `place` uses the output of `wave`, which follows it in the description.
    """
    pytest.importorskip("rumoca")
    data = _driven(motions=[])
    periods = {"place": {"sample": 0.1}, "wave": {"sample": 0.05}}
    data["controllers"] = [each | periods.get(each["name"], {}) for each in data["controllers"][:5]]
    report = Model(from_data(data)).run(tmp_path)
    assert report.ok
    assert {"fmu-native-me", "fmu-native-cs", "modelica-rumoca", "oracle"} <= {c.name for c in report.comparisons}
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h3>Controllers</h3>" in page
    assert "place_output" in (tmp_path / "figures" / "controllers.svg").read_text(encoding="utf-8")
    assert not any("controller" in name for name in report.course.power)  # it exerts no force


@pytest.mark.skipif(not rumoca_backend.available(), reason="rumoca is not installed")
def test_limit_reached_by_a_sample_acts_on_a_later_sample_at_the_same_time() -> None:
    """A setpoint jumps at a sample, a continuous controller reaches a limit, and a second element samples it."""
    jumps = {"name": "jumps", "type": "filter", "signal": "4*sin(6*t)", "sample": 0.25}
    limited = _pi(setpoint="jumps_output", gain=3.0, lower=-4.0, upper=4.0, drives=None)
    hold = {"name": "hold", "type": "filter", "signal": "pid_output", "sample": 0.25, "drives": "torque"}
    data = _rotor(jumps, limited, hold)
    expected = _run(data).signals
    assert {-4.0, 4.0} < set(expected["hold_output"])
    model = assemble_system(from_data(data))
    text = model.modelica(start_values=model.start_values())
    run = rumoca_backend.CompiledModel(text, modelica.experiment(model.name)).simulate(
        ["hold_output", "rotor_angle"], stop=2.0, output_step=0.02, tolerance=1e-8, budget=60.0
    )
    for name, values in run.signals.items():
        assert values == pytest.approx(expected[name], abs=1e-7)


@pytest.mark.slow
def test_linear_model_has_the_states_of_the_controller() -> None:
    """The eigenvalues of the closed loop are the roots of its characteristic polynomial."""
    data = _rotor(_pid(setpoint=None, unit="rad", output_unit="N.m"))
    space = Model(from_data(data)).linearize()
    assert {"pid_integral", "pid_lag"} < {*space.states}
    assert space.inputs == ("pid_setpoint",)
    fast, slow = np.array([DERIVATIVE / RATIO, 1.0]), np.array([INTEGRAL, 0.0])
    loop = GAIN * np.polyadd(np.polymul([INTEGRAL, 1.0], fast), np.polymul(slow, [DERIVATIVE, 0.0]))
    expected = np.roots(np.polyadd(np.polymul(np.polymul([INERTIA, 0.0, 0.0], slow), fast), loop))
    assert np.sort_complex(np.linalg.eigvals(space.A)) == pytest.approx(np.sort_complex(expected), rel=1e-6)
    data["controllers"][0]["sample"] = PERIOD
    held = Model(from_data(data)).linearize()
    assert held.states == ("rotor_angle", "rotor_angle_dot")
    assert np.allclose(held.A, [[0.0, 1.0], [0.0, 0.0]])  # between samples, the torque is constant
    assert "sampled controllers hold their outputs, pid" in held.notes[0]


# ---- Description ------------------------------------------------------------------------------------------------


def test_descriptions_survive_a_copy() -> None:
    """Default values of each type are inserted once; a copy of all tables is an equal description."""
    lag = {"name": "lag", "type": "filter", "time_constant": 0.1}
    hold = {"name": "hold", "type": "filter", "signal": "lag_output", "sample": 0.1}
    chain = from_data(
        _rotor(_pid(), _pi(name="second", drives=None, upper="2*a"), lag, hold, parameters={"a": 1.5})
    )
    assert Description.model_validate(chain.model_dump(by_alias=True)) == chain
    first, _, third, _ = chain.controllers
    assert (first.setpoint_weight, first.integral_start, third.start) == (1.0, 0.0, 0.0)
    assert chain.driven == {"torque": "pid.output"}
    assert chain.inputs == ("torque", "lag_signal")


@pytest.mark.parametrize(
    ("unit", "other", "quotient"),
    [
        *[("N.m", "rad", "N.m/rad"), ("N.m", "rad/s", "N.m.s/rad"), ("1", "s", "1/s"), ("N", "1", "N")],
        *[("rad/s", "s", "rad/s2"), ("m/s", "m/s", "1"), ("A", "N.m", "A/N.m"), ("kg.m2", "m", "kg.m")],
    ],
)
def test_units_of_quotients(unit: str, other: str, quotient: str) -> None:
    """The base units of a quotient are the differences of the exponents."""
    assert units.quotient(unit, other) == quotient
    found = units.exponents(quotient)
    assert found == {base: n - units.exponents(other)[base] for base, n in units.exponents(unit).items()}


def test_a_filter_and_a_pid_bring_an_input_into_expressions() -> None:
    """For the input t, a filter gives t − T (1 − exp(−t/T)); gain 1 and no measured quantity give t itself."""
    lag = {"name": "lag", "type": "filter", "time_constant": 0.3}
    same = {"name": "same", "type": "pid", "measured": "0", "gain": 1.0, "derivative_time": 1.0}
    expressions = {"both": {"expression": "2*lag_output - same_output"}}
    mechanism = mechanism_of(_rotor(lag, same, outputs={"expressions": expressions}))
    ramp = PiecewiseLinear(np.array([0.0, 2.0]), np.array([0.0, 2.0]))
    found = simulate(mechanism, inputs={"lag_signal": ramp, "same_setpoint": ramp}, tolerance=1e-12)
    lagging = found.time - 0.3 * (1 - np.exp(-found.time / 0.3))
    assert found.signals["both"] == pytest.approx(2 * lagging - found.time, abs=1e-10)


# ---- Messages ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"type": "pdi"}, "controllers[0].type: expected 'pi', 'pid', 'filter' or 'rate_limit', got 'pdi'"),
        (
            {"gain": None},
            'controllers[0].gain: the key is missing; type = "pid" requires measured, gain, derivative_time',
        ),
        (
            {"type": "filter"},
            'controllers[0].measured: this key does not belong to type = "filter"; its keys: drives, unit',
        ),
        (
            {"type": "filter", "measured": None, "setpoint": None, "gain": None, "integral_time": None}
            | {"derivative_time": None, "derivative_filter": None},
            'controllers[0].time_constant: the key is missing; type = "filter" requires it unless',
        ),
        (
            {"rate": 2.0},
            'controllers[0].rate: this key does not belong to type = "pid"; its keys: drives, unit, measured',
        ),
        ({"integral_start": "2*a"}, "controllers[0].integral_start: expected a number, got '2*a'"),
        ({"sample": 0.0}, "controllers[0].sample: expected at least 1e-06, got 0.0"),
        ({"sample": 1e-6}, "controllers[0].sample: expected at most 1000000 samples up to simulation.stop = 2 s"),
        ({"integral_time": 0.0}, "controllers[0].integral_time: expected a number above 0, got 0.0"),
        ({"lower": 2.0, "upper": 2.0}, "controllers[0].lower: expected a number below upper = 2.0, got 2.0"),
        (
            {"anti_windup_time": 1.0},
            "controllers[0].anti_windup_time: requires a limited output; give lower or upper",
        ),
        (
            {"integral_time": None, "integral_start": 1.0},
            "integral_start: only a controller with integral_time can have this key",
        ),
        (
            {"measured": "rotor.angl"},
            "controllers[0].measured: unknown name 'rotor.angl'; did you mean 'rotor.angle'",
        ),
        ({"drives": "torqe"}, "controllers[0].drives: there is no input 'torqe'; did you mean 'torque'?"),
        ({"unit": "Nm"}, "controllers[0].unit: expected a unit such as"),
        (
            {"measured": "pid_output"},
            "controllers[0]: pid_output → pid_output: these outputs form an algebraic loop",
        ),
        (
            {"measured": "torque"},
            "controllers[0].measured: 'torque' is an input, and expressions cannot contain inputs; use pid_output",
        ),
        (
            {"drives": None, "measured": "torque"},
            "inputs; add a filter F without the key signal to [[controllers]], set its input F_signal, and",
        ),
        ({"gian": 1.0}, "controllers[0].gian: unknown key; did you mean 'gain'?"),
        ({"setpoint": "table(x, t)"}, "controllers[0].setpoint: there is no table 'x'"),
    ],
)
def test_faulty_controllers(keys: Table, message: str) -> None:
    """Each message has the key, what was expected, what was found, and what to do."""
    with pytest.raises(DescriptionError) as caught:
        from_data(_rotor(_pid(**keys)))
    assert message in re.sub(r" \(\w+\):", ":", str(caught.value))


def test_faults_between_controllers() -> None:
    """An input with two sources, a loop of two controllers, and initial values that nothing determines."""
    first = _pi(name="a", measured="b_output", unit="1", drives="torque")
    second = _pi(name="b", measured="rotor.angle + a_output", drives="torque")
    force = {"name": "lag", "type": "filter", "signal": "drive_force", "time_constant": 0.1}
    late = _pid(name="late", measured="a_output", drives=None)
    asked = force | {"name": "asked", "signal": "seen_output"}
    seen = _pi(name="seen", setpoint=None, drives=None)
    motor = {"name": "drive", "joint": "rotor", "constant": 1.0, "limit": 2.0}
    with pytest.raises(DescriptionError) as caught:
        from_data(_rotor(first, second, force, late, asked, seen, motors=[motor]))
    text = re.sub(r" \(\w+\):", ":", str(caught.value))
    for part in (
        "controllers[1].drives: the input 'torque' is driven by controllers[0] already; expected one controller",
        "a_output → b_output → a_output: these outputs form an algebraic loop; remove one dependency",
        "controllers[2].signal: expected an initial value from positions and velocities, but drive_current is an",
        "controllers[4].signal: expected an initial value from positions and velocities, but seen_setpoint is an",
        "use a filter of seen_setpoint that has the key `start`",
    ):
        assert part in text, text


def test_a_filter_opens_an_algebraic_loop() -> None:
    """A controller may measure a force that it drives, through a filter with an initial value."""
    motor = {"name": "drive", "joint": "rotor", "constant": 2.0, "limit": 50.0}
    lag = {"name": "felt", "type": "filter", "signal": "drive_force", "time_constant": 0.1, "start": 0.0}
    loop = _pi(drives="drive_current", measured="felt_output", gain=1.0, integral_time=0.1, setpoint=3.0)
    found = _run(_rotor(loop, lag, motors=[motor]))
    assert found.signals["drive_force"][-1] == pytest.approx(3.0, rel=1e-2)
    with pytest.raises(
        DescriptionError, match="pid_output → drive_force → pid_output: these outputs form an algeb"
    ):
        from_data(_rotor(loop | {"measured": "drive_force"}, motors=[motor]))
