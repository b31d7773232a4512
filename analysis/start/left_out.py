"""Residuals of redundant constraints, which are not part of the equations of motion.

Position constraints are checked by Φ, velocity constraints by Φ̇, and acceleration constraints by C
q̈ − γ. Independent constraints may be violated at t = 0 or by drift. Such a violation also appears
in the redundant constraints. This contribution is subtracted from each residual.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Array
from ...reference.constraints.choice import RowChoice
from ...reference.kinematics.quantities import KinematicState
from ...reference.solve.model import ReferenceModel

# Redundant position constraints may be violated by this multiple of ε², if ε is the relative position error.
# Redundant velocity constraints may be violated by this multiple of the relative position error.
_CURVED = 10.0
_NOISE = 1e-15  # A constraint violation up to this value, in the unit of the constraint, is always admissible.
_TINY = 1e-300  # A denominator is at least this value, which prevents division by zero.
WHAT = ("positions", "velocities", "accelerations")


@dataclass(frozen=True)
class Opening:
    """Violated redundant constraints.

    Parameters
    ----------
    names : tuple of str
        Names of the constraint equations. The equation with the largest violation comes first.
    residual : float
        Violation of the first constraint in `names`. A position violation has the unit of the
        constraint; a velocity violation has this unit per s, an acceleration violation per s².
    what : str
        Violated level: positions, velocities or accelerations.
    t : float
        Time, s.
    """

    names: tuple[str, ...]
    residual: float
    what: str
    t: float

    def __str__(self) -> str:
        return (
            f"{', '.join(self.names)}: omitted as redundant, but at t = {self.t:.9g} s its {self.what} are"
            f" violated by {self.residual:.3g}; remove the contradicting constraint, or start in a position"
            " where the constraint equations are independent"
        )


class LeftOut:
    """Redundant constraint equations: all equations except the chosen independent ones.

    Attributes
    ----------
    names : tuple of str
        Names of the k redundant equations.
    rows : list of int
        Indices of the redundant equations among all equations.
    active : list of int
        Indices of the independent equations.
    """

    def __init__(self, model: ReferenceModel, choice: RowChoice) -> None:
        constraints = model.constraints
        self.active = list(choice.independent)
        self.rows = [k for k in range(len(constraints.names)) if k not in choice.independent]
        self.names = tuple(constraints.names[k] for k in self.rows)
        self._constraints, self._unit = constraints, choice.unit
        # Changes of q by these amounts move points by about the characteristic length of the mechanism.
        self._reach = choice.extent * choice.unit
        self._orders = constraints.orders[self.rows]
        self._open = float(model.mechanism.chain.simulation.violation)

    def residuals(self, state: KinematicState, qdd: Array | None = None) -> tuple[Array, Array]:
        """Return actual and admissible violations of the redundant constraints, shape (k,) each.

        The actual violations do not include contributions from violations of the independent
        constraints. Constraints at position, velocity and acceleration level are checked separately.
        Each admissible violation has a lower bound that is faster to compute. If no actual violation at
        a level exceeds its lower bound, the second array contains the lower bounds for this level.

        Parameters
        ----------
        state : KinematicState
            State to check.
        qdd : ndarray, shape (n,), optional
            Accelerations, rad/s² or m/s². If omitted, acceleration constraints count as fulfilled.
        """
        found, allowed = np.zeros((2, len(self.rows)))
        for level in set(self._orders.tolist()) - ({2} if qdd is None else set()):
            own = self._orders == level
            for values, at in zip((found, allowed), self.at_level(level, state, qdd), strict=True):
                values[own] = at[own]
        return found, allowed

    def opened(self, state: KinematicState, qdd: Array | None = None) -> Opening | None:
        """Return the violated redundant constraints, or None if no redundant constraint is violated.

        The constraint with the largest violation comes first.
        """
        return self._opening(*self.residuals(state, qdd), state.t)

    def opened_at(self, level: int, state: KinematicState, qdd: Array) -> Opening | None:
        """Return the redundant constraints that are violated at a level, or None if none is violated.

        The level is 0 for positions, 1 for velocities, and 2 for accelerations.
        """
        return self._opening(*self.at_level(level, state, qdd), state.t, level)

    def at_level(self, level: int, state: KinematicState, qdd: Array | None) -> tuple[Array, Array]:
        """Return actual and admissible violations of all redundant constraints at one level.

        The level is 0 for positions, 1 for velocities, and 2 for accelerations.
        """
        rows, motion = self._constraints(state), state.qd if level == 1 or qdd is None else qdd
        values = (rows.Phi, rows.Phi_dot, rows.C @ motion - rows.gamma)[level]
        implied = self._shares(rows.C) @ values[self.active]
        found = np.abs(values[self.rows] - implied)
        enough = self._open * np.minimum(np.abs(rows.C[self.rows]) @ self._reach, 1.0)
        # The evaluation of this sufficient condition takes less time than the evaluation of the exact condition.
        if np.all(found <= enough):
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
        # The admissible rounding error grows with the sum of the terms up to a sum of 1, and no further.
        small = np.maximum(self._open * np.minimum(scale, 1.0), _NOISE)
        return found, allowed * scale + small

    def _shares(self, C: Array) -> Array:
        """Return the matrix A, shape (k, r), with C[redundant rows] = A·C[independent rows] for the Jacobian C."""
        C = C * self._unit
        return np.asarray(np.linalg.lstsq(C[self.active].T, C[self.rows].T, rcond=None)[0].T, dtype=np.float64)

    def _opening(self, residuals: Array, allowed: Array, t: float, level: int | None = None) -> Opening | None:
        worst_first = np.argsort(-residuals / np.maximum(allowed, _TINY))
        wrong = [int(k) for k in worst_first if residuals[k] > allowed[k]]
        if not wrong:
            return None
        what = WHAT[int(self._orders[wrong[0]]) if level is None else level]
        return Opening(tuple(self.names[k] for k in wrong), float(residuals[wrong[0]]), what, t)
