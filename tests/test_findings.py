"""What the verdict says of constraints: at the start, of rows that are left out, and along the runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_parts import Y, body, link
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from gpmelica import reference
from gpmelica.commands.run import Options, granted
from gpmelica.fmu.compare.decay import free_decay
from gpmelica.fmu.compare.findings import Finding, consistency, holding, start_consistency
from gpmelica.generator.description.load import from_data
from gpmelica.prepared import Prepared, prepare
from gpmelica.trajectory import Trajectory

HEIGHT = "E.z - 0.25"  # of the point E at the end of an arm of 0.5 m, which rises by angle −0.5236


def arm(expression: str = HEIGHT, angle: float = -0.3, **changes: Any) -> Prepared:
    """A link about the y axis, with a task."""
    bar = link("arm", "revolute", Y, position=angle) | body(2.0, [0.3, 0.0, 0.0], [0.1, 0.2, 0.3])
    data = {
        "schema": 1,
        "name": "Arm",
        "links": [bar],
        "points": {"E": {"link": "arm", "position": [0.5, 0.0, 0.0]}},
        "programmed": [{"name": "task", "expression": expression}],
        "simulation": {"stop": 0.4, "output_step": 0.02} | changes,
    }
    return prepare(from_data(data))


def judged(model: Prepared) -> tuple[Finding, Finding, reference.Residuals, Trajectory]:
    """Consistency and holding of a reference run, what its rows lack, and the run."""
    run = reference.simulate(model.mechanism, start=model.start)
    lacking = reference.residuals(model.mechanism, run, model.start)
    return consistency(model, lacking), holding(model, lacking, (run,)), lacking, run


@pytest.mark.parametrize(
    ("alpha", "beta"), [(20.0, 20.0), (110.0, 20.0), (5.0, 20.0), (0.0, 20.0), (0.0, 0.0), (9.0, 0.0)]
)
def test_free_decay_solves_its_equation(alpha: float, beta: float) -> None:
    """Two starts, against an integrator: aperiodic, damped, undamped, and drifting."""
    time = np.linspace(0.0, 1.0, 21)
    for start, found in zip(((1.0, 0.0), (0.0, 1.0)), free_decay(time, alpha, beta), strict=True):
        exact = solve_ivp(
            lambda t, y: [y[1], -2 * alpha * y[1] - beta**2 * y[0]],
            (0.0, 1.0),
            start,
            method="DOP853",
            t_eval=time,
            rtol=1e-11,
            atol=1e-13,
        )
        assert_allclose(found, exact.y, rtol=1e-7, atol=1e-8)


def test_a_start_on_the_task() -> None:
    """Consistent, and it holds."""
    found, held, *_ = judged(arm("arm.angle - start(arm.angle) - quintic(t, 0, 1, 0, 0.2)"))
    assert found == Finding(True, "Every constraint row holds at the start.")
    assert held.ok


def test_a_start_off_the_task() -> None:
    """Said by the row's name, with how far off it is; the run then decays as Baumgarte says, and holds."""
    found, held, lacking, _ = judged(arm())
    assert not found.ok
    assert found.text.startswith(f"task is off by {abs(lacking.position[0, 0]):.3g} at the start")
    assert held.ok and "above what is left of the start's" in held.text
    assert start_consistency(arm()) == found


@pytest.mark.parametrize("changes", [{"start": "description"}, {"starts_violated": ["task"]}])
def test_a_start_off_the_task_that_the_description_knows_of(changes: dict[str, Any]) -> None:
    """It is said, and it is right."""
    found = start_consistency(arm(**changes))
    assert found.ok and "It starts violated, as it says: task is off by 0.102 at the start." in found.text


def test_a_start_with_the_wrong_rate() -> None:
    """A task that moves at once, and a joint at rest: the row is off in its rate."""
    found = start_consistency(arm("arm.angle + 0.3 - 2*t"))
    assert not found.ok and "task is off by 2 per s at the start" in found.text


def test_an_unknown_row_cannot_be_said_to_start_violated() -> None:
    """Nothing is excused by a name that is not there."""
    with pytest.raises(
        Exception, match=r"simulation.starts_violated\[0\]: there is no programmed constraint 'tusk'"
    ):
        arm(starts_violated=["tusk"])


def test_a_run_that_opens_is_named_with_its_time() -> None:
    """More than `simulation.violation` beyond the decay of the start; less is within it."""
    model = arm()
    _, _, lacking, run = judged(model)
    for size, ok in ((0.5e-6, True), (1e-4, False), (np.nan, False)):
        violation = run.signals["violation_position"] + np.where(run.time > 0.31, size, 0.0)
        opened = replace(run, name="fmu-native-me", signals={**run.signals, "violation_position": violation})
        found = holding(model, lacking, (run, opened))
        assert found.ok is ok
        assert ok or found.text.startswith("fmu-native-me: constraints are violated from t = 0.32 s on")


def test_a_row_left_out_that_opens_is_named_with_its_time() -> None:
    """Redundant at the start, demanded to differ later: the residual of the row that is left out says so."""
    model = arm("arm.angle + 0.3")
    run = reference.simulate(model.mechanism, start=model.start)
    lacking = reference.residuals(model.mechanism, run, model.start)
    spare = replace(model, solvability=replace(model.solvability, independent=()))
    assert consistency(spare, lacking).ok
    late = np.where(run.time > 0.2, 3e-3, 0.0)[:, None]
    found = consistency(spare, replace(lacking, position=lacking.position + late))
    assert found == Finding(
        False, "task, left out as redundant, does not hold from t = 0.22 s on: it lacks up to 0.003"
    )


def test_no_constraints() -> None:
    """Nothing to hold."""
    model = arm()
    bare = prepare(model.chain.model_copy(update={"programmed": ()}))
    found, held, *_ = judged(bare)
    assert found == held == Finding(True, "There are no constraints.")


@pytest.mark.parametrize(
    ("tolerance", "asked", "expected"),
    [(1e-9, None, 1e-6), (1e-6, None, 1e-4), (1e-3, None, 1e-2), (1e-3, 1e-6, 1e-6), (1e-9, 1e-3, 1e-3)],
)
def test_what_runs_are_held_to(tmp_path: Path, tolerance: float, asked: float | None, expected: float) -> None:
    """What was asked for, or what solvers of the description's tolerance can keep, but 1 % of a signal at most."""
    options = Options(tmp_path, tolerance=asked)
    assert granted(arm(tolerance=tolerance), options) == pytest.approx(expected)
