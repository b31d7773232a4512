"""Radau IIA of many stages, evaluated at once: implicit, L-stable, with long steps (Hairer and Wanner 1996, IV.8).

In a step from t to t + h the motion is a polynomial that fulfils ẏ = f(t, y) at the nodes t + c_i h, the last of
them the step's end. With its increments Z, shape (s, k), there, Z = h A F; simplified Newton steps solve
(A⁻¹/h − ∂f/∂y) ΔZ = F − A⁻¹ Z/h, which falls apart into one system for each eigenvalue of A⁻¹. What an evaluation
of f costs hardly depends on how many states it is asked for, so neither do stages nor differences for ∂f/∂y.
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

STAGES = 11  # odd, so that one eigenvalue is real; more would take longer for steps that are hardly longer
_ITERATIONS = 10  # steps after which a search without convergence is given up
_SLOW = 0.5  # contraction of Newton's method: with a slower one it is given up
_FRESH = 0.05  # the same: with a slower one ∂f/∂y is found anew for the next step
_CONVERGED = 1e-2  # of the tolerance, what Newton's method may leave
_LONGER, _SHORTER = 5.0, 0.2  # of a step, for the next one
_SAME = 1.2  # the same: less is not worth new factors
_SAFETY = 0.9  # of the step that the error estimate allows
_FAILED = 0.25  # of a step, where Newton's method failed
_FIRST = 1e-6  # of the span: no first step is shorter, for a start from rest says nothing of the motion's size
_BEGINNING = 0.01  # of the state's size: change of the state in the first step
_LAST = 1e-3  # of a step: the end of the span that is so near to a step's end is that end
_SPACINGS = 10.0  # of floating-point numbers near t: a step as short cannot go on
_FEW_SPACINGS = 1e3  # the same: where a rate fails in a step as short, the error is the rate's
_FIRST_LEFT = 0.1  # of the first change in Newton's method: error that is left, before a contraction is known
_LEAST_LEFT = 1e-3  # least value of 1 − contraction: divergence is not an infinite error
_LEAST_ERROR = 1e-16  # of the tolerance: an error of zero asks for the longest step, not for an infinite one
_TINY = 1e-300  # keeps quotients finite


@dataclass(frozen=True)
class _Scheme:
    """Constants of the method with s stages.

    nodes         shape (s,), c
    inverse       shape (s, s), A⁻¹ = T Λ T⁻¹
    eigenvalues   shape (e,), of each conjugate pair one
    into, back    shape (e, s) and (s, e): T⁻¹, and T with pairs counted twice
    series        shape (s + 1, s): the coefficients of Legendre's polynomials in the step from Z
    begin         shape (s + 1,): the slope at the step's begin, times h, from these coefficients
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
    # the polynomial's derivative at the nodes: A⁻¹ Z/h = F
    inverse = np.asarray(legendre.legvander(at[1:], s - 1) @ (2.0 * legendre.legder(series)), dtype=np.float64)
    eigenvalues, T = np.linalg.eig(inverse)
    into = np.linalg.inv(T)
    twice = np.where(eigenvalues.imag > 0.0, 2.0, 1.0)
    begin = 2.0 * np.asarray(legendre.legval(-1.0, legendre.legder(np.eye(s + 1))), dtype=np.float64)
    # the real one comes first
    kept = sorted(np.flatnonzero(eigenvalues.imag >= 0.0), key=lambda k: eigenvalues[k].imag)
    return _Scheme(nodes, inverse, eigenvalues[kept], into[kept], (T * twice)[:, kept], series, begin)


_SCHEME = _scheme(STAGES)


@dataclass(frozen=True)
class _Polynomial:
    """The motion in a step: y at its begin t, s, and the series, shape (s + 1, k), of what is added in h, s."""

    t: float
    h: float
    y: Array
    series: Array

    def __call__(self, t: float) -> Array:
        if t == self.t:
            return self.y  # without rounding
        return np.asarray(self.y + self.increments(np.array([t]))[0])

    def increments(self, t: Array) -> Array:
        """Shape (N, k), at times of shape (N,), also beyond the step."""
        x = 2.0 * (t - self.t) / self.h - 1.0
        return np.asarray(legendre.legvander(x, len(self.series) - 1) @ self.series)


class Radau:
    """A solver as SciPy's are: `step` until `status` is no longer "running"; t, s, and y, shape (k,), go along.

    rate    f of times, shape (N,), and states, shape (N, k), shape (N, k); and of one, without N
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
        self._factors = (np.nan, np.zeros(0, dtype=complex))  # h, and (λ/h − ∂f/∂y)⁻¹

    def step(self) -> str | None:
        """Takes one; where none does, `status` is "failed" and it says why, or the rate's error is raised."""
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
        """The last step's polynomial."""
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
        """The step's polynomial, f at its end, error by the tolerance, Newton's contraction; None: that fails."""
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
        """Return the error by a jump of f between the begin and the first node. Stiff parts are damped."""
        missed = self._slope - _SCHEME.begin @ series / h
        damped = (self._inverses(h)[0] @ missed).real * _SCHEME.eigenvalues[0].real
        return _norm(_SCHEME.nodes[0] * damped / size)

    def _guess(self, times: Array) -> Array:
        """By the last step's polynomial."""
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
        """∂f/∂y, shape (k, k), by forward differences, all at once."""
        moved = np.sqrt(np.finfo(float).eps) * np.maximum(1.0, np.abs(self.y))
        states = np.vstack([self.y, self.y + np.diag(moved)])
        rates = self._rate(np.full(len(states), self.t), states)
        return np.asarray(((rates[1:] - rates[0]) / moved[:, None]).T)

    def _first(self) -> float:
        """Length of the first step, s: in it an explicit one would change y by a hundredth of its size."""
        size = self._atol + self._rtol * np.abs(self.y)
        slope, span = _norm(self._slope / size), self._end - self.t
        wanted = _BEGINNING * max(_norm(self.y / size), 1.0) / max(slope, _TINY)
        return min(max(wanted, _FIRST * span), span)


def _error(series: Array) -> float:
    """Size of the last coefficient, and as the two before it foretell it: at a jump one may vanish by chance."""
    before, last, final = (_norm(row) for row in series[-3:])
    return max(final, last * min(1.0, last / max(before, _TINY)))


def _norm(values: Array) -> float:
    """Root of the mean square."""
    return float(np.sqrt(np.mean(values * values)))
