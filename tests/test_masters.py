"""FMUs in masters that others wrote: the slewing crane with its controller, against one simulation of both."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers_backends import Once
from helpers_masters import controller, need_master, plant, run_apart, slewing

from gpmelica import reference
from gpmelica.fmu.runs.ssp import write_ssp
from gpmelica.trajectory import Trajectory

STOP, STEPS = 0.4, (0.01, 0.005, 0.0025)
ANGLE = "column_angle"


@pytest.fixture(scope="module")
def monolithic() -> Trajectory:
    """The closed loop as one model, by the reference solver."""
    model = slewing("closed")
    return reference.simulate(
        model.mechanism,
        start=model.start,
        dependent=model.dependent,
        stop=STOP,
        output_step=STEPS[-1],
        tolerance=1e-7,
        loads=[],
    )


@pytest.mark.parametrize(
    ("master", "fmi"), [("FMPy", "2.0"), ("libcosim", "2.0"), ("ecos", "2.0"), ("ecos", "3.0")]
)
def test_closed_loop(once: Once, monolithic: Trajectory, tmp_path: Path, master: str, fmi: str) -> None:
    """The error against one simulation of plant and controller shrinks like the communication step."""
    need_master(master)
    archive = write_ssp(plant(once, fmi), tmp_path, controller(fmi, tmp_path))
    errors = []
    for time, angle in run_apart(master, archive, STEPS, STOP, f"Plant.{ANGLE}"):
        assert time[-1] == pytest.approx(STOP, abs=1e-9)
        rows = np.searchsorted(monolithic.time, time - 1e-9)
        errors.append(np.abs(angle - monolithic.signals[ANGLE][rows]).max())
    assert np.array(errors[:-1]) / errors[1:] == pytest.approx(2.0, abs=0.3)
    assert errors[-1] < 1e-4
