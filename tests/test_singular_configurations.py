"""Singular configurations: the N-four-bar mechanism keeps its branch, or the run ends with a message."""

from __future__ import annotations

from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from helpers_backends import MODES, Compiled, CompileData
from helpers_four_bars import n_four_bar, parallel_angle
from helpers_loops import four_bar
from helpers_parts import X, link, machine
from helpers_reference import mechanism_of

from gpmelica import plausibility
from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.errors import SolveError
from gpmelica.core.progress import silent
from gpmelica.core.trajectory import Array, Trajectory
from gpmelica.description.load import from_data
from gpmelica.fmu.backends.fmu import Fmu
from gpmelica.fmu.backends.native import Native
from gpmelica.runs.attempts import Attempt, fmu_attempts
from gpmelica.runs.compare.compare import Comparison
from gpmelica.runs.fmpy_runs.simulate import Mode, simulate
from gpmelica.tasks import agreement
from gpmelica.tasks.reference_run import reference_run
from gpmelica.tasks.run import TOLERANCE

CLOSURES = ("point_on_line", "spherical", "revolute")


@pytest.mark.parametrize("closure", CLOSURES)
def test_closed_form_before_a_singular_configuration(closure: str) -> None:
    """The mechanism has the motion of its closed form, with and without redundant constraints."""
    run = solving.simulate(mechanism_of(n_four_bar(2, closure)), stop=0.6, tolerance=1e-10)
    assert run.signals["rod2_angle"] == pytest.approx(parallel_angle(2, run.time), abs=1e-10)


def _apart(run: Trajectory, count: int) -> float:
    """Largest difference of two rods' angles in a run, rad: on the branch of the start all rods are parallel."""
    rods = run.columns([f"rod{k}_angle" for k in range(count + 1)])
    return float(np.abs(rods - rods[:, :1]).max())


def _flat_times(count: int) -> Array:
    """Times, s, at which the rods lie along the ground, in the first 1.5 s."""
    time = np.linspace(0.0, 1.5, 15001)
    angle = parallel_angle(count, time)
    crossed = np.flatnonzero(np.diff(np.floor(angle / np.pi)))
    return time[crossed]


_COARSE = 1e-5  # tolerance from which on a run may end at a singular configuration


# slow: 6 to 15 s for each tolerance
@pytest.mark.slow
@pytest.mark.parametrize(
    "tolerance",
    [
        1e-4,
        1e-6,
        1e-8,
        1e-12,
        *(pytest.param(x, marks=pytest.mark.campaign) for x in (1e-5, 1e-7, 1e-9, 1e-10, 1e-11)),
    ],
)
def test_reference_keeps_its_branch(tolerance: float) -> None:
    """The reference passes ten singular configurations in 10 s along the closed form, or ends with a message."""
    try:
        run = solving.simulate(mechanism_of(n_four_bar(2)), tolerance=tolerance)
    except SolveError as error:
        assert tolerance >= _COARSE
        assert "the motion may continue in more than one way" in str(error)
        return
    assert _apart(run, 2) < 1e-2
    assert run.signals["rod2_angle"] == pytest.approx(
        parallel_angle(2, run.time), abs=max(100.0 * tolerance, 1e-8)
    )
    assert len(run.singular) == 10


@pytest.mark.slow
@pytest.mark.parametrize("closure", CLOSURES)
def test_redundant_constraints_do_not_count_as_singular(closure: str) -> None:
    """Times of singular configurations are found with and without constraints that are redundant all the time."""
    run = solving.simulate(mechanism_of(n_four_bar(2, closure)), stop=1.5, tolerance=1e-8)
    assert [passed.t for passed in run.singular] == pytest.approx(_flat_times(2), abs=1e-3)
    assert _apart(run, 2) < 1e-6


# slow: up to 25 s
@pytest.mark.slow
@pytest.mark.parametrize("count", [3, 5, 10])
def test_more_windows(count: int) -> None:
    """Mechanisms with more branches keep theirs, too."""
    run = solving.simulate(mechanism_of(n_four_bar(count)), stop=1.5, tolerance=1e-7)
    assert _apart(run, count) < 1e-5
    assert len(run.singular) == 2


def _fmu_run(compiled: Compiled, mode: Mode, tolerance: float, **options: Any) -> Trajectory:
    """10 s of an FMU; `options` of `simulate`."""
    settings = {"stop": 10.0, "output_step": 0.025, "tolerance": tolerance} | options
    return simulate(compiled.fmu, mode, list(compiled.model.units), name=mode, **settings)


# slow: up to 50 s, most of it compilation and CVODE
@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("count", [2, 5])
def test_fmu_keeps_its_branch_or_fails(count: int, mode: Mode, compile_data: CompileData) -> None:
    """At tolerances from 1e-4 to 1e-12 an FMU stays on the branch, or the run ends with a message."""
    compiled = compile_data(n_four_bar(count))
    finished = 0
    for tolerance in 10.0 ** -np.arange(4.0, 12.5):
        try:
            run = _fmu_run(compiled, mode, tolerance)
        except SolveError as error:
            assert " s" in str(error)
            continue
        finished += 1
        assert _apart(run, count) < 1e-1, tolerance
    assert finished >= (8 if mode == "cs" else 2)


@pytest.mark.slow
@pytest.mark.parametrize("method", [1, 2, 3, 4])
@pytest.mark.parametrize("step", [1e-3, 0.025, 2.5])
def test_co_simulation_crosses_along_the_tangent(step: float, method: int, compile_data: CompileData) -> None:
    """Every solver passes ten singular configurations along the closed form, whatever the communication steps."""
    compiled = compile_data(n_four_bar(2))
    run = _fmu_run(compiled, "cs", 1e-10, output_step=step, parameters={"solver_method": method})
    assert _apart(run, 2) < 1e-6
    assert run.signals["rod2_angle"] == pytest.approx(parallel_angle(2, run.time), abs=2e-7)


def test_co_simulation_with_a_fine_tolerance_keeps_its_branch(compile_data: CompileData) -> None:
    """At a tolerance of 1e-12 the leap is as accurate as the other steps."""
    run = _fmu_run(compile_data(n_four_bar(2)), "cs", 1e-12)
    assert run.signals["rod2_angle"] == pytest.approx(parallel_angle(2, run.time), abs=1e-9)


@pytest.mark.slow
def test_fmu_that_leaves_its_branch_says_so(compile_data: CompileData) -> None:
    """In model exchange, where the importer's solver steps, the message names the time and what to do."""
    with pytest.raises(SolveError, match=r"depend on each other shortly before t = .*leave its branch"):
        _fmu_run(compile_data(n_four_bar(2)), "me", 1e-4)


# slow: 40 s, most of it CVODE
@pytest.mark.campaign
@pytest.mark.slow
def test_fmu_that_stays_in_a_singular_neighbourhood_on_another_branch_says_so(compile_data: CompileData) -> None:
    """One rod turns on, and 40 others stop where their constraints depend on each other: no step ends outside."""
    with pytest.raises(SolveError, match=r"depend on each other shortly before t = 9\.10.*leave its branch"):
        _fmu_run(compile_data(n_four_bar(40)), "me", 1e-8, stop=9.2)


def _judged(model: System, compiled: Compiled, mode: Mode) -> Comparison:
    """The FMU's comparison with the reference's run of a model, as `run` makes it."""
    truth = reference_run(model, None, silent)
    fmu = Fmu(Native(), compiled.fmu, compiler="", seconds=0.0, solver="")
    attempts = fmu_attempts(model, [fmu], truth, TOLERANCE, None, silent)
    (attempt,) = (attempt for attempt in attempts if attempt.name.endswith(mode))
    (found,) = agreement.judge(model, truth, [attempt], model.problem, silent)
    assert found.comparison is not None
    return found.comparison


def _short(**changes: Any) -> dict[str, Any]:
    """Two windows over 1.5 s, in which there are two singular configurations."""
    times = {"start": "description", "stop": 1.5, "output_step": 0.025, "tolerance": 1e-9}
    return n_four_bar(2, simulation=times, **changes)


@pytest.mark.slow
def test_verdict_of_a_run_that_ends_at_a_singular_configuration(compile_data: CompileData) -> None:
    """Model exchange is compared up to the first singular configuration if it ends; co-simulation to the end."""
    compiled = compile_data(_short())
    first = _flat_times(2)[0]
    own, imported = (_judged(compiled.model, compiled, mode) for mode in ("cs", "me"))
    assert own.ok
    assert own.horizon == pytest.approx(1.5)
    assert own.singular_from is None
    if imported.singular_from is not None:  # CVODE's steps may get through
        assert imported.ok
        assert imported.singular_from == pytest.approx(first, abs=1e-3)
        assert imported.horizon < first
        assert "the run failed after the first singular configuration" in imported.note


@pytest.mark.slow
@pytest.mark.parametrize("gravity", [9.81, 9.82])
def test_a_shortened_run_is_judged_as_any_other(gravity: float) -> None:
    """Up to the first singular configuration a wrong model differs, and stays red."""
    model, wrong = (
        assemble_system(from_data(_short())),
        assemble_system(from_data(_short(gravity=[0.0, -gravity, 0.0]))),
    )
    truth = reference_run(model, None, silent)

    def until(stop: float) -> Attempt:
        return Attempt("run", TOLERANCE, solving.simulate(wrong.mechanism, stop=stop, tolerance=1e-10))

    attempt = Attempt("run", TOLERANCE, None, "it ended at a singular configuration", until=until)
    (found,) = agreement.judge(model, truth, [attempt], model.problem, silent)
    assert found.comparison is not None
    assert found.comparison.ok == (gravity == 9.81)
    assert found.comparison.horizon == pytest.approx(0.675, abs=0.03)
    assert "the run failed after the first singular configuration" in found.comparison.note


def test_a_run_that_ends_without_a_singular_configuration_stays_red() -> None:
    """A message alone is no reason to compare a part of the run."""
    data = _short() | {"simulation": {"start": "description", "stop": 0.6, "output_step": 0.01, "tolerance": 1e-9}}
    model = assemble_system(from_data(data))
    truth = reference_run(model, None, silent)
    attempt = Attempt("run", TOLERANCE, None, "it ended", until=lambda stop: Attempt("run", TOLERANCE, truth))
    (found,) = agreement.judge(model, truth, [attempt], model.problem, silent)
    assert found.comparison is not None
    assert not found.comparison.ok


def test_remark_names_time_and_constraints() -> None:
    """The plausible line says when the branch is not determined, and by which constraint equations."""
    run = solving.simulate(mechanism_of(n_four_bar(2)), stop=1.0, tolerance=1e-8)
    (remark,) = plausibility.singular_configurations(run)
    assert remark.id == "singular_configuration"
    assert remark.time == pytest.approx(_flat_times(2)[0], abs=1e-3)
    assert "B1" in remark.text
    assert "B2" in remark.text
    assert "do not determine the branch" in remark.text


@pytest.mark.parametrize(
    "data", [four_bar(), machine(link("mass", "prismatic", X, velocity=1.0))], ids=["four-bar", "no constraints"]
)
def test_regular_mechanism_has_no_remark(data: dict[str, Any]) -> None:
    """A four-bar that stays away from its limits, and a mechanism without constraints, are left alone."""
    run = solving.simulate(mechanism_of(data), stop=1.0)
    assert list(plausibility.singular_configurations(run)) == []
