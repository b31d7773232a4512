"""Constant frames of the description: rotation and origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ...core.trajectory import Array


@dataclass(frozen=True)
class Frame:
    """Axes and origin, shape (3,), m, of a frame in its parent's frame."""

    rotation: Rotation
    origin: Array


def frame(table: Mapping[str, Any]) -> Frame:
    """Return the frame that a table gives by `matrix`, by `dh`, or by `xyz` and `rpy`."""
    if table.get("matrix") is not None:
        matrix = np.array(table["matrix"], dtype=float)
        turn = Rotation.from_matrix(matrix[:3, :3]).as_quat(canonical=True)
        return Frame(Rotation.from_quat(turn), matrix[:3, 3])
    if table.get("dh") is not None:
        a, alpha, d, theta = table["dh"]
        twist = Rotation.from_euler("X", alpha)
        return Frame(twist * Rotation.from_euler("Z", theta), np.array([a, 0.0, 0.0]) + twist.apply([0, 0, d]))
    return Frame(rotation(table.get("rpy")), np.array(table.get("xyz") or (0.0, 0.0, 0.0), dtype=float))


def rotation(rpy: Any) -> Rotation:
    """Return Rz(yaw)·Ry(pitch)·Rx(roll) for roll, pitch and yaw, rad; None stands for zeros."""
    roll, pitch, yaw = rpy or (0.0, 0.0, 0.0)
    return Rotation.from_euler("ZYX", [yaw, pitch, roll])
