"""Recognition of gradients that are only rounding errors, by the magnitudes of their terms.

Large terms of an expression can cancel, as in x + y − x − y. The computed gradient is then a rounding
error instead of zero. Such a gradient is negligible compared with the sum of the magnitudes of its terms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.trajectory import Array
from .jets import Jet, Scalar, jet
from .state import Derivatives


class SizedJet(Jet):
    """Scalar with its derivatives, and bounds of the rounding errors in its value and gradient.

    The value and the gradient are sums of terms. The sums of the magnitudes of these terms bound the
    rounding errors.

    Parameters
    ----------
    own : Jet
        Scalar with its derivatives.
    size : float
        Sum of the magnitudes of the terms that add up to the value.
    sizes : ndarray, shape (n,), or 0.0
        Sums of the magnitudes of the terms that add up to the gradient.
    """

    __slots__ = ("size", "sizes")

    def __init__(self, own: Jet, size: float, sizes: Array | float) -> None:
        super().__init__(own.value, own.slope, own.rate, own.bias)
        self.size, self.sizes = size, sizes

    def __add__(self, other: Scalar) -> SizedJet:
        o = _sized(other)
        return SizedJet(super().__add__(o), self.size + o.size, self.sizes + o.sizes)

    def __mul__(self, other: Scalar) -> SizedJet:
        o = _sized(other)
        own = abs(o.value) * self.sizes + o.size * np.abs(self.slope)
        others = abs(self.value) * o.sizes + self.size * np.abs(o.slope)
        return SizedJet(super().__mul__(o), self.size * abs(o.value) + abs(self.value) * o.size, own + others)

    __radd__ = __add__
    __rmul__ = __mul__

    def through(self, f: float, f1: float, f2: float) -> SizedJet:
        size, sizes = abs(f) + abs(f1) * self.size, abs(f1) * self.sizes
        return SizedJet(super().through(f, f1, f2), size, sizes + abs(f2) * self.size * np.abs(self.slope))

    def at(self, value: float) -> SizedJet:
        return SizedJet(super().at(value), self.size, self.sizes)


def _sized(x: Scalar) -> SizedJet:
    found = jet(x)
    return found if isinstance(found, SizedJet) else SizedJet(found, abs(found.value), np.abs(found.slope))


@dataclass
class SizedDerivatives(Derivatives):
    """Context for the evaluation of an expression with the magnitudes of its terms.

    Parameters
    ----------
    size : float
        Mechanism's size, m.
    units : ndarray, shape (n,)
        Scales of the coordinates: 1 rad, or the mechanism's size in m.
    """

    size: float
    units: Array

    def number(self, name: str) -> Scalar:
        """Return the value and the derivatives of a variable, with the magnitudes of their terms.

        The value and the derivatives are sums of terms. The terms of a direction cosine have the
        magnitude 1. The terms of a position have the magnitude of the mechanism's size.
        """
        found = jet(super().number(name))
        extent = {"none": 0.0, "one": 1.0, "size": self.size}[self.names.extent(name)]
        slope = np.abs(found.slope)
        sizes = np.where(slope > 0.0, np.maximum(slope, extent / self.units), 0.0)
        return SizedJet(found, abs(found.value) + extent, sizes)
