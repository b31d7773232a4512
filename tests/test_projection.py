"""Projection onto the constraints: what the native FMU makes of it in both modes.

Mechanisms without friction, damping or drives, Baumgarte off: energy and momentum are known.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from helpers_backends import Compiled, CompileData, Fmu, pendulum
from helpers_projection import ON, dumbbell, swing
from numpy.typing import NDArray

from gpmelica.analysis.system import assemble_system
from gpmelica.description.load import from_data
from gpmelica.fmu.archive.validation import validate
from gpmelica.fmu.backends import native
from gpmelica.generator import variables
from gpmelica.options.model import RunOptions
from gpmelica.runs.fmpy_runs import simulate as runs
from gpmelica.runs.fmpy_runs.instance import Instance
from gpmelica.tasks import run as verify

Array = NDArray[np.float64]
RK4, DORMAND_PRINCE, ROSENBROCK, BDF = range(1, 5)
METHODS = (RK4, DORMAND_PRINCE, ROSENBROCK, BDF)
TOLERANCE = 1e-10  # default of projection_tolerance
CRUDE = {"solver_step": 0.02}
STATES = [f"{name}{rate}" for rate in ("", "_dot") for name in ("right_x", "right_y", "right_angle")]
CORRECTIONS = ["projection_correction", "projection_correction_velocity"]
VIOLATIONS = ["violation_position", "violation_velocity"]


# ---- Co-simulation ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def swinging(compile_data: CompileData) -> Compiled:
    """The pendulum in Cartesian coordinates."""
    return compile_data(swing())


@pytest.fixture(scope="module")
def tumbling(compile_data: CompileData) -> Compiled:
    """Two discs on a rod in free flight."""
    return compile_data(dumbbell())


def _energy(x: Array) -> Array:
    """Return the energy of the swinging disc, J; the columns of x are STATES."""
    spin = 0.05 * x[:, 5] ** 2 + 0.25 * x[:, 2] ** 2
    return 0.5 * (x[:, 3] ** 2 + x[:, 4] ** 2) - 9.81 * x[:, 0] + spin


def _run(compiled: Compiled, names: list[str], tolerance: float = 1e-4, **settings: float) -> Array:
    with Fmu(compiled) as fmu:
        values = fmu.start(CRUDE | settings, tolerance=tolerance).run(np.linspace(0.0, 5.0, 101), names)
        assert fmu.messages == []
    return values


@pytest.mark.parametrize("method", METHODS)
def test_violations_stay_below_the_tolerance(swinging: Compiled, method: int) -> None:
    """Solvers of 1e-4 drift off by more than 1e-7 m; projected, they stay on the constraints."""
    off = _run(swinging, VIOLATIONS, solver_method=method, projection=0)
    assert off[:, 0].max() > 1e-7
    on = _run(swinging, VIOLATIONS + CORRECTIONS, solver_method=method)
    assert on[:, :2].max() <= TOLERANCE
    assert (np.diff(on[:, 2:], axis=0) >= 0).all()
    assert (on[-1, 2:] > 1e-7).all()


def test_violations_declare_a_nominal_magnitude(swinging: Compiled) -> None:
    """Simulation masters learn from the nominal magnitude that tiny violations are not significant."""
    found = {v.name: v.nominal for v in swinging.description.modelVariables if v.causality == "output"}
    assert {name: float(found[name]) for name in VIOLATIONS} == dict.fromkeys(VIOLATIONS, 1.0)


@pytest.mark.parametrize("method", METHODS)
def test_energy_is_as_good_as_the_solver(swinging: Compiled, method: int) -> None:
    """The projection changes a conservative loop's energy by less than the solver's own error can."""
    exact = _run(swinging, STATES, tolerance=1e-12, projection=0)
    for tolerance, step in ((1e-4, 0.02), (1e-7, 0.004)):
        about: dict[str, Any] = {"tolerance": tolerance, "solver_step": step, "solver_method": method}
        on, off = (_run(swinging, STATES, **about, projection=switch) for switch in (1, 0))
        own = np.linalg.norm(off - exact, axis=1).max()
        assert np.abs(_energy(on) - _energy(off)).max() < np.hypot(9.81, 3.1) * own


def test_momentum_is_not_touched(tumbling: Compiled) -> None:
    """A projection acts along the rod, so centre of mass, momenta and the rotation of each disc do not change."""
    mass = np.array([2.0, 1.0])
    rng = np.random.default_rng(5)
    with Fmu(tumbling, "me") as fmu:
        solver = _Exchange(fmu, 12)
        for t in range(1, 11):
            x = solver.read("getContinuousStates") + 0.02 * rng.normal(size=12)
            solver.put(float(t), x)
            assert solver.complete() == (True, True)
            (q, v), (q_new, v_new) = (s.reshape(2, 2, 3) for s in (x, solver.read("getContinuousStates")))
            assert np.abs(q_new - q).max() > 1e-5
            assert np.abs(v_new - v).max() > 1e-5
            assert mass @ q_new == pytest.approx(mass @ q, abs=1e-13)
            assert mass @ v_new == pytest.approx(mass @ v, abs=1e-13)
            assert np.array([q_new, v_new])[..., 2] == pytest.approx(np.array([q, v])[..., 2], abs=1e-14)
            dv = v_new - v
            assert mass @ (q_new[:, 0] * dv[:, 1] - q_new[:, 1] * dv[:, 0]) == pytest.approx(0.0, abs=1e-13)


def test_order_and_tolerance_are_kept(swinging: Compiled) -> None:
    """Projected after each step, the solution still goes to the exact one as the solver's own does."""
    exact = _run(swinging, STATES, tolerance=1e-12, projection=0)[-1]

    def error(**settings: float) -> float:
        return float(np.abs(_run(swinging, STATES, **settings)[-1] - exact).max())

    by_step = [error(solver_method=RK4, solver_step=step) for step in (0.025, 0.0125, 0.00625)]
    assert by_step[0] / by_step[2] > 150  # 256 for order 4
    for tolerance in (1e-5, 1e-7, 1e-9):
        assert error(tolerance=tolerance) < 20 * tolerance


@pytest.mark.parametrize("method", METHODS)
def test_state_restored_goes_on_alike(swinging: Compiled, method: int) -> None:
    """After a projected step, going on and going on from a copied state are the same to the last bit."""
    names = [*STATES, *VIOLATIONS, *CORRECTIONS]
    with Fmu(swinging) as fmu:
        fmu.start(CRUDE | {"solver_method": method}, tolerance=1e-4).run(np.linspace(0.0, 1.0, 11))
        assert fmu.count("projections") > 0
        copy = fmu.saved()
        first = fmu.run(np.linspace(1.0, 2.0, 11), names), fmu.count("projections")
        fmu.restore(copy)
        again = fmu.run(np.linspace(1.0, 2.0, 11), names), fmu.count("projections")
        with Fmu(swinging) as other:
            other.restore(copy)
            elsewhere = other.run(np.linspace(1.0, 2.0, 11), names), other.count("projections")
    for values, count in (again, elsewhere):
        assert np.array_equal(values, first[0])
        assert count == first[1]


def test_rounding_of_a_start_is_corrected_at_the_initialization(swinging: Compiled) -> None:
    """A start that lacks digits is projected, and the correction says by how much."""
    with Fmu(swinging) as fmu:
        fmu.start({"right_x_start": 1.0 - 1e-7, "right_x_dot_start": 3e-7, "solver_finds_start": 0})
        assert fmu.get(STATES) == pytest.approx([1.0, 0.0, 0.0, 0.0, 3.1, 0.7], abs=1e-12)
        assert fmu.get(CORRECTIONS) == pytest.approx([1e-7, 3e-7], rel=1e-6)
        assert fmu.count("projections") == 1


def test_a_violated_start_is_kept(swinging: Compiled) -> None:
    """Without Baumgarte's terms nothing brings it back; the run is the one without projection."""
    off = {"right_x_start": 0.9, "right_x_dot_start": 0.3, "solver_finds_start": 0}
    names, runs = [*STATES, *VIOLATIONS], []
    for on in (1, 0):
        with Fmu(swinging) as fmu:
            fmu.start(off | {"projection": on})
            assert fmu.get(["right_x", "right_x_dot"]) == pytest.approx([0.9, 0.3], abs=0)
            runs.append(fmu.run(np.linspace(0.0, 0.3, 4), names))
            assert fmu.count("projections") == 0
    assert np.array_equal(*runs)


def test_projection_begins_where_the_violation_has_decayed(compile_data: CompileData) -> None:
    """Baumgarte's terms bring the start back first; from then on the violation stays below the tolerance."""
    compiled = compile_data(swing(name="Returning", constraints=ON | {"alpha": 40.0, "beta": 40.0}))
    with Fmu(compiled) as fmu:
        fmu.start({"right_x_start": 0.9, "solver_finds_start": 0}, tolerance=1e-9)
        fmu.run(np.linspace(0.0, 0.2, 5))
        assert fmu.count("projections") == 0
        assert fmu.get(VIOLATIONS)[0] > 1e-5
        fmu.run(np.linspace(0.2, 2.0, 10))
        assert fmu.count("projections") > 0
        assert fmu.get(VIOLATIONS).max() <= TOLERANCE


def test_impossible_constraints_are_an_error(swinging: Compiled) -> None:
    """For constraints that cannot be fulfilled, the message contains level, time, violation and setting."""
    message = "not converge at t = 0 s: a violation of .* remains, expected at most 1e-30"
    values = {"right_y_start": 1e-4, "right_x_start": 1.0 - 3e-8, "projection_tolerance": 1e-30}
    with Fmu(swinging) as fmu, pytest.raises(FMICallException, match="fmi2ExitInitializationMode"):
        fmu.start({"solver_finds_start": 0, "right_x_dot_start": -3.1e-4} | values)
    assert len(fmu.messages) == 1
    assert re.search(message, fmu.messages[0]), fmu.messages[0]


def test_settings_are_checked(swinging: Compiled) -> None:
    """The switch is 0 or 1, the tolerance positive."""
    with Fmu(swinging) as fmu:
        for name, value in (("projection", 2), ("projection_tolerance", 0.0)):
            with pytest.raises(FMICallException):
                fmu.set({name: value})
        assert "expected 1 (on) or 0 (off)" in fmu.messages[0]
        assert "expected a number > 0" in fmu.messages[1]


def test_failed_step_takes_its_corrections_back(swinging: Compiled) -> None:
    """A communication step that cannot be done leaves the sums of corrections where they were."""
    with Fmu(swinging) as fmu:
        fmu.start(CRUDE | {"solver_method": RK4, "solver_max_steps": 20}).run([0.0, 0.2])
        before = fmu.get(STATES + CORRECTIONS)
        with pytest.raises(FMICallException):
            fmu.fmi.doStep(0.2, 10.0)
        assert np.array_equal(fmu.get(STATES + CORRECTIONS), before)


# ---- Model exchange ---------------------------------------------------------------------------------------------


class _Exchange:
    """A model-exchange instance that a hand-written solver drives."""

    def __init__(self, fmu: Fmu, n: int = len(STATES)) -> None:
        self.fmu, self.fmi, self.n = fmu, fmu.fmi, n
        fmu.start()
        assert not fmu.discrete_states()[3]  # the start is on the constraints
        self.fmi.enterContinuousTimeMode()

    def read(self, function: str) -> Array:
        """Derivatives or states, shape (n,)."""
        return self.fmu.vector(function, self.n)

    def put(self, t: float, x: Array) -> None:
        """Time, s, and states, shape (n,)."""
        self.fmi.setTime(t)
        self.fmu.set_states(x)

    def complete(self) -> tuple[bool, bool]:
        """Complete a step and return the FMU's requests and whether the FMU changed the states."""
        due, stop = self.fmi.completedIntegratorStep()
        assert not stop
        if not due:
            return False, False
        self.fmi.enterEventMode()
        changed = self.fmu.discrete_states()[3]
        self.fmi.enterContinuousTimeMode()
        return True, bool(changed)


def test_model_exchange_by_hand(swinging: Compiled) -> None:
    """Heun's method: each step that leaves the constraints asks for an event, which puts the states back."""
    with Fmu(swinging, "me") as fmu:
        solver = _Exchange(fmu)
        x, events = solver.read("getContinuousStates"), 0
        for t, t_next in pairwise(np.linspace(0.0, 1.0, 101)):
            first = fmu.slopes(t, x)
            guess = x + (t_next - t) * first
            x = x + (t_next - t) / 2 * (first + fmu.slopes(t_next, guess))
            solver.put(t_next, x)
            violated = fmu.get(VIOLATIONS).max() > TOLERANCE
            due, changed = solver.complete()
            assert due == changed == violated
            events += due
            x = solver.read("getContinuousStates")
            assert fmu.get(VIOLATIONS).max() <= 1e-13
        assert fmu.count("projections") == events > 50
        assert fmu.get(CORRECTIONS)[0] > 1e-5


@pytest.mark.parametrize(("off", "moves"), [(1e-7, True), (0.1, False)])
def test_only_rounding_is_corrected_in_the_initial_event(swinging: Compiled, off: float, moves: bool) -> None:
    """Model exchange: the initialization keeps the given start, the event after it says whether states changed."""
    with Fmu(swinging, "me") as fmu:
        fmu.start({"right_x_start": 1.0 - off, "right_x_dot_start": 3.0 * off, "solver_finds_start": 0})
        assert fmu.get(["right_x", "right_x_dot"]) == pytest.approx([1.0 - off, 3.0 * off], abs=0)
        assert bool(fmu.discrete_states()[3]) == moves
        x = 1.0 if moves else 1.0 - off
        assert fmu.get(STATES)[0] == pytest.approx(x, abs=1e-12)
        assert not fmu.discrete_states()[3]


@pytest.mark.slow
def test_single_states_are_evaluated_as_given(compile_data: CompileData) -> None:
    """Derivatives off the constraints, at a time at which nothing fulfils them."""
    rows = [{"name": "far", "expression": "sin(right.x - 1) - t"}]
    compiled = compile_data(swing(name="Far", closures=[], programmed=rows))
    with Instance(compiled.fmu) as fmu:
        found = fmu.derivatives(5.0, np.array([1.2, 0.0, 0.0, 0.3, 0.0, 0.0]))
    assert found[3] == pytest.approx(np.tan(0.2) * 0.09)  # of sin(x − 1) = t


def test_states_on_the_constraints_are_left_alone(swinging: Compiled) -> None:
    """No event is asked for, and an event for another reason does not touch the states."""
    with Fmu(swinging, "me") as fmu:
        solver = _Exchange(fmu)
        x = np.array([np.cos(0.3), np.sin(0.3), 0.2, -2 * np.sin(0.3), 2 * np.cos(0.3), 0.7])
        solver.put(0.5, x)
        assert solver.complete() == (False, False)
        solver.fmi.enterEventMode()
        assert not fmu.discrete_states()[3]
        assert np.array_equal(solver.read("getContinuousStates"), x)
        assert not fmu.get(CORRECTIONS).any()


@pytest.mark.parametrize(("threshold", "error"), [(TOLERANCE, 1e-3), (1e-6, 5e-5)])
def test_fmpy_keeps_the_constraints(swinging: Compiled, threshold: float, error: float) -> None:
    """FMPy's CVODE, restarted by each step event, stays within the threshold; the states are the reference's.

    Restarts cost its multi-step method order and accuracy, so that a threshold of its own size serves it better.
    """
    about: dict[str, Any] = {"name": "me", "stop": 2.0, "output_step": 0.05, "tolerance": 1e-7}
    names = [*STATES, *VIOLATIONS, *CORRECTIONS]
    settings = {"projection_tolerance": threshold}
    found = runs.simulate(swinging.fmu, "me", names, parameters=settings, **about).signals
    assert max(found[name].max() for name in VIOLATIONS) <= threshold
    assert found["projection_correction"][-1] > 0
    expected = solving.simulate(swinging.model.mechanism, stop=2.0, output_step=0.05, tolerance=1e-11).signals
    assert max(np.abs(found[name] - expected[name]).max() for name in STATES) < error


@pytest.mark.slow
def test_both_versions_of_the_standard_project_alike(swinging: Compiled, compile_data: CompileData) -> None:
    """FMI 3.0 gives the states, corrections and counts of 2.0, in both modes."""
    newer = compile_data(swing(), "3.0").fmu
    assert validate(newer) == []
    names = [*STATES, *VIOLATIONS, *CORRECTIONS, "projections"]
    about: dict[str, Any] = {"name": "any", "stop": 1.0, "output_step": 0.05, "tolerance": 1e-5}
    for mode in ("me", "cs"):
        older, found = (runs.simulate(fmu, mode, names, **about).signals for fmu in (swinging.fmu, newer))
        assert older["projections"][-1] > 0
        for name in names:
            assert found[name] == pytest.approx(older[name], rel=1e-9, abs=1e-12)


# ---- What is in the FMU -----------------------------------------------------------------------------------------


def test_description_of_the_fmu(swinging: Compiled) -> None:
    """Settings and outputs are declared with a projection; completed steps are needed with constraints."""
    assert validate(swinging.fmu) == []
    own = {"projection", "projection_tolerance", "projections", *CORRECTIONS}
    assert own <= {v.name for v in swinging.description.modelVariables}
    assert swinging.description.modelExchange.needsCompletedIntegratorStep
    assert {u.variable.name for u in swinging.description.outputs} >= set(CORRECTIONS)
    for fmi in ("2.0", "3.0"):
        text = native.generate(swinging.model.native_program, swinging.model.chain, fmi).description
        assert text.count('reinit="true"') == len(STATES)
    # constraints without projection need completed steps, too: the branch of the motion is watched there
    for data, not_needed in ((swing(constraints={}), "false"), (pendulum(constraints=ON), "true")):
        model = assemble_system(from_data(data))
        assert not own & {v.name for v in variables.table(model.program)}
        assert (
            f'completedIntegratorStepNotNeeded="{not_needed}"'
            in native.generate(model.native_program, model.chain).description
        )


@pytest.mark.slow
def test_run_agrees_and_says_who_projects(swinging: Compiled, tmp_path: Path) -> None:
    """With α = β = 0 the projected FMU moves as the reference in both modes; a note tells the backends apart."""
    report = verify.run(swinging.model, RunOptions(tmp_path, rumoca=False, compiler="native"))
    assert [c.ok for c in report.comparisons] == [True, True, True, True]
    for comparison, limit in zip(report.comparisons[1:], (1e-8, TOLERANCE, 1e-8), strict=True):
        assert comparison.violation_position is not None
        assert comparison.violation_position <= limit
    assert any("the native FMU projects" in note and "alpha = 0" in note for note in report.notes)
