"""Conversion of array expressions to CasADi symbolic matrices (SX)."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any

import casadi as ca
import numpy as np

from ...generator.program.items import Definition, given, used
from ...generator.program.program import EquationSystem
from ...language import ir
from ...language.ir import Expr

SX = Any  # CasADi has no usable type annotations.


def _matmul(expr: Expr, a: SX, b: SX) -> SX:
    if len(expr.args[0].shape) == 2:
        return ca.mtimes(a, b)
    # CasADi vectors are columns, so a vector to the left of a product is transposed.
    return ca.mtimes(b.T, a) if expr.shape else ca.dot(a, b)


def _quintic(coefficients: tuple[float, ...]) -> Callable[[SX], SX]:
    def value(tau: SX) -> SX:
        x, total = ca.fmin(ca.fmax(tau, 0), 1), 0.0
        for c in coefficients:
            total = total * x + c
        return total

    return value


_FUNCTIONS: dict[str, Callable[..., SX]] = {
    **{name: getattr(ca, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2")},
    **{name: getattr(ca, name) for name in ("sqrt", "exp", "log", "tanh", "sign")},
    "abs": ca.fabs,
    "min": ca.fmin,
    "max": ca.fmax,
    "quintic_0": _quintic((6.0, -15.0, 10.0, 0.0, 0.0, 0.0)),
    "quintic_1": _quintic((30.0, -60.0, 30.0, 0.0, 0.0)),
    "quintic_2": _quintic((120.0, -180.0, 60.0, 0.0)),
}

_COMPARE: dict[str, Callable[[SX, SX], SX]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def _norm(square: SX) -> SX:
    # The derivative of √x is infinite at x = 0; the expression returned here equals √x but has the derivative 0.
    none = square == 0
    return ca.sqrt(square + none) - none


def needed(program: EquationSystem, roots: Iterable[Expr], known: Container[str] = ()) -> set[str]:
    """Return the names of all definitions and solutions of linear systems on which expressions depend.

    Indirect dependencies are included. The search ends at names in `known`, which are not part of the result.
    """
    items = {name: item for item in program.items for name in given(item)}
    stack = [name for root in roots for name in root.symbols]
    found: set[str] = set()
    while stack:
        name = stack.pop()
        if name in items and name not in found and name not in known:
            found.add(name)
            stack.extend(used(items[name]))
    return found


class Evaluator:
    """Evaluator of variables and expressions of a program as CasADi symbolic matrices (SX).

    A definition is evaluated at the first use of its name.

    Parameters
    ----------
    program : EquationSystem
        Equations that define the names.
    known : mapping
        CasADi expressions of the program's symbols, by name; vectors are columns.
    switches : SX or None
        CasADi vector of switches (0 or 1): first for the time events, then for the switching
        conditions. None at the initial time: conditions on time then have their values just after the
        initial time, and all other conditions are evaluated directly.
    """

    def __init__(self, program: EquationSystem, known: Mapping[str, SX], switches: SX | None) -> None:
        self.known, self.switches = dict(known), switches
        self._definitions = {item.name: item for item in program.items if isinstance(item, Definition)}
        self._order = [item.name for item in program.items if isinstance(item, Definition)]
        self._events = [event.name for event in program.events]
        self._relations = [relation.name for relation in program.relations]
        self._memo: dict[int, tuple[Expr, SX]] = {}

    def prepare(self, names: Iterable[str]) -> None:
        """Evaluate the given definitions in the order in which the program lists them.

        In this order, a definition follows the definitions on which it depends. This avoids deep
        recursion.
        """
        wanted = set(names)
        for name in self._order:
            if name in wanted and name not in self.known:
                self._define(name)

    def __call__(self, expr: Expr) -> SX:
        """Return an expression as a CasADi symbolic matrix (SX); each expression node is evaluated
        once.
        """
        for each in reversed(self._spine(expr)):
            self._memo[id(each)] = (each, self._evaluate(each))
        return self._memo[id(expr)][1]

    def _spine(self, expr: Expr) -> list[Expr]:
        """Return an expression, its first operand, the first operand of this operand, and so on.

        The list ends before the first expression that has been evaluated. For a long sum, the list
        replaces a recursion that would exceed Python's recursion limit.
        """
        found = []
        while id(expr) not in self._memo:
            found.append(expr)
            if not expr.args:
                break
            expr = expr.args[0]
        return found

    def _define(self, name: str) -> SX:
        item = self._definitions[name]
        shape = (*item.shape, 1, 1)[:2]
        value = ca.SX.zeros(*shape)
        for index, expr in item.parts:
            part = self(expr)
            if not index:
                value = part
            elif len(index) == 2:
                value[index] = (
                    part if part.shape != (value[index].shape[1], 1) or isinstance(index[1], int) else part.T
                )
            else:
                value[index[0]] = part
        if item.symmetric:
            value = ca.triu2symm(ca.triu(value))
        self.known[name] = value
        return value

    def _evaluate(self, expr: Expr) -> SX:
        match expr.op:
            case "constant":
                return ca.SX(np.atleast_1d(expr.data).tolist() if expr.shape else float(expr.data))
            case "symbol":
                return self.known[expr.data] if expr.data in self.known else self._define(expr.data)
            case "if":
                return self._choose(expr)
            case "index":
                return self._index(expr)
            case "function":
                return self(expr.data[1])
        arguments = [self(argument) for argument in expr.args]
        match expr.op:
            case "array":
                return ca.horzcat(*arguments).T if len(expr.shape) == 2 else ca.vertcat(*arguments)
            case "call":
                return _norm(*arguments) if ir.is_norm(expr) else _FUNCTIONS[expr.data](*arguments)
            case "matmul":
                return _matmul(expr, *arguments)
        return _OPERATORS[expr.op](*arguments)

    def _index(self, expr: Expr) -> SX:
        value = self(expr.args[0])[expr.data if len(expr.data) == 2 else expr.data[0]]
        # CasADi vectors are columns, so a row of a matrix is transposed.
        return value.T if [type(key) for key in expr.data] == [int, slice] else value

    def _choose(self, expr: Expr) -> SX:
        comparison, switched = expr.data
        compare = _COMPARE[comparison]
        left, right, then, otherwise = (self(argument) for argument in expr.args[:4])
        if switched is None or self.switches is None:
            # At its switching time, a condition on time already has the truth value that applies just afterwards.
            if len(expr.args) == 5:
                left, right = ca.if_else(left == right, self(expr.args[4]), left - right), ca.SX(0)
            return ca.if_else(compare(left, right), then, otherwise)
        if len(expr.args) == 4:
            holds = self.switches[len(self._events) + self._relations.index(switched)]
            return ca.if_else(1 - holds if comparison in ("<=", ">=") else holds, then, otherwise)
        slope = self(expr.args[4])
        # Just after the switching time, left − right has the sign of its time derivative.
        condition = compare(slope * (self.switches[self._events.index(switched)] - 0.5), 0)
        if not slope.is_constant():
            condition = ca.if_else(slope == 0, compare(left, right), condition)
        return ca.if_else(condition, then, otherwise)


_OPERATORS: dict[str, Callable[..., SX]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "neg": lambda a: -a,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "^": lambda a, b: a**b,
    "transpose": lambda a: a.T,
    "cross": ca.cross,
}
