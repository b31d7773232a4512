"""Examples with lines, tables, contacts and orientations by a real omc: the verdict of `run`."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers_backends import EXAMPLES

import gpmelica as gp
from gpmelica.commands.run import Options, run
from gpmelica.fmu.backends.backend import Compilers
from gpmelica.fmu.backends.omc import OpenModelica
from gpmelica.fmu.backends.openmodelica import Omc

pytest_plugins = ["fixtures_openmodelica"]
pytestmark = pytest.mark.openmodelica

FILES = ["arms/seven_axis", "arms/six_axis", "excavator_arm", "lorry_crane", "stewart", "tower_crane/tower_crane"]
STOP = 0.5  # s


@pytest.mark.parametrize("file", FILES)
def test_verdict(omc: Omc, tmp_path: Path, file: str) -> None:
    """Both modes agree with the reference, start included."""
    model = gp.load(EXAMPLES / f"{file}.toml", simulation={"stop": STOP}).prepared
    report = run(model, Options(tmp_path, rumoca=False, compilers=Compilers((OpenModelica(omc),))))
    assert report.ok, [*report.findings, *report.notes]
