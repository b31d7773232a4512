"""Conditions on time in the FMUs and simulations of a real omc: they hold as the description says."""

from __future__ import annotations

import re
import zipfile
from itertools import product
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from helpers_openmodelica import holding, holding_from, pendulum, slider

from gpmelica.commands.run import Options, run
from gpmelica.fmu.backends import openmodelica
from gpmelica.fmu.backends.backend import Compilers, write_modelica
from gpmelica.fmu.backends.omc import OpenModelica
from gpmelica.fmu.backends.openmodelica import Omc
from gpmelica.fmu.backends.openmodelica.deadline import Deadline
from gpmelica.fmu.backends.openmodelica.log import Log
from gpmelica.fmu.backends.openmodelica.transport import connected
from gpmelica.generator import modelica

pytest_plugins = ["fixtures_openmodelica"]
pytestmark = pytest.mark.openmodelica


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_conditions_on_time(omc: Omc, tmp_path: Path, fmi: Any) -> None:
    """They hold as the description says, at points on a switching time, too; nothing is searched for."""
    fmu = openmodelica.build(slider(), tmp_path, omc=omc, fmi=fmi).fmu
    assert not _indicators(fmu)
    kinds = ("ModelExchange", "CoSimulation") if fmi == "2.0" else ("ModelExchange",)
    for kind, w, start, step in product(kinds, (2.0, 0.0, -2.0), (0.0, 0.3, 0.31), (0.1, 0.01, 1 / 64)):
        run = fmpy.simulate_fmu(
            str(fmu),
            fmi_type=kind,
            start_time=start,
            stop_time=start + 0.6,
            output_interval=step,
            start_values={"w": w},
            output=["mass_position_ddot"],
        )
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
    report = run(model, Options(tmp_path, rumoca=False, compilers=Compilers((OpenModelica(omc),))))
    assert report.ok, report.findings
    assert max(comparison.max_rel_error for comparison in report.comparisons) < 1e-6
