"""Solids that depict the bodies.

If the description defines no solids for a body, its solids are estimated from its mass, inertia and
joints.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from ..core.trajectory import Array
from ..description.fields.numbers import value_of
from ..description.tables import shape as described
from ..description.tables.link import Beam
from ..mechanism import Body, Mechanism
from .mesh import Mesh, read_mesh
from .skeleton import extent, held_at

Kind = Literal["box", "cylinder", "sphere", "mesh"]
_ROD = 0.011  # Rods are drawn with this radius, relative to the mechanism's size.
# Tubes are drawn with at least this radius, and boxes with this half thickness, relative to the mechanism's size.
_THINNEST = 0.004
# A box edge is at most this many times the distance from the body's origin to the farthest attachment point.
# A body's box is computed from its inertia. Without this limit, inertia of drives would make the box too large.
_BEYOND = 1.5
BASE = "#8a94a3"
COLOURS = ("#4c86b8", "#d9902f", "#3f9c7c", "#b8668f", "#8b79b5", "#7f9a2e", "#c96a3d", "#5aa9c9")


@dataclass(frozen=True)
class Solid:
    """Solid that is fixed to a body.

    Attributes
    ----------
    body : int
        Index of the body.
    kind : str
        "box", "cylinder", "sphere" or "mesh".
    size : ndarray, shape (3,)
        Edge lengths along the axes of the solid's frame, m; the axis of a cylinder is z. For a mesh,
        all three values are the scale factor.
    frame : ndarray, shape (4, 4)
        Pose of the solid's centre, or of the mesh's origin, in the body's frame, m.
    colour : str
        Colour as #rrggbb.
    mesh : Mesh or None
        Triangles of a mesh.
    """

    body: int
    kind: Kind
    size: Array
    frame: Array
    colour: str
    mesh: Mesh | None = None


def shapes(mechanism: Mechanism, q: Array) -> list[Solid]:
    """Return the solids of all bodies.

    The thickness of rods and tubes depends on the size of the mechanism at coordinates q, shape (n,).

    Raises
    ------
    DescriptionError
        If a mesh file cannot be read.
    """
    size, held = extent(mechanism, q), held_at(mechanism)
    given = {link.name: link for link in mechanism.chain.links}
    links = list(dict.fromkeys(body.link for body in mechanism.bodies if body.link != "base"))
    found: list[Solid] = []
    for b, body in enumerate(mechanism.bodies):
        part = mechanism.chain.base if body.link == "base" else given[body.link]
        colour = BASE if body.link == "base" else COLOURS[links.index(body.link) % len(COLOURS)]
        assert part is not None
        beam: Beam | None = getattr(part, "beam", None)
        if part.shape is not None:
            found.append(_as_described(b, part.shape, colour))
        elif beam is not None:
            found += _tube(b, body, beam, size, colour)
        else:
            feet = [np.asarray(s.position, dtype=float) for s in mechanism.supports if body.link == "base"]
            found += _likely(b, body, held[b], feet, size, colour)
    return found


def _as_described(b: int, shape: described.Shape, colour: str) -> Solid:
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = shape.frame.rotation, shape.frame.offset
    mesh = None if shape.file is None else read_mesh(Path(shape.file))
    sizes = {
        "box": shape.size,
        "cylinder": (2 * (shape.radius or 0.0), 2 * (shape.radius or 0.0), shape.length),
        "sphere": (2 * (shape.radius or 0.0),) * 3,
        "mesh": (shape.scale,) * 3,
    }
    return Solid(b, shape.type, np.array(sizes[shape.type], dtype=float), frame, shape.colour or colour, mesh)


def _tube(b: int, body: Body, beam: Beam, size: float, colour: str) -> Iterator[Solid]:
    """Yield the solids of a beam element: a thin-walled tube, and a ball where the beam bends.

    The radius of the tube equals the polar radius of gyration of the beam's cross-section, unless a tube
    of this radius would be too thin to be visible.
    """
    radius = max(float(np.sqrt((value_of(beam.Iy) + value_of(beam.Iz)) / value_of(beam.area))), _THINNEST * size)
    yield _rod(b, np.zeros(3), 2 * np.asarray(body.com, dtype=float), radius, colour)
    if body.element not in ("", "r0"):
        yield Solid(b, "sphere", np.full(3, 2 * radius), np.eye(4), colour)


def _likely(b: int, body: Body, held: list[Array], feet: list[Array], size: float, colour: str) -> Iterator[Solid]:
    """Yield solids that depict a body for which the description defines no solids.

    The solids are a box of uniform density with the body's mass and inertia, and rods from the origin
    of the body to attachment points outside the box.
    """
    reach = max([float(np.linalg.norm(at)) for at in (*held, *feet)], default=0.0)
    box = _box(b, body, size, max(_BEYOND * reach, 0.15 * size), colour)
    if box is not None:
        yield box
    for at in held:
        if np.linalg.norm(at) > _ROD * size and not (box and _within(box, at) and _within(box, np.zeros(3))):
            yield _rod(b, np.zeros(3), at, _ROD * size, colour)


def _box(b: int, body: Body, size: float, longest: float, colour: str) -> Solid | None:
    """Return a box of uniform density with the mass m and the inertia of a body.

    The result is None for a body without mass. The edge a_i along principal axis i follows from the
    principal moments of inertia I_i, I_j and I_k: a_i² = 6 (I_j + I_k − I_i)/m. All edges are
    scaled down if one exceeds `longest`, m.
    """
    mass, inertia = float(body.mass), np.asarray(body.inertia, dtype=float)
    if not mass:
        return None
    moments, axes = np.linalg.eigh(inertia)
    if np.count_nonzero(inertia - np.diag(np.diag(inertia))) == 0:
        # For a diagonal inertia matrix, the function eigh would reorder the axes and thus rotate the box.
        moments, axes = np.diag(inertia), np.eye(3)
    edges = np.sqrt((6.0 * (moments.sum() - 2.0 * moments) / mass).clip(0.0))
    edges *= min(1.0, longest / (edges.max() or 1.0))
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = axes * np.sign(np.linalg.det(axes)), np.asarray(body.com, dtype=float)
    return Solid(b, "box", edges.clip(2 * _THINNEST * size), frame, colour)


def _within(box: Solid, at: Array) -> bool:
    own = box.frame[:3, :3].T @ (at - box.frame[:3, 3])
    return bool(np.all(np.abs(own) <= 0.5 * box.size + 1e-9))


def _rod(b: int, start: Array, end: Array, radius: float, colour: str) -> Solid:
    way = end - start
    length = float(np.linalg.norm(way))
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = towards(way / length), (start + end) / 2
    return Solid(b, "cylinder", np.array([2 * radius, 2 * radius, length]), frame, colour)


def towards(z: Array) -> Array:
    """Return a rotation matrix whose z axis is a given unit vector, shape (3, 3)."""
    aside = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = np.cross(aside, z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
