"""Dependent constraints: rank, groups, choice (Wojtyra and Frączek 2013, sections 2.1, 3.1).

Rows and columns mix metres and radians, so they are made comparable before the rank is asked for: coordinates by
the mechanism's extent, rows by their length. Whether a row is zero is asked of what it is made of, not of other
rows: where the machine stands and how large it is do not matter. The rank is one *on* the constraint manifold: a
little beside it, rows that depend on each other hardly do so any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from ...core.trajectory import Array

TOLERANCE = 1e-8  # singular values of C, rows of length 1, relative to the largest: smaller ones count as zero
# length of a row relative to the magnitudes that it is made of: a shorter one is zero: descriptions have 8 digits
_ZERO = 1e-7
_SHORT = 1e-6  # the same: a shorter one is not stretched to length 1, for its rounding errors would grow, too
_ROUNDING = 1e-12  # length of a row relative to the longest: a shorter one is zero but for rounding
_INVOLVED = 1e-6  # of a row's share in another one


@dataclass(frozen=True)
class Rank:
    """Rank of a matrix whose rows have been scaled to length 1.

    tolerance   singular values up to it count as zero, relative to the largest one: TOLERANCE unless less is known
    smallest    the smallest singular value that counts; 0 if none does
    largest     the largest one that does not; 0 if all do. The wider the gap to `smallest`, the surer the rank
    """

    rank: int
    tolerance: float
    smallest: float
    largest: float


def scaled(C: Array) -> Array:
    """C, shape (m, n), with rows of length 1; rows of zeros stay."""
    return C / _lengths(C)[:, None]


def without_rounding(C: Array, sizes: Array, unit: Array) -> Array:
    """C, shape (m, n), with exact zeros in place of rows that are zero, see `comparable`."""
    own, made_of = (np.linalg.norm(part * unit, axis=1, keepdims=True) for part in (C, sizes))
    return np.where(own > _ZERO * made_of, C, 0.0)


def comparable(C: Array, sizes: Array, unit: Array, uncertainty: float = 0.0) -> Array:
    """C, shape (m, n), for coordinates that are all lengths, with rows of length 1; rows that are zero get zeros.

    sizes        shape (m, n): magnitudes of the terms that C's entries are made of
    unit         shape (n,), of each coordinate: what counts as much as 1 m, rad or m
    uncertainty  of the coordinates, relative to the mechanism's extent
    """
    own, made_of = (np.linalg.norm(part * unit, axis=1) for part in (C, sizes))
    counts = own > max(_ZERO, uncertainty) * made_of
    lengths = np.where(counts, np.maximum(own, _SHORT * made_of), 1.0)
    return np.where(counts[:, None], C * unit / lengths[:, None], 0.0)


def _lengths(C: Array) -> Array:
    lengths = np.linalg.norm(C, axis=1)
    return np.where(lengths > _ROUNDING * lengths.max(initial=0.0), lengths, 1.0)


def rank_of(C: Array, least: float = TOLERANCE) -> Rank:
    """Rank of C, shape (m, n), by singular values; rows of length 1, here and below.

    least   singular values relative to the largest: up to it they count as zero
    """
    values = np.linalg.svd(C, compute_uv=False) if C.size else np.zeros(0)
    tolerance = least * float(values.max(initial=0.0))
    rank = int(np.count_nonzero(values > tolerance))
    smallest = float(values[rank - 1]) if rank else 0.0
    return Rank(rank, tolerance, smallest, float(values[rank]) if rank < len(values) else 0.0)


def independent_rows(C: Array, preferred: Sequence[Sequence[int]], least: float = TOLERANCE) -> tuple[int, ...]:
    """Return the indices of a largest set of independent rows of C, shape (m, n), in ascending order.

    preferred   groups of row indices, most wanted first: a row is left out only if those of its group and of the
                groups before it make it redundant. Column-pivoted QR of Cᵀ takes the best conditioned of a group.
    """
    chosen: list[int] = []
    for group in preferred:
        chosen += _extending(C, list(group), chosen, least)
    return tuple(sorted(chosen))


def _extending(C: Array, candidates: list[int], chosen: list[int], least: float) -> list[int]:
    """Candidates that extend the chosen rows' span, best conditioned first."""
    if not candidates:
        return []
    span = qr(C[chosen].T, mode="economic")[0] if chosen else np.zeros((C.shape[1], 0))
    beyond = C[candidates].T
    beyond = beyond - span @ (span.T @ beyond)
    triangle, order = qr(beyond, mode="r", pivoting=True)
    count = int(np.count_nonzero(np.abs(np.diag(triangle)) > least))
    return [candidates[k] for k in order[:count]]


def redundant_groups(C: Array, independent: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Groups of rows of C, shape (m, n), that depend on each other; a row of zeros is a group of its own.

    Each row beyond the independent ones is a sum of some of these; sums that share a row belong to one group.
    The groups do not depend on which independent rows were chosen (they are a matroid's connected components).
    """
    kept = list(independent)
    groups: list[set[int]] = []
    for row in sorted(set(range(len(C))) - set(kept)):
        shares = np.linalg.lstsq(C[kept].T, C[row], rcond=None)[0] if kept else np.zeros(0)
        group = {row} | {k for k, share in zip(kept, shares, strict=True) if abs(share) > _INVOLVED}
        touching = [other for other in groups if other & group]
        groups = [other for other in groups if not other & group] + [group.union(*touching)]
    return tuple(sorted(tuple(sorted(group)) for group in groups))


class Elimination:
    """Independent constraints of C; redundant ones have no reaction (Wojtyra and Frączek 2013, section 3.1).

    rows   indices of the r rows that stay
    """

    def __init__(self, rows: Sequence[int], count: int) -> None:
        self.rows = tuple(rows)
        self._picked = np.eye(count)[list(rows)]

    def __call__(self, C: Array) -> Array:
        """E, shape (r, m): E C has the rows that stay; λ = Eᵀ λ', λ' their multipliers."""
        del C
        return self._picked


class MinimumNorm:
    """r independent combinations of all rows of C, so that λ = Eᵀ λ' is the shortest of all λ.

    The multipliers that have no effect are the null space of Cᵀ; the shortest λ has no part in it.

    rank   of C
    sizes  shape (m, n): magnitudes of the terms of C somewhere, by which rows of rounding noise tell
    unit   shape (n,), see `comparable`
    Without the two, C has rows that can be compared by their lengths.
    """

    def __init__(self, rank: int, sizes: Array | None = None, unit: Array | float = 1.0) -> None:
        self.rank, self._unit = rank, unit
        self._weights = None if sizes is None else np.linalg.norm(sizes * unit, axis=1)

    def __call__(self, C: Array) -> Array:
        """E, shape (…, r, m), orthonormal rows, for C, (…, m, n); beside the manifold its rank may seem more."""
        if C.ndim > 2:
            return np.array([self(part) for part in C])
        weights = _lengths(C) if self._weights is None else np.where(self._weights > 0, self._weights, 1.0)
        idle = np.linalg.svd(C * self._unit / weights[:, None])[0][:, self.rank :] / weights[:, None]
        return np.asarray(qr(idle)[0][:, idle.shape[1] :].T if idle.size else np.eye(len(C)))
