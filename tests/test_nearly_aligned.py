"""Axes that are aligned but for the digits of a description: a mechanism moves as if they were exact."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_loops import four_bar

from gpmelica.analysis.system import assemble_system
from gpmelica.description.load import from_data
from gpmelica.options.model import RunOptions
from gpmelica.tasks import run as verify


def tilted(tilt: float, **tables: Any) -> dict[str, Any]:
    """A planar four-bar, closed by a revolute joint, whose coupler axis is tilted, rad."""
    data = four_bar(closure="revolute", **tables)
    data["links"][1]["joint"]["axis"] = [float(np.sin(tilt)), 0.0, float(np.cos(tilt))]
    return data


@pytest.mark.parametrize("tilt", [1e-12, 1e-10, 1e-9, 3e-9, 1e-8, 3e-8])
@pytest.mark.parametrize("start", ["statics", "description"])
def test_rounded_tilt_does_not_lock_a_loop(tilt: float, start: str) -> None:
    """A loop that rounded numbers make rigid by some nanometres can move."""
    exact, found = (assemble_system(from_data(tilted(x, simulation={"start": start}))) for x in (0.0, tilt))
    assert (found.solvability.rank, found.degrees_of_freedom) == (2, 1)
    assert found.start[0] == pytest.approx(exact.start[0], abs=1e-7)


def test_a_tilt_that_counts_makes_the_loop_rigid() -> None:
    assert assemble_system(from_data(tilted(1e-3))).degrees_of_freedom == 0


@pytest.mark.slow
@pytest.mark.parametrize("tilt", [1e-9, pytest.param(1e-8, marks=pytest.mark.campaign)])
def test_a_tilted_four_bar_runs_and_is_right(tilt: float, tmp_path: Path) -> None:
    """Within the time of the exact one: it took more than a minute."""
    begun = time.process_time()
    model = assemble_system(from_data(tilted(tilt, simulation={"stop": 0.5})))
    report = verify.run(model, RunOptions(tmp_path, rumoca=False, compiler="native"))
    assert report.ok, report.findings
    assert time.process_time() - begun < 30.0
