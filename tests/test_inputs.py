"""Inputs from a file: what is read, and that reference and FMUs get the same values."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import helpers_problem as solving
import numpy as np
import pytest
from awkward_machines.judge import toml
from helpers_backends import MODES, CompileData, driven, follows, run_of
from helpers_cli import Command, fails
from helpers_parts import X, body, link, machine
from helpers_reference import mechanism_of

from gpmelica.core.errors import DescriptionError
from gpmelica.core.trajectory import Array
from gpmelica.reference.kinematics.piecewise import PiecewiseLinear
from gpmelica.runs.compare.compare import compare
from gpmelica.runs.fmpy_runs import simulate as runs
from gpmelica.runs.fmpy_runs.inputs import InputTable, read_inputs

NAMES = ["push", "wind_x", "wind_y", "wind_z"]


def _file(folder: Path, *lines: str) -> Path:
    path = folder / "inputs.csv"
    path.write_text("\n".join(lines))
    return path


def _mass() -> dict[str, Any]:
    push = {"name": "f", "joint": "mass", "input": True}
    times = {"stop": 0.3, "output_step": 0.01}
    slide = link("mass", "prismatic", X) | body(2.0)
    return machine(slide, name="Slider", gravity=[0.0, 0.0, 0.0], forces=[push], simulation=times)


# ---- The file ---------------------------------------------------------------------------------------------------


def test_columns_in_any_order(tmp_path: Path) -> None:
    """Columns are found by name; times before 0 are cut off, with the line's value there."""
    table = read_inputs(_file(tmp_path, "b;time;a", "1;-1;0", "3;1;4", "5;2;8"), ["a", "b"], 2.0)
    assert table.time.tolist() == [0.0, 1.0, 2.0]
    assert {name: values.tolist() for name, values in table.values.items()} == {"a": [2, 4, 8], "b": [2, 3, 5]}


def test_all_problems_at_once(tmp_path: Path) -> None:
    """Missing and unknown columns, text, NaN: each with file, column, what was expected and what was found."""
    path = _file(tmp_path, "time,push,wind", "0,1,2", "0.5,x,1", "1,nan,inf")
    with pytest.raises(DescriptionError, match="expected") as caught:
        read_inputs(path, ["push", "pull"], 1.0)
    text = str(caught.value)
    assert all(line.startswith(f"{path}: ") for line in text.splitlines())
    assert "line 1: expected the columns time, push, pull, got time, push, wind: pull is missing" in text
    assert "the model has no input wind" in text
    assert "line 3: push: expected a number, got 'x'" in text
    assert "column push: expected finite numbers, got nan in row 3" in text
    assert "column wind: expected finite numbers, got inf in row 3" in text


def test_faults_of_values_and_of_times(tmp_path: Path) -> None:
    """Two cells of one line that are no numbers, a line too short, and times that run back."""
    path = _file(tmp_path, "time,a,b", "0,x,y", "0.6,1", "0.7,1,1", "0.5,1,1", "1,0,0")
    with pytest.raises(DescriptionError) as caught:
        read_inputs(path, ["a", "b"], 2.0)
    assert [str(problem) for problem in caught.value.problems] == [
        "line 2: a: expected a number, got 'x'",
        "line 2: b: expected a number, got 'y'",
        "line 3: expected 3 values, one per header, got 2",
        "column time: expected times that cover 0 to 2 s, got 0 to 1 s",
        "column time: expected times that do not decrease, got 0.5 s after 0.7 s in row 4",
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (("time;push", "0;1", "1;0,5"), "line 3: push: expected a number, got '0,5'; write decimal points"),
        (("time;push", "0;1", "1,5e3;1"), "line 3: time: expected a number, got '1,5e3'; write decimal points"),
        (("time,push", "0,0,5", "1,0"), "line 2: expected 2 values, one per header, got 3; each separator begins"),
    ],
)
def test_decimal_commas_are_named(tmp_path: Path, rows: tuple[str, ...], message: str) -> None:
    """Spreadsheets in many languages write `0,5` and separate columns by semicolons."""
    path = _file(tmp_path, *rows)
    with pytest.raises(DescriptionError, match=re.escape(message)):
        read_inputs(path, ["push"], 1.0)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["0,1", "0.9,1"], r"expected times that cover 0 to 1 s, got 0 to 0\.9 s"),
        (["0.1,1", "1,1"], r"expected times that cover 0 to 1 s, got 0\.1 to 1 s"),
        (
            ["0,1", "0.5,1", "0.5,2", "0.5,3", "1,0"],
            r"in more than two rows, got 0\.5 s for the third time in row 4",
        ),
        ([], "at least one line of numbers"),
    ],
)
def test_times_that_cannot_be_used(tmp_path: Path, rows: list[str], message: str) -> None:
    """Times that do not cover the run, decrease or repeat are refused by row."""
    with pytest.raises(DescriptionError, match=message):
        read_inputs(_file(tmp_path, "time,u", *rows), ["u"], 1.0)


# ---- The values -------------------------------------------------------------------------------------------------


def test_input_interpolation() -> None:
    """Inputs are interpolated linearly; at a discontinuity the later value applies, before it the
    earlier line.
    """
    time, values = np.array([0.0, 1.0, 1.0, 3.0]), np.array([0.0, 2.0, 5.0, 1.0])
    u = PiecewiseLinear(time, values)
    for t in (0.0, 0.3, 0.999, 2.0, 3.0):
        assert u.at(t, t) == pytest.approx(np.interp(t, time, values), abs=1e-14)
    assert (u.at(1.0, 1.0), u.at(1.0, 0.0), u.at(1.5, 0.0)) == (5.0, 2.0, 3.0)
    assert PiecewiseLinear(time[:3], values[:3]).at(1.0, 1.0) == 2.0


def test_steep_ramps_are_jumps(tmp_path: Path) -> None:
    """A step that is written as a ramp of 1 ns is a jump at its begin, before the start too."""
    table = read_inputs(_file(tmp_path, "time,a", "0,0", "1,0", "1.000000001,5", "2,5"), ["a"], 2.0)
    assert table.time.tolist() == [0.0, 1.0, 1.0, 2.0]
    assert table.values["a"].tolist() == [0.0, 0.0, 5.0, 5.0]
    begun = read_inputs(_file(tmp_path, "time,a", "0,0", "1e-9,5", "2,5"), ["a"], 2.0)
    assert (begun.time.tolist(), begun.values["a"].tolist()) == ([0.0, 2.0], [5.0, 5.0])


@pytest.mark.slow
@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_runs_agree_on_a_steep_ramp(compile_data: CompileData, tmp_path: Path, fmi: str) -> None:
    """Reference, model exchange and co-simulation have the speed that the impulse gives."""
    path = _file(tmp_path, "time,push", "0,0", "0.1,0", "0.100000001,6", "0.2,6", "0.200000001,0", "0.3,0")
    data = _mass() | {"forces": [{"name": "push", "joint": "mass", "input": True}]}
    table = read_inputs(path, ["push"], 0.3)
    truth = solving.simulate(mechanism_of(data), inputs=table.functions())
    assert truth.signals["mass_position_dot"][-1] == pytest.approx(0.3, rel=1e-7)
    compiled = compile_data(data, fmi)
    for mode in MODES:
        found = runs.simulate(
            compiled.fmu,
            mode,
            ["mass_position_dot"],
            name=mode,
            stop=0.3,
            output_step=0.01,
            tolerance=1e-9,
            inputs=table,
        )
        assert found.signals["mass_position_dot"][-1] == pytest.approx(0.3, rel=1e-6)


def _positions(time: Array, table: InputTable) -> Array:
    """Exact positions, shape (N,), m, of the 2 kg mass: two integrals of the polygon f/2, piece by piece."""
    x = v = 0.0
    found = [0.0]
    for t0, t1 in pairwise(time.tolist()):
        inner = table.time[(table.time > t0) & (table.time < t1)].tolist()
        for a, b in pairwise([t0, *inner, t1]):
            h, u = b - a, table.functions()["f"]
            begin, end = u.at(a, a) / 2.0, u.at(b, a) / 2.0
            x, v = x + h * v + h * h * (begin / 3.0 + end / 6.0), v + h * (begin + end) / 2.0
        found.append(x)
    return np.array(found)


@pytest.mark.parametrize("jump", [0.0, 3.0])
def test_reference_stops_at_kinks(jump: float) -> None:
    """The motion of a mass under a polygon of force is the exact piecewise cubic, to rounding."""
    table = InputTable(np.array([0.0, 0.33, 0.33, 0.71, 1.2]), {"f": np.array([0.0, 4.0, 4.0 + jump, -6.0, 1.0])})
    run = solving.simulate(
        mechanism_of(_mass()), inputs=table.functions(), stop=1.2, output_step=0.1, method="DOP853", tolerance=1e-9
    )
    assert run.signals["mass_position"] == pytest.approx(_positions(run.time, table), abs=1e-12)


def _polygon() -> InputTable:
    """Inputs of the driven pendulum with kinks beside the output times, and a jump."""
    rng, time = np.random.default_rng(4), np.array([0.0, 0.123, 0.2, 0.2, 0.377, 0.6])
    return InputTable(time, {name: rng.uniform(-5.0, 5.0, len(time)) for name in NAMES})


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
@pytest.mark.parametrize("mode", MODES)
def test_fmu_gets_the_reference_inputs(compile_data: CompileData, mode: runs.Mode, fmi: str) -> None:
    """States and outputs, those with feedthrough included, are the reference's at every output time."""
    compiled, table = compile_data(driven(), fmi), _polygon()
    model = compiled.model
    truth = solving.simulate(
        model.mechanism, start=model.start, inputs=table.functions(), stop=0.6, output_step=0.01, tolerance=1e-11
    )
    follows(compiled, truth, 1e-7, (mode,), inputs=table)


def test_an_fmu_that_holds_inputs_gets_their_means(compile_data: CompileData, tmp_path: Path) -> None:
    """One that neither takes slopes nor asks errs by the second order of shorter steps, not by the first."""
    compiled, table = compile_data(driven()), _polygon()
    holding = _without(compiled.fmu, tmp_path / "holding.fmu", 'canInterpolateInputs="true"')
    coarse, fine = (run_of(replace(compiled, fmu=fmu), stop=0.6, inputs=table) for fmu in (holding, compiled.fmu))
    assert 1e-9 < compare(fine, coarse, compiled.model.units, 1.0).max_rel_error < 1e-5


def _without(fmu: Path, target: Path, attribute: str) -> Path:
    """The FMU without an attribute of its description."""
    with ZipFile(fmu) as source, ZipFile(target, "w") as copy:
        for name in source.namelist():
            data = source.read(name)
            copy.writestr(name, data.replace(attribute.encode(), b"") if name == "modelDescription.xml" else data)
    return target


# ---- The command ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_run_with_an_input_file(gpmelica: Command, tmp_path: Path) -> None:
    """`gpmelica run --input` holds both modes against the reference; rumoca is left out, which the report says."""
    description = tmp_path / "slider.toml"
    description.write_text(toml(_mass()))
    inputs = _file(tmp_path, "time,f", "0,0", "0.105,3", "0.3,-1")
    out = tmp_path / "out"
    answer = gpmelica("run", description, "--compiler", "native", "--input", inputs, "--out", out, "--json")
    assert answer.status == 0, answer
    assert [run["name"] for run in answer.json["runs"]] == [
        "reference",
        "fmu-native-me",
        "fmu-native-cs",
        "oracle",
    ]
    report = (out / "report.html").read_text()
    assert "which takes no inputs over time yet" in report and f"--inputs {inputs}" in report


def test_wrong_input_file_is_bad_input(gpmelica: Command, tmp_path: Path) -> None:
    """Exit status 2, and the file and column in the message."""
    description = tmp_path / "slider.toml"
    description.write_text(toml(_mass()))
    inputs = _file(tmp_path, "time,g", "0,0", "1,1")
    answer = gpmelica("loads", description, "--input", inputs, "--out", tmp_path / "out")
    fails(answer, 2, str(inputs), "expected the columns time, f, got time, g: f is missing")
