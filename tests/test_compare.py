"""Comparison of runs: known differences, scales, grids, faults; result files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from helpers_parts import Y, body, link, machine
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import expm

from gpmelica import analysis
from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.csv_file import read_csv, write_csv
from gpmelica.core.errors import DescriptionError
from gpmelica.core.trajectory import Array, Magnitude, Trajectory
from gpmelica.description.load import from_data
from gpmelica.options.model import RunOptions
from gpmelica.runs.compare.compare import compare, error_over_time, on_common_grid, required_complete
from gpmelica.runs.compare.decay import free_decay
from gpmelica.runs.compare.findings import Finding, consistency, holding, start_consistency
from gpmelica.runs.compare.scales import scales
from gpmelica.runs.fmpy_runs.simulate import read_or_simulate
from gpmelica.tasks.run import granted

UNITS = {"angle": "rad", "small": "rad", "x": "m", "rest": "s"}
TIME = np.linspace(0.0, 2.0, 201)


def run(name: str = "run", time: Array = TIME, **signals: Array) -> Trajectory:
    """A run of the given signals."""
    return Trajectory(name, time, signals)


def wave(time: Array) -> Array:
    """A smooth signal whose largest and smallest value are 1 and −1 on [0, 2]."""
    return np.sin(2 * np.pi * time)


def test_constant_signals_are_not_compared_on_the_scale_of_rounding() -> None:
    """A constant effort of 3 N·m with rounding errors agrees; an error of 1e-4 of it, or a zero,
    does not.
    """
    units = {"arm_effort": "N.m"}
    noisy = run(arm_effort=3 + 4e-16 * wave(TIME))
    for value, agrees in ((3.0, True), (3 + 3e-10, True), (3 + 3e-4, False), (0.0, False)):
        assert compare(noisy, run(arm_effort=value + 0 * TIME), units, 1e-6).ok is agrees
    assert scales(noisy.signals, units) == pytest.approx({"arm_effort": 0.3})


def test_natural_magnitudes_of_signals_with_little_motion() -> None:
    """The scale is a tenth of the signal's, a hundredth of the link's, or a thousandth of the
    mechanism's magnitude.
    """
    noise = 1e-14 * wave(TIME)
    natural = (
        Magnitude("arm_ddot", "rad/s2", "arm", 5.0),
        Magnitude("hand_ddot", "rad/s2", "hand", 0.0),
        Magnitude("thumb_ddot", "rad/s2", "hand", 40.0),
        Magnitude("toe_ddot", "rad/s2", "foot", 0.0),
        Magnitude("", "rad/s2", "", 300.0),
    )
    signals = {"arm_ddot": noise, "hand_ddot": noise, "thumb_ddot": noise, "toe_ddot": noise}
    found = scales(signals, dict.fromkeys(signals, "rad/s2"), natural)
    assert found == pytest.approx({"arm_ddot": 0.5, "hand_ddot": 0.4, "thumb_ddot": 4.0, "toe_ddot": 0.3})


def test_signals_without_unit_are_measured_alone() -> None:
    """A signal without a unit cannot hide behind a large signal of another kind."""
    signals = {"force": 1e6 * wave(TIME), "angle": 1e-3 * wave(TIME)}
    assert scales(signals, {}) == pytest.approx({"force": 2e6, "angle": 2e-3}, rel=1e-12)


def test_scale_is_taken_over_the_compared_horizon() -> None:
    """Values of the reference run after the end of the compared run have no influence on the verdict."""
    reference = run(angle=np.where(TIME > 1.0, 1e3, wave(TIME)))
    short = TIME[TIME <= 1.0]
    result = compare(reference, run(time=short, angle=wave(short) + 2e-3), UNITS, 1e-2)
    assert result.rel_error["angle"] == pytest.approx(1e-3, rel=1e-9)
    assert result.horizon == pytest.approx(1.0)
    assert result.note == "the comparison covers 1 s of the full 2 s"


def test_runs_with_different_times_or_signals_agree_in_part() -> None:
    """Equal values over a part of the time, or of a part of the signals, are no complete agreement."""
    whole, short = run(angle=wave(TIME)), run(time=TIME[:101], angle=wave(TIME[:101]))
    more = run(angle=wave(TIME), force=wave(TIME))
    assert (compare(whole, whole, UNITS, 1e-9).verdict, compare(whole, whole, UNITS, 1e-9).complete) == (
        "agrees",
        True,
    )
    for first, second in ((whole, short), (short, whole), (whole, more), (more, whole)):
        found = compare(first, second, UNITS, 1e-9)
        assert (found.ok, found.complete, found.verdict) == (True, False, "agrees in part")
        assert not required_complete(found).ok
    coverage = compare(more, short, UNITS, 1e-9).coverage
    assert coverage is not None
    assert (coverage.missing, coverage.extra) == (("force",), ())
    assert coverage.run == (0.0, pytest.approx(1.0))


def test_a_run_that_stops_early_can_be_made_to_fail() -> None:
    """A short run agrees over its own time span and fails if a longer horizon is required."""
    reference, short = run(angle=wave(TIME)), run(time=TIME[:101], angle=wave(TIME[:101]))
    assert compare(reference, short, UNITS, 1e-9).ok
    assert compare(reference, short, UNITS, 1e-9, horizon=1.0).ok
    assert not compare(reference, short, UNITS, 1e-9, horizon=1.01).ok
    assert compare(reference, reference, UNITS, 1e-9, horizon=2.0).ok


def test_agrees_with_plain_loops() -> None:
    """On random signals the errors are those of the definition, written as loops."""
    random = np.random.default_rng(7)
    names = [*(f"s{k}" for k in range(8)), "rest"]
    units = {name: "rad" if k < 5 else "m" if k < 8 else "s" for k, name in enumerate(names)}
    first = {name: random.normal(size=50) * 10.0 ** -random.integers(0, 9) for name in names}
    first["rest"] = np.zeros(50)
    second = {name: values + random.normal(size=50) * 1e-8 for name, values in first.items()}
    time = np.cumsum(random.uniform(0.1, 1.0, 50))
    pair = run(time=time, **first), run(time=time, **second)
    result = compare(*pair, units, 1.0)
    for name in names:
        error = max(abs(a - b) for a, b in zip(first[name], second[name], strict=True))
        ranges = [max(first[other]) - min(first[other]) for other in names if units[other] == units[name]]
        scale = max(max(first[name]) - min(first[name]), 1e-3 * max(ranges)) or 1.0
        assert result.max_abs_error[name] == error
        assert result.rel_error[name] == pytest.approx(error / scale, rel=1e-14)
    worst = result.max_rel_error
    assert worst == max(result.rel_error.values()) == result.rel_error[result.worst_signal]
    for tolerance in (1.01 * worst, 0.99 * worst):
        assert compare(*pair, units, tolerance).ok is (tolerance > worst)


def test_error_over_time_has_the_same_maximum() -> None:
    """The curve's largest value is the verdict's number."""
    random = np.random.default_rng(3)
    reference = run(angle=wave(TIME), x=5 * wave(TIME + 0.1))
    other = run(angle=wave(TIME) - 1e-6 * random.uniform(size=201), x=5 * wave(TIME + 0.1))
    time, errors = error_over_time(reference, other, UNITS)
    assert errors.max() == compare(reference, other, UNITS, 1.0).max_rel_error
    assert_array_equal(time, TIME)


def test_interpolation_is_of_fourth_order() -> None:
    """Against samples between its own, a finer run's interpolation error falls by 2⁴ per halved step."""
    coarse = np.linspace(0.05, 1.93, 23)
    errors = []
    for count in (101, 201, 401):
        fine = np.linspace(0.0, 2.0, count)
        result = compare(run(time=coarse, angle=wave(coarse)), run(time=fine, angle=wave(fine)), UNITS, 1.0)
        errors.append(result.max_abs_error["angle"])
        assert "interpolated" in result.note
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert_allclose(orders, 4.0, atol=0.35)


@pytest.mark.parametrize("swapped", [False, True])
def test_common_grid_is_the_coarser_one_inside_the_overlap(swapped: bool) -> None:
    """Times come from the run with fewer samples there, and none lies outside of either run."""
    coarse, fine = np.arange(-1.0, 1.6, 0.07), np.arange(0.013, 3.0, 0.01)
    pair = [run("a", coarse, angle=wave(coarse)), run("b", fine, angle=wave(fine))]
    grid = on_common_grid(*(pair[::-1] if swapped else pair))
    assert_array_equal(grid.time, coarse[(coarse >= fine[0]) & (coarse <= fine[-1])])
    assert_allclose(grid.run["angle"], grid.reference["angle"], atol=1e-5)


def test_samples_outside_of_the_overlap_do_not_count() -> None:
    """A run that is wrong only where the reference has no samples agrees with it."""
    late = TIME + 1.0
    first = run(angle=np.where(TIME < 1.0, 50.0, wave(TIME)))
    second = run(time=late, angle=np.where(late > 2.0, np.nan, wave(late)))
    result = compare(first, second, UNITS, 1e-12)
    assert result.ok and result.horizon == pytest.approx(1.0)


def test_accumulated_times_are_the_same_times() -> None:
    """Output times summed step by step differ by rounding alone, which is not a reason to interpolate."""
    summed = np.cumsum(np.full(201, 0.01)) - 0.01
    assert np.any(summed != TIME)
    result = compare(run(angle=wave(TIME)), run(time=summed, angle=wave(TIME)), UNITS, 0.0)
    assert result.ok and result.max_rel_error == 0.0 and result.note == ""


@pytest.mark.parametrize("fault", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["reference", "run"])
@pytest.mark.parametrize("step", [1, 3])
def test_samples_that_are_not_finite_fail(fault: float, where: str, step: int) -> None:
    """A single NaN or infinite sample makes the error infinite and fails the run, on any grid and
    in either run.
    """
    broken = wave(TIME)
    broken[33] = fault
    good = run("good", TIME[::step], angle=wave(TIME[::step]), x=TIME[::step])
    bad = run("bad", angle=broken, x=TIME)
    result = compare(bad, good, UNITS, 1.0) if where == "reference" else compare(good, bad, UNITS, 1.0)
    assert (result.max_abs_error["angle"], result.max_rel_error, result.ok) == (np.inf, np.inf, False)
    assert result.worst_signal == "angle"
    assert result.max_abs_error["x"] < 1e-12
    assert where == "reference" or "not finite: angle" in result.note


def test_violations_are_reported_and_not_compared() -> None:
    """Violations ought to be zero in every run, so the verdict uses their maxima and not their differences."""
    reference = run(angle=wave(TIME), violation_position=0 * TIME)
    other = run(angle=wave(TIME), violation_position=-2e-5 * TIME, violation_velocity=1e-4 * TIME)
    result = compare(reference, other, UNITS, 1e-9)
    assert result.ok and list(result.max_abs_error) == ["angle"]
    assert result.violation_position == 4e-5
    assert result.violation_velocity == 2e-4
    assert compare(reference, reference, UNITS, 1e-9).violation_velocity is None


def test_only_norms_of_violations_are_exempt() -> None:
    """A user's output `violation_E` of a point E is compared like any other signal."""
    reference, other = run(violation_E_x=wave(TIME)), run(violation_E_x=1.1 * wave(TIME))
    result = compare(reference, other, UNITS, 1e-3)
    assert (result.ok, result.worst_signal) == (False, "violation_E_x")


def test_a_violation_that_is_not_finite_fails() -> None:
    """The rest of such a run may agree, but it cannot be trusted."""
    reference = run(angle=wave(TIME), violation_position=0 * TIME)
    other = run(angle=wave(TIME), violation_position=np.where(TIME > 1, np.nan, 0.0))
    result = compare(reference, other, UNITS, 1e-9)
    assert (result.max_rel_error, result.violation_position, result.ok) == (0.0, np.inf, False)
    assert "not finite: violation_position" in result.note


def test_signals_that_only_one_of_two_has_can_be_made_to_fail() -> None:
    """Whichever of the two lacks them; the note says which."""
    both, one = run(angle=wave(TIME), x=wave(TIME)), run(angle=wave(TIME))
    for first, second, whose in ((both, one, "the run"), (one, both, "the reference")):
        assert compare(first, second, UNITS, 1.0).ok
        result = compare(first, second, UNITS, 1.0, complete=True)
        assert not result.ok and result.note == f"signals missing from {whose}: x"


def test_missing_signals_are_named() -> None:
    """Signals that a run does not have are not silently left out."""
    reference = run(angle=wave(TIME), **{f"force{k}": TIME for k in range(6)})
    result = compare(reference, run(angle=wave(TIME)), UNITS, 1e-9)
    assert result.note == "signals missing from the run: force0, force1, force2, force3 and 2 more"


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (run(y=TIME), "reference and run: expected signals of the same name, got angle, violation_position and y"),
        (run(violation_position=TIME), "expected signals of the same name"),
        (run(time=TIME + 2.0, angle=TIME), "two instants .* 0 to 2 s and 2 to 4 s"),
        (run(time=TIME[:0], angle=TIME[:0]), "two instants .* no instants"),
        (run(time=TIME[::-1], angle=TIME), r"run: time: .* to increase, got 1.99 s after 2 s \(sample 2"),
        (run(time=np.where(TIME > 1, np.nan, TIME), angle=TIME), "expected time to increase, got nan s after 1 s"),
    ],
)
def test_runs_that_cannot_be_compared(other: Trajectory, message: str) -> None:
    """The error names both runs and what they lack."""
    with pytest.raises(DescriptionError, match=message):
        compare(run("reference", angle=wave(TIME), violation_position=TIME), other, UNITS, 1e-6)


def test_csv_round_trip_is_exact(tmp_path: Path) -> None:
    """Every float comes back with the same bits, and names in the same order."""
    random = np.random.default_rng(11)
    hard = [0.1, -0.0, 5e-324, -2.2250738585072014e-308, 1.7976931348623157e308, np.nan, np.inf, -np.inf, 1 / 3]
    values = np.concatenate([hard, random.normal(size=91) * 10.0 ** random.integers(-300, 300, 91)])
    written = Trajectory("native", np.cumsum(random.uniform(size=100)), {"z": values, "a": values[::-1]})
    write_csv(tmp_path / "native.csv", written)
    read = read_csv(tmp_path / "native.csv")
    assert (tmp_path / "native.csv").read_text().startswith("time,z,a\n")
    assert (read.name, list(read.signals)) == ("native", ["z", "a"])
    assert read.time.tobytes() == written.time.tobytes()
    for name in written.signals:
        assert_array_equal(
            read.signals[name].view(np.uint64), np.ascontiguousarray(written.signals[name]).view(np.uint64)
        )


@pytest.mark.parametrize(
    "text",
    [
        '"time","x","y"\n0,1,2\n0.5,3,4\n0.5,5,6\n1,7,8\n',
        "x;Time;y\r\n1;0.0;2\r\n5;0.5;6\r\n7;1e0;8\r\n",
        "\ufefftime\tx\ty\n0\t1\t2\n\n0.5\t5\t6\n1\t7\t8",
    ],
    ids=["quotes and an event", "semicolons", "tabs and an empty line"],
)
def test_files_of_other_tools(tmp_path: Path, text: str) -> None:
    """Separators, quotes, place and case of the time column differ; at an event the last row counts."""
    path = tmp_path / "other.csv"
    path.write_bytes(text.encode())
    read = read_csv(path)
    assert_array_equal(read.time, [0.0, 0.5, 1.0])
    assert_array_equal(read.signals["x"], [1.0, 5.0, 7.0])
    assert_array_equal(read.signals["y"], [2.0, 6.0, 8.0])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "line 1: expected headers with one column 'time', got nothing"),
        (b"t,x\n0,1\n", "line 1: expected headers with one column 'time', got t, x"),
        (b"time,x,x\n0,1,2\n", "line 1: expected different headers, got repeated ones: x"),
        (b"time,x\n", "expected at least one line of numbers"),
        (b"time,x\n0,1\n\n1,2,3\n", "line 4: expected 2 values, one per header, got 3"),
        (b"time,x\n0,1\n1,fast\n", "line 3: x: expected a number, got 'fast'"),
        (b"time,x\n0,\xff\n", r"is not UTF-8 text \(byte 9\)"),
        (b"time,x\n0,1\n1,2\n0.5,3\n", "time: expected time to increase, got 0.5 s after 1 s"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, content: bytes, message: str) -> None:
    """The message says which file, which line, what was expected."""
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    write_csv(good, run(x=wave(TIME)))
    bad.write_bytes(content)
    with pytest.raises(DescriptionError, match="bad.csv.*" + message):
        compare(read_or_simulate(good)[0], read_or_simulate(bad)[0], {}, 1e-6)


# ---- What the verdict says of constraints -----------------------------------------------------------------------


HEIGHT = "E.z - 0.25"  # of the point E at the end of an arm of 0.5 m, which rises by angle −0.5236


def arm(expression: str = HEIGHT, angle: float = -0.3, order: int = 0, **changes: Any) -> System:
    """A link about the y axis, with a task."""
    bar = link("arm", "revolute", Y, position=angle) | body(2.0, [0.3, 0.0, 0.0], [0.1, 0.2, 0.3])
    points = {"E": {"link": "arm", "position": [0.5, 0.0, 0.0]}}
    task = {"name": "task", "expression": expression, "order": order}
    simulation = {"stop": 0.4, "output_step": 0.02} | changes
    return assemble_system(from_data(machine(bar, points=points, programmed=[task], simulation=simulation)))


def judged(model: System) -> tuple[Finding, Finding, analysis.Residuals, Trajectory]:
    """Consistency and holding of a reference run, what its rows lack, and the run."""
    run = solving.simulate(model.mechanism, start=model.start)
    lacking = solving.residuals(model.mechanism, run, model.start)
    return consistency(model, lacking), holding(model, lacking, (run,)), lacking, run


@pytest.mark.parametrize(
    ("alpha", "beta"), [(20.0, 20.0), (110.0, 20.0), (5.0, 20.0), (0.0, 20.0), (0.0, 0.0), (9.0, 0.0)]
)
def test_free_decay_solves_its_equation(alpha: float, beta: float) -> None:
    """Two starts, against the matrix exponential: aperiodic, damped, undamped, and drifting."""
    time, A = np.linspace(0.0, 1.0, 21), np.array([[0.0, 1.0], [-(beta**2), -2 * alpha]])
    exact = np.array([expm(t * A) for t in time])  # time, then value and rate, by start
    assert_allclose(free_decay(time, alpha, beta), exact.transpose(2, 1, 0), rtol=1e-7, atol=1e-8)


def test_a_start_on_the_task() -> None:
    """Consistent, and it holds."""
    found, held, *_ = judged(arm("arm.angle - start(arm.angle) - quintic(t, 0, 1, 0, 0.2)"))
    assert found == Finding(True, "All constraints are fulfilled at t = 0.")
    assert held.ok


def test_a_start_off_the_task() -> None:
    """Said by the row's name, with how far off it is; the run then decays as Baumgarte says, and holds."""
    found, held, lacking, _ = judged(arm())
    assert not found.ok
    assert found.text.startswith(f"task is violated by {abs(lacking.position[0, 0]):.3g} at t = 0")
    assert held.ok and "apart from the decaying initial violation" in held.text
    assert start_consistency(arm()) == found


@pytest.mark.parametrize("changes", [{"start": "description"}, {"starts_violated": ["task"]}])
def test_a_start_off_the_task_that_the_description_knows_of(changes: dict[str, Any]) -> None:
    """A declared violation of the initial state is reported and accepted."""
    found = start_consistency(arm(**changes))
    assert found.ok and "Declared initial violations: task is violated by 0.102 at t = 0." in found.text


def test_a_start_with_the_wrong_rate() -> None:
    """A task that moves at once, and a joint at rest: the row is off in its rate."""
    found = start_consistency(arm("arm.angle + 0.3 - 2*t"))
    assert not found.ok and "task is violated by 2 per s at t = 0" in found.text


def test_unknown_constraint_in_starts_violated_is_rejected() -> None:
    """An unknown name in `starts_violated` excuses no violation."""
    said = r"simulation.starts_violated\[0\]: there is no programmed constraint 'tusk'"
    with pytest.raises(DescriptionError, match=said):
        arm(starts_violated=["tusk"])


def test_violation_is_reported_with_its_time() -> None:
    """A violation that exceeds the decaying initial violation by more than `simulation.violation`
    is reported.
    """
    model = arm()
    _, _, lacking, run = judged(model)
    for size, ok in ((0.5e-6, True), (1e-4, False), (np.nan, False)):
        violation = run.signals["violation_position"] + np.where(run.time > 0.31, size, 0.0)
        opened = replace(run, name="fmu-native-me", signals={**run.signals, "violation_position": violation})
        found = holding(model, lacking, (run, opened))
        assert found.ok is ok
        assert ok or found.text.startswith("fmu-native-me: constraints are violated from t = 0.32 s on")


def test_a_row_of_velocities_that_opens_is_named() -> None:
    """A velocity that is asked for jumps, and the joint's cannot."""
    model = arm("arm.angle_dot - (0 if t < 0.1 else 1)", order=1)
    holds = judged(model)[1]
    assert not holds.ok
    assert holds.text.startswith("reference: constraints are violated from t = 0.1 s on, by up to 1 per s (task);")


def test_violated_redundant_constraint_is_named_with_its_time() -> None:
    """A violation of a redundant constraint is inconsistent at t = 0; a later violation concerns `holds`."""
    model = arm("arm.angle + 0.3")
    _, _, lacking, run = judged(model)
    spare = replace(model, solvability=replace(model.solvability, independent=()))
    assert consistency(spare, lacking).ok
    late, early = (np.where(kept, 3e-3, 0.0)[:, None] for kept in (run.time > 0.2, run.time == 0.0))
    changed = replace(lacking, position=lacking.position + late)
    text = "task, omitted as redundant, is violated from t = 0.22 s on, by up to 0.003"
    assert consistency(spare, changed).ok
    assert holding(spare, changed, (run,)) == Finding(False, text)
    assert not consistency(spare, replace(lacking, position=lacking.position + early)).ok


def test_no_constraints() -> None:
    """Nothing to hold."""
    model = arm()
    bare = assemble_system(model.chain.model_copy(update={"programmed": ()}))
    found, held, *_ = judged(bare)
    assert found == held == Finding(True, "There are no constraints.")


@pytest.mark.parametrize(
    ("tolerance", "asked", "expected"),
    [(1e-9, None, 1e-6), (1e-6, None, 1e-4), (1e-3, None, 1e-2), (1e-3, 1e-6, 1e-6), (1e-9, 1e-3, 1e-3)],
)
def test_tolerance_of_the_comparison(
    tmp_path: Path, tolerance: float, asked: float | None, expected: float
) -> None:
    """The tolerance is the requested one, or that which solvers can achieve, but at most 1 % of a
    signal.
    """
    options = RunOptions(tmp_path, tolerance=asked)
    assert granted(arm(tolerance=tolerance), options) == pytest.approx(expected)
