"""Reference results in the files that fmi-standard.org asks for, read and used by FMPy as its cross-check does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.util import read_csv, read_ref_opt_file, validate_result
from helpers_backends import Compiled, CompileData, driven, example_model, pendulum
from helpers_cli import Command, fails

from gpmelica.core.trajectory import Trajectory
from gpmelica.fmu.compilers.platforms import here
from gpmelica.runs.fmpy_runs.inputs import InputTable
from gpmelica.runs.fmpy_runs.reference_results import important, write_reference_results
from gpmelica.tasks.reference_run import reference_run


def _written(compiled: Compiled, out: Path, inputs: InputTable | None) -> dict[str, Path]:
    truth = reference_run(compiled.model, inputs, lambda what, fraction: None)
    paths = write_reference_results(compiled.model, out, "2.0", truth, inputs)
    return {path.name: path for path in paths}


def _simulated(compiled: Compiled, kind: str, files: dict[str, Path]) -> tuple[Any, Any]:
    """FMPy's run by the files alone, and the reference that they give."""
    name, expected = compiled.model.name, read_csv(files[f"{compiled.model.name}_ref.csv"])
    options = read_ref_opt_file(files[f"{name}_ref.opt"])
    result = fmpy.simulate_fmu(
        str(compiled.fmu),
        fmi_type=kind,
        start_time=options["StartTime"],
        stop_time=options["StopTime"],
        output_interval=options["StepSize"],
        relative_tolerance=options["RelTol"],
        input=read_csv(files[f"{name}_in.csv"]) if f"{name}_in.csv" in files else None,
        output=list(expected.dtype.names[1:]),
    )
    return result, expected


@pytest.mark.parametrize("kind", ["ModelExchange", "CoSimulation"])
def test_fmpy_reproduces_the_reference_results(compile_data: CompileData, tmp_path: Path, kind: str) -> None:
    """A run with the options of the files agrees with the reference within a few times their
    tolerance.
    """
    compiled = compile_data(pendulum())
    result, expected = _simulated(compiled, kind, _written(compiled, tmp_path, None))
    assert validate_result(result, expected, stop_time=0.6) == 0
    for name in expected.dtype.names[1:]:
        found = np.interp(expected["time"], result["time"], result[name])
        assert np.abs(found - expected[name]).max() <= 1e-4 * max(np.ptp(expected[name]), 1e-2), name


def test_inputs_are_among_the_files(compile_data: CompileData, tmp_path: Path) -> None:
    """Inputs come as they were given; a run with them meets the reference, and one with zeros does not."""
    compiled = compile_data(driven())
    time = np.array([0.0, 0.3, 0.6])
    values = {"push": [0.0, 40.0, 0.0], "wind_x": [0.0, 0.0, 1.0], "wind_y": [0.0] * 3, "wind_z": [5.0, 0.0, 2.0]}
    table = InputTable(time, {name: np.array(row) for name, row in values.items()})
    given, zeros = _written(compiled, tmp_path / "given", table), _written(compiled, tmp_path / "zeros", None)
    read = read_csv(given["Driven_in.csv"])
    assert {name: read[name].tolist() for name in values} == values
    assert not any(read_csv(zeros["Driven_in.csv"])[name].any() for name in values)
    result, expected = _simulated(compiled, "ModelExchange", given)
    assert validate_result(result, expected, stop_time=0.6) == 0
    assert validate_result(result, read_csv(zeros["Driven_ref.csv"]), stop_time=0.6) > 0


def test_files_keep_the_rules(tmp_path: Path) -> None:
    """At most ten outputs of the FMU, in less than a megabyte, with quoted headers and both ends."""
    model = example_model("crane", "rigid_boom")
    names = important(model)
    assert len(names) == 10 and set(names) <= set(model.units)
    time = np.linspace(0.0, 50.0, 50_001)
    noise = np.random.default_rng(5).standard_normal((len(names), len(time)))
    truth = Trajectory("reference", time, dict(zip(names, noise, strict=True)))
    files = {path.name: path for path in write_reference_results(model, tmp_path, "2.0", truth, None)}
    assert set(files) == {"Crane_ref.csv", "Crane_ref.opt", "Readme.txt"}
    text = files["Crane_ref.csv"].read_text(encoding="utf-8")
    assert len(text) < 1_000_000
    assert text.splitlines()[0] == ",".join(f'"{name}"' for name in ("time", *names))
    result = read_csv(files["Crane_ref.csv"])
    assert [result["time"][0], result["time"][-1]] == [0.0, 50.0]
    assert (np.diff(result["time"]) > 0).all()
    assert result["E_x"].tolist() == pytest.approx(np.interp(result["time"], time, noise[names.index("E_x")]))
    options = read_ref_opt_file(files["Crane_ref.opt"])
    assert options["OutputIntervalLength"] == pytest.approx(result["time"][1])


@pytest.mark.slow
def test_build_writes_reference_results(gpmelica: Command, arm: Path, tmp_path: Path) -> None:
    """`build --reference-results` writes the files beside the FMU and reports them."""
    answer = gpmelica(
        "build", arm, "--out", tmp_path / "here", "--compiler", "native", "--reference-results", "--json"
    )
    assert answer.status == 0, answer.err
    written = {Path(name).name for name in answer.json["files"]}
    assert written == {"Arm.mo", "Arm.mos", "Arm.fmu", "Arm_ref.csv", "Arm_ref.opt", "Readme.txt"}
    assert written == {path.name for path in (tmp_path / "here").iterdir()}


def test_build_for_platforms_that_are_none(gpmelica: Command, arm: Path, tmp_path: Path) -> None:
    """`build --platforms` refuses names with exit status 2, all at once, before anything is written."""
    names = f"{here('2.0').name},amiga,aarch64-linux"
    answer = gpmelica("build", arm, "--platforms", names, "--out", tmp_path / "here")
    fails(answer, 2, "amiga: unknown platform", "aarch64-linux: FMI 2.0 has no name for this platform")
    assert not (tmp_path / "here").exists()
