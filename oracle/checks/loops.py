"""Checks that all kinematic loops are closed at t = 0, in the assembly mode of the description."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from ...core.trajectory import Array
from ..equations.model import Model
from ..expressions.state import State
from .ranks import units_of

# A kinematic loop is closed if its error is at most this, rad or m, times max(1, mechanism's size in m).
_CLOSED = 1e-7
# The coordinates move in this many steps from the positions in the description to the initial positions.
_STEPS = 40
_ITERATIONS = 40  # Newton's method for closing the kinematic loops ends after at most this many steps.
# Newton's method ends if the loop-closure error is below this, rad or m, times max(1, mechanism's size in m).
_CONVERGED = 1e-11
_NEARLY = 1e-8  # After the last Newton step, a loop-closure error below this value, rad or m, is accepted.
# Two solutions in the same assembly mode differ by at most this, rad or fraction of the mechanism's size.
_SAME = 1e-3
# Newton steps treat singular values of the Jacobian below this fraction of the largest one as zero.
_SINGULAR = 1e-8
_RANK = 1e-7  # The rank of the Jacobian is the number of QR pivots above this fraction of the largest pivot.


def open_loops(model: Model, state: State) -> Iterator[str]:
    """Yield a message for each kinematic loop that is not closed at t = 0."""
    size = units_of(model, state)[0]
    for cut in model.cuts:
        gap = max(abs(equation.value) for equation in cut.equations(state))
        if not gap <= _CLOSED * max(size, 1.0):
            yield f"closure {cut.name} is open by {gap:.3g} m or rad at the start"


def wrong_branch(model: Model, state: State) -> Iterator[str]:
    """Yield a message if the loops are not closed in the assembly mode of the description.

    Newton's method closes the loops near the described position. From this position, the check moves
    the independent coordinates in small steps to their initial values. The dependent coordinates follow
    from the loop-closure constraints and must reach their own initial values. If the loops cannot be
    closed after a step, the check is skipped.
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
            f"the loops are closed in another assembly mode than the described position: {name} starts at"
            f" {model.q0[k]:.6g} instead of {reached[k]:.6g}"
        )


def _loops(model: Model, q: Array) -> tuple[Array, Array]:
    state = model.state(0.0, q, np.zeros_like(q))
    found = [equation for cut in model.cuts for equation in cut.equations(state)]
    return np.array([e.value for e in found]), np.array([e.C for e in found])


def _closed(model: Model, q: Array, units: Array, which: NDArray[np.signedinteger] | None) -> Array | None:
    """Return coordinates, close to the initial guess, for which all loops are closed.

    The search consists of minimum-norm Newton steps. The result is None if the search does not converge.

    Parameters
    ----------
    model : Model
        Equations of the mechanism.
    q : ndarray, shape (n,)
        Initial guess, rad or m.
    units : ndarray, shape (n,)
        Scales of the coordinates: 1 rad, or the mechanism's size in m.
    which : ndarray or None
        Indices of the coordinates that may change; None for all.
    """
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
