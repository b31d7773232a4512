"""Checks for geometry that cannot be simulated.

Examples are points very far from the world's origin, and force elements of zero length.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...core.errors import Problem, SolveError
from ...core.trajectory import Array
from ...description.types.bounds import FARTHEST
from ...mechanism import GROUND, Mechanism, Place
from .extent import units_of_change
from .kinematics import Kinematics, Posture

# A length counts as zero up to this fraction of the mechanism's characteristic length.
_APART = 1e-9


def far_places(mechanism: Mechanism) -> list[Problem]:
    """Return an error message for each frame or point that lies more than 1e12 m from the world's origin."""
    q = np.array([c.position for c in mechanism.coordinates], dtype=float)
    posture = Kinematics(mechanism)(q, np.zeros_like(q))
    problems = []
    for where, place in _places(mechanism):
        at = posture.T[:3, place.body + 1] @ [*place.position, 1.0] + posture.datum
        distance = float(np.linalg.norm(at))
        if not distance <= FARTHEST:
            text = (
                f"is {distance:.3g} m from the world's origin; expected at most {FARTHEST:g} m, where"
                " floating-point numbers are 0.1 mm apart: check the length, or put the origin near the"
                " mechanism"
            )
            problems.append(Problem(where, text))
    return problems


def check_lengths(mechanism: Mechanism, q: Array) -> None:
    """Raise SolveError if both ends of a two-point force element coincide.

    The coordinates q have shape (n,), rad or m.
    """
    if not mechanism.lines:
        return
    posture = Kinematics(mechanism)(q, np.zeros(mechanism.n))
    extent = units_of_change(mechanism, posture)[0]
    wrong = []
    for line in mechanism.lines:
        length = float(np.linalg.norm(_position(posture, line.b) - _position(posture, line.a)))
        if not length > _APART * extent:
            ends = " and ".join(_link(mechanism, place) for place in (line.a, line.b))
            wrong.append(
                f"line {line.name} has a length of {length:.3g} m in the initial state, so that its force has"
                f" no direction: its ends on {ends} coincide"
            )
    if wrong:
        remedy = "expected distinct ends: move one of them, or change the initial values"
        raise SolveError(f"{'; '.join(wrong)}; {remedy}")


def _places(mechanism: Mechanism) -> Iterator[tuple[str, Place]]:
    links = [link.name for link in mechanism.chain.links]
    for b, body in enumerate(mechanism.bodies):
        place = Place(b, np.zeros(3))
        table = "base" if body.link == "base" else f"links[{links.index(body.link)}]"
        yield (table if body.link == "base" else f"{table}.frame"), place
        if not body.element:
            yield f"{table}.com", Place(b, body.com)
    base = next((b for b, body in enumerate(mechanism.bodies) if body.link == "base"), GROUND)
    for i, support in enumerate(mechanism.supports):
        yield f"base.supports[{i}].position", Place(base, support.position)
    for i, contact in enumerate(mechanism.contacts):
        yield f"contacts[{i}].point", contact.place
        yield f"contacts[{i}].plane.point", Place(GROUND, contact.origin)
    for name, point in mechanism.points.items():
        yield f"points.{name}", point
    for i, line in enumerate(mechanism.lines):
        yield f"lines[{i}].a", line.a
        yield f"lines[{i}].b", line.b
    for i, closure in enumerate(mechanism.closures):
        yield f"closures[{i}].a", closure.a.place
        yield f"closures[{i}].b", closure.b.place


def _position(posture: Posture, place: Place) -> Array:
    return np.asarray((posture.T[:, place.body + 1] @ [*place.position, 1.0])[:3], dtype=np.float64)


def _link(mechanism: Mechanism, place: Place) -> str:
    return "ground" if place.body == GROUND else mechanism.bodies[place.body].link
