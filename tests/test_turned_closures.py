"""Closures whose frames are turned far against each other: closed the right way round, or a message."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers_parts import Table, body, link, machine
from scipy.spatial.transform import Rotation

from gpmelica.analysis.prepared import prepare
from gpmelica.core.errors import DescriptionError
from gpmelica.description.load import from_data

_SPRINGS = {"model": "spring_damper", "damping": [100.0] * 6}
_STIFF = [1e5, 1e5, 1e5, 1e4, 1e4, 1e4]


def held(turn: float, axis: tuple[float, float, float] = (0.0, 1.0, 0.0), **keys: Any) -> Table:
    """A ball joint and a rigid closure to the ground, whose frames start turned, rad; no gravity."""
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_rotvec(turn * np.array(axis) / np.linalg.norm(axis)).as_matrix()
    lock = {"name": "lock", "type": "fixed", "b": {"link": "ground"}} | keys
    lock["a"] = {"link": "ball", "matrix": matrix.tolist()}
    return machine(link("ball", "spherical") | body(), closures=[lock], gravity=[0.0, 0.0, 0.0])


@pytest.mark.parametrize("turn", [1.6, 2.0944, 2.6, 3.1, np.pi])
@pytest.mark.parametrize("start", ["statics", "description"])
def test_a_replacement_joint_that_is_turned_too_far_is_refused(turn: float, start: str) -> None:
    """Its springs would take it to a half turn, and that silently."""
    table = held(turn, **_SPRINGS, stiffness=_STIFF) | {"simulation": {"start": start}}
    with pytest.raises(DescriptionError, match=r"lock are turned by .* rad .* expected less than 1.57 rad"):
        prepare(from_data(table))


def test_frames_turned_by_a_third_about_the_diagonal_are_refused() -> None:
    """All three cosines vanish there."""
    table = held(2.0 * np.pi / 3.0, (1.0, 1.0, 1.0), **_SPRINGS, stiffness=_STIFF)
    with pytest.raises(DescriptionError, match=r"turned by 2.09 rad"):
        prepare(from_data(table))


@pytest.mark.parametrize("turn", [0.0, 0.8, 1.3])
def test_springs_turn_the_frames_together(turn: float) -> None:
    model = prepare(from_data(held(turn, **_SPRINGS, stiffness=_STIFF)))
    found = Rotation.from_euler("ZYX", model.start[0]).magnitude()
    assert found == pytest.approx(turn, abs=1e-9)


def test_a_free_axis_may_turn() -> None:
    """Without a stiffness about z the frames of a revolute replacement joint may have any angle about it."""
    stiffness = [1e5, 1e5, 1e5, 1e4, 1e4, 0.0]
    prepare(from_data(held(2.5, (0.0, 0.0, 1.0), **_SPRINGS, stiffness=stiffness)))


@pytest.mark.parametrize("turn", [2.0, 2.6, 3.1])
def test_a_rigid_closure_is_closed_the_right_way_round(turn: float) -> None:
    model = prepare(from_data(held(turn)))
    assert Rotation.from_euler("ZYX", model.start[0]).magnitude() == pytest.approx(turn, abs=1e-8)
