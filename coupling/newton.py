"""Quasi-Newton iteration for one communication step; the Jacobian is reused in later steps.

The iteration divides residuals and unknowns by typical sizes, so that the Jacobian is
dimensionless.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.trajectory import Array

Residual = Callable[[Array], Array]
# The Jacobian matrix is recomputed if an iteration leaves more than this fraction of the residual.
_RENEW = 0.1
_MOST = 25  # A Newton iteration fails if it does not converge within this number of updates of the unknowns.
# After many updates, a Newton iteration has stalled if an update leaves more than this fraction of the residual.
_STALLED = 0.5
# The result of a stalled iteration is accepted if the residual is at most this many times the tolerance.
_NOISE = 100.0
# A finite difference changes an unknown by this fraction of the unknown's typical size.
_NUDGE = 1e-4
# If rounding errors dominate a finite difference, its increment is enlarged by at most this factor.
_MOST_NUDGED = 1e8


class Solver:
    """Solver for algebraic loops and rigid connections in one communication step of a group of FMUs.

    Parameters
    ----------
    fixed_point : whether the residual has the form f(z) − z for unknowns z; the Jacobian −I is then
        a good initial approximation
    """

    def __init__(self, fixed_point: bool) -> None:
        self._fixed_point = fixed_point
        self._jacobian: Array | None = None
        self._h = 0.0
        self.contraction = 0.0

    def solve(self, residual: Residual, z: Array, r: Array, scale: Array, tolerance: float, h: float) -> bool:
        """Improve the unknowns in place until the residual is below the tolerance.

        The last call of `residual` is made at the final unknowns.

        Parameters
        ----------
        residual : function that returns the residual at given unknowns, relative to the sizes of
            the signals, shape (n,)
        z, r : unknowns and their residual, shape (n,); both are changed in place
        scale : typical sizes of the unknowns, shape (n,)
        tolerance : largest admissible magnitude of a component of the residual
        h : length of the step, s; a stored Jacobian is reused only for steps of the same length

        Returns
        -------
        bool : whether the iteration has converged
        """
        fresh = self._prepare(residual, z, r, scale, h)
        self.contraction = 0.0
        for count in range(_MOST):
            before = _norm(r)
            if before <= tolerance:
                return True
            if not np.isfinite(before):
                return False
            dz = scale * self._update(r)
            # If an update of the unknowns is this small, the residual contains only rounding errors.
            if _norm(dz / scale) <= 1e-3 * tolerance and self.contraction > 0.5:
                return True
            z += dz
            r[:] = residual(z)
            after = _norm(r)
            if not np.isfinite(after):
                return False
            self.contraction = after / before
            self._learn(r, dz / scale)
            if (
                count > _MOST // 2 and self.contraction > _STALLED and after <= _NOISE * tolerance
            ):  # The remaining residual consists of rounding errors of the FMUs.
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
        """Ensure that a Jacobian for step length h exists; return whether this call has computed it."""
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
        """Return column k of the Jacobian by a forward difference.

        If the residual hardly changes, the difference is repeated with a larger change of the
        unknown. This reduces the influence of rounding errors. The argument `scale` is the typical
        size of the unknown.
        """
        nudge = _NUDGE * scale
        change = _changed(residual, z, r, k, nudge)
        if 0.0 < _norm(change) < 1e-2 * _NUDGE:
            nudge *= min(_NUDGE / _norm(change), _MOST_NUDGED)
            change = _changed(residual, z, r, k, nudge)
        return np.asarray(change * (scale / nudge))

    def _update(self, r: Array) -> Array:
        """Return the Newton update of the unknowns relative to their typical sizes, shape (n,).

        The least-squares solution is used. If unknowns are redundant, this solution has the
        smallest norm.
        """
        assert self._jacobian is not None
        return np.asarray(np.linalg.lstsq(self._jacobian, -r, rcond=1e-9)[0])

    def _learn(self, r: Array, dz: Array) -> None:
        """Correct the Jacobian by Broyden's rank-one formula for a change `dz` of the scaled unknowns."""
        length = float(dz @ dz)
        if length > 0.0 and self._jacobian is not None:
            self._jacobian = self._jacobian + np.outer(r, dz) / length


def _norm(r: Array) -> float:
    return float(np.max(np.abs(r))) if len(r) else 0.0


def _changed(residual: Residual, z: Array, r: Array, k: int, nudge: float) -> Array:
    nudged = z.copy()
    nudged[k] += nudge
    return np.asarray(residual(nudged) - r)
