"""Masses that make the equations of motion singular: zero, or far from the frames that move freely with them.

A motion that moves no mass has no acceleration: the mass matrix is singular. A body that can turn and move has its
coordinates at its frame's origin. In its angular acceleration two terms cancel: the inertia about that origin, and
what the translation takes of it. The ratio to what is left is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh, orth

from ...core.errors import Problem
from ...core.trajectory import Array
from ...mechanism import GROUND, Body, Mechanism
from ...reference.kinematics.extent import units_of_change
from ...reference.kinematics.kinematics import Kinematics
from ...reference.solve.model import ReferenceModel, pseudo_inertia

_LOST = 1e6  # ten of sixteen digits are kept: 1e-9 of q̈
_MASSLESS = 1e-12  # of what the masses that a joint carries could resist its motion
# of the mechanism's extent: a point within 1e-14 of it is on the axis, where rounding puts it 1e-16 away
_POINT = 1e-8
_TURNED = 1e-3  # cosine of an Euler angle at which its joint's axes are called aligned
_OFFSET, _VARIATION = 0.3, 0.1  # rad or m: changes of coordinates, all different, that leave positions in line
_INVOLVED = 0.1  # of a motion's largest coordinate: smaller ones do not take part in it


def massless(model: ReferenceModel, q0: ArrayLike) -> list[Problem]:
    """Motions at q0, shape (n,), that nothing with mass resists; Euler angles at ±π/2 are no matter here."""
    q, mechanism = np.asarray(q0, dtype=float), model.mechanism
    found = [moving for moving in _unresisted(model, q) if not _aligned(mechanism, q, moving)]
    always = {k for moving in (_unresisted(model, elsewhere(q)) if found else ()) for k in moving}
    return [_massless(mechanism, moving, bool(always & {*moving})) for moving in found]


def elsewhere(q: Array) -> Array:
    """Coordinates, shape (n,), rad and m, at which nothing is in line that is in line at q by chance."""
    return np.asarray(q + _OFFSET + _VARIATION * np.sin(np.arange(len(q)) + 1.0))


def _unresisted(model: ReferenceModel, q: Array) -> list[list[int]]:
    """Coordinates that move nothing with mass: alone, and together."""
    mechanism = model.mechanism
    posture = model.state(0.0, q, np.zeros_like(q)).posture
    frames = posture.T.transpose(1, 0, 2)[1:]
    extent, _ = units_of_change(mechanism, posture)
    could = np.array([_resistance(mechanism, frames, k, _POINT * extent) for k in range(mechanism.n)])
    unit = np.sqrt(np.where(could > 0, could, 1.0))
    M = model.mass(posture)[0] / np.outer(unit, unit)
    alone = np.diag(M) < _MASSLESS
    others = np.flatnonzero(~alone)
    values, motions = np.linalg.eigh(M[np.ix_(others, others)])
    together = [others[np.abs(x) > _INVOLVED * np.abs(x).max()] for x in motions.T[values < _MASSLESS]]
    return [list(map(int, moving)) for moving in [*np.flatnonzero(alone)[:, None], *together]]


def _resistance(mechanism: Mechanism, frames: Array, k: int, point: float) -> float:
    """Return the inertia that a coordinate moves, for any place of its axis: kg, or kg·m² about its origin.

    point  m: what is no larger has no extent
    """
    b = next(b for b, body in enumerate(mechanism.bodies) if k in body.coordinates)
    J = _carried(mechanism, frames, b)
    mass, turning = float(J[3, 3]), float(np.trace(J[:3, :3]))
    return max(turning, mass * point**2) if mechanism.coordinates[k].motion.kind == "rotation" else mass


def _aligned(mechanism: Mechanism, q: Array, moving: Sequence[int]) -> bool:
    """Whether they are the first and third Euler angle of one joint at the second one's ±π/2."""
    owners = {mechanism.coordinates[k].owner for k in moving}
    thetas = [k for k, c in enumerate(mechanism.coordinates) if {c.owner} == owners and c.key.endswith("theta")]
    return len(moving) > 1 and any(abs(np.cos(q[k])) < _TURNED for k in thetas)


def _massless(mechanism: Mechanism, moving: Sequence[int], always: bool) -> Problem:
    names = [mechanism.coordinates[k].name for k in moving]
    bodies = [body for body in mechanism.bodies if {*body.coordinates} & {*moving}]
    lacking = next((body for body in bodies if not body.mass), bodies[-1])
    text = (
        f"{names[0]} moves nothing that has mass or inertia"
        if len(names) == 1
        else f"{', '.join(names)} can move together so that nothing that has mass or inertia moves"
    )
    key = "inertia" if lacking.mass else "mass"
    return Problem(
        f"{_table(mechanism, lacking)}.{key}",
        f"{text}, and the mass matrix is singular at the start: {'' if always else 'start elsewhere, or '}"
        f"give mass and inertia to {lacking.link!r} or to a link that it carries, or make its joint fixed",
    )


def far_masses(mechanism: Mechanism, q0: ArrayLike) -> list[Problem]:
    """Bodies on joints that turn and move them, whose mass, with all they carry at q0, (n,), is too far away."""
    q = np.asarray(q0, dtype=float)
    frames = Kinematics(mechanism)(q, np.zeros_like(q)).T.transpose(1, 0, 2)[1:]
    return [
        problem
        for b, body in enumerate(mechanism.bodies)
        if {mechanism.coordinates[k].motion.kind for k in body.coordinates} == {"rotation", "translation"}
        for problem in _far(mechanism, frames, b, body)
    ]


def _far(mechanism: Mechanism, frames: Array, b: int, body: Body) -> Iterator[Problem]:
    J = _carried(mechanism, frames, b)
    mass, moment = float(J[3, 3]), J[:3, 3]
    if mass <= 0:
        return
    axes = {kind: _axes(mechanism, body, kind) for kind in ("rotation", "translation")}
    turning = axes["rotation"] @ (np.trace(J[:3, :3]) * np.eye(3) - J[:3, :3]) @ axes["rotation"].T
    taken = np.cross(axes["rotation"], moment) @ axes["translation"].T
    lost = _largest_ratio(turning, turning - taken @ taken.T / mass)
    if lost > _LOST:
        yield Problem(
            f"{_table(mechanism, body)}.com",
            f"the centre of mass, with all that the link carries, is {np.linalg.norm(moment) / mass:.3g} m from"
            " the link's own frame, which moves freely: so far for its size that fewer than nine digits would be"
            " left of accelerations; put the frame near to the mass",
        )


def _carried(mechanism: Mechanism, frames: Array, root: int) -> Array:
    """Pseudo-inertia, shape (4, 4), of a body with all that hangs on it, in the body's frame; kg, kg·m, kg·m²."""
    own = np.linalg.inv(frames[root])
    total, carried = np.zeros((4, 4)), {root}
    for b, body in enumerate(mechanism.bodies):
        if body.parent != GROUND and body.parent in carried:  # children come after their parents
            carried.add(b)
        if b in carried:
            T = own @ frames[b]
            total += T @ pseudo_inertia(body) @ T.T
    return total


def _axes(mechanism: Mechanism, body: Body, kind: str) -> Array:
    """Orthonormal directions of a joint's motions of a kind, shape (k, 3), where all its coordinates are zero."""
    own = [mechanism.coordinates[k] for k in body.coordinates]
    return np.asarray(orth(np.array([c.axis for c in own if c.motion.kind == kind], dtype=float).T).T)


def _largest_ratio(whole: Array, left: Array) -> float:
    """The largest xᵀ whole x / xᵀ left x."""
    try:
        return float(eigh(whole, left, eigvals_only=True)[-1])
    except np.linalg.LinAlgError:  # nothing but rounding is left in some direction
        return np.inf if np.linalg.eigvalsh(whole)[0] > 0 else 0.0


def _table(mechanism: Mechanism, body: Body) -> str:
    """Return the place of a body in the description."""
    names = [link.name for link in mechanism.chain.links]
    return "base" if body.link == "base" else f"links[{names.index(body.link)}]"
