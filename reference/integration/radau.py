"""Radau IIA method with many simultaneously evaluated stages: implicit, L-stable, with long steps.

See Hairer and Wanner 1996, section IV.8. In a step from t to t + h, the solution is a polynomial.
It fulfils ẏ = f(t, y) at the nodes t + c_i h. The last node is the end of the step. The increments
Z at the nodes, shape (s, k), fulfil Z = h A F. A is the Runge–Kutta matrix, and F contains the
stage derivatives. Simplified Newton steps solve (A⁻¹/h − ∂f/∂y) ΔZ = F − A⁻¹ Z/h. This system
decouples into one system for each eigenvalue of A⁻¹.

One call of f with many states takes little longer than a call with one state. Many stages and the
finite differences for ∂f/∂y are therefore cheap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray
from scipy.special import roots_jacobi

from ...core.errors import SolveError
from ...core.trajectory import Array

# An odd number of Radau stages yields one real eigenvalue; more stages would hardly permit longer steps.
STAGES = 11
_ITERATIONS = 10  # Newton's method ends after this many iterations in a Radau step.
_SLOW = 0.5  # Newton's method is stopped if its contraction factor exceeds this value.
_FRESH = 0.05  # The next step reuses ∂f/∂y if the contraction factor of Newton's method is at most this value.
_CONVERGED = 1e-2  # Newton's method has converged if its remaining error is below this fraction of the tolerance.
_LONGER, _SHORTER = 5.0, 0.2  # The ratio of successive step lengths is between these limits.
# If the step could grow by less than this factor, the step length is unchanged, which saves a factorisation.
_SAME = 1.2
_SAFETY = 0.9  # The step length from the error estimate is multiplied by this safety factor.
_FAILED = 0.25  # After a failure of Newton's method, the step length is multiplied by this factor.
# Lower limit of the first step, as a fraction of the time span: zero initial rates indicate no time scale.
_FIRST = 1e-6
_BEGINNING = 0.01  # The first step changes the state by about this fraction of the state's norm.
# A step is extended to the end of the time span if the rest is below this fraction of the step.
_LAST = 1e-3
_SPACINGS = 10.0  # The solver fails if a step is shorter than this many floating-point spacings at time t.
# If the right-hand side fails, the step is shortened unless it is below this many floating-point spacings of t.
_FEW_SPACINGS = 1e3
# The error after the first Newton iteration is assumed to be this fraction of the correction.
_FIRST_LEFT = 0.1
# The difference 1 − contraction factor is at least this value, which keeps the error estimate finite.
_LEAST_LEFT = 1e-3
# The error relative to the tolerance is at least this value, which keeps the next step length finite.
_LEAST_ERROR = 1e-16
_TINY = 1e-300  # A denominator is at least this value, which prevents division by zero.


@dataclass(frozen=True)
class _Scheme:
    """Constants of the Radau IIA method with s stages.

    Attributes
    ----------
    nodes : ndarray, shape (s,)
        Nodes c_i of the stages, from 0 to 1.
    inverse : ndarray, shape (s, s)
        Inverse A⁻¹ = T Λ T⁻¹ of the Runge–Kutta matrix A, with the eigenvalues in Λ.
    eigenvalues : ndarray, shape (e,)
        Eigenvalues of A⁻¹; only one of each conjugate pair is kept.
    into, back : ndarray, shape (e, s) and (s, e)
        Rows of T⁻¹ and columns of T for these eigenvalues. Columns of complex eigenvalues are doubled
        to account for the conjugate ones.
    series : ndarray, shape (s + 1, s)
        Matrix that maps the increments Z to coefficients of Legendre polynomials over the step.
    begin : ndarray, shape (s + 1,)
        Row vector that maps the Legendre coefficients to h times the derivative at the beginning of the
        step.
    """

    nodes: Array
    inverse: Array
    eigenvalues: NDArray[np.complex128]
    into: NDArray[np.complex128]
    back: NDArray[np.complex128]
    series: Array
    begin: Array


def _scheme(s: int) -> _Scheme:
    nodes = np.append((roots_jacobi(s - 1, 1, 0)[0] + 1.0) / 2.0, 1.0)
    at = 2.0 * np.append(0.0, nodes) - 1.0
    series = np.linalg.inv(np.asarray(legendre.legvander(at, s), dtype=np.float64))[:, 1:]
    # The matrix A⁻¹ maps the state increments Z at the nodes to the derivatives F = A⁻¹ Z/h, with step length h.
    inverse = np.asarray(legendre.legvander(at[1:], s - 1) @ (2.0 * legendre.legder(series)), dtype=np.float64)
    eigenvalues, T = np.linalg.eig(inverse)
    into = np.linalg.inv(T)
    twice = np.where(eigenvalues.imag > 0.0, 2.0, 1.0)
    begin = 2.0 * np.asarray(legendre.legval(-1.0, legendre.legder(np.eye(s + 1))), dtype=np.float64)
    # The error estimate requires the real eigenvalue of A⁻¹ to be the first.
    kept = sorted(np.flatnonzero(eigenvalues.imag >= 0.0), key=lambda k: eigenvalues[k].imag)
    return _Scheme(nodes, inverse, eigenvalues[kept], into[kept], (T * twice)[:, kept], series, begin)


_SCHEME = _scheme(STAGES)


@dataclass(frozen=True)
class _Polynomial:
    """Polynomial solution in one step.

    Attributes
    ----------
    t, h : float
        Beginning and length of the step, s.
    y : ndarray, shape (k,)
        State at the beginning of the step.
    series : ndarray, shape (s + 1, k)
        Legendre coefficients of the increment over the step.
    """

    t: float
    h: float
    y: Array
    series: Array

    def __call__(self, t: float) -> Array:
        if t == self.t:
            return self.y  # At the beginning of the step, the polynomial would add rounding errors to the state.
        return np.asarray(self.y + self.increments(np.array([t]))[0])

    def increments(self, t: Array) -> Array:
        """Return the increments of the state since the beginning of the step, shape (N, k).

        The times have shape (N,), s, and can be outside of the step.
        """
        x = 2.0 * (t - self.t) / self.h - 1.0
        return np.asarray(legendre.legvander(x, len(self.series) - 1) @ self.series)


class Radau:
    """Radau IIA solver with the interface of SciPy's solvers.

    Call `step` until `status` is no longer "running". The attribute `t` is the current time, s, and `y`
    is the current state, shape (k,).

    Parameters
    ----------
    rate : callable
        Right-hand side f(t, y). The function accepts one state, or N states of shape (N, k) at times of
        shape (N,).
    """

    def __init__(
        self,
        rate: Callable[[Any, Array], Array],
        t: float,
        y: Array,
        end: float,
        *,
        max_step: float,
        rtol: float,
        atol: float,
    ) -> None:
        self.t, self.y, self.status = t, np.asarray(y, dtype=float), "running"
        self._rate, self._end, self.max_step = rate, end, max_step
        self._rtol, self._atol = rtol, atol
        self._slope = np.asarray(rate(t, self.y))
        self._h = self._first()
        self._last: _Polynomial | None = None
        self._by_y: Array | None = None  # ∂f/∂y
        # The tuple contains the step length h and the matrices (λ/h − ∂f/∂y)⁻¹ for all eigenvalues λ of A⁻¹.
        self._factors = (np.nan, np.zeros(0, dtype=complex))

    def step(self) -> str | None:
        """Take one step. Return None, or a message if no step is possible.

        If no step is possible, `status` becomes "failed". A SolveError of the right-hand side shortens the
        step. If the step is then only a few floating-point spacings long, the error is raised.
        """
        fresh = False
        while True:
            h = min(self._h, self.max_step, self._end - self.t)
            if self.t + h >= self._end - _LAST * h:
                h = self._end - self.t
            if h < _SPACINGS * np.spacing(self.t):
                self.status = "failed"
                return "the required step is less than the spacing between numbers"
            try:
                if self._by_y is None:
                    self._by_y, fresh = self._differences(), True
                    self._factors = (np.nan, self._factors[1])
                found = self._solved(h)
            except SolveError:
                if h < _FEW_SPACINGS * np.spacing(self.t):
                    raise
                self._h, found = _FAILED * h, None
                continue
            if found is None:
                if fresh:
                    self._h = _FAILED * h
                else:
                    self._by_y = None
                self._last = None if fresh else self._last
                continue
            step, slope, error, contraction = found
            factor = float(np.clip(_SAFETY * max(error, _LEAST_ERROR) ** (-1.0 / STAGES), _SHORTER, _LONGER))
            if error > 1.0:
                self._h = factor * h
                continue
            self._take(step, h, factor, contraction)
            self._slope = slope
            return None

    def dense_output(self) -> Callable[[float], Array]:
        """Return the polynomial solution of the last Radau step."""
        assert self._last is not None
        return self._last

    def _take(self, step: _Polynomial, h: float, factor: float, contraction: float) -> None:
        self.y = self.y + step.increments(np.array([self.t + h]))[0]
        self.t = self._end if h == self._end - self.t else self.t + h
        self._last = step
        if not 1.0 <= factor < _SAME:
            self._h = factor * h
        if contraction > _FRESH:
            self._by_y = None
        if self.t >= self._end:
            self.status = "finished"

    def _solved(self, h: float) -> tuple[_Polynomial, Array, float, float] | None:
        """Return the solution of a Radau step of length h, or None if Newton's method fails.

        The solution consists of the polynomial, the derivative f at the end of the step, the error, and
        Newton's contraction factor. The error is relative to the tolerance.
        """
        times, size = self.t + h * _SCHEME.nodes, self._atol + self._rtol * np.abs(self.y)
        Z = self._guess(times)
        previous, contraction = np.inf, 0.0
        inverses = self._inverses(h)
        for _ in range(_ITERATIONS):
            residual = self._rate(times, self.y + Z) - _SCHEME.inverse @ Z / h
            pushed = (_SCHEME.into @ residual)[..., None]
            change = (_SCHEME.back @ (inverses @ pushed)[..., 0]).real
            Z = Z + change
            norm = _norm(change / size)
            if not np.isfinite(norm):
                return None
            if np.isfinite(previous):
                contraction = norm / max(previous, _TINY)
                left = norm * contraction / max(1.0 - contraction, _LEAST_LEFT)
            else:
                left = _FIRST_LEFT * norm
            if left < _CONVERGED:
                series = _SCHEME.series @ Z
                error = max(_error(series / size), self._error_at_begin(h, series, size))
                return _Polynomial(self.t, h, self.y, series), _SCHEME.inverse[-1] @ Z / h, error, contraction
            if contraction > _SLOW:
                return None
            previous = norm
        return None

    def _error_at_begin(self, h: float, series: Array, size: Array) -> float:
        """Estimate the error of a Radau step from the slope at the beginning of the step.

        The error is relative to the tolerance. The estimate detects a jump of f before the first node: the
        slope of the solution polynomial then differs from f at the beginning of the step. The difference
        is multiplied by a filter matrix that damps stiff components.
        """
        missed = self._slope - _SCHEME.begin @ series / h
        damped = (self._inverses(h)[0] @ missed).real * _SCHEME.eigenvalues[0].real
        return _norm(_SCHEME.nodes[0] * damped / size)

    def _guess(self, times: Array) -> Array:
        """Return initial increments for Newton's method in a Radau step, shape (s, k).

        The increments are extrapolated from the polynomial of the preceding step. In the first step,
        they are zero.
        """
        if self._last is None:
            return np.zeros((STAGES, len(self.y)))
        last = self._last
        return last.increments(times) - (self.y - last.y)

    def _inverses(self, h: float) -> NDArray[np.complex128]:
        if self._factors[0] != h:
            assert self._by_y is not None
            unit = np.eye(len(self.y))
            self._factors = (h, np.linalg.inv(_SCHEME.eigenvalues[:, None, None] / h * unit - self._by_y))
        return self._factors[1]

    def _differences(self) -> Array:
        """Return the Jacobian ∂f/∂y, shape (k, k), by forward differences.

        All displaced states are evaluated in one call.
        """
        moved = np.sqrt(np.finfo(float).eps) * np.maximum(1.0, np.abs(self.y))
        states = np.vstack([self.y, self.y + np.diag(moved)])
        rates = self._rate(np.full(len(states), self.t), states)
        return np.asarray(((rates[1:] - rates[0]) / moved[:, None]).T)

    def _first(self) -> float:
        """Return the length of the first step, s.

        An explicit step of this length would change the norm of y by about 1 %.
        """
        size = self._atol + self._rtol * np.abs(self.y)
        slope, span = _norm(self._slope / size), self._end - self.t
        length = _BEGINNING * max(_norm(self.y / size), 1.0) / max(slope, _TINY)
        return min(max(length, _FIRST * span), span)


def _error(series: Array) -> float:
    """Return the error estimate of a Radau step from the last three Legendre coefficients.

    The estimate is the larger of two values: the last coefficient, and the value that the two
    preceding coefficients predict for the last one. The last coefficient alone can vanish by chance at
    a jump.
    """
    before, last, final = (_norm(row) for row in series[-3:])
    return max(final, last * min(1.0, last / max(before, _TINY)))


def _norm(values: Array) -> float:
    return float(np.sqrt(np.mean(values * values)))
