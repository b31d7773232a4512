"""Fixtures for the tests of the OpenModelica backend, which name this module in their `pytest_plugins`."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from pathlib import Path

import pytest
from helpers_openmodelica import StandIn

from gpmelica.core.errors import MissingToolError
from gpmelica.fmu.backends import openmodelica
from gpmelica.fmu.backends.openmodelica import Omc

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="session")
def omc() -> Omc:
    """The real omc of this machine."""
    try:
        return openmodelica.find(os.environ.get("GPMELICA_OMC"))
    except MissingToolError as error:
        pytest.skip(str(error).splitlines()[0])


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """An installed omc that does everything right, and a place for temporary files that is ours alone."""
    temporary, trace = tmp_path / "tmp", tmp_path / "trace.txt"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("FAKE_OMC_TRACE", str(trace))
    monkeypatch.setenv("FAKE_OMC", "")
    program = _program(tmp_path / "Open Modelica" / "bin" / "omc", DATA / "fake_omc.py")
    return StandIn(program, trace, temporary, monkeypatch)


@pytest.fixture
def docker(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """Script that poses as a docker image called `fake`."""
    program = _program(stand_in.program.parent / "docker", DATA / "fake_docker.py")
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    return stand_in


def _program(path: Path, source: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(source))} "$@"\n')
    path.chmod(0o755)
    return path
