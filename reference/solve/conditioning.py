"""Masses far from the frames that move freely with them: what their equations lose by cancellation.

A body that can turn and move has its coordinates at its frame's origin. In its angular acceleration two terms
cancel: the inertia about that origin, and what the translation takes of it. The ratio to what is left is lost.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh, orth

from ...errors import Problem
from ...generator.mechanism import GROUND, Body, Mechanism
from ..kinematics.kinematics import Kinematics
from .model import pseudo_inertia

Array = NDArray[np.float64]
_LOST = 1e6  # ten of sixteen digits are kept: 1e-9 of q̈


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
        table = "base" if body.link == "base" else f"links[{_index(mechanism, body)}]"
        yield Problem(
            f"{table}.com",
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


def _index(mechanism: Mechanism, body: Body) -> int:
    return [link.name for link in mechanism.chain.links].index(body.link)
