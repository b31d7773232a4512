"""The C layer by FMI 3.0: events, early return, intermediate update, arrays, derivatives."""

from __future__ import annotations

import ctypes
import re
from typing import Any

import numpy as np
import pytest
from fmpy.fmi3 import fmi3Dependent
from helpers_c_layer import STATES, Fmu3, Make, exact, nonlinear, value_references
from scipy.integrate import solve_ivp

pytest_plugins = ["fixtures_c_layer"]

RK4 = 1
ASKED = (True, False, False, False)  # in a callback: set requested, but no get, not finished, no early return
OUTPUTS = ("position", "total_force")


# ---- Co-simulation: events -----------------------------------------------------------------------------------


def handle_event(fmu: Fmu3) -> tuple[bool, float]:
    """Event mode and back; whether there is another event, and when."""
    fmu.fmi.enterEventMode()
    answer = fmu.fmi.updateDiscreteStates()
    fmu.fmi.enterStepMode()
    return bool(answer[4]), answer[5]


def test_event_mode_returns_at_the_event(make3: Make) -> None:
    """A step ends at an event inside of it; its effect comes with event mode; the run goes on exactly."""
    fmu = make3("oscillator", eventModeUsed=True, earlyReturnAllowed=True).start(tolerance=1e-10)
    assert fmu.fmi.updateDiscreteStates()[4:] == (True, 0.37)
    fmu.fmi.enterStepMode()
    assert fmu.fmi.doStep(0.0, 0.3) == (False, False, False, 0.3)
    assert fmu.fmi.doStep(0.3, 1.0) == (True, False, True, 0.37)
    assert fmu.get("time", "total_force").tolist() == [0.37, 0.0]
    assert handle_event(fmu) == (False, 0.0)
    assert fmu.get("total_force").tolist() == [5.0]
    assert fmu.fmi.doStep(0.37, 1.63) == (False, False, False, 2.0)
    assert fmu.get(*STATES) == pytest.approx(exact(2.0), abs=1e-8)


def test_event_at_the_end_of_a_step_is_no_early_return(make3: Make) -> None:
    """An event that a communication point meets is reported, but the step has reached its end."""
    fmu = make3("oscillator", eventModeUsed=True, earlyReturnAllowed=True).start(t_on=0.5)
    fmu.fmi.updateDiscreteStates()
    fmu.fmi.enterStepMode()
    assert fmu.fmi.doStep(0.0, 0.5) == (True, False, False, 0.5)


@pytest.mark.parametrize("options", [{}, {"eventModeUsed": True}, {"earlyReturnAllowed": True}])
def test_events_are_handled_inside_where_the_importer_cannot(make3: Make, options: dict[str, bool]) -> None:
    """Without event mode or without early return a step runs across an event, as exact as with them."""
    fmu = make3("oscillator", **options).start(tolerance=1e-10)
    if options.get("eventModeUsed"):
        fmu.fmi.updateDiscreteStates()
        fmu.fmi.enterStepMode()
    assert fmu.fmi.doStep(0.0, 2.0) == (False, False, False, 2.0)
    assert fmu.get(*STATES) == pytest.approx(exact(2.0), abs=1e-8)


# ---- Co-simulation: intermediate update ------------------------------------------------------------------------


class Update:
    """The importer's callback: notes what it gets, may set the input `u` and ask for an early return.

    smooth  whether it sets `u` wherever it is asked to, or after the inner steps alone
    """

    def __init__(self, *, return_at: float | None = None, after: float = 0.0, smooth: bool = False) -> None:
        self.fmu: Fmu3 | None = None
        self.force: Any = None
        self.smooth = smooth
        self.asked: list[float] = []
        self.times: list[float] = []
        self.values: list[np.ndarray] = []
        self.flags: set[tuple[bool, ...]] = set()
        self.return_at, self.after = return_at, after

    def __call__(self, environment: Any, time: float, *rest: Any) -> None:
        *flags, requested, when = rest
        self.flags.add(tuple(flags))
        assert self.fmu is not None
        if not flags[2]:  # within an inner step
            self.asked.append(time)
            if self.smooth:
                self.fmu.set(u=self.force(time))
            return
        self.times.append(time)
        self.values.append(self.fmu.get(*OUTPUTS))
        if self.force is not None:
            self.fmu.set(u=self.force(time))
        if self.return_at is not None and time >= self.after:
            requested[0], when[0] = True, max(self.return_at, time)


def updated(make3: Make, update: Update, **options: bool) -> Fmu3:
    """The oscillator with this callback, which may access its outputs and its input."""
    required = [value_references("oscillator")[name] for name in (*OUTPUTS, "u")]
    update.fmu = make3("oscillator", intermediateUpdate=update, requiredIntermediateVariables=required, **options)
    return update.fmu


@pytest.mark.slow
def test_intermediate_outputs_belong_to_accepted_steps(make3: Make) -> None:
    """After each inner step up to the last one the callback reads the exact solution's outputs."""
    update = Update()
    fmu = updated(make3, update).start(tolerance=1e-10)
    fmu.fmi.doStep(0.0, 1.0)
    fmu.fmi.doStep(1.0, 1.0)
    assert len(update.times) == fmu.fmi.getInt32([fmu.references["solver_steps"]])[0]
    assert np.all(np.diff(update.times) > 0)
    assert {0.37, 1.0, 2.0} <= set(update.times)
    assert update.flags == {ASKED, (True, True, True, False)}  # set, get, finished; no early return
    expected = [exact(t)[:2].sum() for t in update.times]
    assert np.array(update.values)[:, 0] == pytest.approx(expected, abs=1e-8)


def test_inputs_set_inside_a_step_act_from_then_on(make3: Make) -> None:
    """The results are bitwise equal to those of communication steps as short as the inner steps with inputs
    between.
    """
    grid, update = np.arange(11) / 8, Update()

    def force(t: float) -> float:
        return float(np.sin(3.0 * t))

    update.force = force
    inside = updated(make3, update).start(solver_method=RK4, solver_step=0.125, t_on=9.0)
    inside.fmi.doStep(0.0, 1.25)
    outside = make3("oscillator").start(solver_method=RK4, solver_step=0.125, t_on=9.0)
    for t in grid[:-1]:
        outside.fmi.doStep(float(t), 0.125)
        outside.set(u=force(float(t) + 0.125))
    assert update.times == grid[1:].tolist()
    assert inside.get(*STATES).tolist() == outside.get(*STATES).tolist()
    assert inside.get(*STATES).tolist() != exact(1.25, t_on=9.0).tolist()


@pytest.mark.parametrize("method", [1, 2, 3, 4])
def test_inputs_from_a_callback_are_exact(make3: Make, method: int) -> None:
    """One step of 2 s under a force from the importer's callback yields the exact motion with each
    method.
    """
    update = Update(smooth=True)
    update.force = lambda t: np.sin(3.0 * t)
    fmu = updated(make3, update).start(tolerance=1e-10, solver_method=method, solver_step=2e-3, t_on=9.0)
    fmu.fmi.doStep(0.0, 2.0)
    mass = np.array([[3.0, 1.0], [1.0, 1.0]])

    def slope(t: float, x: np.ndarray) -> np.ndarray:
        forces = -30.0 * x[:2] - 0.4 * x[2:] + [np.sin(3.0 * t), 0.0]
        return np.concatenate([x[2:], np.linalg.solve(mass, forces)])

    truth = solve_ivp(slope, (0.0, 2.0), [0.1, 0.0, 0.0, 0.0], method="DOP853", rtol=1e-13, atol=1e-14)
    assert fmu.get(*STATES) == pytest.approx(truth.y[:, -1], abs=1e-8)
    assert fmu.get("u")[0] == np.sin(6.0)
    assert min(update.asked) > 0.0
    assert max(update.asked) == 2.0


def test_no_input_callback_without_inputs(make3: Make) -> None:
    """An importer of a model without inputs is called only after inner steps."""
    update = Update()
    required = [value_references("oscillator")[name] for name in OUTPUTS]
    update.fmu = make3("oscillator", intermediateUpdate=update, requiredIntermediateVariables=required)
    update.fmu.start().fmi.doStep(0.0, 1.0)
    assert update.asked == []
    assert len(update.times) > 3


@pytest.mark.parametrize("method", [1, 2, 3, 4])
@pytest.mark.parametrize("return_at", [0.0, 0.4321])
def test_early_return_at_the_importers_wish(make3: Make, method: int, return_at: float) -> None:
    """From its callback the importer ends a step at once or at a later time; the run goes on exactly."""
    update = Update(return_at=return_at, after=0.1)
    settings = {"solver_method": method, "solver_step": 1e-3}
    fmu = updated(make3, update, earlyReturnAllowed=True).start(tolerance=1e-10, **settings)
    event, terminate, early, reached = fmu.fmi.doStep(0.0, 2.0)
    assert (event, terminate, early) == (False, False, True)
    assert reached == fmu.get("time")[0]
    assert reached == return_at or (return_at == 0.0 and 0.1 <= reached == update.times[-1] < 0.3)
    assert update.flags == {ASKED, (True, True, True, True)}
    update.return_at = None
    assert fmu.fmi.doStep(reached, 2.0 - reached) == (False, False, False, 2.0)
    assert fmu.get(*STATES) == pytest.approx(exact(2.0), abs=1e-8)


def test_early_return_needs_permission(make3: Make) -> None:
    """The wish is ignored where the importer has not allowed early returns."""
    fmu = updated(make3, Update(return_at=0.0)).start()
    assert fmu.fmi.doStep(0.0, 1.0) == (False, False, False, 1.0)


def test_a_discarded_step_leaves_the_inputs_alone(make3: Make) -> None:
    """A step that fails after the callback has set an input ends where it began, with the input it began with."""
    update = Update()
    update.force = lambda t: 7.0
    fmu = updated(make3, update).start(solver_method=RK4, solver_step=0.1, solver_max_steps=100)
    fmu.set(u=1.0)
    fmu.fmi.doStep(0.0, 0.05)
    fmu.set(u=2.0)
    before = fmu.get("time", "u", *STATES).tolist()
    fmu.get(*STATES)
    with pytest.raises(Exception, match="status 2"):
        fmu.fmi.doStep(0.05, 100.0)
    assert fmu.get("time", "u", *STATES).tolist() == before


def test_a_discarded_step_is_no_early_return(make3: Make) -> None:
    """A step that cannot be done says so by its status alone (4.2.1), and that the instance is where it was."""
    fmu = make3("singular", earlyReturnAllowed=True).start(t_singular=1.0)
    flags, reached = [ctypes.c_bool(True) for _ in range(3)], ctypes.c_double(-1.0)
    results = [ctypes.byref(result) for result in (*flags, reached)]
    with pytest.raises(Exception, match="status 2"):
        fmu.fmi.fmi3DoStep(fmu.fmi.component, 0.0, 1.0, True, *results)
    assert [flag.value for flag in flags] == [False] * 3
    assert reached.value == 0.0


# ---- Arrays, derivatives ---------------------------------------------------------------------------------------


def test_arrays_are_one_variable(make3: Make) -> None:
    """Both masses are read and set together; they act as set one by one in FMI 2.0."""
    fmu = make3("oscillator")
    assert fmu.get("m1").tolist() == [2.0, 1.0]
    fmu.set(m1=[3.0, 2.0])
    fmu.start()
    assert fmu.get("k", "m1", "c").tolist() == [30.0, 3.0, 2.0, 0.4]
    a = np.linalg.solve([[5.0, 2.0], [2.0, 2.0]], [-30 * 0.1, 0.0])
    assert fmu.get("der(v1)", "der(v2)") == pytest.approx(a, rel=1e-14)


def test_derivatives_by_elements_of_arrays(make3: Make) -> None:
    """In initialization mode: against central differences, and the adjoint ones to the last digits."""
    fmu, unknowns, knowns = make3("oscillator"), ["der(v1)", "der(v2)", "position"], ["u", "m1", "start"]
    fmu.fmi.enterInitializationMode()
    rows, columns = ([fmu.references[name] for name in names] for names in (unknowns, knowns))
    forward = np.array([fmu.fmi.getDirectionalDerivative(rows, columns, list(e)) for e in np.eye(4)]).T
    adjoint = np.array([fmu.fmi.getAdjointDerivative(rows, columns, list(e), 4) for e in np.eye(3)])
    assert forward == pytest.approx(adjoint, rel=1e-12, abs=1e-14)
    start, sides = fmu.get(*knowns), []
    for change in (*1e-6 * np.eye(4), *-1e-6 * np.eye(4)):
        u, m1, m2, first = start + change
        fmu.set(u=u, m1=[m1, m2], start=first)
        sides.append(fmu.get(*unknowns))
    expected = (np.array(sides[:4]) - np.array(sides[4:])).T / 2e-6
    assert forward == pytest.approx(expected, rel=1e-7, abs=1e-7)


def test_dependencies_at_run_time(make3: Make) -> None:
    """A hand-written model without the table says that it has none."""
    fmu = make3("singular").start()
    count = ctypes.c_size_t(1)
    with pytest.raises(Exception, match="status 3"):
        fmu.fmi.fmi3GetNumberOfVariableDependencies(fmu.fmi.component, 0, ctypes.byref(count))
    assert fmu.messages[-1].endswith("the dependencies are not known")
    assert fmi3Dependent == 5  # as in the header


def test_singular_model_is_discarded_and_goes_on(make3: Make) -> None:
    """A step that cannot be computed is discarded: a shorter one follows from where the instance stood."""
    fmu = make3("singular").start(t_singular=1.0)
    fmu.run([0.0, 0.5])
    with pytest.raises(Exception, match="status 2"):
        fmu.fmi.doStep(0.5, 0.5)
    assert re.search("logStatusDiscard: .*partition is singular at t = ", fmu.messages[-1])
    assert fmu.fmi.doStep(0.5, 0.25) == (False, False, False, 0.75)
    assert fmu.get("x1", "x2") == pytest.approx(nonlinear(0.75), abs=1e-6)
