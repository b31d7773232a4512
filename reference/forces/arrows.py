"""Drawn arrows of joint efforts, along the axis of the coordinate at the joint."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ...core.trajectory import Array
from ...mechanism import Mechanism, Place
from ..kinematics.quantities import KinematicState
from .element import ForceArrow


def effort_mark(mechanism: Mechanism, table: str, name: str, k: int) -> ForceArrow:
    """Return the arrow of an effort on coordinate k.

    The arguments `table` and `name` are the description table and the name of the force element.
    """
    owner = next(b for b, body in enumerate(mechanism.bodies) if k in body.coordinates)
    kind: Literal["moment", "force"] = "moment" if mechanism.coordinates[k].unit == "rad" else "force"
    return ForceArrow(table, name, kind, Place(owner, np.zeros(3)))


def effort_direction(state: KinematicState, k: int) -> Array:
    """Return the axis of coordinate k in world axes, shape (3,)."""
    S = state.posture.S.reshape(-1, 4, 4)[k]
    turning = S[[2, 0, 1], [1, 2, 0]]
    return np.asarray(turning if turning.any() else S[:3, 3])
