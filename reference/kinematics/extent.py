"""Characteristic length of a mechanism, which converts angles into comparable lengths."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist

from ...core.trajectory import Array
from ...mechanism import Mechanism, Place
from .kinematics import Posture

# If joints span less than this fraction of a mechanism's size, other points also define the characteristic length.
_CLOSE = 1e-3


def units_of_change(mechanism: Mechanism, posture: Posture) -> tuple[float, Array]:
    """Return the characteristic length ℓ of a mechanism, m, and the scale of each coordinate, shape (n,).

    The scale is 1/ℓ rad for an angle and 1 m for a displacement. A change of any coordinate by its scale
    moves points of the mechanism by about 1 m.
    """
    extent = _extent(mechanism, posture)
    return extent, np.array([1.0 / extent if c.unit == "rad" else 1.0 for c in mechanism.coordinates])


def _extent(mechanism: Mechanism, posture: Posture) -> float:
    """Return the largest distance between two joints, m, independent of the orientation of the world axes.

    If all joints lie close together, centres of mass, named points and knife edges are included. If all
    these points also lie close together, the result is the larger of two lengths: the largest radius of
    gyration, and the largest distance between joints and ends of two-point force elements.
    """
    joints = [frame.place for closure in mechanism.closures for frame in (closure.a, closure.b)]
    joints += [Place(b, np.zeros(3)) for b in range(len(mechanism.bodies))]
    carried = [Place(b, body.com) for b, body in enumerate(mechanism.bodies)]
    carried += [*mechanism.points.values(), *(edge.place for edge in mechanism.nonholonomic)]
    gyration = _gyration(mechanism)
    sizes = (_diameter(posture, joints), _diameter(posture, joints + carried))
    for size in sizes:
        if size > _CLOSE * max(*sizes, gyration):
            return size
    ends = [end for line in mechanism.lines for end in (line.a, line.b)]
    return max(gyration, _diameter(posture, [*joints, *ends])) or 1.0


def _diameter(posture: Posture, places: list[Place]) -> float:
    at = np.array([posture.T[:3, place.body + 1] @ [*place.position, 1.0] for place in places], dtype=float)
    return float(pdist(at).max(initial=0.0))


def _gyration(mechanism: Mechanism) -> float:
    return max(
        (
            float(np.sqrt(max(np.trace(np.asarray(b.inertia, float)), 0.0) / b.mass))
            for b in mechanism.bodies
            if b.mass
        ),
        default=0.0,
    )
