"""Expressions, and a program's equations at one state, evaluated in Python, in doubles or with more digits."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from gpmelica.generator.program.items import Definition, ImplicitSystem, LinearSolve
from gpmelica.generator.program.program import EquationSystem
from gpmelica.language.ir import Expr

Values = dict[str, Any]

_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "neg": operator.neg,
    "*": operator.mul,
    "/": operator.truediv,
    "^": operator.pow,
    "matmul": np.dot,
    "transpose": np.transpose,
    "cross": lambda a, b: np.array([a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]),
}


def _step(*coefficients: int) -> Callable[[Any], Any]:
    """Polynomial of a number that is held between 0 and 1."""

    def value(tau: Any) -> Any:
        x = min(max(tau, 0), 1)
        return sum(c * x**k for k, c in enumerate(coefficients))

    return value


_NAMED = {
    "abs": abs,
    "noevent": lambda x: x,
    "min": min,
    "sum": np.sum,
    "max": max,
    "sign": lambda x: (x > 0) - (x < 0),
    "quintic_0": _step(0, 0, 0, 10, -15, 6),
    "quintic_1": _step(0, 0, 30, -60, 30),
    "quintic_2": _step(0, 60, -180, 120),
}


class Evaluator:
    """Values of expressions.

    given   values of all names
    digits  of the arithmetic; None: doubles
    """

    def __init__(self, given: Mapping[str, Any], digits: int | None = None) -> None:
        self.digits = digits
        self.values: Values = {name: self._exact(np.array(value)) for name, value in given.items()}

    def _exact(self, value: NDArray[np.float64]) -> Any:
        if self.digits is None:
            return value if value.shape else float(value)
        exact = np.array([mpmath.mpf(float(x)) for x in value.ravel()], dtype=object).reshape(value.shape)
        return exact if value.shape else exact[()]

    def __call__(self, expr: Expr) -> Any:
        """Value of an expression."""
        match expr.op:
            case "constant":
                return self._exact(expr.data)
            case "symbol":
                return self.values[expr.data]
            case "index":
                return self(expr.args[0])[expr.data]
            case "function":
                return self(expr.data[1])
            case "if":
                left, right = self(expr.args[0]), self(expr.args[1])
                return self(expr.args[2] if _COMPARE[expr.data[0]](left, right) else expr.args[3])
        arguments = [self(argument) for argument in expr.args]
        if expr.op == "array":
            return np.array(arguments)
        if expr.op == "call":
            return self._function(expr.data)(*arguments)
        return _ARITHMETIC[expr.op](*arguments)

    def _function(self, name: str) -> Callable[..., Any]:
        return _NAMED.get(name) or getattr(math if self.digits is None else mpmath, name)


class Numeric(Evaluator):
    """Values of a program's names at a state; of its parameters the defaults.

    given   states, inputs, time and start values by name
    digits  of the arithmetic; None: doubles
    """

    def __init__(self, program: EquationSystem, given: Mapping[str, float], digits: int | None = None) -> None:
        super().__init__({p.name: p.value for p in program.parameters} | given, digits)
        for item in program.items:
            if item.name not in self.values:
                self.values[item.name] = self._item(item)
        self.values |= {o.name: self(o.expr) for o in program.outputs}

    def _item(self, item: Any) -> Any:
        if isinstance(item, LinearSolve):
            return self._solution(self(item.matrix), self(item.right))
        if isinstance(item, ImplicitSystem):
            return self._unknown(item)
        assert isinstance(item, Definition)
        if item.parts[0][0] == ():
            return self(item.parts[0][1])
        whole = np.zeros(item.shape, dtype=float if self.digits is None else object)
        self.values[item.name] = whole  # a part may use those before it
        for index, expr in item.parts:
            whole[index] = self(expr)
        if item.symmetric:
            upper = np.triu(whole)
            whole = upper + np.triu(whole, 1).T
        return whole

    def _unknown(self, item: ImplicitSystem) -> Any:
        """Unknown, shape (n,), of equations that are linear in it: their left-hand sides at unit vectors."""
        columns = []
        for unit in np.eye(*item.shape):
            self.values[item.name] = unit
            columns.append(np.hstack([np.ravel(self(left)) for left, _ in item.equations]))
        return np.linalg.solve(np.transpose(columns), np.hstack([np.ravel(self(b)) for _, b in item.equations]))

    def _solution(self, matrix: Any, right: Any) -> Any:
        if self.digits is None:
            return np.linalg.solve(matrix, right)
        columns = [
            mpmath.lu_solve(mpmath.matrix(matrix.tolist()), mpmath.matrix(c)) for c in np.atleast_2d(right.T)
        ]
        found = np.array([[*column] for column in columns], dtype=object).T
        return found if right.ndim == 2 else found[:, 0]
