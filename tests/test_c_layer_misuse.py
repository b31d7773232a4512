"""The C layer under failures and misuse; its state: restore, reset, several instances."""

from __future__ import annotations

import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmpy.fmi2 import fmi2LastSuccessfulTime, fmi2Terminated
from helpers_c_layer import STATES, Fmu, Make, fails, nonlinear

pytest_plugins = ["fixtures_c_layer"]

RK4, DORMAND_PRINCE, ROSENBROCK, BDF = range(1, 5)


def test_singular_partition_stops_with_time_and_coordinates(make: Make) -> None:
    """RK4's grid meets t = 1 exactly: the message names the time, the system and the coordinates."""
    fmu = make("singular").start(t_singular=1.0, solver_method=RK4, solver_step=0.25)
    fmu.run(np.array([0.0, 0.5]))
    before = fmu.get("x1", "x2")
    fails(
        fmu,
        lambda: fmu.fmi.doStep(0.5, 1.0),
        r"fmi2DoStep: the step from t = 0.5 s to 1.5 s came to t = 0.75 s: the linear system of the partition "
        r"is singular at t = 1 s: pivot 2 of 2 vanishes \(coordinates: boom, 100%% rope\)",
    )
    assert fmu.fmi.getRealStatus(fmi2LastSuccessfulTime) == 0.75
    assert fmu.get("x1", "x2").tolist() == before.tolist()
    fmu.fmi.doStep(0.5, 0.25)
    assert fmu.get("x1", "x2") == pytest.approx(nonlinear(0.75), abs=1e-3)


@pytest.mark.parametrize(
    ("method", "cause", "match"),
    [
        (DORMAND_PRINCE, {"t_singular": 1.0}, r"of the partition is singular at t = (1|0\.9{12}\d*) s"),
        (DORMAND_PRINCE, {"domain": 0.6}, r"of the partition has no finite solution at t = 0\.6\d* s"),
        (ROSENBROCK, {"domain": 0.6}, r"(no finite solution|Jacobian of der\(x1\) is -?nan) at t = 0\.6\d* s"),
    ],
)
def test_adaptive_solvers_give_up_before_the_failure(
    make: Make, method: int, cause: dict[str, float], match: str
) -> None:
    """Adaptive solvers shorten their steps up to the point of failure, and the state before the step stays
    valid.
    """
    fmu = make("singular").start(solver_method=method, **cause)
    fmu.run(np.array([0.0, 0.5]))
    before = fmu.get("x1", "x2")
    fails(fmu, lambda: fmu.fmi.doStep(0.5, 0.5), match)
    (point,), error = cause.values(), 1e-12 if method == DORMAND_PRINCE else 1e-9
    assert fmu.fmi.getRealStatus(fmi2LastSuccessfulTime) == pytest.approx(point, abs=error)
    assert fmu.get("x1", "x2").tolist() == before.tolist()
    fmu.fmi.doStep(0.5, 0.05)
    assert fmu.get("x1", "x2") == pytest.approx(nonlinear(0.55), abs=1e-6)


def test_a_model_that_cannot_start_says_so(either: Make) -> None:
    """Start states that are not finite, and equations that fail at the start, end the initialisation.

    By FMI 3.0 they are discarded, and other parameters start the instance.
    """
    fmu = either("singular")
    fmu.set(inverse_start=0.0)
    enter, leave = fmu.fmi.enterInitializationMode, fmu.fmi.exitInitializationMode
    fails(fmu, enter, "x1 is inf at t = 0 s, expected a finite number", discarded=fmu.three)
    fmu.set(inverse_start=1.0, t_singular=0.0)
    enter()
    fails(fmu, leave, "partition is singular at t = 0 s", discarded=fmu.three)
    if fmu.three:
        fmu.fmi.reset()
        fmu.set(inverse_start=0.0)
        fails(fmu, enter, "x1 is inf at t = 0 s", discarded=True)
        fmu.set(inverse_start=1.0)
        fmu.start().run([0.0, 0.1])


@pytest.mark.parametrize(
    ("step", "match"),
    [
        ((0.5, 0.1), r"the communication point is 0\.5 s, expected the model's time, 0 s"),
        ((np.nan, 0.1), "the communication point is -?nan"),
        ((0.0, -0.1), r"step size is -0\.1 s, expected a finite number > 0"),
        ((0.0, 0.0), "step size is 0 s, expected a finite number > 0"),
        ((0.0, np.nan), "step size is -?nan s"),
        ((0.0, np.inf), "step size is inf s"),
        ((0.0, 2.1), r"ends at 2\.1 s, after the stop time, 2 s"),
    ],
)
def test_bad_communication_steps(either: Make, step: tuple[float, float], match: str) -> None:
    """A step that makes no sense is an error that changes nothing."""
    fmu = either("oscillator").start(stop_time=2.0)
    fails(fmu, lambda: fmu.fmi.doStep(*step), match)
    assert fmu.get("time", "q1").tolist() == [0.0, 0.1]


def test_very_short_and_very_long_steps(make: Make) -> None:
    """Steps of 1e-12 s work; one of 1e6 s ends with the limit of steps, not with the importer's patience."""
    for method in (RK4, DORMAND_PRINCE):
        fmu = make("oscillator").start(solver_method=method, solver_max_steps=1000)
        fmu.fmi.doStep(0.0, 1e-12)
        assert fmu.get("time")[0] == 1e-12
        fails(fmu, lambda fmu=fmu: fmu.fmi.doStep(1e-12, 1e6), "more than 1000 inner steps")
        assert fmu.get("time")[0] == 1e-12


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ({"q1": 1.0}, r"q1 \(value reference 1\) is a state, which can only be set in continuous-time mode"),
        ({"position": 1.0}, "position .* is an output, which cannot be set"),
        ({"k": 1.0}, "k .* is a parameter, which can only be set before the end of the initialization"),
        ({"solver_step": 1.0}, "solver_step .* which can only be set before"),
        ({"u": np.nan}, "u is set to -?nan, expected a finite number"),
        ({"u": 1}, "u .* is not an integer variable"),
        ({"solver_steps": 1}, "solver_steps .* is a counter, which cannot be set"),
    ],
)
def test_variables_that_cannot_be_set(either: Make, values: dict[str, float], match: str) -> None:
    """Setting the wrong variable, type or value is an error that names the variable."""
    fmu = either("oscillator").start()
    fails(fmu, lambda: fmu.set(**values), match)


def test_states_are_set_one_by_one_in_continuous_time_mode(either: Make) -> None:
    """There alone, as all of them at once; not in event mode, where by FMI 3.0 that ends the run."""
    fmu, other = (either("oscillator", co_simulation=False).start() for _ in range(2))
    fmu.fmi.enterContinuousTimeMode()
    other.fmi.enterContinuousTimeMode()
    fmu.set(q1=0.4, v2=-1.0)
    other.set_states([0.4, 0.0, 0.0, -1.0])
    names = (*STATES, "der(v1)", "der(v2)", "acceleration")
    assert fmu.get(*names).tolist() == other.get(*names).tolist()
    fmu.fmi.enterEventMode()
    fails(fmu, lambda: fmu.set(q1=1.0), "q1 .* is a state, which can only be set in continuous-time mode")
    assert fmu.get("q1") == 0.4


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ({"solver_step": 0.0}, "solver_step is set to 0, expected a number > 0"),
        ({"solver_method": 5}, r"to 5, expected 0 \(automatic\), 1 \(Runge-Kutta 4\), 2 \(.*\) or 4 \(BDF"),
        ({"solver_longest_step": -1.0}, "solver_longest_step is set to -1, expected a number > 0"),
        ({"solver_max_steps": 0}, "solver_max_steps is set to 0, expected a number > 0"),
    ],
)
def test_settings_are_checked(either: Make, values: dict[str, float], match: str) -> None:
    """A solver setting without meaning is refused at once."""
    fmu = either("oscillator")
    fails(fmu, lambda: fmu.set(**values), match)


def test_calls_out_of_order(make: Make) -> None:
    """A call in the wrong mode names the mode and the expected ones, and does nothing."""
    slave = make("oscillator")
    called = "called in the mode: instantiated; expected one of"
    fails(slave, lambda: slave.fmi.doStep(0.0, 0.1), f"fmi2DoStep: {called}: step complete")
    fails(slave, lambda: slave.get("q1"), f"fmi2GetReal: {called}: init")
    fails(slave, slave.fmi.exitInitializationMode, "expected one of: initialization")
    slave.start()
    fails(slave, slave.fmi.enterInitializationMode, "in the mode: step complete; expected one of: instantiated")
    fails(slave, slave.fmi.cancelStep, "expected one of: none")
    slave.fmi.terminate()
    fails(slave, lambda: slave.fmi.doStep(0.0, 0.1), "in the mode: terminated")
    model = make("oscillator", co_simulation=False).start()
    fails(model, lambda: model.set_states(np.zeros(4)), "in the mode: event; expected one of: continuous-time")
    model.fmi.enterContinuousTimeMode()
    fails(model, lambda: model.set_states(np.zeros(3)), "x has 3 elements, expected 4")
    fails(model, lambda: model.set_states(np.full(4, np.inf)), "q1 is set to inf, expected a finite number")
    fails(model, lambda: model.set(q1=np.inf), "q1 is set to inf, expected a finite number")
    fails(model, lambda: model.fmi.setTime(np.nan), "the time is -?nan, expected a finite number")


def test_wrong_guid(make: Make) -> None:
    """An FMU that does not belong to the description is refused with both tokens, percent signs escaped."""
    fmu = make("oscillator")
    fmu.fmi.guid = "{100%#}"
    with pytest.raises(Exception, match="Failed to instantiate"):
        fmu.instantiate()
    assert fmu.messages == ["fmi2Instantiate: the token is {100%%##}, expected {oscillator}"]
    fmu.fmi.guid = "{oscillator}"
    fmu.instantiate()


def test_status_functions(make: Make) -> None:
    """The status functions answer as the standard requires of a slave without asynchronous steps."""
    fmu = make("oscillator").start()
    assert fmu.fmi.getBooleanStatus(fmi2Terminated) == 0
    with pytest.raises(FMICallException, match="status 2"):
        fmu.fmi.getIntegerStatus(fmi2Terminated)


# ---- State, reset, instances ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "k"), [(0, 30.0), (0, 1e8), (1, 30.0), (2, 30.0), (3, 30.0), (4, 3e5)])
def test_restored_state_goes_on_to_the_last_bit(make: Make, method: int, k: float) -> None:
    """Going on, going on again after a restore, and in another instance from bytes: the same numbers.

    Where the solver is between ends of its steps, its past, and the method that was chosen belong to the state.
    """
    settings = {"t_on": 0.4, "solver_method": method, "k": k, "c": k / 100}
    fmu, other = make("oscillator").start(tolerance=1e-5, **settings), make("oscillator")
    fmu.run(np.linspace(0.0, 0.33, 34))
    state = fmu.saved()

    def ending(instance: Fmu) -> tuple[float, ...]:
        instance.run(np.linspace(0.33, 1.1, 78))
        return *instance.get(*STATES, "time"), *map(instance.count, ("solver_steps", "solver_jacobians"))

    expected = ending(fmu)
    for instance in (fmu, other):
        instance.restore(state)
        assert ending(instance) == expected


def test_state_of_another_model_or_interface_is_rejected(make: Make) -> None:
    """An FMU state is accepted only by an instance of the same model and interface type."""
    state = make("oscillator").start().fmi.getFMUstate()
    for model, co_simulation in (("oscillator", False), ("singular", True)):
        fmu = make(model, co_simulation=co_simulation)
        fails(fmu, lambda fmu=fmu: fmu.fmi.setFMUstate(state), "the state is not one of (Oscillator|Singular)")


def test_reset_gives_the_defaults_back(make: Make) -> None:
    """After a reset, parameters, inputs and settings are as instantiated, and a run gives the same numbers."""
    fmu = make("oscillator").start()
    fmu.run(np.array([0.0, 0.5]))
    first = fmu.get(*STATES).tolist()
    fmu.fmi.reset()
    fmu.set(u=3.0)
    fmu.start(m1=9.0, tolerance=1e-3, solver_method=RK4)
    fmu.run(np.array([0.0, 0.5]))
    assert fmu.get(*STATES).tolist() != first
    fmu.fmi.reset()
    fmu.start().run(np.array([0.0, 0.5]))
    assert fmu.get(*STATES).tolist() == first
