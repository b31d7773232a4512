"""Values and derivatives of constraint equations in one state of the mechanism or in many states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Array


@dataclass(frozen=True)
class Rows:
    """Values and derivatives of m constraint equations in one state or in many states.

    For spring-damper closures, Φ contains the deformations of the springs instead of constraint values.

    Attributes
    ----------
    Phi : ndarray, shape (…, m)
        Constraint values Φ(t, q); 0 for equations in velocities or accelerations.
    Phi_dot : ndarray, shape (…, m)
        Time derivatives C q̇ + ∂Φ/∂t of equations in positions, values Ψ(t, q, q̇) of equations in
        velocities, and 0 for equations in accelerations.
    C : ndarray, shape (…, m, n)
        Jacobian: ∂Φ/∂q for equations in positions, ∂Ψ/∂q̇ for equations in velocities, and ∂Ψ/∂q̈ for
        equations in accelerations.
    gamma : ndarray, shape (…, m)
        Vector γ of the equations at acceleration level, C q̈ − γ = 0.
    """

    Phi: Array
    Phi_dot: Array
    C: Array
    gamma: Array


@dataclass(frozen=True)
class Sizes:
    """Magnitudes of the summed terms in m constraint equations, for estimates of rounding errors.

    Attributes
    ----------
    Phi : ndarray, shape (m,)
        Magnitudes for the constraint values; 0 for equations in velocities or accelerations.
    C : ndarray, shape (m, n)
        Magnitudes for the entries of the Jacobian.
    """

    Phi: Array
    C: Array


def stack(parts: Sequence[Rows], many: tuple[int, ...] = ()) -> Rows:
    """Combine the values of several groups of constraint equations into common arrays.

    The argument `many` is the shape of the leading axes for many states; it is empty for one state.
    """
    vectors = (
        np.concatenate([_of_all(getattr(part, name), 1, many) for part in parts], axis=-1)
        for name in ("Phi", "Phi_dot", "gamma")
    )
    C = np.concatenate([_of_all(part.C, 2, many) for part in parts], axis=-2)
    Phi, Phi_dot, gamma = vectors
    return Rows(Phi, Phi_dot, C, gamma)


def of_each(rows: Sequence[Rows]) -> Rows:
    """Combine the values of constraint equations at single states into arrays for many states."""
    names = ("Phi", "Phi_dot", "C", "gamma")
    return Rows(*(np.array([getattr(part, name) for part in rows]) for name in names))


def _of_all(values: Array, own: int, many: tuple[int, ...]) -> Array:
    """Return values for many states, shape (*many, …). Values for a single state are repeated.

    The argument `own` is the number of array axes for a single state.
    """
    return values if values.ndim > own or not many else np.broadcast_to(values, (*many, *values.shape))
