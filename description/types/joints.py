"""Joint types: each type is a sequence of elementary motions with one coordinate each.

All equations are derived from `JOINT_TYPES`, so a new joint type requires only one entry.
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
    """Rotation about one axis, or translation along one axis.

    Parameters
    ----------
    coordinate
        Name of the coordinate within its link, such as `psi`.
    kind
        `rotation` with a coordinate in rad, or `translation` with a coordinate in m.
    axis
        Unit vector in the frame that results from the earlier motions of the joint; None for the axis
        given in the description.
    """

    coordinate: str
    kind: Literal["rotation", "translation"]
    axis: Axis | None

    @property
    def unit(self) -> str:
        """Unit of the coordinate: rad or m."""
        return "rad" if self.kind == "rotation" else "m"


def _rotation(coordinate: str, axis: Axis | None) -> ElementaryMotion:
    return ElementaryMotion(coordinate, "rotation", axis)


def _translation(coordinate: str, axis: Axis | None) -> ElementaryMotion:
    return ElementaryMotion(coordinate, "translation", axis)


# Rotation R = Rz(psi)·Ry(theta)·Rx(phi) of a spherical joint, as in the publications of Urbaś.
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
