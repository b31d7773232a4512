"""Joint types: each is a sequence of elementary motions, one coordinate each.

To add a joint type, add a row to `JOINT_TYPES`; every backend follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Axis = tuple[float, float, float]
X: Axis = (1.0, 0.0, 0.0)
Y: Axis = (0.0, 1.0, 0.0)
Z: Axis = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class ElementaryMotion:
    """Rotation about or translation along one axis.

    Parameters:
        coordinate  the coordinate's name within its link, such as `psi`
        kind        rotation (rad) or translation (m)
        axis        unit vector in the frame that the motions before it have reached; None: see the description
    """

    coordinate: str
    kind: Literal["rotation", "translation"]
    axis: Axis | None

    @property
    def unit(self) -> str:
        """Rad or m."""
        return "rad" if self.kind == "rotation" else "m"


def _rotation(coordinate: str, axis: Axis | None) -> ElementaryMotion:
    return ElementaryMotion(coordinate, "rotation", axis)


def _translation(coordinate: str, axis: Axis | None) -> ElementaryMotion:
    return ElementaryMotion(coordinate, "translation", axis)


# R = Rz(psi)·Ry(theta)·Rx(phi), the papers' angles
_SPHERICAL = (_rotation("psi", Z), _rotation("theta", Y), _rotation("phi", X))

JOINT_TYPES: dict[str, tuple[ElementaryMotion, ...]] = {
    "revolute": (_rotation("angle", None),),
    "prismatic": (_translation("position", None),),
    "universal": (_rotation("psi", Z), _rotation("theta", Y)),
    "spherical": _SPHERICAL,
    "planar": (_translation("x", X), _translation("y", Y), _rotation("angle", Z)),
    "free": (_translation("x", X), _translation("y", Y), _translation("z", Z), *_SPHERICAL),
    "fixed": (),
}
