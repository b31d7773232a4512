"""A start does not depend on how the world's axes are turned: loops are closed, and kept closed, alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers_backends import CompileData, Fmu
from helpers_parts import Table, X, Z, body, link, machine
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from gpmelica.analysis.system import assemble_system
from gpmelica.description.load import from_data

Array = NDArray[np.float64]
_COORDINATES = ("crank_angle", "coupler_angle", "slider_position")


def _turned(turn: Array, xyz: list[float]) -> list[list[float]]:
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = turn, turn @ xyz
    return [[float(x) for x in row] for row in frame]


def crank_slider(turn: Array, length: Any = 1.0) -> Table:
    """A crank-slider whose start lacks two digits and whose rates open the loop, in a world that is turned."""
    crank = link("crank", "revolute", Z, matrix=_turned(turn, [0.3, 0.1, 0.2]), position=0.7, velocity=2.0)
    coupler = link("coupler", "revolute", Z, "crank", xyz=[0.4, 0.0, 0.0], position=-0.95, velocity=-1.0)
    rail = _turned(turn, [0.3, 0.1, 0.2])
    slider = link("slider", "prismatic", X, matrix=rail, position=1.25, velocity=0.5)
    pin = {"name": "pin", "type": "point_on_line"}
    pin |= {"a": {"link": "coupler", "xyz": [length, 0.0, 0.0]}, "b": {"link": "slider"}}
    links = [part | body(1.0, [0.1, 0.0, 0.0], [0.1, 0.1, 0.1]) for part in (crank, coupler, slider)]
    times = {"start": "description", "stop": 0.5}
    gravity = [float(x) for x in turn @ [0.0, -9.81, 0.0]]
    return machine(*links, name="CrankSlider", gravity=gravity, closures=[pin], simulation=times)


def _turns(count: int) -> list[Array]:
    """World frames: as it is, and turned at random."""
    return [np.eye(3), *Rotation.random(count, random_state=np.random.default_rng(5)).as_matrix()]


@pytest.mark.slow
def test_corrected_start_does_not_depend_on_the_world_frame() -> None:
    starts = np.array(
        [np.concatenate(assemble_system(from_data(crank_slider(turn))).start) for turn in _turns(20)]
    )
    described = [0.7, -0.95, 1.25, 2.0, -1.0, 0.5]
    assert np.abs(starts[0] - described).max() > 0.01
    assert starts[1:] == pytest.approx(np.broadcast_to(starts[0], starts[1:].shape), abs=1e-12)


@pytest.mark.slow
def test_fmu_finds_the_start_of_the_reference_in_any_frame(compile_data: CompileData) -> None:
    """With another length of the coupler, as a description with that length has it."""
    for turn in _turns(2):
        longer = np.concatenate(assemble_system(from_data(crank_slider(turn, 1.02))).start)
        given = crank_slider(turn, "coupler_length") | {"parameters": {"coupler_length": 1.0}}
        with Fmu(compile_data(given)) as fmu:
            fmu.start({"coupler_length": 1.02})
            names = [f"{name}{rate}" for rate in ("", "_dot") for name in _COORDINATES]
            assert fmu.get(names) == pytest.approx(longer, abs=1e-9)
