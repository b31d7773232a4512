"""Constraint rows in one state (design 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """m constraint rows in one state; those of a spring-damper closure are its deformations.

    Phi      shape (m,): Φ(t, q); 0 for rows of order 1 and 2
    Phi_dot  shape (m,): C q̇ + ∂Φ/∂t; for rows of order 1 their expression Ψ(t, q, q̇) itself, 0 for order 2
    C        shape (m, n): ∂Φ/∂q; ∂Ψ/∂q̇ for rows of order 1, ∂Ψ/∂q̈ of order 2
    gamma    shape (m,): the constraint's second derivative (of order 1: first; of order 2: itself) is C q̈ − γ
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


def stack(parts: Sequence[Rows]) -> Rows:
    """The parts' rows one below the other."""
    return Rows(
        np.concatenate([part.Phi for part in parts]),
        np.concatenate([part.Phi_dot for part in parts]),
        np.concatenate([part.C for part in parts]),
        np.concatenate([part.gamma for part in parts]),
    )
