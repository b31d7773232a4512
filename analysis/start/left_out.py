"""Redundant constraints: whether they hold although they are no part of the equations.

What is left out is no part of the equations, so nothing but a look shows whether it holds. A row of order 0 is
looked at by its value, one of order 1 by its rate, one of order 2 by its acceleration. What rows that are kept are
violated by (a start that violates, drift) goes through to those that they imply; that part does not count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Array
from ...reference.constraints.choice import RowChoice
from ...reference.kinematics.quantities import KinematicState
from ...reference.solve.model import ReferenceModel

_CURVED = 10.0  # times the square of what rows that are kept are violated by: rows are implied to first order only
_NOISE = 1e-15  # of any row
_TINY = 1e-300  # keeps quotients finite where a size is zero
WHAT = ("positions", "velocities", "accelerations")


@dataclass(frozen=True)
class Opening:
    """Rows that are left out and do not hold.

    names     of the rows
    residual  what the first one is open by, in its unit (per second, per second squared)
    what      of `WHAT`
    t         s
    """

    names: tuple[str, ...]
    residual: float
    what: str
    t: float

    def __str__(self) -> str:
        return (
            f"{', '.join(self.names)}: left out because other rows seemed to imply it, but at t = {self.t:.9g} s"
            f" its {self.what} are open by {self.residual:.3g}; remove what contradicts it, or start where rows do"
            " not depend on each other"
        )


class LeftOut:
    """The rows that a choice leaves out.

    names   of the k rows
    rows    their indices among all rows
    active  indices of those that imply them
    """

    def __init__(self, model: ReferenceModel, choice: RowChoice) -> None:
        constraints = model.constraints
        self.active = list(choice.independent)
        self.rows = [k for k in range(len(constraints.names)) if k not in choice.independent]
        self.names = tuple(constraints.names[k] for k in self.rows)
        self._constraints, self._unit = constraints, choice.unit
        self._reach = choice.extent * choice.unit  # by which a change in a second is measured
        self._orders = constraints.orders[self.rows]
        self._open = float(model.mechanism.chain.simulation.violation)

    def residuals(self, state: KinematicState, qdd: Array | None = None) -> tuple[Array, Array]:
        """Return each redundant constraint's violation beyond the kept ones', and the allowed one, (k,) each.

        Of the latter a part, where that is enough.

        qdd  shape (n,), rad/s² or m/s²: for rows of order 2, which count as fulfilled without
        """
        found, allowed = np.zeros((2, len(self.rows)))
        for level in set(self._orders.tolist()) - ({2} if qdd is None else set()):
            own = self._orders == level
            for values, at in zip((found, allowed), self.at_level(level, state, qdd), strict=True):
                values[own] = at[own]
        return found, allowed

    def opened(self, state: KinematicState, qdd: Array | None = None) -> Opening | None:
        """The rows that are open, the worst one first."""
        return self._opening(*self.residuals(state, qdd), state.t)

    def opened_at(self, level: int, state: KinematicState, qdd: Array) -> Opening | None:
        """The rows that are open in their values, rates (1) or accelerations (2), whatever their order."""
        return self._opening(*self.at_level(level, state, qdd), state.t, level)

    def at_level(self, level: int, state: KinematicState, qdd: Array | None) -> tuple[Array, Array]:
        """`residuals` of values, rates or accelerations of all rows."""
        rows, motion = self._constraints(state), state.qd if level == 1 or qdd is None else qdd
        values = (rows.Phi, rows.Phi_dot, rows.C @ motion - rows.gamma)[level]
        implied = self._shares(rows.C) @ values[self.active]
        found = np.abs(values[self.rows] - implied)
        enough = self._open * np.minimum(np.abs(rows.C[self.rows]) @ self._reach, 1.0)
        if np.all(found <= enough):  # nothing is smaller than its size, and sizes take most of the time
            return found, enough
        sizes = self._constraints.sizes(state)
        relative = np.abs(rows.Phi[self.active]) / np.maximum(sizes.Phi[self.active], _TINY)
        violated = float(relative.max(initial=0.0))
        scale = sizes.C @ self._reach
        if level == 0:
            scale, allowed = scale + sizes.Phi, _CURVED * violated**2
        else:
            scale = scale + sizes.C @ np.abs(motion) + np.abs(values - rows.C @ motion)
            allowed = _CURVED * violated
        scale = scale[self.rows] + np.abs(implied)
        # of small machines what rows are made of counts, of others the row's unit; of squares of rows, noise
        small = np.maximum(self._open * np.minimum(scale, 1.0), _NOISE)
        return found, allowed * scale + small

    def _shares(self, C: Array) -> Array:
        """A, shape (k, r): the rows are A times those kept."""
        C = C * self._unit
        return np.asarray(np.linalg.lstsq(C[self.active].T, C[self.rows].T, rcond=None)[0].T, dtype=np.float64)

    def _opening(self, residuals: Array, allowed: Array, t: float, level: int | None = None) -> Opening | None:
        worst_first = np.argsort(-residuals / np.maximum(allowed, _TINY))
        wrong = [int(k) for k in worst_first if residuals[k] > allowed[k]]
        if not wrong:
            return None
        what = WHAT[int(self._orders[wrong[0]]) if level is None else level]
        return Opening(tuple(self.names[k] for k in wrong), float(residuals[wrong[0]]), what, t)
