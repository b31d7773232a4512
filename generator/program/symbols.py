"""Functions that replace the numbers of a description by symbols of model parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...description.fields.numbers import AnyNumber, ParametricNumber, value_of
from ...description.types.bounds import ANY, NON_NEGATIVE, Bounds
from ...description.types.origin import Origin
from ...language import differentiate, ir
from ...language.ir import Expr
from .items import Definition
from .program import GENERAL, EquationSystem, ModelParameter, Requirement


class Expressions:
    """Conversion of the numbers of a description into constant expressions.

    Numbers that depend on parameters remain expressions of these parameters, in the form that
    `differentiate.expand` returns.
    """

    def value(self, number: AnyNumber) -> Expr:
        """Return a constant for a number, and an expanded expression for an expression of parameters."""
        return (
            differentiate.expand(number.expression)
            if isinstance(number, ParametricNumber)
            else ir.constant(float(number))
        )

    def cos(self, angle: Expr) -> Expr:
        """Return the cosine of an angle in rad."""
        return _cleaned(np.cos(angle.data)) if angle.op == "constant" else ir.call("cos", angle)

    def sin(self, angle: Expr) -> Expr:
        """Return the sine of an angle in rad."""
        return _cleaned(np.sin(angle.data)) if angle.op == "constant" else ir.call("sin", angle)


class Symbols(Expressions):
    """Conversion of the numbers of a mechanism into symbols of parameters.

    Each number becomes a parameter of the program. A number that the description gives as an expression
    of parameters becomes a definition.
    """

    def __init__(self, program: EquationSystem, origin: Origin = GENERAL) -> None:
        self.program, self.origin = program, origin

    def of(self, origin: Origin) -> Symbols:
        """Return a copy of this object that records an origin for each parameter that it declares.

        The origin is the given entry of the description.
        """
        return Symbols(self.program, origin)

    def parameter(self, name: str, value: float, unit: str | None, description: str, bounds: Bounds) -> Expr:
        """Declare a parameter of the program and return its symbol."""
        return self._parameter(name, np.array(float(value)), unit, description, bounds)

    def scalar(
        self, name: str, value: AnyNumber | Expr, unit: str | None, description: str, bounds: Bounds = ANY
    ) -> Expr:
        """Add a scalar parameter to the program and return its symbol.

        If the value is an expression of other parameters, a definition with this expression is added
        instead.
        """
        if _is_number(value):
            return self._parameter(name, np.array(_number(value)), unit, description, bounds)
        return self._calculated(name, self._expr(value, bounds), unit, description, bounds)

    def vector(
        self,
        name: str,
        value: Sequence[AnyNumber] | Sequence[Expr],
        unit: str,
        description: str,
        bounds: Bounds = ANY,
    ) -> Expr:
        """Add a vector parameter to the program and return its symbol.

        If at least one element is an expression of other parameters, a definition of the whole vector
        is added instead.
        """
        if all(map(_is_number, value)):
            numbers = [_number(x) + 0.0 for x in value]  # The addition of 0.0 turns -0.0 into 0.0.
            return self._parameter(name, np.array(numbers), unit, description, bounds)
        elements = ir.array([self._expr(x, bounds) for x in value])
        return self._calculated(name, elements, unit, description, bounds)

    def derived(self, name: str, value: Expr, unit: str, description: str) -> Expr:
        """Define a quantity that is calculated from parameters, and return the symbol of the quantity.

        The FMU does not publish the quantity as a parameter.
        """
        self.program.section(*_section(self.origin))
        return self.program.define(name, value, unit, description)

    def require(self, value: Expr, message: str, bounds: Bounds = NON_NEGATIVE) -> None:
        """Add the requirement that a value calculated from parameters is within bounds.

        The argument `message` is a description of the value for error messages.
        """
        if value.op != "constant":
            self.program.requirements.append(Requirement(value, bounds, message))

    def elements(self, vector: Expr) -> Sequence[Expr]:
        return list(vector)

    def vector_of(self, elements: Sequence[Expr]) -> Expr:
        return ir.array(elements)

    def matrix_of(self, rows: Sequence[Sequence[Expr]]) -> Expr:
        return ir.array(rows)

    def constant_vector(self, numbers: Sequence[float] | NDArray[np.float64]) -> Expr:
        return ir.constant(numbers)

    def constant_matrix(self, numbers: NDArray[np.float64]) -> Expr:
        return ir.constant(numbers)

    def _expr(self, value: AnyNumber | Expr, bounds: Bounds) -> Expr:
        found = value if isinstance(value, Expr) else self.value(value)
        if found.op == "symbol" and bounds != ANY:
            self._tighten(found.data, bounds)
        return found

    def _tighten(self, name: str, bounds: Bounds) -> None:
        """Restrict the admissible range of a parameter to the given bounds.

        This is necessary if a key of the description has the parameter's name as its value. The bounds
        are those of the key.
        """
        parameters = self.program.parameters
        i = next(i for i, parameter in enumerate(parameters) if parameter.name == name)
        parameters[i] = replace(parameters[i], bounds=parameters[i].bounds.within(bounds))

    def _parameter(
        self, name: str, value: NDArray[np.float64], unit: str | None, description: str, bounds: Bounds
    ) -> Expr:
        self.program.parameters.append(ModelParameter(name, value, unit, description, self.origin, bounds))
        self.program.reserved.add(name)
        return ir.symbol(name, value.shape)

    def _calculated(self, name: str, expr: Expr, unit: str | None, description: str, bounds: Bounds) -> Expr:
        self.program.reserved.add(name)
        definition = Definition(
            name, expr.shape, unit, description, (((), expr),), self.origin, constant=True, calculated=True
        )
        self.program.items.append(definition)
        symbol = ir.symbol(name, expr.shape)
        if bounds != ANY:
            elements = [(name, symbol)]
            if expr.shape:
                elements = [(f"{name}[{i + 1}]", symbol[i]) for i in range(len(symbol))]
            self.program.requirements += [Requirement(x, bounds, text) for text, x in elements]
        return symbol


def _is_number(value: AnyNumber | Expr) -> bool:
    """Whether a value is a plain number, without parameters of the description."""
    return value.op == "constant" if isinstance(value, Expr) else not isinstance(value, ParametricNumber)


def _number(value: AnyNumber | Expr) -> float:
    return float(value.data) if isinstance(value, Expr) else value_of(value)


def _cleaned(number: float) -> Expr:
    """Return a number as a constant; a number within 1e-15 of an integer becomes this integer."""
    return ir.constant(round(number) + 0.0 if abs(number - round(number)) < 1e-15 else float(number))


def _section(origin: Origin) -> tuple[str, str, str]:
    return origin.kind, origin.name, origin.element
