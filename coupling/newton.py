"""Quasi-Newton iteration of one communication step, whose Jacobian is kept from step to step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.trajectory import Array

Residual = Callable[[Array], Array]
_RENEW = 0.1  # contraction of one update above which the Jacobian is formed again
_MOST = 25  # updates in one step
_STALLED, _NOISE = 0.5, 100.0  # contraction of an iteration in rounding; such a residual over the tolerance
_NUDGE = 1e-4  # of the scale of an unknown
_MOST_NUDGED = 1e8  # largest factor of a change that is repeated because its effect was lost in rounding


class Solver:
    """Root finder for the interface of a group.

    Parameters
    ----------
    fixed_point : the residual is a map minus its argument, so that −1 is a first Jacobian
    """

    def __init__(self, fixed_point: bool) -> None:
        self._fixed_point = fixed_point
        self._jacobian: Array | None = None
        self._h = 0.0
        self.contraction = 0.0

    def solve(self, residual: Residual, z: Array, r: Array, scale: Array, tolerance: float, h: float) -> bool:
        """Improve z in place until the residual is below tolerance; the last call of `residual` has the solution.

        Parameters
        ----------
        z, r : unknowns and their residual, shape (n,)
        scale : sizes of the unknowns, shape (n,)
        tolerance : of the residual in the measure of `residual`, which is relative to scales
        h : length of the step, s, that a Jacobian is valid for
        """
        fresh = self._prepare(residual, z, r, scale, h)
        self.contraction = 0.0
        for count in range(_MOST):
            before = _norm(r)
            if before <= tolerance:
                return True
            if not np.isfinite(before):
                return False
            dz = self._update(r)
            if _norm(dz / scale) <= 1e-3 * tolerance and self.contraction > 0.5:  # rounding alone is left
                return True
            z += dz
            r[:] = residual(z)
            after = _norm(r)
            if not np.isfinite(after):
                return False
            self.contraction = after / before
            self._learn(r, dz)
            if (
                count > _MOST // 2 and self.contraction > _STALLED and after <= _NOISE * tolerance
            ):  # rounding in the parts is left
                return True
            limit = 0.3 if self._fixed_point else _RENEW
            if (
                self.contraction > limit
                and after > tolerance
                and not fresh
                and _norm(dz / scale) > 1e-3 * tolerance
            ):
                self._form(residual, z, r, scale, h)
                fresh = True
        return _norm(r) <= tolerance

    def _prepare(self, residual: Residual, z: Array, r: Array, scale: Array, h: float) -> bool:
        """Provide a Jacobian for the step's length; return whether it was formed at these unknowns."""
        if self._fixed_point:
            if self._jacobian is None:
                self._jacobian = -np.eye(len(z))
            return False
        if self._jacobian is None or abs(h / self._h - 1.0) > 1e-6:
            self._form(residual, z, r, scale, h)
            return True
        return False

    def _form(self, residual: Residual, z: Array, r: Array, scale: Array, h: float) -> None:
        columns = [self._difference(residual, z, r, k, scale[k]) for k in range(len(z))]
        self._jacobian, self._h = np.array(columns).T.reshape(len(r), len(z)), h
        r[:] = residual(z)

    @staticmethod
    def _difference(residual: Residual, z: Array, r: Array, k: int, scale: float) -> Array:
        """Column k by a one-sided difference, repeated with a larger change if the first was lost in noise."""
        nudge = _NUDGE * scale
        change = _changed(residual, z, r, k, nudge)
        if 0.0 < _norm(change) < 1e-2 * _NUDGE:
            nudge *= min(_NUDGE / _norm(change), _MOST_NUDGED)
            change = _changed(residual, z, r, k, nudge)
        return np.asarray(change / nudge)

    def _update(self, r: Array) -> Array:
        """Solve in the sense of least squares, so that redundant unknowns get the change of minimum norm."""
        assert self._jacobian is not None
        return np.asarray(np.linalg.lstsq(self._jacobian, -r, rcond=1e-9)[0])

    def _learn(self, r: Array, dz: Array) -> None:
        """Update the Jacobian by Broyden's rank-one formula."""
        length = float(dz @ dz)
        if length > 0.0 and self._jacobian is not None:
            self._jacobian = self._jacobian + np.outer(r, dz) / length


def _norm(r: Array) -> float:
    return float(np.max(np.abs(r))) if len(r) else 0.0


def _changed(residual: Residual, z: Array, r: Array, k: int, nudge: float) -> Array:
    nudged = z.copy()
    nudged[k] += nudge
    return np.asarray(residual(nudged) - r)
