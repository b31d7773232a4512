"""Range of ranks that a constraint Jacobian may have in view of rounding errors.

The rank that the model generator computed counts as wrong only if no reasonable threshold for
singular values yields this rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Array
from ..constraints.rows import Equation
from ..equations.model import Model
from ..expressions.state import State

# Relative singular values above 1e-5 are certainly nonzero; singular values below 1e-11 are certainly zero.
_SURELY, _HARDLY = 1e-5, 1e-11
_NOTHING = 1e-7  # a Jacobian row is rounding error if its length is below this fraction of its longest summand
_ITERATIONS = 30  # maximum number of Newton steps of the projection onto the constraints
_CLOSED = 1e-10  # Largest constraint residual of a converged projection, m or rad.
_SINGULAR = 1e-8  # relative singular values of the Jacobian below this limit count as zero in Newton steps


@dataclass(frozen=True)
class RankRange:
    """Smallest and largest rank that a matrix can have in view of rounding errors."""

    least: int
    most: int

    def allows(self, rank: int) -> bool:
        return self.least <= rank <= self.most


def rank_range(C: Array) -> RankRange:
    """Return the smallest and the largest rank that a matrix can have within rounding errors.

    The matrix has the shape (m, n) and rows of comparable length.
    """
    if not C.size:
        return RankRange(0, 0)
    values = np.linalg.svd(C, compute_uv=False)
    largest = float(values[0])
    return RankRange(*(int(np.count_nonzero(values > share * largest)) for share in (_SURELY, _HARDLY)))


def comparable(equations: Sequence[Equation], units: Array) -> Array:
    """Return the constraint Jacobian scaled for a rank decision, shape (m, n).

    Columns are multiplied by the scales of the coordinates, and rows are normalised to length 1. A row
    that is negligible compared with the forces and moments of the equation consists only of rounding
    errors. Such a row is set to zero.

    Parameters
    ----------
    equations : sequence of Equation
        The m constraint equations at one state.
    units : ndarray, shape (n,)
        Scales of the coordinates: 1 rad, or the mechanism's size in m.
    """
    size, rows = float(units.max(initial=0.0)), np.zeros((len(equations), len(units)))
    for k, equation in enumerate(equations):
        row = equation.C * units
        length = float(np.linalg.norm(row))
        parts = [float(size * np.linalg.norm(w.force) + np.linalg.norm(w.moment)) for w in equation.wrenches]
        if length > _NOTHING * max([length, *parts]) and length > 0.0:
            rows[k] = row / length
    return rows


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
