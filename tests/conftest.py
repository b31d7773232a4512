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
from helpers_backends import Compile, Compiled, CompileData, example_model, pendulum

from gpmelica.fmu import verify
from gpmelica.generator.description.load import from_data
from gpmelica.model import Model, prepare

_LONGEST = 300.0  # s, that a worker waits for another one's build


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of a parallel run share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def compile_example(shared_folder: Path) -> Compile:
    """Model and FMU of one case of an example."""

    def compiled(example: str, case: str) -> Compiled:
        return _compiled(example_model(example, case), shared_folder / f"fmu_{example}_{case}")

    return compiled


@pytest.fixture(scope="session")
def compile_data(shared_folder: Path) -> CompileData:
    """Model and FMU of a raw description."""

    def compiled(data: dict[str, Any]) -> Compiled:
        key = hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]
        return _compiled(prepare(from_data(data)), shared_folder / f"fmu_{key}")

    return compiled


def _compiled(model: Model, folder: Path) -> Compiled:
    fmu, unpacked = folder / f"{model.name}.fmu", folder / "unpacked"

    def build() -> None:
        fmpy.extract(str(verify.build(model, folder)), str(unpacked))

    _once(folder, build)
    return Compiled(model, fmu, unpacked)


def _once(folder: Path, build: Callable[[], None]) -> None:
    """The first one to make the folder builds in it; the others wait for that."""
    done = folder / "done"
    try:
        folder.mkdir()
    except FileExistsError:
        begin = time.monotonic()
        while not done.exists():
            assert time.monotonic() < begin + _LONGEST, f"no build in {folder}"
            time.sleep(0.05)
        return
    try:
        build()
    finally:
        done.touch()


@pytest.fixture(scope="session")
def hanging(compile_data: CompileData) -> Compiled:
    """The pendulum of `helpers_backends`."""
    return compile_data(pendulum())
