"""Points of bodies where joints, closures, named points and forces are attached, for pictures."""

from __future__ import annotations

import numpy as np

from .. import analysis
from ..core.trajectory import Array
from ..mechanism import GROUND, JointFrame, Mechanism, Place


def held_at(mechanism: Mechanism) -> list[list[Array]]:
    """Return the attachment points of each body, except its origin.

    Each point is a position vector in the body's frame, m, shape (3,). Attachment points are joints
    of child bodies, closures, named points and knife edges. Points of application of forces, except
    support forces, are also included. If all attachment points of a body lie at its origin, its
    centre of mass is added.
    """
    found: list[list[Array]] = [[] for _ in mechanism.bodies]
    joints = [Place(body.parent, body.offset) for body in mechanism.bodies]
    closures = [frame.place for closure in mechanism.closures for frame in (closure.a, closure.b)]
    edges = [edge.place for edge in mechanism.nonholonomic]
    feet = [support.position for support in mechanism.supports]
    acted = [p for p in analysis.force_places(mechanism) if not any(p.position is foot for foot in feet)]
    for place in (*joints, *closures, *mechanism.points.values(), *edges, *acted):
        if place.body != GROUND:
            found[place.body].append(np.asarray(place.position, dtype=float))
    for body, own in zip(mechanism.bodies, found, strict=True):
        if not any(at.any() for at in own):
            own.append(np.asarray(body.com, dtype=float))
    return found


def held_places(mechanism: Mechanism) -> list[Place]:
    """Return the origins and attachment points of all bodies, as body-fixed points."""
    return [Place(b, at) for b, own in enumerate(held_at(mechanism)) for at in (np.zeros(3), *own)]


def frames_of(mechanism: Mechanism, q: Array) -> Array:
    """Return the world frames of the ground and all bodies at coordinates q, shape (…, n).

    The frames have the shape (…, 1 + bodies, 4, 4); positions are in m.
    """
    found = analysis.poses(mechanism, q)
    ground = np.broadcast_to(np.eye(4), (*found.shape[:-3], 1, 4, 4))
    return np.concatenate([ground, found], axis=-3)


def in_world(frames: Array, place: Place) -> Array:
    """Return the world position of a body-fixed point, shape (…, 3), m, for given world frames."""
    frame, local = frames[..., place.body + 1, :, :], np.asarray(place.position, dtype=float)
    return np.asarray(frame[..., :3, :3] @ local + frame[..., :3, 3])


def axes_in_world(frames: Array, frame: JointFrame) -> Array:
    """Return the axes of a body-fixed frame in the world, as columns of matrices, shape (…, 3, 3)."""
    return np.asarray(frames[..., frame.place.body + 1, :3, :3] @ np.asarray(frame.rotation, dtype=float))


def extent(mechanism: Mechanism, q: Array) -> float:
    """Return the diagonal of the bounding box of all attachment points, m.

    The argument q contains the coordinates, shape (n,). The result is 1 for a single point.
    """
    frames, places = frames_of(mechanism, q), held_places(mechanism)
    if not places:
        return 1.0
    corners = np.array([in_world(frames, place) for place in places])
    return float(np.linalg.norm(np.ptp(corners, axis=0))) or 1.0
