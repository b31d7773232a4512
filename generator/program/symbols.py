"""Algebra of symbols, by which the numbers of a description become parameters of a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...description.fields.numbers import Given
from ...description.types.bounds import ANY, NON_NEGATIVE, Bounds
from ...description.types.origin import Origin
from ...language import differentiate, ir
from ...language.ir import Expr
from .items import Definition
from .program import GENERAL, Parameter, Program, Requirement


class Expressions:
    """Algebra in which a number is kept, and an expression of parameters is expanded."""

    def value(self, number: float) -> Expr | float:
        """Return a number, or the expanded expression of parameters that it stands for."""
        return differentiate.expand(number.tree) if isinstance(number, Given) else float(number)

    def cos(self, angle: Expr | float) -> Expr | float:
        """Cosine of an angle in rad."""
        return ir.call("cos", angle) if isinstance(angle, Expr) else _cleaned(np.cos(angle))

    def sin(self, angle: Expr | float) -> Expr | float:
        """Sine of an angle in rad."""
        return ir.call("sin", angle) if isinstance(angle, Expr) else _cleaned(np.sin(angle))


class Symbols(Expressions):
    """Algebra of symbols: every number of the mechanism becomes a parameter of the program.

    One that is an expression of the description's parameters becomes a definition that follows from them.
    """

    def __init__(self, program: Program, origin: Origin = GENERAL) -> None:
        self.program, self.origin = program, origin

    def of(self, origin: Origin) -> Symbols:
        """Return the algebra for numbers of another part of the description."""
        return Symbols(self.program, origin)

    def parameter(self, name: str, value: float, unit: str | None, description: str, bounds: Bounds) -> Expr:
        """Parameter; returns its symbol."""
        return self._parameter(name, np.array(float(value)), unit, description, bounds)

    def scalar(self, name: str, value: Any, unit: str | None, description: str, bounds: Bounds = ANY) -> Expr:
        """Parameter, or what follows from those of the description; returns its symbol."""
        if isinstance(value, Given | Expr):
            return self._calculated(name, self._expr(value, bounds), unit, description, bounds)
        return self._parameter(name, np.array(float(value)), unit, description, bounds)

    def vector(self, name: str, value: Any, unit: str, description: str, bounds: Bounds = ANY) -> Expr:
        """Vector parameter, or what follows as a whole where an element does; returns its symbol."""
        if any(isinstance(x, Given) or (isinstance(x, Expr) and x.op != "constant") for x in value):
            elements = ir.array([self._expr(x, bounds) for x in value])
            return self._calculated(name, elements, unit, description, bounds)
        numbers = [float(x.data) + 0.0 if isinstance(x, Expr) else float(x) for x in value]  # no -0.0
        return self._parameter(name, np.array(numbers), unit, description, bounds)

    def derived(self, name: str, value: Expr, unit: str, description: str) -> Expr:
        """Define a quantity that follows from parameters and is no parameter of the FMU; returns its symbol."""
        self.program.section(*_section(self.origin))
        return self.program.define(name, value, unit, description)

    def require(self, value: Expr | float, message: str, bounds: Bounds = NON_NEGATIVE) -> None:
        """Require that a value which follows from parameters is within bounds; the message gives its meaning."""
        if isinstance(value, Expr):
            self.program.requirements.append(Requirement(value, bounds, message))

    def array(self, rows: Sequence[Any]) -> Expr:
        """Array of expressions."""
        return ir.array(rows)

    def _expr(self, value: Any, bounds: Bounds) -> Expr:
        found = self.value(value) if isinstance(value, float) else value
        if isinstance(found, Expr) and found.op == "symbol" and bounds != ANY:
            self._tighten(found.data, bounds)
        return ir.lift(found)

    def _tighten(self, name: str, bounds: Bounds) -> None:
        """A parameter that stands for a number as it is has that number's bounds, too."""
        parameters = self.program.parameters
        i = next(i for i, parameter in enumerate(parameters) if parameter.name == name)
        parameters[i] = replace(parameters[i], bounds=parameters[i].bounds.within(bounds))

    def _parameter(
        self, name: str, value: NDArray[np.float64], unit: str | None, description: str, bounds: Bounds
    ) -> Expr:
        self.program.parameters.append(Parameter(name, value, unit, description, self.origin, bounds))
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


def _cleaned(number: float) -> float:
    """0, 1 and −1 as they are meant."""
    return round(number) + 0.0 if abs(number - round(number)) < 1e-15 else float(number)


def _section(origin: Origin) -> tuple[str, str, str]:
    return origin.kind, origin.name, origin.element
