"""Algebras: whether a mechanism is made of numbers or of symbols (see `generator.program.Symbols`).

The records of a mechanism are generic over its scalars `S`, vectors `V` and matrices `M`. Without arguments their
names mean numbers: `Mechanism` is the mechanism of the reference solver. `mechanism.symbolic` names the records
of symbols.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
from typing_extensions import TypeVar

from ..core.arithmetic import S
from ..core.trajectory import Array
from ..description.fields.numbers import AnyNumber, value_of, values_of
from ..description.types.bounds import ANY, NON_NEGATIVE, Bounds
from ..description.types.origin import Origin

Vector: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]
Matrix: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.float64]]

V = TypeVar("V", default=Vector)
M = TypeVar("M", default=Matrix)


class Algebra(Protocol[S, V, M]):
    """Source of a mechanism's scalars, vectors and matrices."""

    def of(self, origin: Origin) -> Algebra[S, V, M]:
        """Return the algebra for the numbers of a part of the description."""

    def parameter(self, name: str, value: float, unit: str | None, description: str, bounds: Bounds) -> S:
        """Return a parameter of the description, which later numbers may be expressions of."""

    def value(self, number: AnyNumber) -> S:
        """Return a number of the description, or the expression that it stands for."""

    def cos(self, angle: S) -> S:
        """Cosine of an angle in rad."""

    def sin(self, angle: S) -> S:
        """Sine of an angle in rad."""

    def scalar(
        self, name: str, value: AnyNumber | S, unit: str | None, description: str, bounds: Bounds = ANY
    ) -> S:
        """Return a scalar that has a name."""

    def vector(
        self,
        name: str,
        value: Sequence[AnyNumber] | Sequence[S],
        unit: str,
        description: str,
        bounds: Bounds = ANY,
    ) -> V:
        """Return a vector that has a name; the bounds hold for each element."""

    def derived(self, name: str, value: M, unit: str, description: str) -> M:
        """Return a matrix that has a name and follows from other numbers."""

    def require(self, value: S, message: str, bounds: Bounds = NON_NEGATIVE) -> None:
        """Require that a value which follows from parameters is within bounds; the message gives its meaning."""

    def elements(self, vector: V) -> Sequence[S]:
        """Return the elements of a vector."""

    def vector_of(self, elements: Sequence[S]) -> V:
        """Return the vector of these elements."""

    def matrix_of(self, rows: Sequence[Sequence[S]]) -> M:
        """Return the matrix of these rows."""

    def constant_vector(self, numbers: Sequence[float] | Array) -> V:
        """Return a vector of numbers that no parameter changes."""

    def constant_matrix(self, numbers: Array) -> M:
        """Return a matrix of numbers that no parameter changes."""


class Numbers:
    """Algebra of plain numbers."""

    def of(self, origin: Origin) -> Numbers:
        """Return the algebra itself: numbers do not depend on the part of the description."""
        del origin
        return self

    def parameter(self, name: str, value: float, unit: str | None, description: str, bounds: Bounds) -> float:
        """Return the number."""
        return self.scalar(name, value, unit, description, bounds)

    def value(self, number: AnyNumber) -> float:
        """Return the number, or the value of its expression."""
        return value_of(number)

    def cos(self, angle: float) -> float:
        """Cosine of an angle in rad."""
        return float(np.cos(angle))

    def sin(self, angle: float) -> float:
        """Sine of an angle in rad."""
        return float(np.sin(angle))

    def scalar(
        self, name: str, value: AnyNumber, unit: str | None, description: str, bounds: Bounds = ANY
    ) -> float:
        """Return the number."""
        del name, unit, description, bounds
        return value_of(value)

    def vector(
        self, name: str, value: Sequence[AnyNumber], unit: str, description: str, bounds: Bounds = ANY
    ) -> Vector:
        """Return the vector."""
        del name, unit, description, bounds
        return np.array(values_of(value))

    def derived(self, name: str, value: Matrix, unit: str, description: str) -> Matrix:
        """Return the matrix."""
        del name, unit, description
        return value

    def require(self, value: float, message: str, bounds: Bounds = NON_NEGATIVE) -> None:
        """Require nothing: the checks of the description hold for its own numbers."""
        del value, message, bounds

    def elements(self, vector: Vector) -> Sequence[float]:
        """Return the elements of a vector."""
        return vector.tolist()

    def vector_of(self, elements: Sequence[float]) -> Vector:
        """Return the vector of these elements."""
        return np.array(elements, dtype=float)

    def matrix_of(self, rows: Sequence[Sequence[float]]) -> Matrix:
        """Return the matrix of these rows."""
        return np.array(rows, dtype=float)

    def constant_vector(self, numbers: Sequence[float] | Array) -> Vector:
        """Return the vector."""
        return np.array(numbers, dtype=float)

    def constant_matrix(self, numbers: Array) -> Matrix:
        """Return the matrix."""
        return np.array(numbers, dtype=float)
