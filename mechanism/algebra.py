"""Where a mechanism's numbers come from: plain ones, or symbols (see `generator.program.Symbols`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ..core.trajectory import Array
from ..description.types.bounds import ANY, NON_NEGATIVE, Bounds
from ..description.types.origin import Origin

Value = Any  # float or symbol
Vector = Any  # numpy array or symbol, shape (3,)
Matrix = Any


class Algebra(Protocol):
    """Where a mechanism's numbers come from."""

    def of(self, origin: Origin) -> Algebra:
        """The same for the numbers of a part of the description."""

    def parameter(self, name: str, value: float, unit: str | None, description: str, bounds: Bounds) -> Value:
        """One of the description's own parameters, before all numbers that may be expressions of them."""

    def value(self, number: float) -> Value:
        """A number of the description, or what its expression is."""

    def cos(self, angle: Value) -> Value:
        """Of an angle in rad."""

    def sin(self, angle: Value) -> Value:
        """Of an angle in rad."""

    def scalar(self, name: str, value: Value, unit: str | None, description: str, bounds: Bounds = ANY) -> Value:
        """A number that has a name."""

    def vector(
        self, name: str, value: Sequence[Value] | Array, unit: str, description: str, bounds: Bounds = ANY
    ) -> Vector:
        """A vector that has a name, and bounds of its elements."""

    def derived(self, name: str, value: Matrix, unit: str, description: str) -> Matrix:
        """What follows from such numbers."""

    def require(self, value: Value, message: str, bounds: Bounds = NON_NEGATIVE) -> None:
        """That a value which follows from parameters is within bounds, or else what it means."""

    def array(self, rows: Sequence[Any]) -> Any:
        """Vector of numbers, or matrix of rows."""


class Numbers:
    """Algebra of plain numbers."""

    def of(self, origin: Origin) -> Numbers:
        """Itself: numbers do not know where they come from."""
        del origin
        return self

    def parameter(self, name: str, value: float, unit: str | None, description: str, bounds: Bounds) -> float:
        """The number itself."""
        return self.scalar(name, value, unit, description, bounds)

    def value(self, number: float) -> float:
        """The number itself, of an expression its value."""
        return float(number)

    def cos(self, angle: float) -> float:
        """Of an angle in rad."""
        return float(np.cos(angle))

    def sin(self, angle: float) -> float:
        """Of an angle in rad."""
        return float(np.sin(angle))

    def scalar(self, name: str, value: float, unit: str | None, description: str, bounds: Bounds = ANY) -> float:
        """The number itself."""
        del name, unit, description, bounds
        return float(value)

    def vector(
        self, name: str, value: Sequence[float] | Array, unit: str, description: str, bounds: Bounds = ANY
    ) -> Array:
        """The vector itself."""
        del name, unit, description, bounds
        return np.array(value, dtype=float)

    def derived(self, name: str, value: Array, unit: str, description: str) -> Array:
        """The value itself."""
        del name, unit, description
        return value

    def require(self, value: float, message: str, bounds: Bounds = NON_NEGATIVE) -> None:
        """Nothing: what the description's own numbers are, decides what is built."""
        del value, message, bounds

    def array(self, rows: Sequence[Any]) -> Array:
        """Array of the numbers."""
        return np.array(rows, dtype=float)
