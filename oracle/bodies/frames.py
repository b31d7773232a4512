"""Constant frames of the description: rotation and origin in a parent frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ...core.trajectory import Array


@dataclass(frozen=True)
class Frame:
    """Pose of a frame in its parent frame.

    Parameters
    ----------
    rotation : Rotation
        Orientation of the frame's axes.
    origin : ndarray, shape (3,)
        Position of the frame's origin, m.
    """

    rotation: Rotation
    origin: Array


def frame(table: Mapping[str, Any]) -> Frame:
    """Return the frame that a description table defines.

    The table gives a homogeneous `matrix`, Denavit-Hartenberg parameters `dh` (a, alpha, d, theta), or
    `xyz` and `rpy`.
    """
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
    """Return Rz(yaw)·Ry(pitch)·Rx(roll) for the angles (roll, pitch, yaw), rad; None means zero angles."""
    roll, pitch, yaw = rpy or (0.0, 0.0, 0.0)
    return Rotation.from_euler("ZYX", [yaw, pitch, roll])
