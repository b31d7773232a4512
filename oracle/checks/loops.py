"""Loops: whether they are closed at the start, on the branch of the described position."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from ...core.trajectory import Array
from ..equations.model import Model
from ..expressions.state import State
from .ranks import units_of

_CLOSED = 1e-7  # of the mechanism's size, or rad
_STEPS = 40  # from the described to the initial position
_ITERATIONS = 40  # Newton steps after which loops count as not closable
_CONVERGED = 1e-11  # m or rad, for mechanisms above 1 m of their size: Newton's method ends
_NEARLY = 1e-8  # m or rad: gap of loops that rounding keeps from converging further
_SAME = 1e-3  # of a coordinate's unit: where the same branch may differ by rounding
_SINGULAR = 1e-8  # singular values of C relative to the largest: along smaller ones no step is taken
_RANK = 1e-7  # singular values relative to the largest: smaller ones count as zero


def open_loops(model: Model, state: State) -> Iterator[str]:
    """Yield a sentence for each closure that is open at the start."""
    size = units_of(model, state)[0]
    for cut in model.cuts:
        gap = max(abs(equation.value) for equation in cut.equations(state))
        if not gap <= _CLOSED * max(size, 1.0):
            yield f"closure {cut.name} is open by {gap:.3g} m or rad at the start"


def wrong_branch(model: Model, state: State) -> Iterator[str]:
    """Yield a sentence if the loops are closed on another branch than near the described position.

    The described position is closed by Newton's method. From there the independent coordinates go straight to
    their initial values, and the others follow. These must arrive at theirs; where they cannot follow, nothing is
    said.
    """
    if not model.cuts or any(True for _ in open_loops(model, state)):
        return
    units = units_of(model, state)[1]
    described = _closed(model, np.array([c.start for c in model.machine.coordinates]), units, None)
    if described is None:
        return
    C = _loops(model, described)[1] * units
    triangle, order = qr(C, mode="r", pivoting=True)
    pivots = np.abs(np.diag(triangle))
    rank = int(np.count_nonzero(pivots > _RANK * pivots.max(initial=0.0)))
    follow = np.sort(order[:rank])
    reached = described
    for share in np.linspace(0.0, 1.0, _STEPS + 1)[1:]:
        target = described + share * (model.q0 - described)
        target[follow] = reached[follow]
        closed = _closed(model, target, units, follow)
        if closed is None:
            return
        reached = closed
    away = np.abs(reached - model.q0) / units
    k = int(np.argmax(away))
    if away[k] > _SAME:
        name = model.machine.coordinates[k].name
        yield (
            f"the loops are closed on another branch than near the described position: {name} starts at"
            f" {model.q0[k]:.6g} instead of {reached[k]:.6g}"
        )


def _loops(model: Model, q: Array) -> tuple[Array, Array]:
    """Return the closures' Φ and C at a position, shapes (m,) and (m, n)."""
    state = model.state(0.0, q, np.zeros_like(q))
    found = [equation for cut in model.cuts for equation in cut.equations(state)]
    return np.array([e.value for e in found]), np.array([e.C for e in found])


def _closed(model: Model, q: Array, units: Array, which: NDArray[np.signedinteger] | None) -> Array | None:
    """Return the position with the loops closed by the smallest change, of some coordinates alone; None: none."""
    own = np.arange(len(q)) if which is None else which
    for _ in range(_ITERATIONS):
        Phi, C = _loops(model, q)
        if np.abs(Phi).max() < _CONVERGED * max(1.0, float(units.max())):
            return q
        step = units[own] * (np.linalg.pinv(C[:, own] * units[own], rcond=_SINGULAR) @ Phi)
        if not np.abs(step / units[own]).max() < 1.0:
            return None
        q = q.copy()
        q[own] -= step
    return q if np.abs(_loops(model, q)[0]).max() < _NEARLY else None
