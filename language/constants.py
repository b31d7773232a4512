"""Evaluation of constant subexpressions.

Subexpressions without a finite value, such as 1/0 or sqrt(-1), are rejected.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence

from .ir import Expr


def _step(tau: float) -> float:
    x = min(max(tau, 0.0), 1.0)
    return x**3 * (10.0 - 15.0 * x + 6.0 * x * x)


_FUNCTIONS: dict[str, Callable[..., float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": math.pow,
    "neg": operator.neg,
    "abs": abs,
    "noevent": lambda x: x,
    "min": min,
    "max": max,
    "sign": lambda x: float((x > 0) - (x < 0)),
    "start": lambda x: x,
    "quintic_0": _step,
    "quintic": lambda t, t0, t1, s0, s1: s0 + (s1 - s0) * _step((t - t0) / (t1 - t0)),
    **{name: getattr(math, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2")},
    **{name: getattr(math, name) for name in ("sqrt", "exp", "log", "tanh")},
}
_COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def check(tree: Expr, parameters: Mapping[str, float]) -> None:
    """Raise ValueError if a constant subexpression has no finite value.

    The error message shows the subexpression. The argument `parameters` contains the values of the
    description's parameters. All other names change during a run, so subexpressions with these names
    are not constant.
    """
    _value(tree, {"pi": math.pi, **parameters})


def value(tree: Expr, parameters: Mapping[str, float]) -> float:
    """Return the value of an expression of parameters and pi.

    Raises
    ------
    ValueError
        If the expression has no finite value.
    """
    found = _value(tree, {"pi": math.pi, **parameters})
    assert found is not None
    return found


def _value(tree: Expr, known: Mapping[str, float]) -> float | None:
    """Return the value of an expression, or None if it changes during a run."""
    values = [_value(child, known) for child in tree.args]
    match tree.op:
        case "constant":
            return float(tree.data)
        case "symbol":
            return known.get(tree.data)
        case "table":
            return None  # A table lookup is never evaluated as a constant.
        case "if":
            left, right, then, otherwise = values
            if left is None or right is None:
                return None
            return then if _COMPARISONS[tree.data[0]](left, right) else otherwise
    return _result(tree.function, values)


def _result(function: str, values: Sequence[float | None]) -> float | None:
    if function == "/" and values[1] == 0.0:
        raise ValueError(f"{_shown(function, values)} divides by zero")
    if function == "quintic" and values[1] is not None and values[1] == values[2]:
        raise ValueError(f"{_shown(function, values)} has no duration: t0 and t1 must differ")
    if None in values:
        return None
    try:
        result = float(_FUNCTIONS[function](*values))
    except (ValueError, OverflowError):
        result = math.nan
    if not math.isfinite(result):
        raise ValueError(f"{_shown(function, values)} has no finite value: it is undefined or too large")
    return result


def _shown(function: str, values: Sequence[float | None]) -> str:
    texts = ["…" if value is None else f"{value:.6g}" for value in values]
    if function.isalpha():
        return f"{function}({', '.join(texts)})"
    return f" {function} ".join(f"({text})" if text.startswith("-") else text for text in texts)
