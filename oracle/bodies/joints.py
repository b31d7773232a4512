"""Decomposition of joints into elementary rotations and translations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.trajectory import Array

_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_CARDAN = (("psi", "turn", _Z), ("theta", "turn", _Y), ("phi", "turn", _X))
_JOINTS: Mapping[str, tuple[tuple[str, str, tuple[float, float, float] | None], ...]] = {
    "fixed": (),
    "revolute": (("angle", "turn", None),),
    "prismatic": (("position", "slide", None),),
    "universal": _CARDAN[:2],
    "spherical": _CARDAN,
    "planar": (("x", "slide", _X), ("y", "slide", _Y), ("angle", "turn", _Z)),
    "free": (("x", "slide", _X), ("y", "slide", _Y), ("z", "slide", _Z), *_CARDAN),
}


@dataclass(frozen=True)
class Freedom:
    """Elementary motion of a joint: a rotation about an axis, or a translation along an axis.

    The axis is rotated by all previous elementary motions of the same joint.

    Parameters
    ----------
    name : str
        Name of the joint coordinate, such as `psi`.
    turns : bool
        Whether the motion is a rotation.
    axis : ndarray, shape (3,)
        Unit vector in the joint frame.
    """

    name: str
    turns: bool
    axis: Array


def freedoms(kind: str, axis: Any = None) -> tuple[Freedom, ...]:
    """Return the elementary motions of a joint in their order.

    Parameters
    ----------
    kind : str
        Joint type, such as `revolute`.
    axis : array_like or None
        Axis of a revolute or prismatic joint, shape (3,); unused for other types.
    """
    return tuple(
        Freedom(name, how == "turn", np.array(axis if own is None else own, dtype=float))
        for name, how, own in _JOINTS[kind]
    )


def per_freedom(value: Any, count: int) -> list[float]:
    """Return the values of a joint parameter, one number for each elementary motion of the joint.

    A single number applies to all elementary motions.
    """
    return [float(x) for x in value] if isinstance(value, list | tuple) else [float(value)] * count
