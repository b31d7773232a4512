"""The inner solver goes beyond communication points where it may, and is shown on its polynomials there."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from helpers_c_layer import START, STATES, Fmu, Fmu3, Make, exact, fails, nonlinear, oscillator
from helpers_fmpy import Array

pytest_plugins = ["fixtures_c_layer"]

RK4, DORMAND_PRINCE, ROSENBROCK, BDF = range(1, 5)
AHEAD = [DORMAND_PRINCE, BDF]


def shown(fmu: Fmu | Fmu3, points: Array, *names: str) -> Array:
    """Values at all points but the first, shape (N - 1, len(names))."""
    values = []
    for t, t_next in pairwise(points):
        fmu.fmi.doStep(float(t), float(t_next - t))
        values.append(fmu.get(*names))
    return np.array(values)


def test_inner_steps_are_the_same_whatever_the_communication_step(make: Make) -> None:
    """BDF takes identical inner steps with bitwise identical values; so does Dormand-Prince with communication
    steps far longer than inner ones.
    """
    runs = []
    for n in (64, 256, 2048):
        fmu = make("singular").start(tolerance=1e-7, solver_method=BDF)
        values = shown(fmu, np.linspace(0.0, 2.0, n + 1), "x1", "x2")[n // 2 - 1 :: n // 2]
        runs.append((values.tolist(), fmu.count("solver_steps")))
    assert runs[0] == runs[1] == runs[2]
    fmu = make("singular").start(tolerance=1e-7, solver_method=DORMAND_PRINCE)
    fmu.run(np.linspace(0.0, 2.0, 2049))
    assert fmu.count("solver_steps") < 100


@pytest.mark.parametrize("method", [RK4, ROSENBROCK])
def test_methods_without_polynomials_land(make: Make, method: int) -> None:
    """At least one step for each communication step."""
    fmu = make("singular").start(tolerance=1e-2, solver_method=method)
    fmu.run(np.linspace(0.0, 1.0, 201))
    assert fmu.count("solver_steps") >= 200


@pytest.mark.parametrize("method", AHEAD)
def test_interpolated_states_meet_the_tolerance(make: Make, method: int) -> None:
    """States at communication points, most of which lie within a step, are as accurate as the
    tolerance requires.
    """
    points = np.linspace(0.0, 2.0, 401)
    for tolerance in (1e-3, 1e-6, 1e-8, 1e-10):
        fmu = make("singular").start(tolerance=tolerance, solver_method=method)
        found = shown(fmu, points, "x1", "x2")
        errors = np.abs(found - np.array([nonlinear(t) for t in points[1:]])).max(axis=1)
        assert errors.max() < 3.0 * tolerance


def test_order_of_the_polynomial(make: Make) -> None:
    """Steps of half the length reduce the interpolation error of Dormand-Prince at least 25-fold."""
    errors = []
    for h in (0.05, 0.025, 0.0125):
        fmu = make("singular").start(tolerance=1e2, solver_method=DORMAND_PRINCE, solver_longest_step=h)
        points = np.linspace(0.0, 2.0, 1001)
        found = shown(fmu, points, "x1")[:, 0]
        assert fmu.count("solver_steps") <= round(2.0 / h) + 5
        errors.append(np.abs(found - 1.0 / (1.0 + points[1:] ** 2)).max())
    assert errors[0] / errors[1] > 25.0
    assert errors[1] / errors[2] > 25.0


@pytest.mark.parametrize("method", AHEAD)
def test_no_step_is_longer_than_five_output_steps(make: Make, method: int) -> None:
    """Steps at rest are bounded, so that a short pulse is not stepped over."""
    fmu = make("oscillator").start(tolerance=1e-3, solver_method=method, start=0.0, t_on=1e3)
    fmu.run(np.linspace(0.0, 5.0, 1001))
    assert 5.0 / (5 * 0.01) <= fmu.count("solver_steps") < 150


@pytest.mark.parametrize("method", AHEAD)
def test_time_events_end_steps(make: Make, method: int) -> None:
    """The force comes between two communication points, and the solver is not beyond it when it comes."""
    fmu = make("oscillator").start(tolerance=1e-8, solver_method=method)
    points = np.linspace(0.0, 1.0, 41)
    found = shown(fmu, points, *STATES)
    np.testing.assert_allclose(found, [exact(t) for t in points[1:]], atol=1e-6)


@pytest.mark.parametrize("method", AHEAD)
def test_an_input_that_jumps_counts_from_the_communication_point(make: Make, method: int) -> None:
    """The solver discards the computed motion beyond the communication point; derivatives of inputs have the
    same effect.
    """
    fmu = make("oscillator").start(tolerance=1e-8, solver_method=method, t_on=1e3)
    shown(fmu, np.linspace(0.0, 0.1, 101), *STATES)
    fmu.set(u=20.0)
    shown(fmu, np.linspace(0.1, 0.2, 101), *STATES)
    x = oscillator(0.1, oscillator(0.1, START), 20.0)
    assert fmu.get(*STATES) == pytest.approx(x, abs=1e-6)
    fmu.fmi.setRealInputDerivatives([fmu.references["u"]], [1], [-300.0])
    fmu.fmi.doStep(0.2, 0.001)
    assert fmu.get(*STATES) == pytest.approx(oscillator(0.001, x, 20.0, -300.0), abs=1e-6)


@pytest.mark.parametrize("method", AHEAD)
def test_inputs_that_always_change_cost_no_more(make: Make, method: int) -> None:
    """The solver lands where the next value comes."""
    fmu = make("oscillator").start(tolerance=1e-6, solver_method=method, t_on=1e3)
    x, points = np.array(START), np.linspace(0.0, 0.5, 26)
    for i, (t, t_next) in enumerate(pairwise(points)):
        fmu.set(u=float(i % 3))
        fmu.fmi.doStep(float(t), float(t_next - t))
        x = oscillator(t_next - t, x, float(i % 3))
    assert fmu.get(*STATES) == pytest.approx(x, abs=1e-5)


@pytest.mark.parametrize("method", AHEAD)
def test_solver_does_not_pass_the_stop_time(make: Make, method: int) -> None:
    """A model without a solution after the stop time runs like a model with one."""
    runs = []
    for domain in (1.0, 1e3):
        fmu = make("singular").start(tolerance=1e-4, stop_time=1.0, solver_method=method, domain=domain)
        values = shown(fmu, np.linspace(0.0, 1.0, 51), "x1", "x2").tolist()
        runs.append((values, fmu.count("solver_steps"), fmu.count("solver_rejected_steps")))
    assert runs[0] == runs[1]


@pytest.mark.parametrize("method", AHEAD)
def test_missing_solution_beyond_the_communication_point_is_harmless(make: Make, method: int) -> None:
    """Without a stop time and without a solution after 1 s, the run is correct until then."""
    fmu = make("singular").start(tolerance=1e-4, solver_method=method, domain=1.0)
    found = shown(fmu, np.linspace(0.0, 1.0, 51)[:-1], "x1", "x2")
    assert found[-1] == pytest.approx(nonlinear(0.98), abs=1e-4)


@pytest.mark.parametrize("method", AHEAD)
def test_a_step_that_cannot_be_done_leaves_no_trace(make3: Make, method: int) -> None:
    """Not in what is known of inputs either, which have just changed: the same numbers go on, to the last bit."""

    def go_on(*, after_failure: bool) -> list[list[float]]:
        fmu = make3("oscillator").start(tolerance=1e-5, solver_method=method, t_on=1e3, solver_max_steps=40)
        shown(fmu, np.linspace(0.0, 0.1, 11), *STATES)
        fmu.set(u=20.0)
        if after_failure:
            fails(fmu, lambda: fmu.fmi.doStep(0.1, 20.0), "more than 40 inner steps", discarded=True)
        values: list[list[float]] = shown(fmu, np.linspace(0.1, 0.2, 11), *STATES).tolist()
        return values

    assert go_on(after_failure=True) == go_on(after_failure=False)


def test_last_successful_time_is_within_the_failed_step(make: Make) -> None:
    """The solver passes the communication point, at which alone no solution exists, and then fails
    to stop there.
    """
    fmu = make("singular").start(tolerance=1e-3, solver_method=DORMAND_PRINCE, solver_max_steps=1, t_singular=0.5)
    shown(fmu, np.linspace(0.0, 0.49, 1001), "x1")
    fails(fmu, lambda: fmu.fmi.doStep(0.49, 0.5 - 0.49), "came to t = 0.49 s: more than 1 inner steps")


def test_communication_step_within_an_inner_step_costs_one_evaluation(make: Make) -> None:
    """A communication step within an inner step evaluates the outputs once."""
    fmu = make("oscillator").start(tolerance=1e-4, solver_method=DORMAND_PRINCE, t_on=1e3)
    shown(fmu, np.linspace(0.0, 1.0, 1001), "v1")
    assert fmu.count("solver_evaluations") < 1000 + 10 * fmu.count("solver_steps")
