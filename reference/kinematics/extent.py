"""How large a mechanism is: what makes angles and lengths comparable."""

from __future__ import annotations

import numpy as np

from ...generator.mechanism import Mechanism, Place
from ...trajectory import Array
from .kinematics import Posture


def units_of_change(mechanism: Mechanism, posture: Posture) -> tuple[float, Array]:
    """The mechanism's extent ℓ, m, and shape (n,): how much of each coordinate counts as much as 1 m, rad or m."""
    extent = _extent(mechanism, posture)
    return extent, np.array([1.0 / extent if c.unit == "rad" else 1.0 for c in mechanism.coordinates])


def _extent(mechanism: Mechanism, posture: Posture) -> float:
    """Diagonal of the box around the joints; of one joint alone, around what it carries."""
    joints = [frame.place for closure in mechanism.closures for frame in (closure.a, closure.b)]
    joints += [Place(b, (0.0, 0.0, 0.0)) for b in range(len(mechanism.bodies))]
    carried = [Place(b, body.com) for b, body in enumerate(mechanism.bodies)]
    carried += [*mechanism.points.values(), *(edge.place for edge in mechanism.nonholonomic)]
    return _diagonal(posture, joints) or _diagonal(posture, joints + carried) or _gyration(mechanism) or 1.0


def _diagonal(posture: Posture, places: list[Place]) -> float:
    at = [posture.T[:3, place.body + 1] @ [*place.position, 1.0] for place in places]
    return float(np.linalg.norm(np.ptp(np.array(at, dtype=float), axis=0)))


def _gyration(mechanism: Mechanism) -> float:
    """The largest radius of gyration, m."""
    return max(
        (
            float(np.sqrt(max(np.trace(np.asarray(b.inertia, float)), 0.0) / b.mass))
            for b in mechanism.bodies
            if b.mass
        ),
        default=0.0,
    )
