"""Native FMU, generated Modelica and reference solver against each other."""

from __future__ import annotations

from pathlib import Path

import helpers_problem as solving
import numpy as np
import pytest
from helpers_backends import (
    CASES,
    Compile,
    example_model,
    follows,
    largest_error,
    modelica_accelerations,
    native_error,
    random_states,
    reference_accelerations,
)
from helpers_examples import changed
from helpers_stages import StagedModel

from gpmelica.analysis.system import assemble_system
from gpmelica.generator import modelica
from gpmelica.options.model import RunOptions
from gpmelica.runs import rumoca as rumoca_backend
from gpmelica.runs.compare.compare import compare
from gpmelica.tasks import run as verify

STATES = 15
# with other tests' FMUs; friction is in those of test_friction
COMPILED = [("crane", "rigid_boom"), ("crane", "flexible_boom")]
COMPILED += [("manipulator", case) for case in ("S_r_L_r_J_nf", "S_fl_L_fl_J_nf")]
# rigid and elastic links, with and without friction: rumoca takes a minute to prepare some of the others
WRITTEN = [("crane", "rigid_boom_lugre"), ("crane", "flexible_boom")]
WRITTEN += [("manipulator", case) for case in ("S_r_L_r_J_nf", "S_fl_L_fl_J_nf")]
needs_rumoca = pytest.mark.skipif(not rumoca_backend.available(), reason="rumoca is not installed")


@pytest.mark.slow
@pytest.mark.parametrize(("example", "case"), CASES)
def test_generated_accelerations(example: str, case: str) -> None:
    """q̈ and ż of the FMU's equations are the reference's at random states, to 1e-9 of the largest."""
    model = example_model(example, case)
    states = random_states(model, np.random.default_rng(31), STATES)
    staged = StagedModel(model)
    values = [staged(s.t, s.q, s.qd, z=s.z) for s in states]
    found = np.array([np.concatenate([v.qdd, v.z_dot]) for v in values])
    assert largest_error(found, reference_accelerations(model, states)) <= 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("example", "case"), COMPILED)
def test_native_accelerations(compile_example: Compile, example: str, case: str) -> None:
    """The compiled FMU has those of its equations, which C rounds like Python."""
    compiled = compile_example(example, case)
    assert native_error(compiled.model, compiled.fmu, seed=33, count=STATES) <= 1e-9


@pytest.mark.slow
@needs_rumoca
@pytest.mark.parametrize(("example", "case"), WRITTEN)
def test_modelica_accelerations(example: str, case: str) -> None:
    """q̈ of the Modelica text is the reference's at as many states, to 1e-9 of the largest acceleration."""
    model = example_model(example, case)
    states, found = modelica_accelerations(model, np.random.default_rng(32), STATES)
    assert len(states) >= STATES
    assert np.ptp([s.t for s in states]) > 0.99 * model.chain.simulation.stop
    assert largest_error(found, reference_accelerations(model, states)) <= 1e-9


@pytest.mark.slow
def test_crane_runs_agree(tmp_path: Path) -> None:
    """The whole job on the crane: the FMU in both modes to 1e-6 of each signal's range over the whole run.

    The README's first command does it with the elastic boom, over all of its time.
    """
    stop = 0.3
    model = assemble_system(changed("crane", "rigid_boom", simulation__stop=stop))
    report = verify.run(model, RunOptions(tmp_path, rumoca=False, compiler="native"), "rigid_boom")
    assert [comparison.name for comparison in report.comparisons[1:]] == [
        "fmu-native-me",
        "fmu-native-cs",
        "oracle",
    ]
    assert report.ok
    assert report.consistent.ok and report.agrees.ok and report.holds.ok
    unrun, guides = report.notes
    assert unrun == "the Modelica source was not run in rumoca, as requested"
    assert "on 5 other coordinates, where no drive can act" in guides  # of the sprung base
    for comparison in report.comparisons:
        assert comparison.max_rel_error <= 1e-6
        assert comparison.horizon == pytest.approx(stop)
        assert not comparison.note
    assert {"report.html", "result.json", "Crane.mo", "Crane.fmu"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.slow
@needs_rumoca
def test_modelica_follows_the_reference() -> None:
    """The crane's Modelica text in rumoca follows the reference to 1e-5."""
    model, stop = example_model("crane", "rigid_boom"), 2.0
    truth = solving.simulate(model.mechanism, start=model.start, dependent=model.dependent, stop=stop)
    text = model.modelica(start_values=model.start_values())
    run = rumoca_backend.CompiledModel(text, modelica.experiment(model.name)).simulate(
        list(model.units), stop=stop, output_step=0.01, tolerance=1e-9, budget=1e4
    )
    outcome = compare(truth, run, model.units, 1e-5, horizon=stop)
    assert outcome.ok, f"{outcome.worst_signal}: {outcome.max_rel_error}"
    assert set(truth.signals) == set(run.signals)


@pytest.mark.parametrize(("case", "stop"), [("S_r_L_r_J_nf", 1.0), ("S_fl_L_fl_J_nf", 0.02)])
def test_manipulator_runs_agree(compile_example: Compile, case: str, stop: float) -> None:
    """The manipulator's FMU follows the reference to 1e-6 of each signal's range, off its path at the start."""
    compiled = compile_example("manipulator", case)
    model = compiled.model
    truth = solving.simulate(
        model.mechanism, start=model.start, dependent=model.dependent, stop=stop, tolerance=1e-10
    )
    follows(compiled, truth, tolerance=1e-11)
