"""The stand-in for omc says what a real omc says."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from helpers_openmodelica import Break, StandIn, opened, pendulum, torn, unknown

from gpmelica.fmu.backends.openmodelica import Omc
from gpmelica.fmu.backends.openmodelica.build import Request
from gpmelica.fmu.backends.openmodelica.deadline import Deadline
from gpmelica.fmu.backends.openmodelica.log import Log
from gpmelica.fmu.backends.openmodelica.transport import connected
from gpmelica.generator import modelica
from gpmelica.prepared import Prepared

pytest_plugins = ["fixtures_openmodelica"]
pytestmark = pytest.mark.openmodelica

ROOT = hasattr(os, "getuid") and os.getuid() == 0


@pytest.fixture(scope="module")
def model() -> Prepared:
    """A small model with a constraint."""
    return pendulum()


@pytest.mark.parametrize("sessions", [pytest.param(True, marks=pytest.mark.skipif(ROOT, reason="root")), False])
@pytest.mark.parametrize(
    ("how", "broken"),
    [("", str), ("syntax", torn), ("unknown", unknown), ("unbalanced", opened)],
    ids=["right", "syntax", "unknown name", "unbalanced"],
)
def test_same_answers(
    omc: Omc, stand_in: StandIn, model: Prepared, tmp_path: Path, sessions: bool, how: str, broken: Break
) -> None:
    """To a text, right or wrong: the same values, and messages of the same kind, with places where it has them."""
    stand_in.does(how, line=100, variable="qdd[1]")
    (tmp_path / "Pendulum.mo").write_text(broken(model.modelica()), "utf-8")
    request = Request("Pendulum", "", modelica.experiment("Pendulum"), "2.0", "me")
    # nothing is asked after a text that cannot be read, and no FMU of the right one is needed here
    statements = [f"checkModel({request.simulated})", request.export][: {"syntax": 0, "": 1}.get(how, 2)]

    def said(program: Omc) -> list[tuple[str, list[tuple[str, str]]]]:
        with connected(program, tmp_path, Deadline(300.0), Log(), sessions=sessions) as transport:
            answers = [transport.ask('loadFile("Pendulum.mo")', keep=True), *map(transport.ask, statements)]
        return [
            (re.sub(r"\d+", "N", answer.value), [(m.level, Path(m.file).name) for m in answer.errors][:1])
            for answer in answers
        ]

    assert said(stand_in.omc) == said(omc)
