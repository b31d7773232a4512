"""Tables as piecewise polynomials, which equations look up by the piece that an argument is in."""

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
_SHARES = np.array([0.0, 0.25, 0.5, 0.75])  # of a piece, where it is looked at
PIECE = 5  # numbers of one: where it begins, and the coefficients c0 to c3 of its polynomial from there


@dataclass(frozen=True)
class Piecewise:
    """A function of one number.

    pieces  shape (m, PIECE), the first column not decreasing: a piece holds up to the begin of the next one, the
            first one from −∞ on, the last one for ever
    kinks   whether its slope jumps where pieces meet, so that solvers stop there
    """

    pieces: Array
    kinks: bool

    def piece(self, x: float) -> Array:
        """The one that x is in, shape (PIECE,)."""
        after = int(np.searchsorted(self.pieces[1:, 0], x, side="right"))
        return np.asarray(self.pieces[after])

    def __call__(self, x: Array) -> Array:
        """Values at many numbers, shape (N,)."""
        each = self.pieces[np.searchsorted(self.pieces[1:, 0], x, side="right")]
        begin, c0, c1, c2, c3 = each.T
        u = x - begin
        return np.asarray(c0 + u * (c1 + u * (c2 + u * c3)))

    @property
    def pace(self) -> Pace:
        """Longest steps of the argument that resolve it; solvers stop at kinks, between which it is straight."""
        if self.kinks:
            return STEADY
        begins = np.unique(self.pieces[:, 0])
        lengths = np.diff(begins, append=2.0 * begins[-1] - begins[-2]) if len(begins) > 1 else np.ones(1)
        x = (begins[:, None] + lengths[:, None] * _SHARES).ravel()
        return sampled(x, self(x))


def cubic(time: Array, values: Array, *, at_rest: bool) -> Piecewise:
    """C² spline through points, shape (N,) each; at_rest: with no slope at both ends, else `not-a-knot`."""
    spline = CubicSpline(time, values, bc_type="clamped" if at_rest else "not-a-knot")
    return Piecewise(np.column_stack([time[:-1], spline.c[::-1].T]), kinks=False)


def linear(time: Array, values: Array, *, kinks: bool) -> Piecewise:
    """Lines between points, shape (N,) each; before and after them the first and the last value."""
    slopes = np.append(np.diff(values) / np.diff(time), 0.0)
    begins, starts = np.append(time[0], time), np.append(values[0], values)
    none = np.zeros_like(starts)
    return Piecewise(np.column_stack([begins, starts, np.append(0.0, slopes), none, none]), kinks)


def derivative(piece: Expr, x: Expr, order: int) -> Expr:
    """Return the derivative of order 0 to 3 at x of a piece's polynomial, shape (PIECE,)."""
    _, c0, c1, c2, c3 = piece
    return _DERIVATIVES[order](x - piece[0], c0, c1, c2, c3)


_DERIVATIVES: tuple[Callable[..., Expr], ...] = (
    lambda u, c0, c1, c2, c3: c0 + u * (c1 + u * (c2 + u * c3)),
    lambda u, c0, c1, c2, c3: c1 + u * (2.0 * c2 + 3.0 * u * c3),
    lambda u, c0, c1, c2, c3: 2.0 * c2 + 6.0 * u * c3,
    lambda u, c0, c1, c2, c3: 6.0 * c3,
)


def symbol(name: str) -> Expr:
    """A piece that has a name."""
    return ir.symbol(name, (PIECE,))
