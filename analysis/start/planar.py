"""Planar mechanisms among spatial ones: constraints that hold bodies in the plane are left out.

With the plane's normal N, in-plane factors are those of v across N and of ω along N, three per body; the other
three are out of the plane. If each pair has rows of the one kind and rows of the other, and those of the other
kind hold each body in the plane exactly once (they are square and regular), then the in-plane rows are a problem
of their own.
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

_MIXED = 1e-9  # of an in-plane row, out of the plane
_TINY = 1e-300  # length of a row: keeps the size of a pair without rows positive


def in_plane(model: ReferenceModel, state: KinematicState, found: Sequence[Pair]) -> list[Pair] | None:
    """The pairs with their in-plane rows, factors of shape (k, 3·bodies); None if the mechanism is not planar.

    Pairs without in-plane rows are left out.
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
    """Normals that come into question: world axes, and axes that bodies turn about."""
    yield from np.eye(3)[::-1]
    for k, S in enumerate(state.posture.S.reshape(-1, 4, 4)):
        if model.mechanism.coordinates[k].motion.kind == "rotation":
            yield S[[2, 0, 1], [1, 2, 0]]


def _split(normal: Array) -> tuple[Array, Array]:
    """Columns of the in-plane factors of one body among its six, shape (6, 3), and of the others."""
    N = normal / np.linalg.norm(normal)
    plane, zero = np.linalg.svd(N[None])[2][1:].T, np.zeros((3, 1))
    N = N[:, None]
    inside = np.block([[plane, zero], [np.zeros((3, 2)), N]])
    outside = np.block([[N, np.zeros((3, 2))], [zero, plane]])
    return inside, outside


def _part(pair: Pair, kept: Array, vanishing: Array) -> Pair:
    """Combinations of a pair's rows without the vanishing factors, in the kept ones."""
    by_body = pair.rows.reshape(len(pair.rows), -1, 6)
    gone = (by_body @ vanishing).reshape(len(pair.rows), -1)
    left, values, _ = np.linalg.svd(gone)
    size = float(np.linalg.norm(pair.rows, axis=1).max(initial=_TINY))
    combine = left[:, int(np.count_nonzero(values > _MIXED * size)) :].T
    rows = combine @ (by_body @ kept).reshape(len(pair.rows), -1)
    return replace(pair, rows=rows, wrenches=combine @ pair.wrenches)


def _regular(outside: Sequence[Pair], bodies: int) -> bool:
    """Whether the rows hold each body in the plane exactly once."""
    rows = sum(len(pair.rows) for pair in outside)
    return rows == 3 * bodies and rank_of(scaled(np.vstack([pair.rows for pair in outside]))).rank == rows
