"""Sessions and scripts of a real omc: its errors in our words, deadlines, two builds at once."""

from __future__ import annotations

import os
import re
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from helpers_backends import example_model
from helpers_openmodelica import Break, opened, torn, unknown

from gpmelica.fmu.backends import openmodelica
from gpmelica.fmu.backends.openmodelica import Omc, OmcError, OmcTimeout
from gpmelica.fmu.backends.openmodelica.build import Request, compile_text
from gpmelica.fmu.backends.openmodelica.deadline import Deadline
from gpmelica.fmu.backends.openmodelica.log import Log
from gpmelica.fmu.backends.openmodelica.transport import connected
from gpmelica.fmu.runs.validation import validate
from gpmelica.generator import modelica

pytest_plugins = ["fixtures_openmodelica"]
pytestmark = pytest.mark.openmodelica

ROOT = hasattr(os, "getuid") and os.getuid() == 0


@pytest.mark.parametrize("sessions", [pytest.param(True, marks=pytest.mark.skipif(ROOT, reason="root")), False])
@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (unknown, r"Crane\.mo:\d+, constraint ellipse: Variable nowhere not found"),
        (opened, r"equations for \d+ unknowns\n  Too few equations"),
        (torn, r"cannot read the Modelica text\n  Crane\.mo:\d+"),
    ],
    ids=["unknown name", "unbalanced", "syntax"],
)
def test_errors(omc: Omc, tmp_path: Path, sessions: bool, broken: Break, message: str) -> None:
    """omc's own errors, at our line and in the description's words, at once and without the network."""
    model = example_model("crane", "rigid_boom")
    source = model.modelica_source()
    text, simulated = broken(source.text), modelica.experiment(model.name)
    request = Request(model.name, text, simulated, "2.0", "me", origins=source.origins)
    begin = time.monotonic()
    with pytest.raises(OmcError, match=message) as caught:
        compile_text(request, tmp_path, omc, sessions=sessions)
    assert time.monotonic() - begin < 20.0
    assert "Curl" not in str(caught.value)
    if broken is unknown:
        line = int(re.findall(r"Crane\.mo:(\d+)", str(caught.value))[0])
        assert "nowhere" in text.splitlines()[line - 1]


def test_session_refused_at_once(omc: Omc, tmp_path: Path) -> None:
    """Connecting takes no time, whether omc gives a session or, to root, refuses it."""
    begin, log = time.monotonic(), Log()
    with connected(omc, tmp_path, Deadline(60.0), log) as transport:
        assert time.monotonic() - begin < 5.0
        assert transport.name == ("script" if ROOT else "session")
        assert transport.ask("1 + 1").value == "2"
    assert not ROOT or "root user" in log.text()


@pytest.mark.parametrize("sessions", [True, False])
def test_timeout(omc: Omc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sessions: bool) -> None:
    """At the deadline omc, cmake and the C compilers are gone; other tests' are none of ours."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(OmcTimeout, match="longer than 6 s"):
        openmodelica.build(
            example_model("crane", "flexible_boom"), tmp_path, omc=omc, timeout=6.0, sessions=sessions
        )
    time.sleep(1.0)
    running = psutil.process_iter(["name", "cwd"])
    assert [p.info["name"] for p in running if (p.info["cwd"] or "").startswith(str(tmp_path))] == []


def test_two_builds_at_once(omc: Omc, tmp_path: Path) -> None:
    """Two builds at the same time both succeed."""
    model = example_model("crane", "rigid_boom")
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda name: openmodelica.build(model, tmp_path / name, omc=omc), ("a", "b")))
    assert all(validate(outcome.fmu) == [] for outcome in outcomes)
