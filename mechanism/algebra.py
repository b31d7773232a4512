"""Arithmetic of a mechanism: numbers, or symbols as in `generator.program.Symbols`.

The data classes of a mechanism are generic: their type parameters are the scalars `S`, the vectors
`V` and the matrices `M`. Without type arguments, they contain numbers, as in the independent Python
solver. The module `mechanism.symbolic` contains type aliases for data classes with symbols.
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
    """Arithmetic that creates scalars, vectors and matrices of a mechanism from its description."""

    def of(self, origin: Origin) -> Algebra[S, V, M]:
        """Return the object that creates numbers or symbols for the entry `origin` of the description.

        If this object creates symbols, the result is a copy of it. The copy records the entry as the
        origin of each new symbol.
        """

    def parameter(self, name: str, value: float, unit: str | None, description: str, bounds: Bounds) -> S:
        """Define a parameter of the description, and return its number or its symbol.

        Numbers that are defined after the parameter may be expressions of the parameter.
        """

    def value(self, number: AnyNumber) -> S:
        """Return the scalar for a number of the description, or for an expression of parameters."""

    def cos(self, angle: S) -> S: ...

    def sin(self, angle: S) -> S: ...

    def scalar(
        self, name: str, value: AnyNumber | S, unit: str | None, description: str, bounds: Bounds = ANY
    ) -> S:
        """Define a scalar of the mechanism, and return its number or its symbol."""

    def vector(
        self,
        name: str,
        value: Sequence[AnyNumber] | Sequence[S],
        unit: str,
        description: str,
        bounds: Bounds = ANY,
    ) -> V:
        """Define a vector of the mechanism, and return its three numbers or its symbol.

        The bounds apply to each element.
        """

    def derived(self, name: str, value: M, unit: str, description: str) -> M:
        """Define a matrix whose elements are functions of parameters, and return its values or its symbol."""

    def require(self, value: S, message: str, bounds: Bounds = NON_NEGATIVE) -> None:
        """Require that a value which depends on parameters is within bounds.

        The argument `message` is the error message, which names the quantity.
        """

    def elements(self, vector: V) -> Sequence[S]: ...

    def vector_of(self, elements: Sequence[S]) -> V: ...

    def matrix_of(self, rows: Sequence[Sequence[S]]) -> M: ...

    def constant_vector(self, numbers: Sequence[float] | Array) -> V:
        """Return a vector whose elements do not depend on parameters."""

    def constant_matrix(self, numbers: Array) -> M:
        """Return a matrix whose elements do not depend on parameters."""


class Numbers:
    """Arithmetic in which all scalars, vectors and matrices of a mechanism are plain numbers."""

    def of(self, origin: Origin) -> Numbers:
        """Return this object. Only symbols, not numbers, store the entry of the description that defines them."""
        del origin
        return self

    def parameter(self, name: str, value: float, unit: str | None, description: str, bounds: Bounds) -> float:
        return self.scalar(name, value, unit, description, bounds)

    def value(self, number: AnyNumber) -> float:
        """Return a plain number unchanged, or evaluate an expression of parameters."""
        return value_of(number)

    def cos(self, angle: float) -> float:
        return float(np.cos(angle))

    def sin(self, angle: float) -> float:
        return float(np.sin(angle))

    def scalar(
        self, name: str, value: AnyNumber, unit: str | None, description: str, bounds: Bounds = ANY
    ) -> float:
        del name, unit, description, bounds
        return value_of(value)

    def vector(
        self, name: str, value: Sequence[AnyNumber], unit: str, description: str, bounds: Bounds = ANY
    ) -> Vector:
        del name, unit, description, bounds
        return np.array(values_of(value))

    def derived(self, name: str, value: Matrix, unit: str, description: str) -> Matrix:
        del name, unit, description
        return value

    def require(self, value: float, message: str, bounds: Bounds = NON_NEGATIVE) -> None:
        """Accept every value, because plain numbers are checked when the description is read."""
        del value, message, bounds

    def elements(self, vector: Vector) -> Sequence[float]:
        return vector.tolist()

    def vector_of(self, elements: Sequence[float]) -> Vector:
        return np.array(elements, dtype=float)

    def matrix_of(self, rows: Sequence[Sequence[float]]) -> Matrix:
        return np.array(rows, dtype=float)

    def constant_vector(self, numbers: Sequence[float] | Array) -> Vector:
        return np.array(numbers, dtype=float)

    def constant_matrix(self, numbers: Array) -> Matrix:
        return np.array(numbers, dtype=float)
