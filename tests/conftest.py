"""Fixtures for the whole suite: FMUs, each compiled once per session."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fmpy
import pytest
from helpers_backends import Compile, Compiled, CompileData, Once, example_model, pendulum

from gpmelica.fmu.backends.backend import build_native
from gpmelica.generator.description.load import from_data
from gpmelica.prepared import Prepared, prepare

_LONGEST = 300.0  # s, that a worker waits for another one's build


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Builds in a folder of the given name, once for all workers of a parallel run; returns the folder."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def built(name: str, build: Callable[[Path], None]) -> Path:
        folder = shared / name
        _first_builds(folder, build)
        return folder

    return built


def _first_builds(folder: Path, build: Callable[[Path], None]) -> None:
    """The first one to make the folder builds in it; the others wait for that."""
    done = folder.with_suffix(".done")
    try:
        folder.mkdir()
    except FileExistsError:
        begin = time.monotonic()
        while not done.exists():
            assert time.monotonic() < begin + _LONGEST, f"no build in {folder}"
            time.sleep(0.05)
        return
    try:
        build(folder)
    finally:
        done.touch()


@pytest.fixture(scope="session")
def compile_example(once: Once) -> Compile:
    """Model and FMU of one case of an example, by FMI 2.0 or 3.0."""

    def compiled(example: str, case: str, fmi: str = "2.0") -> Compiled:
        return _compiled(once, example_model(example, case), f"fmu{fmi}_{example}_{case}", fmi)

    return compiled


@pytest.fixture(scope="session")
def compile_data(once: Once) -> CompileData:
    """Model and FMU of a raw description, by FMI 2.0 or 3.0."""

    def compiled(data: dict[str, Any], fmi: str = "2.0") -> Compiled:
        key = hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]
        return _compiled(once, prepare(from_data(data)), f"fmu{fmi}_{key}", fmi)

    return compiled


def _compiled(once: Once, model: Prepared, name: str, fmi: str) -> Compiled:
    def build(folder: Path) -> None:
        fmpy.extract(str(build_native(model, folder, fmi=fmi).path), str(folder / "unpacked"))

    folder = once(name, build)
    return Compiled(model, folder / f"{model.name}.fmu", folder / "unpacked")


@pytest.fixture(scope="session")
def hanging(compile_data: CompileData) -> Compiled:
    """The pendulum of `helpers_backends`."""
    return compile_data(pendulum())
