"""Stiff models by the FMU's own solver and by SciPy's with its Jacobian: RSRRP with hard replacement joints."""

from __future__ import annotations

import helpers_problem as solving
import numpy as np
import pytest
from helpers_backends import Compiled, CompileModel
from helpers_replacement import model_of
from helpers_stiff import RK4, ROSENBROCK, co_simulate, exchange

STIFFNESS = 1e8  # N/m
NAMES = ("crank_angle", "slider_position", "rocker_angle")
STEP, STOP = 1e-2, 0.3  # s


@pytest.fixture(scope="session", params=["spherical_replacement", "revolute_replacement"])
def linkage(request: pytest.FixtureRequest, compile_model: CompileModel) -> Compiled:
    """RSRRP, its loop closed by stiff springs."""
    return compile_model(model_of(request.param, STIFFNESS))


@pytest.mark.slow
def test_stiff_co_simulation(linkage: Compiled) -> None:
    """Within 1e-4 of range by default, errors in the order of the tolerances, fewer steps than stability asks."""
    exact = co_simulate(linkage, NAMES, step=STEP, stop=STOP, tolerance=1e-11, solver_method=ROSENBROCK)
    default = co_simulate(linkage, NAMES, step=STEP, stop=STOP)
    runs = [co_simulate(linkage, NAMES, step=STEP, stop=STOP, tolerance=x) for x in (1e-4, 1e-6, 1e-8)]
    assert default.error(exact) < 1e-4
    errors = [run.error(exact) for run in runs]
    assert 1e-4 > errors[0] > 3 * errors[1] > 9 * errors[2]
    start = linkage.model.start
    modes = solving.modes(linkage.model.mechanism, start=start, dependent=linkage.model.dependent)
    assert 10 * default.counts["steps"] < STOP / modes[0].longest_rk4_step
    fixed = {"solver_method": RK4, "solver_step": 0.9 * modes[0].longest_rk4_step}
    assert default.error(co_simulate(linkage, NAMES, step=STEP, stop=STOP, **fixed)) < 1e-5


def test_communication_steps_of_a_stiff_run(linkage: Compiled) -> None:
    """H, H/2 and H/4 change nothing beyond the tolerance."""
    tolerance, halvings = 1e-6, (1, 2, 4)
    runs = [co_simulate(linkage, NAMES, step=STEP / k, stop=STOP, tolerance=tolerance) for k in halvings]
    values = np.array([run.values[::k] for run, k in zip(runs, halvings, strict=True)])
    assert (np.ptp(values, axis=0) / np.ptp(values[0], axis=0)).max() < tolerance


@pytest.mark.slow
@pytest.mark.parametrize("method", ["Radau", "BDF"])
def test_exact_jacobians_save_evaluations(linkage: Compiled, method: str) -> None:
    """A solver of stiff problems that gets the FMU's Jacobian evaluates it less often, and ends where it did."""
    exact, differences = (exchange(linkage, method, exact=exact, stop=0.01) for exact in (True, False))
    assert exact.evaluations < 0.9 * differences.evaluations
    assert exact.end == pytest.approx(differences.end, rel=1e-3, abs=1e-3)
