"""Lookup tables as piecewise polynomials, for the equations of motion and the generated code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from . import ir
from .ir import Expr
from .pace import STEADY, Pace, sampled

Array = NDArray[np.float64]
# Samples within a polynomial piece have these positions, relative to the length of the piece.
_SHARES = np.array([0.0, 0.25, 0.5, 0.75])
# Each polynomial piece has this number of values: its left end x0 and the coefficients c0 to c3 in x − x0.
PIECE = 5


@dataclass(frozen=True)
class Piecewise:
    """Piecewise cubic function of one variable.

    Attributes
    ----------
    pieces : ndarray, shape (m, 5)
        Left end and coefficients of each piece, in ascending order. The first piece extends to −∞ and
        the last one to +∞.
    kinks : bool
        Whether solvers end a step between two pieces, because the slope or the second derivative jumps
        there.
    """

    pieces: Array
    kinks: bool

    def piece(self, x: float) -> Array:
        """Return the left end and the coefficients of the polynomial piece that contains x, shape (5,)."""
        after = int(np.searchsorted(self.pieces[1:, 0], x, side="right"))
        return np.asarray(self.pieces[after])

    def __call__(self, x: Array) -> Array:
        """Return the values of the piecewise function at the numbers x, shape (N,)."""
        each = self.pieces[np.searchsorted(self.pieces[1:, 0], x, side="right")]
        begin, c0, c1, c2, c3 = each.T
        u = x - begin
        return np.asarray(c0 + u * (c1 + u * (c2 + u * c3)))

    @property
    def pace(self) -> Pace:
        """Largest steps of the argument with which a solver notices each change of the function's value.

        If the function has kinks, the steps are not limited. Solvers then end a step at each boundary
        between two polynomial pieces. Each piece is monotone, so no step can miss a pulse.
        """
        if self.kinks:
            return STEADY
        begins = np.unique(self.pieces[:, 0])
        lengths = np.diff(begins, append=2.0 * begins[-1] - begins[-2]) if len(begins) > 1 else np.ones(1)
        x = (begins[:, None] + lengths[:, None] * _SHARES).ravel()
        return sampled(x, self(x))


def cubic(time: Array, values: Array, *, at_rest: bool) -> Piecewise:
    """Return the C² cubic spline through N points, given by two arrays of shape (N,).

    With `at_rest`, the slope of the spline is zero at both ends. Without it, the end condition is
    "not-a-knot".
    """
    spline = CubicSpline(time, values, bc_type="clamped" if at_rest else "not-a-knot")
    return Piecewise(np.column_stack([time[:-1], spline.c[::-1].T]), kinks=False)


def monotone(time: Array, values: Array, *, at_rest: bool, kinks: bool) -> Piecewise:
    """Return the monotone cubic interpolation of points, shape (N,) each, with a continuous slope (PCHIP).

    The slope at a point is the weighted harmonic mean of the slopes of the two adjacent chords [1]_. At
    an extremum, the slope is zero. With `at_rest`, the slope is zero at both ends. Without it, the
    slope at an end is that of the parabola through three points, limited such that the function stays
    monotone.

    References
    ----------
    .. [1] Fritsch and Butland 1984, see docs/bibliography.md.
    """
    steps = np.diff(time)
    chords = np.diff(values) / steps
    slopes = np.zeros_like(values)
    slopes[1:-1] = _means(steps, chords)
    if not at_rest:
        slopes[0], slopes[-1] = _end_slope(steps, chords), _end_slope(steps[::-1], chords[::-1])
    first, last = slopes[:-1], slopes[1:]
    square, cube = (3.0 * chords - 2.0 * first - last) / steps, (first + last - 2.0 * chords) / steps**2
    pieces = np.column_stack([time[:-1], values[:-1], first, square, cube])
    return Piecewise(pieces, kinks and len(pieces) > 1)


def _means(steps: Array, chords: Array) -> Array:
    """Return the weighted harmonic means of the slopes of neighbouring chords.

    A mean is zero if the two slopes differ in sign.
    """
    before, after = 2.0 * steps[1:] + steps[:-1], steps[1:] + 2.0 * steps[:-1]
    alike = chords[:-1] * chords[1:] > 0.0
    left, right = (np.where(alike, part, 1.0) for part in (chords[:-1], chords[1:]))
    return np.where(alike, (before + after) / (before / left + after / right), 0.0)


def _end_slope(steps: Array, chords: Array) -> float:
    if len(steps) == 1:
        return float(chords[0])
    slope = ((2.0 * steps[0] + steps[1]) * chords[0] - steps[0] * chords[1]) / (steps[0] + steps[1])
    if slope * chords[0] <= 0.0:
        return 0.0
    if chords[0] * chords[1] <= 0.0 and abs(slope) > 3.0 * abs(chords[0]):
        return float(3.0 * chords[0])
    return float(slope)


def linear(time: Array, values: Array, *, kinks: bool) -> Piecewise:
    """Return the linear interpolation of points, shape (N,) each.

    Beyond each end, the value at this end is kept.
    """
    slopes = np.append(np.diff(values) / np.diff(time), 0.0)
    begins, starts = np.append(time[0], time), np.append(values[0], values)
    none = np.zeros_like(starts)
    return Piecewise(np.column_stack([begins, starts, np.append(0.0, slopes), none, none]), kinks)


def derivative(piece: Expr, x: Expr, order: int) -> Expr:
    """Return the derivative of order 0, 1, 2 or 3 of a cubic polynomial at the argument x.

    The argument `piece` has the shape (5,): left end of the interval, and four coefficients.
    """
    _, c0, c1, c2, c3 = piece
    return _DERIVATIVES[order](x - piece[0], c0, c1, c2, c3)


_DERIVATIVES: tuple[Callable[..., Expr], ...] = (
    lambda u, c0, c1, c2, c3: c0 + u * (c1 + u * (c2 + u * c3)),
    lambda u, c0, c1, c2, c3: c1 + u * (2.0 * c2 + 3.0 * u * c3),
    lambda u, c0, c1, c2, c3: 2.0 * c2 + 6.0 * u * c3,
    lambda u, c0, c1, c2, c3: 6.0 * c3,
)


def symbol(name: str) -> Expr:
    """Return the symbol of a vector that contains one piece of a piecewise polynomial, shape (5,).

    The elements are the left end of the piece and the four coefficients of the cubic polynomial.
    """
    return ir.symbol(name, (PIECE,))
