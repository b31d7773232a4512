"""Constraint rows in one state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Array


@dataclass(frozen=True)
class Rows:
    """m constraint rows in a state; those of a spring-damper closure are its deformations.

    Phi      shape (…, m): Φ(t, q); 0 for rows of order 1 and 2
    Phi_dot  shape (…, m): C q̇ + ∂Φ/∂t; for rows of order 1 their expression Ψ(t, q, q̇) itself, 0 for order 2
    C        shape (…, m, n): ∂Φ/∂q; ∂Ψ/∂q̇ for rows of order 1, ∂Ψ/∂q̈ of order 2
    gamma    shape (…, m): the constraint's second derivative (of order 1: first; of order 2: itself) is C q̈ − γ
    """

    Phi: Array
    Phi_dot: Array
    C: Array
    gamma: Array


@dataclass(frozen=True)
class Sizes:
    """Magnitudes of the terms that m rows are made of, before these cancel each other.

    Phi  shape (m,), of Φ; of rows of order 1 and 2, which have none, 0
    C    shape (m, n), of C
    """

    Phi: Array
    C: Array


def stack(parts: Sequence[Rows], many: tuple[int, ...] = ()) -> Rows:
    """The parts' rows one below the other; many: the shape of the states, (…)."""
    vectors = (
        np.concatenate([_of_all(getattr(part, name), 1, many) for part in parts], axis=-1)
        for name in ("Phi", "Phi_dot", "gamma")
    )
    C = np.concatenate([_of_all(part.C, 2, many) for part in parts], axis=-2)
    Phi, Phi_dot, gamma = vectors
    return Rows(Phi, Phi_dot, C, gamma)


def of_each(rows: Sequence[Rows]) -> Rows:
    """Stack the constraints of single states to those of many states."""
    names = ("Phi", "Phi_dot", "C", "gamma")
    return Rows(*(np.array([getattr(part, name) for part in rows]) for name in names))


def _of_all(values: Array, own: int, many: tuple[int, ...]) -> Array:
    """Values with `own` axes that are the same in all states are given once."""
    return values if values.ndim > own or not many else np.broadcast_to(values, (*many, *values.shape))
