"""Coupling of parts: errors against exact solutions, orders of convergence, energy, gaps and events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import sleep

import numpy as np
import pytest
from helpers_coupling import (
    PERIOD,
    Run,
    boom,
    boom_exact,
    couple,
    error,
    impact,
    order,
    pinned_and_damped,
    quarter_car,
    quarter_car_exact,
    rigid_pair,
    rope_bounce,
    sampled_control,
    sampled_control_exact,
    stiff_pair,
    two_masses,
    two_masses_and_law,
    two_masses_exact,
)

from gpmelica.coupling.energy import residuals
from gpmelica.coupling.network import Network


def _errors(network: Callable[[], Network], method: str, steps: Sequence[float], degree: int = 2) -> list[float]:
    runs = [couple(network(), method, 2.0, step, degree) for step in steps]
    return [error(run["A.x"], two_masses_exact(run.time)) for run in runs]


# ---- Two masses and three springs ---------------------------------------------------------------------------


@pytest.mark.slow
def test_hermite_has_order_four() -> None:
    """Errors against the exact solution at 10 and 5 ms."""
    errors = _errors(two_masses, "hermite", (0.01, 0.005))
    assert errors[0] < 1e-5
    assert order(errors) == pytest.approx(4.0, abs=0.2)


@pytest.mark.slow
def test_hermite_over_ten_seconds() -> None:
    """The published error of 3.8e-6 at 10 ms."""
    run = couple(two_masses(), "hermite", 10.0, 0.01)
    assert error(run["A.x"], two_masses_exact(run.time)) == pytest.approx(3.8e-6, rel=0.05)
    assert run["A.x"][100] == pytest.approx(-4.538449, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("degree", "expected"), [(0, 1.0), (1, 2.0)])
def test_order_of_extrapolation(degree: int, expected: float) -> None:
    """Forces that are held have order 1, forces that are extrapolated linearly order 2."""
    errors = [
        error(run["chassis.x"], quarter_car_exact(run.time)[0])
        for run in (couple(quarter_car(), "sequential", 1.0, step, degree) for step in (0.002, 0.001))
    ]
    assert order(errors) == pytest.approx(expected, abs=0.2)


@pytest.mark.slow
def test_mean_force_has_order_two_and_no_residual() -> None:
    """The work of a constant force is exact, so the energy residual is rounding."""
    runs = [couple(two_masses_and_law(), "mean_force", 2.0, step) for step in (0.01, 0.005)]
    assert order([error(r["A.x"], two_masses_exact(r.time)) for r in runs]) == pytest.approx(2.0, abs=0.2)
    found = residuals(runs[0].network, runs[0].record)
    assert len(found) == 2
    assert max(abs(r.relative) for r in found) < 1e-9
    assert min(r.turned_over for r in found) > 1e3


@pytest.mark.slow
def test_sequential_coupling_creates_energy() -> None:
    """The residual of extrapolated forces is far above that of iterated ones."""
    coarse, fine = (couple(two_masses(), method, 2.0, 0.01, 1) for method in ("sequential", "hermite"))
    [loose], [tight] = (residuals(run.network, run.record) for run in (coarse, fine))
    assert abs(loose.relative) > 1e-3 > 1e3 * abs(tight.relative)


@pytest.mark.slow
def test_control_of_the_step() -> None:
    """A tenth of the tolerance costs more steps and has a smaller error, which stays within the tolerance."""
    runs = [couple(two_masses(), "hermite", 2.0, tolerance=tolerance, nominal=0.01) for tolerance in (1e-4, 1e-5)]
    errors = [error(run["A.x"], two_masses_exact(run.time)) for run in runs]
    assert errors[0] < 1e-4
    assert errors[1] < min(1e-5, 0.5 * errors[0])
    assert len(runs[1].time) > len(runs[0].time)


# ---- Quarter car --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_quarter_car() -> None:
    """Exact values of the chassis and the wheel, and errors of its velocity at 10 ms."""
    exact = quarter_car_exact(np.array([0.1, 1.0]))
    assert exact[[0, 2], 0] == pytest.approx([0.0327569, 0.0706224], abs=1e-7)
    assert exact[0, 1] == pytest.approx(0.0652894, abs=1e-7)
    runs = [couple(quarter_car(), "hermite", 1.0, step) for step in (0.01, 0.005)]
    errors = [error(run["chassis.v"], quarter_car_exact(run.time)[1]) for run in runs]
    assert errors[0] < 2e-4
    assert order(errors) == pytest.approx(4.0, abs=0.2)


@pytest.mark.slow
@pytest.mark.campaign
def test_quarter_car_at_one_millisecond() -> None:
    """The error falls by four orders of magnitude from 10 ms."""
    run = couple(quarter_car(), "hermite", 1.0, 0.001)
    assert error(run["chassis.v"], quarter_car_exact(run.time)[1]) < 1e-7


# ---- Stiff and rigid connections ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("m2", [1.0, 1000.0])
@pytest.mark.parametrize("damping", [0.0, pytest.param(0.02, marks=pytest.mark.campaign)])
@pytest.mark.parametrize(("c", "limit"), [(1e2, 5e-2), (1e4, 5e-2), (1e6, 5e-2), (1e9, 1e-6)])
def test_stiff_pair(m2: float, damping: float, c: float, limit: float) -> None:
    """The mean force neither grows nor creates energy, however stiff the connection is."""
    network, exact = stiff_pair(m2, c, damping)
    run = couple(network, "mean_force", 10.0, 0.01)
    assert error(run["A.x"], exact(run.time)) < limit
    assert max(abs(r.relative) for r in residuals(network, run.record)) < 1e-9


@pytest.mark.slow
def test_rigid_pair() -> None:
    """The pin's gap stays closed, and the pair vibrates as one mass."""
    run = couple(rigid_pair(), "pin", 2.0, 0.01)
    exact = 0.1 * np.cos(np.sqrt(100010.0 / 1001.0) * run.time)
    assert error(run["A.x"], exact) < 1e-8
    assert np.max(np.abs(run["A.x"] - run["B.x"])) < 1e-11


@pytest.mark.slow
def test_force_law_beside_a_pin() -> None:
    """A damper at a pinned mass does not lower the order: its initial slope contains the pin force."""
    errors = []
    for step in (0.02, 0.01):
        network, exact = pinned_and_damped()
        run = couple(network, "pin", 0.3, step)
        errors.append(error(run["A.x"], exact(run.time)))
    assert errors[1] < 1e-5
    assert order(errors) > 3.5


def _pin_error(run: Run, m1: float, m2: float) -> float:
    found = np.concatenate([run["lower.pin.x"], run["lower.pin.y"]])
    return error(found, boom_exact(m1, m2, run.time).ravel())


@pytest.mark.slow
@pytest.mark.parametrize(("m1", "m2", "limit"), [(800.0, 200.0, 1e-6), (200.0, 800.0, 1e-6), (10.0, 1000.0, 1e-5)])
def test_boom_cut_at_its_pin(m1: float, m2: float, limit: float) -> None:
    """Two links that a pin joins, at 10 ms and 20 ms: error, observed order and gap."""
    runs = [couple(boom(m1, m2), "pin", 1.0, step) for step in (0.02, 0.01)]
    errors = [_pin_error(run, m1, m2) for run in runs]
    assert errors[1] < limit
    assert order(errors) > 3.5
    assert np.max(np.abs(runs[1]["lower.pin.x"] - runs[1]["upper.pin.x"])) < 1e-9


# ---- Samples and events -------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [0.02, 0.007, 0.005, 0.03])
def test_sampled_control(step: float) -> None:
    """Communication points lie on the sample times, for steps that divide the period or do not."""
    run = couple(sampled_control(), "sequential", 1.0, step)
    at = [int(np.argmin(np.abs(run.time - k * PERIOD))) for k in range(51)]
    assert run.time[at] == pytest.approx(PERIOD * np.arange(51), abs=1e-12)
    assert run["plant.q"][at] == pytest.approx(sampled_control_exact(50), abs=1e-9)


def test_time_of_a_sampled_part() -> None:
    """The time of a controller contains that of its samples."""
    network = sampled_control()
    control = next(part for part in network.parts if part.name == "control")
    law = control._law  # type: ignore[attr-defined]
    control._law = lambda t, u: (sleep(1e-3), law(t, u))[1]  # type: ignore[attr-defined]
    run = couple(network, "sequential", 0.2, 0.02)
    assert run.record.seconds["control"] > 0.01
    assert run.record.wall_s > sum(run.record.seconds.values())


@pytest.mark.slow
def test_rope_bounce() -> None:
    """Times of contact and free fall, and the largest tension."""
    run = couple(rope_bounce(), "hermite", 0.7, tolerance=1e-6, nominal=0.01)
    taut, slack, again = run.record.events[:3]
    assert slack - taut == pytest.approx(0.1131305, abs=1e-6)
    assert again - taut == pytest.approx(0.3986991, abs=1e-6)
    assert -np.min(run["rope.f"]) == pytest.approx(5517.778, rel=1e-3)


@pytest.mark.slow
def test_impact_swaps_velocities() -> None:
    """Two masses of 1 kg part after half a period of the spring between them."""
    run = couple(impact(), "hermite", 0.005, tolerance=1e-7, nominal=1e-4)
    begin, end = run.record.events
    assert end - begin == pytest.approx(np.pi / np.sqrt(2e6), abs=1e-6)
    assert (run["A.v"][-1], run["B.v"][-1]) == pytest.approx((0.0, 1.0), abs=1e-5)


@pytest.mark.slow
def test_rejected_steps_leave_no_trace() -> None:
    """A run whose first steps are far too long ends as one with short steps."""
    long, short = (
        couple(two_masses(), "hermite", 1.0, tolerance=1e-7, nominal=nominal) for nominal in (0.5, 1e-3)
    )
    assert long.record.rejected > 0
    assert long["A.x"][-1] == pytest.approx(short["A.x"][-1], abs=1e-5)
