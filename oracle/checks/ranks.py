"""Ranks that allow for doubt: a claim is wrong only if no sensible threshold gives it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Array
from ..constraints.rows import Equation
from ..equations.model import Model
from ..expressions.state import State

_SURELY, _HARDLY = (
    1e-5,
    1e-11,
)  # singular values relative to the largest: above one they count, below the other not
_NOTHING = 1e-7  # of what a row is made of: a shorter one is rounding, or digits that the description lacks
_ITERATIONS = 30  # Newton steps after which constraints count as unmet
_CLOSED = 1e-10  # m or rad: constraints with a smaller residual are met
_SINGULAR = 1e-8  # singular values of C relative to the largest: along smaller ones no step is taken


@dataclass(frozen=True)
class RankRange:
    """Least and largest rank that a matrix may have but for rounding."""

    least: int
    most: int

    def allows(self, rank: int) -> bool:
        """Whether a claimed rank may be right."""
        return self.least <= rank <= self.most


def rank_range(C: Array) -> RankRange:
    """Return the rank of a matrix whose rows have been made comparable, shape (m, n)."""
    if not C.size:
        return RankRange(0, 0)
    values = np.linalg.svd(C, compute_uv=False)
    largest = float(values[0])
    return RankRange(*(int(np.count_nonzero(values > share * largest)) for share in (_SURELY, _HARDLY)))


def comparable(equations: Sequence[Equation], units: Array) -> Array:
    """Return C, shape (m, n), with columns in comparable units and rows of length 1; rows of rounding are zero.

    A row of a closure or knife edge is rounding if it is short beside the forces and moments that it is made of.
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
    """Return the mechanism's size, m, and what each coordinate counts by, shape (n,): 1 rad, or the size."""
    places = np.concatenate([state.motion.r, state.points.position])
    size = float(np.ptp(places, axis=0).max()) or 1.0
    return size, np.array([1.0 if c.freedom.turns else size for c in model.machine.coordinates])


def on_constraints(model: Model, units: Array) -> State | None:
    """Return the initial state, moved onto all constraints of positions; None where these cannot be met."""
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
