"""All examples in all formulations: one motion, and what each formulation keeps of the constraints."""

from __future__ import annotations

from itertools import product

import helpers_problem as solving
import numpy as np
import pytest
from helpers_examples import FORMULATIONS, changed
from helpers_formulations import (
    EXAMPLES,
    consistent_start,
    example,
    reference_accelerations,
    relative_error,
    states,
    trajectory_error,
)
from helpers_stages import StagedModel

from gpmelica import analysis
from gpmelica.analysis.system import assemble_system

SHORTER = 0.2  # of the span that the benchmark follows
OTHERS = FORMULATIONS[1:]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "case", "stop"), [entry for entry in EXAMPLES if entry[1] != "flexible_boom"])
def test_same_accelerations_and_motion(name: str, case: str | None, stop: float) -> None:
    """q̈ agrees to 1e-9 of the largest at states on the constraints, coordinates to 1e-6 of their ranges."""
    stop *= SHORTER
    mechanism = example(name, case, "gpme")
    start = consistent_start(mechanism)
    run = solving.simulate(mechanism, start=start, stop=stop, output_step=stop / 20)
    at = states(mechanism, run, start, 5, seed=1)
    expected = reference_accelerations(mechanism, start, at)
    for formulation in OTHERS:
        other = example(name, case, formulation)
        assert relative_error(reference_accelerations(other, start, at), expected) <= 1e-9
        followed = solving.simulate(other, start=start, stop=stop, output_step=stop / 20)
        assert trajectory_error(mechanism, followed, run) <= 1e-6


# Feedback is not for the robot: rows that are left out follow from the others only where Φ = 0.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kappa"), [("mobile_robot", 0.0), *product(("delta_robot", "four_bar_3d"), (0.0, 10.0))]
)
def test_reduced_form_keeps_velocities(name: str, kappa: float) -> None:
    """Knife edges and Φ̇ = −κΦ hold to 1e-12, whatever the solver's tolerance."""
    mechanism = example(name, None, "gpme_reduced", constraints__kappa=kappa)
    run = solving.simulate(mechanism, stop=0.5, tolerance=1e-4)
    position, velocity = run.signals["violation_position"], run.signals["violation_velocity"]
    assert np.abs(velocity - kappa * position).max() <= 1e-12


@pytest.mark.parametrize("name", ["delta_robot", "four_bar_3d"])
def test_generated_velocities_follow_the_positions(name: str) -> None:
    """Dependent rates of the generated reduced form give Φ̇ = −κΦ, wherever the positions are."""
    kappa, rng = 10.0, np.random.default_rng(4)
    keys = {"constraints__formulation": "gpme_reduced", "constraints__kappa": kappa}
    model = assemble_system(changed(name, None, **keys))
    q, qd = (x + 1e-2 * rng.normal(size=model.mechanism.n) for x in model.start)
    rates = StagedModel(model)(0.1, q, qd).qd
    numbers = analysis.ReferenceModel(model.mechanism, start=model.start)
    rows = numbers.constraints(numbers.state(0.1, q, rates))
    kept = [model.rows.index(row) for row in model.solvability.independent]
    assert np.abs(rows.Phi[kept]).max() > 1e-3
    assert rows.Phi_dot[kept] == pytest.approx(-kappa * rows.Phi[kept], abs=1e-9)


@pytest.mark.parametrize("kappa", [0.0, 10.0])
def test_feedback_of_positions(kappa: float) -> None:
    """A violation at the start decays as exp(−κt), or stays as it is without feedback."""
    mechanism = example("manipulator", "S_r_L_r_J_nf", "gpme_reduced", constraints__kappa=kappa)
    run = solving.simulate(mechanism, stop=0.5, output_step=0.1)
    violation = run.signals["violation_position"]
    assert violation[0] > 5e-3
    assert violation == pytest.approx(violation[0] * np.exp(-kappa * run.time), rel=1e-4)
