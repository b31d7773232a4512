"""The fixed C layer of the FMU with hand-written models: solvers, events, model exchange, the binary.

The models' exact solutions: tests/data/oscillator.c is linear (matrix exponential), tests/data/singular.c has the
solution in its header.
"""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest
from helpers_c_layer import HEADERS, SOURCES, STATES, Make, exact, nonlinear
from scipy.integrate import solve_ivp

pytest_plugins = ["fixtures_c_layer"]

RK4, DORMAND_PRINCE, ROSENBROCK, BDF = range(1, 5)


# ---- Solvers of the co-simulation ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "order", "coarsest"), [(RK4, 4, 8), (DORMAND_PRINCE, 5, 8), (ROSENBROCK, 4, 16)]
)
def test_order_of_the_methods(make: Make, method: int, order: int, coarsest: int) -> None:
    """With the longest steps that are allowed, halving them divides the error by 2 to the order."""
    errors = []
    for n in coarsest * np.array([1, 2, 4, 8]):
        steps = {"solver_step": 1.0 / n, "solver_longest_step": 1.0 / n}
        fmu = make("singular").start(tolerance=1e3, solver_method=method, **steps)
        fmu.run(np.linspace(0, 1, n + 1))
        assert fmu.count("solver_steps") == n
        assert fmu.count("solver_jacobians") == (n if method == ROSENBROCK else 0)
        errors.append(np.abs(fmu.get("x1", "x2") - nonlinear(1)).max())
    assert -np.polyfit(np.arange(4), np.log2(errors), 1)[0] == pytest.approx(order, abs=0.3)


@pytest.mark.parametrize("importer", [True, False])
def test_error_follows_the_tolerance(make: Make, importer: bool) -> None:
    """Tolerances of the importer or of the setting give errors in their order and near their size."""
    errors = []
    for tolerance in (1e-4, 1e-6, 1e-8, 1e-10):
        settings = {} if importer else {"solver_tolerance": tolerance}
        fmu = make("singular").start(tolerance=tolerance if importer else None, **settings)
        fmu.run(np.linspace(0, 3, 4))
        errors.append(np.abs(fmu.get("x1", "x2") - nonlinear(3)).max() / tolerance)
        assert errors[-1] < 20
    assert np.all(np.diff(np.log10(errors)) < 1)


@pytest.mark.parametrize(
    ("method", "error"), [(RK4, 1e-8), (DORMAND_PRINCE, 1e-8), (ROSENBROCK, 1e-7), (BDF, 1e-7)]
)
def test_steps_land_on_events(make: Make, method: int, error: float) -> None:
    """A force that starts inside a communication step leaves the accuracy of a smooth problem."""
    fmu = make("oscillator").start(solver_method=method, solver_step=1e-3, tolerance=0.1 * error)
    fmu.run(np.linspace(0, 2, 4))
    assert fmu.get(*STATES) == pytest.approx(exact(2), abs=error)
    assert fmu.get("time")[0] == 2.0


@pytest.mark.parametrize(
    ("t_on", "t_off", "forces"),
    [
        (0.5, -1.0, [0, 0, 5, 5]),  # never off
        (0.25, 0.5, [0, 5, 0, 0]),  # at communication points: the value after the event
        (0.6, 0.3, [0, 0, -5, 0]),  # in the other order, inside of steps
        (-3.0, 0.5, [5, 5, 0, 0]),  # past: on from the begin
        (0.0, 0.5 + 2e-16, [5, 5, 0, 0]),  # at the begin; rounding of a communication point
    ],
)
def test_switches_keep_their_times(make: Make, t_on: float, t_off: float, forces: list[float]) -> None:
    """Switches have the value after the event from the event time on, in any order of the events."""
    fmu = make("oscillator").start(t_on=t_on, t_off=t_off)
    seen = [fmu.get("total_force")[0]]
    for t in (0.0, 0.25, 0.5):
        fmu.fmi.doStep(t, 0.25)
        seen.append(fmu.get("total_force")[0])
    assert seen == forces


def test_values_are_computed_once_per_change(make: Make) -> None:
    """RK4 evaluates four times per step; reading, and setting what is set already, cost nothing."""
    fmu = make("oscillator").start(solver_method=RK4, solver_step=0.1, t_on=1e3)
    for i in range(3):
        fmu.set(u=0.0)
        fmu.fmi.doStep(0.1 * i, 0.1)
        fmu.get("acceleration", "position", "der(v1)", *STATES)
        fmu.get("acceleration")
    assert fmu.count("solver_evaluations") == 3 * 4


def test_dormand_prince_evaluates_six_times_per_step(make: Make) -> None:
    """The last stage serves as the next step's first; one more for the first step size, one after the event."""
    fmu = make("oscillator").start(t_on=0.25)
    fmu.run(np.linspace(0, 1, 11))
    tried = fmu.count("solver_steps") + fmu.count("solver_rejected_steps")
    assert fmu.count("solver_evaluations") == 6 * tried + 2


def test_start_parameters_and_derivatives_in_initialization_mode(make: Make) -> None:
    """Parameters set in initialisation mode act at once on start states and calculated values."""
    fmu = make("oscillator")
    fmu.fmi.setupExperiment(startTime=1.0)
    fmu.fmi.enterInitializationMode()
    assert fmu.get("q1", "time").tolist() == [0.1, 1.0]
    fmu.set(start=0.2, m2=2.0, t_on=1e3)
    a = np.linalg.solve([[4.0, 2.0], [2.0, 2.0]], [-30 * 0.2, 0.0])
    assert fmu.get("q1", "der(v1)", "der(v2)", "acceleration") == pytest.approx([0.2, *a, a[0]], rel=1e-14)


def test_several_right_hand_sides(make: Make) -> None:
    """The second column of the solution arrives."""
    assert make("singular").start().get("y1", "y2") == pytest.approx([1.0, 2.0], rel=1e-14)


# ---- Model exchange ------------------------------------------------------------------------------------------


def test_model_exchange_between_events(either: Make) -> None:
    """An outside solver that follows the reported events gets the exact solution."""
    fmu = either("oscillator", co_simulation=False).start(t_on=0.37)
    t, x, seen = 0.0, fmu.vector("getContinuousStates", 4), []
    assert x.tolist() == [0.1, 0, 0, 0]
    while t < 1.0:
        t_next = min(fmu.enter_continuous_time(), 1.0)
        seen.append(t_next)
        x = solve_ivp(fmu.slopes, (t, t_next), x, rtol=1e-10, atol=1e-12).y[:, -1]
        fmu.slopes(t_next, x)
        assert fmu.fmi.completedIntegratorStep() == (0, 0)
        fmu.fmi.enterEventMode()
        t = t_next
    assert seen == [0.37, 1.0]
    assert x == pytest.approx(exact(1.0), abs=1e-8)
    assert fmu.vector("getNominalsOfContinuousStates", 4).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("method", [RK4, DORMAND_PRINCE, ROSENBROCK, BDF])
def test_rates_of_outputs(either: Make, method: int) -> None:
    """Between communication steps they are those of the motion."""
    fmu = either("oscillator").start(tolerance=1e-10, solver_method=method, solver_step=1e-3)
    fmu.run([0.0, 1.0])
    x, h = exact(1.0), 1e-5
    accelerations = (exact(1.0 + h)[2:] - exact(1.0 - h)[2:]) / (2 * h)
    references = [fmu.references[name] for name in ("position", "v1", "total_force")]
    function = fmu.fmi.getOutputDerivatives if fmu.three else fmu.fmi.getRealOutputDerivatives
    assert function(references, [1, 1, 1]) == pytest.approx([x[2] + x[3], accelerations[0], 0.0], abs=1e-6)


def test_switches_are_frozen_in_continuous_time_mode(make: Make) -> None:
    """A solver that looks beyond an event sees the equations of before, until event mode."""
    fmu = make("oscillator", co_simulation=False).start(t_on=0.5)
    assert fmu.enter_continuous_time() == 0.5
    fmu.fmi.setTime(0.7)
    assert fmu.get("total_force")[0] == 0.0
    fmu.fmi.setTime(0.5)
    fmu.fmi.enterEventMode()
    assert fmu.enter_continuous_time() == np.inf
    assert fmu.get("total_force")[0] == 5.0


# ---- The binary ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("version", "count"), [(2, 44), (3, 75)])
def test_exports_the_standards_functions_and_nothing_else(
    libraries: dict[str, Path], version: int, count: int
) -> None:
    """Every function of the standard's header can be loaded; the layer's own symbols are hidden."""
    header = (HEADERS / f"fmi{version}Functions.h").read_text()
    names = re.findall(rf"TYPE\s+(fmi{version}\w+);", header)
    lib = ctypes.CDLL(str(libraries["oscillator"]))
    assert len(names) == count
    assert [name for name in names if not hasattr(lib, name)] == []
    own = re.findall(r"^\w[\w *]*?\b(\w+)\(", "".join(h.read_text() for h in SOURCES.glob("*/*.h")), re.MULTILINE)
    assert {"model_evaluate", "linear_solve", "integrator_of"} <= set(own)
    assert [name for name in (*own, "equations") if hasattr(lib, name)] == []
