"""Where a mechanism's numbers come from: plain ones, or symbols (see `generator.program.Symbols`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..types.origin import Origin

Value = Any  # float or symbol
Vector = Any  # numpy array or symbol, shape (3,)
Matrix = Any
Array = NDArray[np.float64]


class Algebra(Protocol):
    """Where a mechanism's numbers come from."""

    def of(self, origin: Origin) -> Algebra:
        """The same for the numbers of a part of the description."""

    def scalar(self, name: str, value: float, unit: str | None, description: str) -> Value:
        """A number that has a name."""

    def vector(self, name: str, value: Sequence[float] | Array, unit: str, description: str) -> Vector:
        """A vector that has a name."""

    def array(self, rows: Sequence[Any]) -> Any:
        """Vector of numbers, or matrix of rows."""


class Numbers:
    """Algebra of plain numbers."""

    def of(self, origin: Origin) -> Numbers:
        """Itself: numbers do not know where they come from."""
        del origin
        return self

    def scalar(self, name: str, value: float, unit: str | None, description: str) -> float:
        """The number itself."""
        del name, unit, description
        return float(value)

    def vector(self, name: str, value: Sequence[float] | Array, unit: str, description: str) -> Array:
        """The vector itself."""
        del name, unit, description
        return np.array(value, dtype=float)

    def array(self, rows: Sequence[Any]) -> Array:
        """Array of the numbers."""
        return np.array(rows, dtype=float)
