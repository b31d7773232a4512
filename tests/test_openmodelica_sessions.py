"""Sessions and scripts of a real omc: errors, deadlines, conditions on time; the stand-in says what it says."""

from __future__ import annotations

import os
import re
import tempfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import psutil
import pytest
from helpers_backends import example_model
from helpers_openmodelica import Break, StandIn, holding, holding_from, opened, pendulum, slider, torn, unknown

from gpmelica.analysis.system import System
from gpmelica.fmu.archive.validation import validate
from gpmelica.fmu.backends import openmodelica
from gpmelica.fmu.backends.backend import Compilers, write_modelica
from gpmelica.fmu.backends.omc import OpenModelica
from gpmelica.fmu.backends.openmodelica import Omc, OmcError, OmcTimeout
from gpmelica.fmu.backends.openmodelica.build import Request, compile_text
from gpmelica.fmu.backends.openmodelica.deadline import Deadline
from gpmelica.fmu.backends.openmodelica.log import Log
from gpmelica.fmu.backends.openmodelica.transport import connected
from gpmelica.generator import modelica
from gpmelica.options.model import RunOptions
from gpmelica.tasks.run import verify

pytest_plugins = ["fixtures_openmodelica"]
pytestmark = pytest.mark.openmodelica

ROOT = hasattr(os, "getuid") and os.getuid() == 0


@pytest.mark.parametrize("sessions", [pytest.param(True, marks=pytest.mark.skipif(ROOT, reason="root")), False])
@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (unknown, r"Crane\.mo:\d+, constraint ellipse: Variable nowhere not found"),
        (opened, r"equations for \d+ unknowns\n  Too few equations"),
        (torn, r"cannot read the Modelica source\n  Crane\.mo:\d+"),
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


# ---- The stand-in for omc says what a real omc says -------------------------------------------------------------


@pytest.fixture(scope="module")
def model() -> System:
    """A small model with a constraint."""
    return pendulum()


@pytest.mark.parametrize("sessions", [pytest.param(True, marks=pytest.mark.skipif(ROOT, reason="root")), False])
@pytest.mark.parametrize(
    ("how", "broken"),
    [("", str), ("syntax", torn), ("unknown", unknown), ("unbalanced", opened)],
    ids=["right", "syntax", "unknown name", "unbalanced"],
)
def test_sessions_and_scripts_give_equal_answers(
    omc: Omc, stand_in: StandIn, model: System, tmp_path: Path, sessions: bool, how: str, broken: Break
) -> None:
    """For valid and invalid sources, values and message levels agree."""
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


# ---- Conditions on time in the FMUs and simulations of a real omc -----------------------------------------------


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_conditions_on_time(omc: Omc, tmp_path: Path, fmi: Any) -> None:
    """Conditions on time switch as the description states, also at communication points on a switching time,
    without a search.
    """
    try:
        fmu = openmodelica.build(slider(), tmp_path, omc=omc, fmi=fmi).fmu
    except OmcError as error:
        if "Unknown FMU version" in str(error):
            pytest.skip(f"{omc.version()} does not export FMI {fmi}")
        raise
    assert not _indicators(fmu)
    # CVODE in a co-simulation FMU by omc 1.25 fails where a time event is 1e-16 s from a communication point
    co_simulates = fmi == "2.0" and "1.25." not in omc.version()
    kinds = ("ModelExchange", "CoSimulation") if co_simulates else ("ModelExchange",)
    for kind, w, start, step in product(kinds, (2.0, 0.0, -2.0), (0.0, 0.3, 0.31), (0.1, 0.01, 1 / 64)):
        times = {"start_time": start, "stop_time": start + 0.6, "output_interval": step}
        wanted = {"start_values": {"w": w}, "output": ["mass_position_ddot"]}
        run = fmpy.simulate_fmu(str(fmu), fmi_type=kind, **times, **wanted)
        last = {round(float(t), 9): (t, acceleration) for t, acceleration in run}  # of several at an event
        for t, acceleration in last.values():
            assert holding(acceleration) == holding_from(t, w), (kind, w, start, step, t)


def _indicators(fmu: Path) -> int:
    with zipfile.ZipFile(fmu) as archive:
        text = archive.read("modelDescription.xml").decode()
    return len(re.findall(r'numberOfEventIndicators="[1-9]|<EventIndicator ', text))


def test_conditions_on_time_in_simulate(omc: Omc, tmp_path: Path) -> None:
    """omc's own simulation stops at each switching time, and has both sides of it."""
    model = slider()
    write_modelica(model, tmp_path)
    settings = 'stopTime = 0.6, numberOfIntervals = 6, outputFormat = "csv", fileNamePrefix = "run"'
    with connected(omc, tmp_path, Deadline(120.0), Log()) as transport:
        transport.ask(f'loadFile("{model.name}.mo")', keep=True)
        transport.ask(f"simulate({modelica.experiment(model.name)}, {settings})")
    run = np.genfromtxt(tmp_path / "run_res.csv", delimiter=",", names=True)
    assert {0.25, 0.3, 0.35, 0.5} <= {round(float(t), 9) for t in run["time"]}
    last = dict(zip(np.round(run["time"], 9).tolist(), run["mass_position_ddot"], strict=True))
    assert {t: holding(acceleration) for t, acceleration in last.items()} == {
        t: holding_from(t, 2.0) for t in last
    }


def test_run_with_a_switch_between_communication_points(omc: Omc, tmp_path: Path) -> None:
    """The verdict of `run` has both modes agree: neither is late by a part of a step, and the report says how."""
    force = {"name": "push", "link": "lower", "force": ["5.0 if t < 0.43217 else -5.0", "0", "0"]}
    model = pendulum(forces=[force])
    report = verify(model, RunOptions(rumoca=False), tmp_path, Compilers((OpenModelica(omc),)))
    assert report.ok, report.findings
    # an event that is late by a part of a step of 0.01 s would be an error of 1e-3; omc's co-simulation has 2e-6
    assert max(comparison.max_rel_error for comparison in report.comparisons) < 1e-5
