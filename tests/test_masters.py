"""FMUs in masters that others wrote: the slewing crane with its controller, against one simulation of both."""

from __future__ import annotations

from pathlib import Path

import helpers_problem as solving
import numpy as np
import pytest
from helpers_backends import Once
from helpers_examples import changed
from helpers_masters import PACKAGES, alone, controller, need_master, plant, run_apart, slewing

from gpmelica.analysis.system import assemble_system
from gpmelica.core.trajectory import Trajectory
from gpmelica.exchange.ssp.system import write_ssp
from gpmelica.fmu.backends import openmodelica
from gpmelica.fmu.backends.openmodelica import Omc

pytest_plugins = ["fixtures_openmodelica"]

STOP, STEPS = 0.4, (0.01, 0.005, 0.0025)
ANGLE = "column_angle"
BY_OMC, BY_OMC_STEP = 1e-4, 1e-3  # of a signal's range; s


@pytest.fixture(scope="module")
def monolithic() -> Trajectory:
    """The closed loop as one model, by the reference solver."""
    model = slewing("closed")
    begin = {"start": model.start, "dependent": model.dependent}
    settings = {"stop": STOP, "output_step": STEPS[-1], "tolerance": 1e-7}
    return solving.simulate(model.mechanism, **begin, **settings, loads=[])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("master", "fmi"), [("FMPy", "2.0"), ("libcosim", "2.0"), ("ecos", "2.0"), ("ecos", "3.0")]
)
def test_closed_loop(once: Once, monolithic: Trajectory, tmp_path: Path, master: str, fmi: str) -> None:
    """The error against one simulation of plant and controller shrinks like the communication step."""
    need_master(master)
    archive = write_ssp(plant(once, fmi), tmp_path, controller(fmi, tmp_path))
    _check_order(master, archive, monolithic)


@pytest.mark.openmodelica
@pytest.mark.parametrize("master", PACKAGES)
def test_closed_loop_with_omc(omc: Omc, once: Once, monolithic: Trajectory, tmp_path: Path, master: str) -> None:
    """Closed loop with the plant's FMU by omc, whose input changes at each communication point."""
    need_master(master)
    archive = write_ssp(plant(once, "2.0", omc), tmp_path, controller("2.0", tmp_path))
    _check_order(master, archive, monolithic)


def _check_order(master: str, archive: Path, monolithic: Trajectory) -> None:
    errors = []
    for time, angle in run_apart(master, archive, STEPS, STOP, [f"Plant.{ANGLE}"]):
        assert time[-1] == pytest.approx(STOP, abs=1e-9)
        rows = np.searchsorted(monolithic.time, time - 1e-9)
        errors.append(np.abs(angle - monolithic.signals[ANGLE][rows]).max())
    assert np.array(errors[:-1]) / errors[1:] == pytest.approx(2.0, abs=0.3)
    assert errors[-1] < 1e-4


@pytest.fixture(scope="module", params=[("crane", "rigid_boom"), ("rsrrp", "cut_joint")], ids="-".join)
def by_omc(
    request: pytest.FixtureRequest, omc: Omc, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Trajectory]:
    """A machine's FMU by a real omc, and its motion by the reference solver."""
    model = assemble_system(changed(*request.param, simulation__stop=STOP, simulation__output_step=BY_OMC_STEP))
    truth = solving.simulate(model.mechanism, start=model.start, loads=[])
    return openmodelica.build(model, tmp_path_factory.mktemp("by_omc"), omc=omc).fmu, truth


@pytest.mark.openmodelica
@pytest.mark.parametrize("master", PACKAGES)
def test_omc_fmu(by_omc: tuple[Path, Trajectory], tmp_path: Path, master: str) -> None:
    """An FMU by omc moves in every master as the reference has it: positions and velocities."""
    need_master(master)
    fmu, truth = by_omc
    coordinates = [name for name in truth.signals if f"{name}_dot" in truth.signals]
    names = [signal for name in coordinates for signal in (name, f"{name}_dot")]
    archive = alone(fmu, names, tmp_path)
    [found] = run_apart(master, archive, [BY_OMC_STEP], STOP, [f"Plant.{name}" for name in names])
    assert found[0] == pytest.approx(truth.time[1:], abs=1e-9)
    for name, values in zip(names, found[1:], strict=True):
        expected = truth.signals[name][1:]
        assert values == pytest.approx(expected, abs=BY_OMC * np.ptp(expected)), name
