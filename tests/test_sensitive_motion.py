"""Sensitive motion: right runs of chaotic mechanisms agree as far as they can; wrong runs stay red."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_backends import CompileData
from helpers_sensitive import (
    backlash,
    bouncing_ball,
    double_pendulum,
    falling_robot,
    pendulum_between_stops,
    sensitive_model,
    slow_turntable,
    small_fast_vibration,
    stiff_oscillator,
)

from gpmelica.analysis.system import System
from gpmelica.core.progress import silent
from gpmelica.core.trajectory import Array, Trajectory
from gpmelica.fmu.backends.fmu import Fmu
from gpmelica.fmu.backends.native import Native
from gpmelica.runs.attempts import Attempt, fmu_attempts
from gpmelica.runs.compare.compare import Comparison, compare
from gpmelica.runs.compare.result import comparison_data
from gpmelica.runs.compare.sensitivity import CHANGE, Sensitivity, judged, sensitivity
from gpmelica.tasks import agreement, second_opinion
from gpmelica.tasks.reference_run import reference_run
from gpmelica.tasks.run import TOLERANCE

TIME = np.linspace(0.0, 10.0, 1001)
UNITS = {"x": "m"}

RIGHT: dict[str, Callable[[], dict[str, Any]]] = {
    "bouncing ball": partial(bouncing_ball, 1.0),
    "pendulum between stops": partial(pendulum_between_stops, 1.5),
    "backlash": partial(backlash, 2.0),
    "double pendulum": partial(double_pendulum, 5.0),
    "falling robot": falling_robot,
    "slow turntable": slow_turntable,
    "stiff oscillator": partial(stiff_oscillator, stop=0.2),
    "small fast vibration": partial(small_fast_vibration, stop=0.2),
}


def _attempts(model: System, truth: Trajectory, path: Path) -> list[Attempt]:
    """Model exchange and co-simulation as the verdict runs them, of the model's own FMU or of another one."""
    fmu = Fmu(Native(), path, compiler="", seconds=0.0, solver="")
    return list(fmu_attempts(model, [fmu], truth, TOLERANCE, None, silent))


def _judged(model: System, path: Path) -> list[Comparison]:
    truth = reference_run(model, None, silent)
    found = agreement.judge(model, truth, _attempts(model, truth, path), model.problem, silent)
    return [run.comparison for run in found if run.comparison is not None]


# slow: 3 to 22 s for each mechanism; the tests of wrong FMUs below take about 17 s each
@pytest.mark.slow
@pytest.mark.parametrize("name", RIGHT)
def test_right_mechanism_agrees(name: str, compile_data: CompileData) -> None:
    """Bouncing, chaotic, stiff, slow and vibrating mechanisms agree in model exchange and co-simulation."""
    data = RIGHT[name]()
    comparisons = _judged(sensitive_model(data), compile_data(data).fmu)
    assert [c.ok for c in comparisons] == [True, True], [c.note for c in comparisons]


@pytest.mark.slow
def test_verdict_on_chaotic_motion(compile_data: CompileData) -> None:
    """The double pendulum over 10 s agrees up to the time from which the reference differs from itself."""
    data = double_pendulum()
    model = sensitive_model(data)
    comparisons = _judged(model, compile_data(data).fmu)
    assert all(c.ok and c.sensitive_from == c.horizon and 1.0 < c.horizon < 4.0 for c in comparisons)
    assert all(f"a comparison is meaningful up to t = {c.horizon:.4g} s" in c.note for c in comparisons)
    assert all(comparison_data(c)["sensitive_from"] == c.horizon for c in comparisons)
    (remark,) = agreement.sensitive(model, comparisons)
    assert (remark.id, remark.time) == ("sensitive_motion", comparisons[0].horizon)


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param({"gravity": [0.0, 0.0, -9.81 * (1.0 + 1e-6)]}, id="gravity off by 1e-6"),
        pytest.param(
            {"forces": [{"name": "blow", "joint": "lower", "effort": "0.01 if t > 4.0 and t < 4.1 else 0"}]},
            id="blow after the time up to which runs are compared",
        ),
    ],
)
def test_wrong_chaotic_fmu_stays_red(fault: dict[str, Any], compile_data: CompileData) -> None:
    """An FMU of another double pendulum disagrees, although the motion is sensitive."""
    model = sensitive_model(double_pendulum())
    wrong = compile_data(double_pendulum(**fault)).fmu
    assert [c.ok for c in _judged(model, wrong)] == [False, False]


@pytest.mark.slow
def test_wrong_stop_stays_red(compile_data: CompileData) -> None:
    """A stop of another stiffness disagrees, although impacts amplify what differs."""
    wrong = backlash(2.0)
    wrong["contacts"][0]["stiffness"] *= 1.001
    assert [c.ok for c in _judged(sensitive_model(backlash(2.0)), compile_data(wrong).fmu)] == [False, False]


@pytest.mark.slow
def test_agreement_costs_no_further_run(monkeypatch: pytest.MonkeyPatch, compile_data: CompileData) -> None:
    """Neither the reference nor a run is repeated where all agree."""
    data = stiff_oscillator(1e3)
    model, fmu = sensitive_model(data), compile_data(data).fmu
    truth = reference_run(model, None, silent)
    attempts = _attempts(model, truth, fmu)
    monkeypatch.setattr("gpmelica.analysis.simulate", _forbidden)
    assert all(
        run.comparison and run.comparison.ok
        for run in agreement.judge(model, truth, attempts, model.problem, silent)
    )


@pytest.mark.slow
@pytest.mark.campaign
def test_the_oracle_is_run_again_with_a_finer_tolerance() -> None:
    """Impacts amplify the errors of its integrator beyond what the motion's sensitivity explains."""
    model = sensitive_model(backlash(1.5))
    with second_opinion.asked(model, None, TOLERANCE) as opinion:
        truth = reference_run(model, None, silent)
        attempts = opinion().attempts
    (found,) = agreement.judge(model, truth, attempts, model.problem, silent)
    assert found.comparison is not None
    assert found.comparison.ok, found.comparison.note
    assert "run again with a finer tolerance" in found.comparison.note


def _forbidden(*_: Any, **__: Any) -> Any:
    raise AssertionError("the reference was run again")


# ---- the rule by itself -----------------------------------------------------------------------------------------


def _trajectory(name: str, error: Array | float) -> Trajectory:
    return Trajectory(name, TIME, {"x": np.sin(TIME) + error})


def _growing(rate: float, begin: float = CHANGE) -> Array:
    """Error that grows with a rate, 1/s, up to the size of the signal."""
    return np.minimum(begin * np.exp(np.minimum(rate * TIME, 50.0)), 1.0)


def _known(error: Array | float, own: Array | float = 0.0) -> Sensitivity:
    """Sensitivity of a reference whose repetitions differ by so much; the signal's scale is 2."""
    finer, moved = _trajectory("finer", own), _trajectory("moved", error)
    return sensitivity(_trajectory("reference", 0.0), finer, moved, UNITS, 1e-9)


def _verdict(error: Array | float, known: Sensitivity) -> Comparison:
    reference, run = _trajectory("reference", 0.0), _trajectory("run", error)
    return judged(compare(reference, run, UNITS, TOLERANCE), reference, run, UNITS, known)


def test_run_as_far_apart_as_the_reference_from_itself_agrees() -> None:
    """A right run of a chaotic motion agrees up to the time when its error may exceed the tolerance."""
    found = _verdict(_growing(3.0, 1e-10), _known(_growing(3.0)))
    assert found.ok
    assert found.sensitive_from == found.horizon == pytest.approx(np.log(2e3) / 3.0, abs=0.02)
    assert found.max_rel_error <= TOLERANCE


@pytest.mark.parametrize("error", [2.5, 50.0])
def test_larger_tolerance_permits_larger_deviation(error: float) -> None:
    """A run with ten times the usual tolerance may deviate by ten times as much, but not more."""
    reference, run = _trajectory("reference", 0.0), _trajectory("run", _growing(3.0, error * 2e-9))
    known = _known(_growing(3.0))
    comparison = compare(reference, run, UNITS, 10.0 * TOLERANCE)
    assert not judged(comparison, reference, run, UNITS, known).ok
    assert judged(comparison, reference, run, UNITS, known.scaled(10.0)).ok == (error < 10.0)


def test_error_before_the_motion_is_sensitive_stays_red() -> None:
    """An error of twice the tolerance at the beginning is wrong, whatever comes later."""
    found = _verdict(_growing(3.0, 1e-10) + 4e-6, _known(_growing(3.0)))
    assert not found.ok
    assert "differs by more than this explains" in found.note


def test_error_after_the_motion_is_sensitive_stays_red() -> None:
    """An error that begins later than the comparison ends is wrong if the reference does not repeat it."""
    late = np.where(TIME > 3.5, 0.1, 0.0)
    assert not _verdict(_growing(3.0, 1e-10) + late, _known(_growing(3.0))).ok


def test_steady_motion_is_not_sensitive() -> None:
    """A reference that repeats itself leaves a wrong run red, with the horizon of the whole run."""
    found = _verdict(1e-5, _known(CHANGE, 1e-11))
    assert (found.ok, found.sensitive_from, found.horizon) == (False, None, 10.0)


def test_sensitive_from_the_beginning_is_not_agreement() -> None:
    """A comparison that would end almost at once does not make a run right."""
    found = _verdict(_growing(2000.0, 1e-10), _known(_growing(2000.0)))
    assert not found.ok
    assert "too early for a comparison" in found.note


def test_run_that_is_not_finite_stays_red() -> None:
    """A run that ends in NaN is wrong after any time."""
    broken = np.where(TIME > 9.5, np.nan, _growing(3.0, 1e-10))
    assert not _verdict(broken, _known(_growing(3.0))).ok
