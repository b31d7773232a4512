"""Singular configurations: the N-four-bar mechanism keeps its branch, or the run ends with a message."""

from __future__ import annotations

from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from helpers_backends import CompileData
from helpers_four_bars import n_four_bar, parallel_angle
from helpers_loops import four_bar
from helpers_parts import X, link, machine
from helpers_reference import mechanism_of

from gpmelica import plausibility
from gpmelica.core.errors import SolveError
from gpmelica.core.trajectory import Array, Trajectory
from gpmelica.runs.fmpy_runs.simulate import Mode, simulate

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
@pytest.mark.parametrize("tolerance", [1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12])
def test_reference_keeps_its_branch(tolerance: float) -> None:
    """The reference passes ten singular configurations in 10 s along the closed form, or ends with a message."""
    try:
        run = solving.simulate(mechanism_of(n_four_bar(2)), tolerance=tolerance)
    except SolveError as error:
        assert tolerance >= _COARSE
        assert "the motion may go on in more than one way" in str(error)
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


# slow: up to 50 s, most of it compilation and CVODE
@pytest.mark.slow
@pytest.mark.parametrize("mode", ["me", "cs"])
@pytest.mark.parametrize("count", [2, 5])
def test_fmu_keeps_its_branch_or_fails(count: int, mode: Mode, compile_data: CompileData) -> None:
    """At tolerances from 1e-4 to 1e-12 an FMU stays on the branch, or the run ends with a message."""
    compiled = compile_data(n_four_bar(count))
    finished = 0
    for tolerance in 10.0 ** -np.arange(4.0, 12.5):
        times = {"stop": 10.0, "output_step": 0.025}
        try:
            run = simulate(compiled.fmu, mode, list(compiled.model.units), name=mode, tolerance=tolerance, **times)
        except SolveError as error:
            assert " s" in str(error)
            continue
        finished += 1
        assert _apart(run, count) < 1e-1, tolerance
    assert finished >= 2


def test_fmu_that_leaves_its_branch_says_so(compile_data: CompileData) -> None:
    """The message names the time and what to do."""
    compiled = compile_data(n_four_bar(2))
    with pytest.raises(SolveError, match=r"depend on each other shortly before t = .*leave its branch"):
        simulate(compiled.fmu, "cs", ["rod2_angle"], name="cs", stop=10.0, output_step=0.025, tolerance=1e-12)


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
