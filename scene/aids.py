"""Symbols in pictures for frames, joint axes and centres of mass, to check the values of a description."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..core.trajectory import Array
from ..mechanism import Body, Coordinate, JointFrame, Mechanism, Place
from .shapes import towards

AidKind = Literal["frame", "turn", "slide", "mass"]


@dataclass(frozen=True)
class Aid:
    """Symbol at a body-fixed frame.

    Attributes
    ----------
    kind : str
        "frame": three axes of a frame. "turn": axis of a rotation, which is the z axis of the frame.
        "slide": axis of a translation, which is also the z axis. "mass": centre of mass.
    name : str
        Name of the link, closure or coordinate, in the notation of the description.
    frame : JointFrame
        Position and orientation of the symbol.
    """

    kind: AidKind
    name: str
    frame: JointFrame[Array, Array]


def aids_of(mechanism: Mechanism) -> list[Aid]:
    """Return the symbols of all frames, joint axes and centres of mass.

    For a beam, frames and joint axes are shown only for the first rigid finite element.
    """
    found: list[Aid] = []
    for b, body in enumerate(mechanism.bodies):
        if body.element in ("", "r0"):
            found.append(Aid("frame", body.link, _fixed(b, np.zeros(3), np.eye(3))))
            joint = [mechanism.coordinates[k] for k in body.coordinates]
            found += _axes(b, body, [c for c in joint if c.role == "joint"])
        if float(body.mass):
            found.append(Aid("mass", body.name, _fixed(b, body.com, np.eye(3))))
    for closure in mechanism.closures:
        found += [Aid("frame", closure.name, frame) for frame in (closure.a, closure.b)]
    return found


def _axes(b: int, body: Body, coordinates: Sequence[Coordinate]) -> Iterator[Aid]:
    """Yield the axes of a joint that are fixed in the body or in its parent.

    The axis of the joint's last elementary motion is fixed in the body. Axes without a preceding
    rotation are fixed in the parent. Intermediate axes, such as the second axis of a spherical joint,
    are left out.
    """
    rotation = np.asarray(body.rotation, dtype=float)
    for k, coordinate in enumerate(coordinates):
        kind: AidKind = "slide" if coordinate.motion.kind == "translation" else "turn"
        along = towards(np.asarray(coordinate.axis, dtype=float))
        if k + 1 == len(coordinates):
            yield Aid(kind, coordinate.name, _fixed(b, np.zeros(3), along))
        elif all(c.motion.kind == "translation" for c in coordinates[:k]) and (kind == "slide" or k == 0):
            yield Aid(kind, coordinate.name, _fixed(body.parent, body.offset, rotation @ along))


def _fixed(body: int, position: Array, rotation: Array) -> JointFrame[Array, Array]:
    return JointFrame(Place(body, np.asarray(position, dtype=float)), rotation)
