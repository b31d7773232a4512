"""Checks for mass distributions that make the equations of motion singular or ill-conditioned.

If a motion moves no mass, the mass matrix is singular. If the mass of a freely moving body is far
from the origin of the body's frame, the angular acceleration is a small difference of two large
terms: the inertia about the origin, and the effect of the translation. Significant digits are then
lost.
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

# Accelerations have fewer than nine reliable digits if cancellation reduces an inertia by more than this factor.
_LOST = 1e6
# A coordinate's inertia counts as zero if it is below this fraction of the inertia's upper bound.
_MASSLESS = 1e-12
# Each body is assumed to have at least this radius of gyration, relative to the characteristic length.
_POINT = 1e-8
_TURNED = 1e-3  # A joint is in gimbal lock if the |cosine| of its second Euler angle is below this value.
# Shifts of 0.3 ± 0.1 rad or m move coordinates away from positions where axes align by chance.
_OFFSET, _VARIATION = 0.3, 0.1
# A coordinate takes part in a massless motion if its amplitude exceeds this fraction of the largest one.
_INVOLVED = 0.1


def massless(model: ReferenceModel, q0: ArrayLike) -> list[Problem]:
    """Return an error message for each motion of coordinates that moves no mass in the initial position.

    Motions of a joint in gimbal lock are ignored. In gimbal lock, two Euler angles of the joint rotate
    about the same axis, so opposite changes of these angles move nothing.

    Parameters
    ----------
    model : ReferenceModel
        Equations of the mechanism.
    q0 : array_like, shape (n,)
        Initial positions, rad or m.
    """
    q, mechanism = np.asarray(q0, dtype=float), model.mechanism
    found = [moving for moving in _unresisted(model, q) if not _aligned(mechanism, q, moving)]
    always = {k for moving in (_unresisted(model, elsewhere(q)) if found else ()) for k in moving}
    return [_massless(mechanism, moving, bool(always & {*moving})) for moving in found]


def elsewhere(q: Array) -> Array:
    """Return coordinates, shape (n,), that differ from q by irregular amounts.

    It is unlikely that the axes of two joints are parallel at these coordinates.
    """
    return np.asarray(q + _OFFSET + _VARIATION * np.sin(np.arange(len(q)) + 1.0))


def _unresisted(model: ReferenceModel, q: Array) -> list[list[int]]:
    """Return groups of coordinates whose changes move no mass.

    A group contains one coordinate, or several coordinates that change together in a fixed ratio.
    """
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
    """Return an upper bound of the inertia that a coordinate moves, kg or kg·m².

    The bound holds for any direction of the axis of the coordinate.

    Parameters
    ----------
    mechanism : Mechanism
        Bodies and coordinates.
    frames : ndarray, shape (bodies, 4, 4)
        Frames of the bodies.
    k : int
        Index of the coordinate.
    point : float
        Lower bound of the radius of gyration for rotations, m; it makes the inertia of a point mass
        nonzero.
    """
    b = next(b for b, body in enumerate(mechanism.bodies) if k in body.coordinates)
    J = _carried(mechanism, frames, b)
    mass, turning = float(J[3, 3]), float(np.trace(J[:3, :3]))
    return max(turning, mass * point**2) if mechanism.coordinates[k].motion.kind == "rotation" else mass


def _aligned(mechanism: Mechanism, q: Array, moving: Sequence[int]) -> bool:
    """Whether coordinates are Euler angles of a joint in gimbal lock.

    In gimbal lock, the second angle is ±π/2, and the first and third angle rotate about the same axis.
    """
    owners = {mechanism.coordinates[k].owner for k in moving}
    thetas = [k for k, c in enumerate(mechanism.coordinates) if {c.owner} == owners and c.key.endswith("theta")]
    return len(moving) > 1 and any(abs(np.cos(q[k])) < _TURNED for k in thetas)


def _massless(mechanism: Mechanism, moving: Sequence[int], always: bool) -> Problem:
    names = [mechanism.coordinates[k].name for k in moving]
    bodies = [body for body in mechanism.bodies if {*body.coordinates} & {*moving}]
    lacking = next((body for body in bodies if not body.mass), bodies[-1])
    text = (
        f"{names[0]} moves no mass or inertia"
        if len(names) == 1
        else f"{', '.join(names)} can move together without moving mass or inertia"
    )
    key = "inertia" if lacking.mass else "mass"
    return Problem(
        f"{_table(mechanism, lacking)}.{key}",
        f"{text}, and the initial mass matrix is singular:"
        f" {'' if always else 'choose other initial positions, or '}"
        f"give mass and inertia to {lacking.link!r} or one of its descendants, or make its joint fixed",
    )


def far_masses(mechanism: Mechanism, q0: ArrayLike) -> list[Problem]:
    """Return an error message for each freely moving body whose mass is too far from its frame's origin.

    Freely moving means that the joint can both rotate and translate. The mass of the body includes all
    descendant bodies.

    Parameters
    ----------
    mechanism : Mechanism
        Bodies and coordinates.
    q0 : array_like, shape (n,)
        Initial positions, rad or m.
    """
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
            f"the centre of mass of the link's subtree is {np.linalg.norm(moment) / mass:.3g} m from the"
            " link's own frame, which moves freely; at this distance, fewer than nine digits of the"
            " accelerations are reliable: move the frame closer to the centre of mass",
        )


def _carried(mechanism: Mechanism, frames: Array, root: int) -> Array:
    """Return the pseudo-inertia matrix of a subtree in the frame of body `root`, shape (4, 4).

    The units are kg, kg·m and kg·m².
    """
    own = np.linalg.inv(frames[root])
    total, carried = np.zeros((4, 4)), {root}
    for b, body in enumerate(mechanism.bodies):
        # The list of bodies contains each parent before its children.
        if body.parent != GROUND and body.parent in carried:
            carried.add(b)
        if b in carried:
            T = own @ frames[b]
            total += T @ pseudo_inertia(body) @ T.T
    return total


def _axes(mechanism: Mechanism, body: Body, kind: str) -> Array:
    """Return an orthonormal basis of the axes of a joint's rotations or translations, shape (k, 3)."""
    own = [mechanism.coordinates[k] for k in body.coordinates]
    return np.asarray(orth(np.array([c.axis for c in own if c.motion.kind == kind], dtype=float).T).T)


def _largest_ratio(whole: Array, left: Array) -> float:
    """Return the largest value of xᵀAx / xᵀBx for the symmetric matrices A = `whole` and B = `left`."""
    try:
        return float(eigh(whole, left, eigvals_only=True)[-1])
    except np.linalg.LinAlgError:
        # The solver of the generalised eigenvalue problem fails if the second matrix is not positive definite.
        return np.inf if np.linalg.eigvalsh(whole)[0] > 0 else 0.0


def _table(mechanism: Mechanism, body: Body) -> str:
    names = [link.name for link in mechanism.chain.links]
    return "base" if body.link == "base" else f"links[{names.index(body.link)}]"
