"""Examples of machines in parts: quarter car, boom cut at its pin, and slewing crane with an electric drive."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import helpers_problem as solving
import numpy as np
import pytest
from helpers_backends import Once
from helpers_coupling import quarter_car_exact
from helpers_examples import EXAMPLES
from helpers_masters import SLEWING, plant

import gpmelica as gp
from gpmelica.analysis.system import assemble_system
from gpmelica.cutting.cuts import cuts_at
from gpmelica.cutting.parts import parts_of
from gpmelica.description.load import load

PARTS = EXAMPLES / "parts"


def test_quarter_car_has_the_exact_solution() -> None:
    """The reference solver agrees with the matrix exponential of the published parameters."""
    model = assemble_system(load(PARTS / "quarter_car.toml"))
    run = solving.simulate(model.mechanism, stop=0.5, output_step=0.02, tolerance=1e-9, loads=[])
    exact = quarter_car_exact(run.time)
    found = [run.signals[name] for name in ("chassis_position", "chassis_position_dot", "wheel_position")]
    assert np.allclose(found, exact[:3], atol=1e-7)


@pytest.mark.parametrize(
    ("name", "case", "at", "forces"),
    [("quarter_car", None, "suspension", 0), ("boom", None, "jib", 5), ("boom", "heavy_tip", "jib", 5)],
)
def test_examples_are_cut_into_two_parts(name: str, case: str | None, at: str, forces: int) -> None:
    """A line needs no pin; a revolute joint has two points, whose six forces contain a redundant one."""
    model = assemble_system(load(PARTS / f"{name}.toml", case))
    cuts = cuts_at(model, [at], "file.toml")
    assert len(parts_of(model, cuts, "file.toml")) == 2
    points = sum(len(cut.pairs) for cut in cuts if forces)
    assert max(3 * points - 1, 0) == forces


def test_heavy_tip_is_a_hundred_times_heavier() -> None:
    """The uniform rods keep their shape: inertia and mass change by the same factor."""
    usual, heavy = (assemble_system(load(PARTS / "boom.toml", case)).mechanism for case in (None, "heavy_tip"))
    for before, after, factor in zip(usual.bodies, heavy.bodies, (1 / 80, 5.0), strict=True):
        assert after.mass == pytest.approx(factor * before.mass)
        assert np.allclose(after.inertia, factor * np.asarray(before.inertia))
    assert heavy.bodies[1].mass == pytest.approx(100.0 * heavy.bodies[0].mass)


@pytest.mark.slow
@pytest.mark.campaign
def test_quarter_car_in_parts(tmp_path: Path) -> None:
    """The FMUs of chassis, wheel and suspension give the exact motion, and so does the uncut mechanism."""
    found = gp.load(PARTS / "quarter_car.toml").split("suspension", tmp_path)
    run = gp.cosim(found.archives["rope"], stop=1.0, tolerance=1e-5)
    exact = quarter_car_exact(run.time[[100, 1000]])
    assert run.time[[100, 1000]] == pytest.approx([0.1, 1.0])
    assert run["part_b.chassis_position"][[100, 1000]] == pytest.approx(exact[0], abs=2e-6)
    assert run["part_a.wheel_position"][[100, 1000]] == pytest.approx(exact[2], abs=2e-6)
    assert run.ok
    assert run.data()["groups"][0]["method"] == "hermite"


@pytest.mark.slow
@pytest.mark.campaign
def test_slewing_crane_with_an_electric_drive(once: Once, tmp_path: Path) -> None:
    """The voltage is the controller's law at each sample time and held in between; all units are known. The
    motion is that of one model with the drive and the sampled controller in its description.
    """
    pytest.importorskip("pythonfmu")
    drive, regulator = (_built(name, tmp_path) for name in ("electric_drive", "sampled_controller"))
    path = tmp_path / "SlewingDrive.ssp"
    _module("coupled").pack(path, [plant(once, "2.0", case="coupled"), drive, regulator])
    run = gp.cosim(path, stop=0.2, out=tmp_path / "out")
    assert run.ok
    assert {remark.id for remark in run.remarks} == {"lists_no_states", "takes_no_slopes"}
    law = _module("sampled_controller").voltage
    for sample in range(1, 10):  # samples every 20 ms; outputs every 0.2 ms
        at, after = 100 * sample, slice(100 * sample + 2, 100 * sample + 99)
        expected = law(run.time[at], run["crane.column_angle"][at], run["crane.column_angle_dot"][at])
        assert run["controller.voltage"][after] == pytest.approx(expected, rel=1e-6)
    whole = gp.load(SLEWING / "slewing.toml", "whole", simulation={"stop": 0.2, "output_step": 0.002})
    one = whole.simulate(solver="fmu")
    between = np.arange(len(one.time)) % 10 != 0  # at a sample, the coupled system shows the voltage before it
    for part, name in (("controller.voltage", "voltage_output"), ("crane.column_angle", "column_angle")):
        expected = one[name][between]
        assert run[part][::10][between] == pytest.approx(expected, abs=1e-5 * np.ptp(expected)), name


def _built(name: str, folder: Path) -> Path:
    """FMU 2.0 of a script of the example, which saves and restores its state."""
    builder: Any = pytest.importorskip("pythonfmu").FmuBuilder
    if not builder.has_binary():
        pytest.skip("pythonfmu has no binary for this platform")
    return Path(builder.build_FMU(SLEWING / f"{name}.py", dest=folder, **{"canGetAndSetFMUstate": True}))


def _module(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"slewing_{name}", SLEWING / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
