"""Detection of planar mechanisms, and reduction of their constraints to the plane.

For a plane with normal N, a body has three in-plane velocities: two components of v perpendicular
to N, and ω along N. The other three are out-of-plane. A mechanism is planar if two conditions are
met:

- Each constraint of a kinematic pair restricts either in-plane or out-of-plane velocities.
- The out-of-plane constraints form a square, regular system, so all out-of-plane velocities are zero.

The in-plane constraints can then be analysed alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...core.trajectory import Array
from ...reference.constraints.redundancy import rank_of, scaled
from ...reference.kinematics.quantities import KinematicState
from ...reference.solve.model import ReferenceModel
from .absolute import Pair

# The out-of-plane components of a Jacobian row count as zero up to this fraction of the largest row length.
_MIXED = 1e-9
_TINY = 1e-300  # NumPy requires an initial value for the maximum of an empty array.


def in_plane(model: ReferenceModel, state: KinematicState, found: Sequence[Pair]) -> list[Pair] | None:
    """Return the kinematic pairs with their in-plane constraints, or None if the mechanism is not planar.

    The Jacobian rows of a pair have shape (k, 3·bodies). Pairs without in-plane constraints are
    omitted.
    """
    for normal in _normals(model, state):
        along, across = _split(normal)
        inside = [_part(pair, along, across) for pair in found]
        outside = [_part(pair, across, along) for pair in found]
        counted = all(
            len(a.rows) + len(b.rows) == len(pair.rows) for a, b, pair in zip(inside, outside, found, strict=True)
        )
        if counted and _regular(outside, len(model.mechanism.bodies)):
            return [pair for pair in inside if len(pair.rows)]
    return None


def _normals(model: ReferenceModel, state: KinematicState) -> Iterator[Array]:
    """Yield possible normals of a planar mechanism's plane: world axes and axes of rotation."""
    yield from np.eye(3)[::-1]
    for k, S in enumerate(state.posture.S.reshape(-1, 4, 4)):
        if model.mechanism.coordinates[k].motion.kind == "rotation":
            yield S[[2, 0, 1], [1, 2, 0]]


def _split(normal: Array) -> tuple[Array, Array]:
    """Return bases of a body's in-plane and out-of-plane velocities, shape (6, 3) each.

    Parameters
    ----------
    normal : ndarray, shape (3,)
        Normal of the plane, of any length.
    """
    N = normal / np.linalg.norm(normal)
    plane, zero = np.linalg.svd(N[None])[2][1:].T, np.zeros((3, 1))
    N = N[:, None]
    inside = np.block([[plane, zero], [np.zeros((3, 2)), N]])
    outside = np.block([[N, np.zeros((3, 2))], [zero, plane]])
    return inside, outside


def _part(pair: Pair, kept: Array, vanishing: Array) -> Pair:
    """Return linear combinations of a kinematic pair's constraints that contain only selected velocities.

    Parameters
    ----------
    pair : Pair
        Kinematic pair.
    kept : ndarray, shape (6, 3)
        Basis of the velocities that may occur in the combinations.
    vanishing : ndarray, shape (6, 3)
        Basis of the velocities that must not occur.
    """
    by_body = pair.rows.reshape(len(pair.rows), -1, 6)
    gone = (by_body @ vanishing).reshape(len(pair.rows), -1)
    left, values, _ = np.linalg.svd(gone)
    size = float(np.linalg.norm(pair.rows, axis=1).max(initial=_TINY))
    combine = left[:, int(np.count_nonzero(values > _MIXED * size)) :].T
    rows = combine @ (by_body @ kept).reshape(len(pair.rows), -1)
    return replace(pair, rows=rows, wrenches=combine @ pair.wrenches)


def _regular(outside: Sequence[Pair], bodies: int) -> bool:
    rows = sum(len(pair.rows) for pair in outside)
    return rows == 3 * bodies and rank_of(scaled(np.vstack([pair.rows for pair in outside]))).rank == rows
