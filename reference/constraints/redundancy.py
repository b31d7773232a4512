"""Redundant constraint equations: rank, groups of dependent equations, independent combinations.

The methods follow Wojtyra and Frączek 2013, sections 2.1 and 3.1. Rows and columns of a constraint
Jacobian mix metres and radians. Before the rank is computed, coordinates are therefore scaled by
the mechanism's characteristic length, and rows are scaled to unit length. A row counts as zero if
its length is small relative to the terms that add up to the row. This criterion depends neither on
other rows nor on the position and size of the mechanism.

The rank refers to states on the constraint manifold. Slightly off the manifold, dependent rows are
no longer exactly dependent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from ...core.trajectory import Array

# If a Jacobian has normalised rows, singular values up to this fraction of the largest one count as zero.
TOLERANCE = 1e-8
# A Jacobian row counts as zero if its length is at most this fraction of the sum of its terms' magnitudes.
_ZERO = 1e-7
# A Jacobian row is divided by its length, or by this fraction of the sum of its |terms| if that is larger.
_SHORT = 1e-6
# A Jacobian row is a rounding error if its length is at most this fraction of the longest row's length.
_ROUNDING = 1e-12
_INVOLVED = 1e-6  # In a linear combination of Jacobian rows, coefficients up to this magnitude count as zero.


@dataclass(frozen=True)
class Rank:
    """Rank of a matrix whose rows have been scaled to length 1.

    Attributes
    ----------
    rank : int
        Number of singular values above the tolerance.
    tolerance : float
        Threshold; singular values up to it count as zero.
    smallest : float
        Smallest singular value above the tolerance; 0 if there is none.
    largest : float
        Largest singular value that counts as zero; 0 if there is none. A wide gap to `smallest` makes the
        rank reliable.
    """

    rank: int
    tolerance: float
    smallest: float
    largest: float


def scaled(C: Array) -> Array:
    """Return the matrix C, shape (m, n), with each row divided by its length; rows of zeros remain unchanged."""
    return C / _lengths(C)[:, None]


def without_rounding(C: Array, sizes: Array, unit: Array) -> Array:
    """Return C, shape (m, n), with zero rows in place of rows that are pure rounding errors.

    The parameters are those of `comparable`.
    """
    own, made_of = (np.linalg.norm(part * unit, axis=1, keepdims=True) for part in (C, sizes))
    return np.where(own > _ZERO * made_of, C, 0.0)


def comparable(C: Array, sizes: Array, unit: Array, uncertainty: float = 0.0) -> Array:
    """Return the Jacobian C with scaled columns and rows, for the computation of its rank.

    Columns are multiplied by the scales of the coordinates. Rows that consist only of rounding errors
    are set to zero. Every other row is divided by its length. The divisor has a lower limit, so that
    rounding errors of very short rows are not amplified.

    Parameters
    ----------
    C : ndarray, shape (m, n)
        Constraint Jacobian.
    sizes : ndarray, shape (m, n)
        Magnitudes of the terms that add up to the entries of C, for estimates of rounding errors.
    unit : ndarray, shape (n,)
        Scale of each coordinate: the change, rad or m, that moves points by about 1 m.
    uncertainty : float
        Error of the coordinates, relative to the characteristic length of the mechanism.
    """
    own, made_of = (np.linalg.norm(part * unit, axis=1) for part in (C, sizes))
    counts = own > max(_ZERO, uncertainty) * made_of
    lengths = np.where(counts, np.maximum(own, _SHORT * made_of), 1.0)
    return np.where(counts[:, None], C * unit / lengths[:, None], 0.0)


def _lengths(C: Array) -> Array:
    lengths = np.linalg.norm(C, axis=1)
    return np.where(lengths > _ROUNDING * lengths.max(initial=0.0), lengths, 1.0)


def rank_of(C: Array, least: float = TOLERANCE) -> Rank:
    """Return the rank of C, shape (m, n), from its singular values.

    The rows of C have length 1. Singular values up to `least`, relative to the largest one, count
    as zero.
    """
    values = np.linalg.svd(C, compute_uv=False) if C.size else np.zeros(0)
    tolerance = least * float(values.max(initial=0.0))
    rank = int(np.count_nonzero(values > tolerance))
    smallest = float(values[rank - 1]) if rank else 0.0
    return Rank(rank, tolerance, smallest, float(values[rank]) if rank < len(values) else 0.0)


def independent_rows(C: Array, preferred: Sequence[Sequence[int]], least: float = TOLERANCE) -> tuple[int, ...]:
    """Return the indices of a maximal set of independent rows of C in ascending order.

    Parameters
    ----------
    C : ndarray, shape (m, n)
        Matrix with rows of length 1.
    preferred : sequence of sequence of int
        Groups of row indices, in order of preference. A row is omitted only if it depends on rows of
        its own group and of preceding groups. Within a group, QR decomposition of Cᵀ with column
        pivoting selects the best conditioned rows.
    least : float
        A row counts as dependent if its component perpendicular to the rows chosen before is at most
        this long.
    """
    chosen: list[int] = []
    for group in preferred:
        chosen += _extending(C, list(group), chosen, least)
    return tuple(sorted(chosen))


def _extending(C: Array, candidates: list[int], chosen: list[int], least: float) -> list[int]:
    """Return the candidate rows of the matrix C that extend the span of the chosen rows of C.

    The best conditioned row comes first. Rows are given by their indices.
    """
    if not candidates:
        return []
    span = qr(C[chosen].T, mode="economic")[0] if chosen else np.zeros((C.shape[1], 0))
    beyond = C[candidates].T
    beyond = beyond - span @ (span.T @ beyond)
    triangle, order = qr(beyond, mode="r", pivoting=True)
    count = int(np.count_nonzero(np.abs(np.diag(triangle)) > least))
    return [candidates[k] for k in order[:count]]


def redundant_groups(C: Array, independent: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return the groups of mutually dependent rows of C, shape (m, n); a zero row forms its own group.

    Each redundant row is a linear combination of independent rows. Combinations with a common row
    belong to one group. The groups do not depend on the choice of independent rows, because they are
    the connected components of a matroid.
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
    """Selection of independent constraint equations.

    Redundant equations are omitted, so that they have no reaction (Wojtyra and Frączek 2013, section
    3.1).

    Attributes
    ----------
    rows : tuple of int
        Indices of the r selected equations.
    """

    def __init__(self, rows: Sequence[int], count: int) -> None:
        self.rows = tuple(rows)
        self._picked = np.eye(count)[list(rows)]

    def __call__(self, C: Array) -> Array:
        """Return the selection matrix E, shape (r, m), for a constraint Jacobian C.

        E C contains the selected equations. If λ' are the multipliers of the selected equations, the
        multipliers of all equations are λ = Eᵀ λ'.
        """
        del C
        return self._picked


class MinimumNorm:
    """Combination of all constraint equations into r independent ones, with minimum-norm multipliers.

    The combination matrix E yields the multipliers λ of all equations from the multipliers λ' of the r
    combined equations: λ = Eᵀ λ'. Multipliers without an effect form the null space of Cᵀ. The vector λ
    of minimum norm has no component in this space.

    Parameters
    ----------
    rank : int
        Rank r of the constraint Jacobian C.
    sizes : ndarray, shape (m, n), optional
        Magnitudes of the terms that add up to the entries of C. Each row of C is divided by the
        Euclidean norm of the same row of `sizes`. Rows of pure rounding errors thus become negligible.
        By default, each row of C is divided by the row's own norm.
    unit : ndarray, shape (n,), or float
        Scale of each coordinate, see `comparable`.
    """

    def __init__(self, rank: int, sizes: Array | None = None, unit: Array | float = 1.0) -> None:
        self.rank, self._unit = rank, unit
        self._weights = None if sizes is None else np.linalg.norm(sizes * unit, axis=1)

    def __call__(self, C: Array) -> Array:
        """Return the matrix E, shape (…, r, m), that combines m constraint equations into r equations.

        The rows of E are orthonormal. The Jacobian C has shape (…, m, n).

        The rank r is prescribed, because C seems to have a higher rank off the constraint manifold.
        """
        if C.ndim > 2:
            return np.array([self(part) for part in C])
        weights = _lengths(C) if self._weights is None else np.where(self._weights > 0, self._weights, 1.0)
        idle = np.linalg.svd(C * self._unit / weights[:, None])[0][:, self.rank :] / weights[:, None]
        return np.asarray(qr(idle)[0][:, idle.shape[1] :].T if idle.size else np.eye(len(C)))
