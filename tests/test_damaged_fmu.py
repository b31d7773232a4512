"""FMUs that FMPy cannot run: its bare exceptions become errors of gpmelica that say what it said."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from helpers_backends import Compiled
from helpers_cli import Command

from gpmelica.errors import DescriptionError, GpmelicaError, SolveError
from gpmelica.fmu.backends import native
from gpmelica.fmu.compilers import binaries
from gpmelica.fmu.runs.simulate import read_or_simulate

Change = Callable[[str, bytes], bytes | None]


def _changed(fmu: Path, folder: Path, change: Change) -> Path:
    """A copy of an archive in which each file is what `change` makes of its name and bytes; None: left out."""
    copy = folder / "Changed.fmu"
    with zipfile.ZipFile(fmu) as source, zipfile.ZipFile(copy, "w") as target:
        for name in source.namelist():
            data = change(name, source.read(name))
            if data is not None:
                target.writestr(name, data)
    return copy


def _in_description(old: bytes, new: bytes) -> Change:
    return lambda name, data: data.replace(old, new) if name == "modelDescription.xml" else data


def _in_binaries(change: Callable[[bytes], bytes | None]) -> Change:
    return lambda name, data: change(data) if name.startswith("binaries") else data


@pytest.mark.parametrize(
    ("change", "kind", "match"),
    [
        (_in_binaries(lambda data: None), SolveError, "FMPy: "),
        (_in_binaries(lambda data: data[:100]), SolveError, "FMPy: Failed to load"),
        (_in_description(b'guid="{', b'guid="{0'), SolveError, r"fmu: fmi2Instantiate: the token is \{0"),
        (_in_description(b'stopTime="', b'stopTime="-'), DescriptionError, "stopTime: is '-.*', expected a"),
        (_in_description(b'stepSize="0.', b'stepSize="0.0000000'), DescriptionError, "at most 50000 steps"),
        (_in_description(b"<ModelVariables>", b"<Variables>"), DescriptionError, "is not an FMU that FMPy can"),
        (lambda name, data: None if name == "modelDescription.xml" else data, DescriptionError, "is not an FMU"),
    ],
)
def test_what_is_wrong_is_said(
    hanging: Compiled, tmp_path: Path, change: Change, kind: type[GpmelicaError], match: str
) -> None:
    with pytest.raises(kind, match=match):
        read_or_simulate(_changed(hanging.fmu, tmp_path, change))


def test_one_that_crashes_takes_nothing_with_it(hanging: Compiled, tmp_path: Path, gpmelica: Command) -> None:
    """A null pointer in the FMU's step: a message, exit status 1, and no temporary file."""
    sources = native.generate(hanging.model.native_program, hanging.model.chain, "2.0")
    step = sources.files["cosimulation.c"].replace("inputs_begin_step(model);", "*(volatile int *)0 = 0;")
    assert step != sources.files["cosimulation.c"]
    crashing = replace(sources, files={**sources.files, "cosimulation.c": step})
    fmu = tmp_path / "crashing.fmu"
    native.build(crashing, fmu, binaries.toolchains("2.0"), {})
    done = gpmelica("compare", hanging.fmu, fmu)
    assert done.status == 1 and "Traceback" not in done.err
    assert "crashing.fmu: the FMU took the process that it ran in with it" in done.err
