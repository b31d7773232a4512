"""Range of ranks that a constraint Jacobian may have in view of rounding errors.

The rank that the model generator computed counts as wrong only if no reasonable threshold for
singular values yields this rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.trajectory import Array
from ..constraints.rows import Equation
from ..equations.model import Model
from ..expressions.state import State

# A singular value above 1e-5 of the largest one is certainly nonzero.
# A singular value below 1e-11 of the largest one is certainly zero.
_SURELY, _HARDLY = 1e-5, 1e-11
# A Jacobian row is certainly zero if its norm is at most 1e-10 times the magnitude of the summed terms.
# A Jacobian row is certainly nonzero if its norm is above 1e-7 times the magnitude of the summed terms.
_ZERO, _NONZERO = 1e-10, 1e-7
_ITERATIONS = 30  # The projection onto the constraints fails after this many Newton steps.
# The projection onto the constraints ends when all constraint residuals are below this value, m or rad.
_CLOSED = 1e-10
# Newton steps treat singular values of the Jacobian below this fraction of the largest one as zero.
_SINGULAR = 1e-8


@dataclass(frozen=True)
class RankRange:
    """Smallest and largest rank that a matrix can have in view of rounding errors."""

    least: int
    most: int

    def allows(self, rank: int) -> bool:
        return self.least <= rank <= self.most


def rank_range(C: Array, is_short: NDArray[np.bool_] | None = None) -> RankRange:
    """Return the smallest and the largest rank that a matrix can have within rounding errors.

    Parameters
    ----------
    C : ndarray, shape (m, n)
        Matrix whose rows have length 1 or 0.
    is_short : ndarray of bool, shape (m,), or None
        Whether each row may be regarded as zero, because it was short before the normalisation. With
        None, no row may be regarded as zero.
    """
    sure = C if is_short is None else C[~is_short]
    return RankRange(_rank(sure, _SURELY), _rank(C, _HARDLY))


def _rank(C: Array, share: float) -> int:
    values = np.linalg.svd(C, compute_uv=False) if C.size else np.zeros(0)
    return int(np.count_nonzero(values > share * values.max(initial=0.0)))


def comparable(
    equations: Sequence[Equation], units: Array, magnitudes: Sequence[float] | None = None
) -> tuple[Array, NDArray[np.bool_]]:
    """Return the constraint Jacobian scaled for a rank decision.

    Columns are multiplied by the scales of the coordinates, and rows are normalised to length 1. A row is
    a sum of terms, which can cancel. A row that is negligible compared with these terms consists only of
    rounding errors, and is set to zero.

    Parameters
    ----------
    equations : sequence of Equation
        The m constraint equations at one state.
    units : ndarray, shape (n,)
        Scales of the coordinates: 1 rad, or the mechanism's size in m.
    magnitudes : sequence of float or None
        Magnitude of the terms of each row. With None, the magnitudes follow from the wrenches of the
        equations.

    Returns
    -------
    C : ndarray, shape (m, n)
        Scaled Jacobian.
    is_short : ndarray of bool, shape (m,)
        Whether each row is so short that it may also be regarded as zero.
    """
    rows = np.array([equation.C * units for equation in equations]).reshape(len(equations), len(units))
    lengths = np.linalg.norm(rows, axis=1)
    known = [0.0] * len(equations) if magnitudes is None else magnitudes
    size = float(units.max(initial=0.0))
    made_of = np.array([max(_of_wrenches(e, size), m) for e, m in zip(equations, known, strict=True)])
    counts = (lengths > _ZERO * made_of) & (lengths > 0.0)
    return np.where(counts, rows.T / np.where(counts, lengths, 1.0), 0.0).T, lengths <= _NONZERO * made_of


def _of_wrenches(equation: Equation, size: float) -> float:
    """Return the largest magnitude of a wrench that a constraint exerts on a body, N·m.

    The magnitude of a wrench is |force|·size + |moment|, where `size` is the mechanism's size, m.
    """
    parts = (float(size * np.linalg.norm(w.force) + np.linalg.norm(w.moment)) for w in equation.wrenches)
    return max(parts, default=0.0)


def units_of(model: Model, state: State) -> tuple[float, Array]:
    """Return the mechanism's size and the scale of each coordinate.

    Returns
    -------
    size : float
        Largest extent of the bodies and points along a world axis, m.
    units : ndarray, shape (n,)
        1 rad for rotations, the size in m for translations.
    """
    places = np.concatenate([state.motion.r, state.points.position])
    size = float(np.ptp(places, axis=0).max()) or 1.0
    return size, np.array([1.0 if c.freedom.turns else size for c in model.machine.coordinates])


def on_constraints(model: Model, units: Array) -> State | None:
    """Return the initial state projected onto all position-level constraints.

    The result is None if the projection does not converge.
    """
    q, qd = model.q0.copy(), model.qd0
    positions = model.orders == 0
    for _ in range(_ITERATIONS):
        state = model.state(0.0, q, qd)
        rows = model.stack(state)
        Phi = rows.Phi[positions]
        if np.abs(Phi).max(initial=0.0) < _CLOSED:
            return state
        C = rows.C[positions] * units
        q = q - units * (np.linalg.pinv(C, rcond=_SINGULAR) @ Phi)
    return None
