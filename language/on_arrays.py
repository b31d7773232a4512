"""NumPy functions that evaluate the operations of expressions for arrays of times.

A single call evaluates an expression at all times of the array.
"""

from __future__ import annotations

import numpy as np

COMPARISONS: dict[str, np.ufunc] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
OPERATIONS: dict[str, np.ufunc] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "^": np.power,
    "neg": np.negative,
}
FUNCTIONS: dict[str, np.ufunc] = {
    "min": np.minimum,
    "max": np.maximum,
    "abs": np.absolute,
    **{name: getattr(np, name) for name in ("sign", "sin", "cos", "tan", "sqrt", "exp", "log", "tanh")},
    **{name: getattr(np, f"arc{name[1:]}") for name in ("asin", "acos", "atan", "atan2")},
}
