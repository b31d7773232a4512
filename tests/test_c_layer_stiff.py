"""The C layer's methods for stiff models and their choice, and inputs that move, with hand-written models."""

from __future__ import annotations

from itertools import pairwise
from math import factorial

import numpy as np
import pytest
from helpers_c_layer import START, STATES, Fmu, Make, fails, oscillator

pytest_plugins = ["fixtures_c_layer"]

AUTOMATIC, RK4, DORMAND_PRINCE, ROSENBROCK, BDF = range(5)
ADAPTIVE = [DORMAND_PRINCE, ROSENBROCK, BDF]


def test_rosenbrock_takes_no_steps_for_stability(make: Make) -> None:
    """A cubic force on springs of 1e10 N/m, damped within 1e-6 s: steps of 0.05 s give the slow motion exactly."""
    k, c, force = 1e10, 1e4, (0.0, 1e9, -4e9, 6e9)
    fmu = make("oscillator").start(tolerance=1e4, solver_method=ROSENBROCK, k=k, c=c, t_on=1e3, start=0.0)
    points = np.concatenate([[0.0], np.geomspace(1e-9, 0.01, 20), np.linspace(0.05, 1.0, 20)])
    for t, t_next in pairwise(points):
        fmu.set(u=float(force[1] * t + force[2] * t**2 / 2 + force[3] * t**3 / 6))
        move(fmu, force[1] + force[2] * t + force[3] * t**2 / 2, force[2] + force[3] * t, force[3])
        fmu.fmi.doStep(t, t_next - t)
    assert fmu.count("solver_steps") <= len(points) + 5
    assert fmu.get(*STATES) == pytest.approx(oscillator(1.0, np.zeros(4), *force, k=k, c=c), rel=1e-9)


def move(fmu: Fmu, *derivatives: float) -> None:
    """Gives the oscillator's input these derivatives, from order 1 on."""
    reference = fmu.references["u"]
    orders = list(range(1, len(derivatives) + 1))
    fmu.fmi.setRealInputDerivatives([reference] * len(orders), orders, list(derivatives))


@pytest.mark.parametrize("method", ADAPTIVE)
def test_stiff_and_loose_are_the_same_motion(make: Make, method: int) -> None:
    """Errors follow the tolerance in its order, on a model that is stiff."""
    errors = []
    for tolerance in (1e-4, 1e-6, 1e-8):
        fmu = make("oscillator").start(tolerance=tolerance, solver_method=method, k=3e5, c=3e3, t_on=1e3)
        fmu.run(np.linspace(0, 0.1, 5))
        errors.append(np.abs(fmu.get(*STATES) - oscillator(0.1, START, k=3e5, c=3e3)).max())
    assert errors[0] < 1e-2
    assert np.all(np.diff(np.log10(errors)) < -1)


@pytest.mark.parametrize("method", ADAPTIVE)
def test_communication_steps_change_nothing_beyond_the_tolerance(make: Make, method: int) -> None:
    """H, H/2, H/4 and a far shorter one: the same result, and the solver's own steps but for the landings."""
    results, steps = [], []
    for n in (3, 6, 12, 50):
        fmu = make("singular").start(tolerance=1e-7, solver_method=method)
        fmu.run(np.linspace(0, 3, n + 1))
        results.append(fmu.get("x1", "x2"))
        steps.append(fmu.count("solver_steps"))
    assert np.ptp(results, axis=0).max() < 1e-6
    assert steps[-1] <= steps[0] + 50


@pytest.mark.parametrize("method", ADAPTIVE)
def test_longest_step_is_honoured(make: Make, method: int) -> None:
    """No step is longer than solver_longest_step, however loose the tolerance."""
    fmu = make("singular").start(tolerance=1e2, solver_method=method, solver_longest_step=0.01)
    fmu.fmi.doStep(0.0, 1.0)
    assert fmu.count("solver_steps") >= 100


@pytest.mark.parametrize(("k", "jacobians"), [(30.0, 1), (1e8, 2)])
def test_automatic_choice(make: Make, k: float, jacobians: int) -> None:
    """One Jacobian tells the methods apart: Dormand-Prince needs no other one; BDF has some of its own."""
    runs = []
    for method in (AUTOMATIC, BDF if jacobians > 1 else DORMAND_PRINCE):
        fmu = make("oscillator").start(solver_method=method, k=k, c=k / 100, t_on=1e3)
        fmu.run(np.linspace(0, 0.5, 6))
        runs.append((fmu.get(*STATES).tolist(), fmu.count("solver_steps"), fmu.count("solver_jacobians")))
    assert runs[0][:2] == runs[1][:2]
    assert runs[0][2] == runs[1][2] + 1


# ---- BDF goes on from step to step -----------------------------------------------------------------------------


def hard(fmu: Fmu, **settings: float) -> Fmu:
    """The oscillator on stiff springs, by BDF."""
    return fmu.start(tolerance=1e-6, solver_method=BDF, k=3e5, c=3e3, t_on=1e3, **settings)


def test_a_step_costs_little_more_than_an_evaluation(make: Make) -> None:
    """The past lasts over communication steps: few evaluations, and a Jacobian for at least ten steps."""
    fmu = hard(make("oscillator"))
    fmu.run(np.linspace(0, 1.0, 501))
    steps, evaluations = fmu.count("solver_steps"), fmu.count("solver_evaluations")
    assert 300 <= steps < 1000
    assert evaluations < 1.5 * steps + 100 + 500  # and one where each communication step ends
    assert 10 * fmu.count("solver_jacobians") < steps


def test_the_past_ends_where_an_input_jumps(make: Make) -> None:
    """Inputs that are new in each communication step: the piecewise exact motion."""
    fmu, x = hard(make("oscillator")), START
    for i, u in enumerate((0.0, 3e3, -2e3, 5e3)):
        fmu.set(u=u)
        for k in range(3):
            fmu.fmi.doStep(0.06 * i + 0.02 * k, 0.02)
        x = oscillator(0.06, x, u, k=3e5, c=3e3)
    assert fmu.get(*STATES) == pytest.approx(x, abs=1e-6)


@pytest.mark.parametrize(("k", "c"), [(1e5, 0.0), (1e7, 0.0), (3e5, 3e3)])
def test_the_choice_costs_little_more_than_the_better_method(make: Make, k: float, c: float) -> None:
    """Fast vibrations that last, and those that do not: the motion is exact, for at most half as much again."""
    runs = []
    for method in (AUTOMATIC, DORMAND_PRINCE, BDF):
        fmu = make("oscillator").start(tolerance=1e-6, solver_method=method, k=k, c=c, t_on=1e3)
        fmu.run(np.linspace(0, 0.5, 51))
        assert fmu.get("q1", "q2") == pytest.approx(oscillator(0.5, START, k=k, c=c)[:2], abs=1e-3)
        runs.append(fmu.count("solver_evaluations"))
    assert runs[0] < 1.5 * min(runs[1:])


# ---- Inputs that move ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [RK4, *ADAPTIVE])
@pytest.mark.parametrize("derivatives", [(7.0,), (7.0, -30.0), (7.0, -30.0, 200.0)])
def test_inputs_follow_their_derivatives(make: Make, method: int, derivatives: tuple[float, ...]) -> None:
    """Ramps, parabolas and cubics over one communication step give the exact solution and end value."""
    fmu = make("oscillator").start(tolerance=1e-9, t_on=1e3, solver_method=method)
    fmu.set(u=2.0)
    move(fmu, *derivatives)
    fmu.fmi.doStep(0.0, 0.8)
    coefficients = (2.0, *derivatives)
    assert fmu.get(*STATES) == pytest.approx(oscillator(0.8, START, *coefficients), abs=1e-7)
    assert fmu.get("u")[0] == pytest.approx(sum(c * 0.8**k / factorial(k) for k, c in enumerate(coefficients)))


def test_derivatives_of_inputs_hold_for_one_step(make: Make) -> None:
    """The next step goes on with a constant input."""
    fmu = make("oscillator").start(tolerance=1e-9, t_on=1e3)
    move(fmu, 10.0)
    fmu.run(np.array([0.0, 0.3, 0.7]))
    assert fmu.get(*STATES) == pytest.approx(oscillator(0.4, oscillator(0.3, START, 0.0, 10.0), 3.0), abs=1e-7)


def test_a_failed_step_gives_the_input_back(make: Make) -> None:
    """After a step that cannot be done, input and derivative are as before: a shorter step goes on with them."""
    fmu = make("oscillator").start(tolerance=1e-9, t_on=1e3, solver_max_steps=100)
    fmu.set(u=1.0)
    move(fmu, 10.0)
    fails(fmu, lambda: fmu.fmi.doStep(0.0, 1e3), "more than 100 inner steps")
    assert fmu.get("u")[0] == 1.0
    fmu.fmi.doStep(0.0, 0.3)
    assert fmu.get(*STATES) == pytest.approx(oscillator(0.3, START, 1.0, 10.0), abs=1e-7)


@pytest.mark.parametrize(
    ("name", "order", "value", "match"),
    [
        ("u", 0, 1.0, "order of a derivative of u is 0, expected 1 to 3"),
        ("u", 4, 1.0, "order of a derivative of u is 4, expected 1 to 3"),
        ("u", 1, np.nan, "the derivative of order 1 of u is set to -?nan, expected a finite number"),
        ("q1", 1, 1.0, r"q1 \(value reference 1\) is not an input"),
    ],
)
def test_derivatives_of_inputs_are_checked(make: Make, name: str, order: int, value: float, match: str) -> None:
    """Orders, numbers and variables that make no sense are refused."""
    fmu = make("oscillator").start()
    fails(fmu, lambda: fmu.fmi.setRealInputDerivatives([fmu.references[name]], [order], [value]), match)
