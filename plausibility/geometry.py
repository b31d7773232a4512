"""Extent of a mechanism, and body-fixed positions of joints, points and force elements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .. import analysis
from ..analysis.system import System
from ..core.trajectory import Array
from ..description.fields.numbers import value_of
from ..description.tables.base import Base
from ..description.tables.link import Link
from ..description.tables.shape import Shape
from ..mechanism import GROUND, Body, Place
from .places import link, member, support_key


@dataclass(frozen=True)
class Mark:
    """Body-fixed position that the description specifies.

    Parameters
    ----------
    key : str
        Description key, such as `links[2] (boom), com`.
    body : int
        Index of the body, or GROUND.
    position : ndarray, shape (3,)
        Position vector in the body frame, m.
    """

    key: str
    body: int
    position: Array


def marks(model: System) -> Iterator[Mark]:
    """Yield all body-fixed positions that the description specifies.

    The positions are centres of mass, joints, closures, points, supports and ends of force elements.
    """
    chain, mechanism = model.chain, model.mechanism
    for index, body in enumerate(mechanism.bodies):
        own = link(chain, body.link)
        yield _mark(f"{own}, com", Place(index, body.com))
        yield _mark(f"{own}, frame", Place(body.parent, body.offset))
        beam = getattr(described(model, body), "beam", None)
        if beam is not None and not body.element:
            yield _mark(f"{own}, beam.length", Place(index, np.array([value_of(beam.length), 0.0, 0.0])))
    for name, place in mechanism.points.items():
        yield _mark(f"points.{name}", place)
    for closure in mechanism.closures:
        where = member("closures", chain.closures, closure.name)
        yield from (_mark(f"{where}, {key}", getattr(closure, key).place) for key in ("a", "b"))
    for line in mechanism.lines:
        where = member("lines", chain.lines, line.name)
        yield from (_mark(f"{where}, {key}", getattr(line, key)) for key in ("a", "b"))
    for contact in mechanism.contacts:
        yield _mark(member("contacts", chain.contacts, contact.name), contact.place)
    base = next((k for k, body in enumerate(mechanism.bodies) if body.name == "base"), GROUND)
    for index, support in enumerate(mechanism.supports):
        yield _mark(support_key(model.mechanism, index), Place(base, support.position))


def _mark(key: str, place: Place) -> Mark:
    return Mark(key, place.body, np.asarray(place.position, dtype=float))


def described(model: System, body: Body) -> Base | Link | None:
    """Return the entry of the description that defines a body: the base, or the link of the body."""
    if body.link == "base":
        return model.chain.base
    return next(entry for entry in model.chain.links if entry.name == body.link)


def extent(model: System) -> float:
    """Return the extent of a mechanism at t = 0.

    Parameters
    ----------
    model : System
        Mechanism with its initial state.

    Returns
    -------
    float
        Extent, m: the larger of two lengths. One is the diagonal of the bounding box of all joints,
        centres of mass, points and force elements on moving bodies. The other is the size of the
        largest shape. If both are zero, the extent is the largest radius of gyration. If this radius is
        also zero, the extent is 1 m.
    """
    frames = analysis.poses(model.mechanism, model.start[0])
    at = [frames[m.body][:3] @ [*m.position, 1.0] for m in marks(model) if m.body != GROUND]
    at += [frame[:3, 3] for frame in frames]
    box = float(np.linalg.norm(np.ptp(np.array(at, dtype=float), axis=0)))
    seen = max((shape_size(model, body) for body in model.mechanism.bodies), default=0.0)
    gyration = max((radius_of_gyration(body) for body in model.mechanism.bodies), default=0.0)
    return max(box, seen) or gyration or 1.0


def own_size(model: System, index: int) -> float:
    """Return the size of a body, m.

    The size is the larger of two lengths. One is the diameter of the shape's bounding sphere. The other
    is the largest distance from the centre of mass to a point of the body that the description
    specifies. The body's own joint is ignored, because a point mass may be attached to a long massless
    rod.
    """
    body = model.mechanism.bodies[index]
    com = np.asarray(body.com, dtype=float)
    places = [com, *(m.position for m in marks(model) if m.body == index)]
    return max(float(np.linalg.norm(np.array(places) - com, axis=1).max()), shape_size(model, body))


def radius_of_gyration(body: Body) -> float:
    """Return the largest radius of gyration of a body about its centre of mass, m; 0 without mass."""
    if not body.mass:
        return 0.0
    largest = float(np.linalg.eigvalsh(np.asarray(body.inertia, dtype=float))[-1])
    return float(np.sqrt(max(largest, 0.0) / float(body.mass)))


def shape_size(model: System, body: Body) -> float:
    """Return the diameter of the bounding sphere of a body's shape, m; 0 for a mesh or without a shape."""
    found = described(model, body)
    shape: Shape | None = None if found is None else found.shape
    if shape is None:
        return 0.0
    sides = [*(shape.size or ()), 2.0 * (shape.radius or 0.0), shape.length or 0.0]
    return float(np.linalg.norm(sides))
