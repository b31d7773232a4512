"""Parts of the description's expressions that depend on time alone, and the longest steps that resolve them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import constants, differentiate
from .expressions import running_names, tables
from .ir import Expr
from .pace import STEADY, Pace, merged, searched

Array = NDArray[np.float64]
_POLYNOMIAL = ("+", "-", "*", "neg", "quintic_0")
_INSIDE = 1e-9  # of a piece between two breakpoints: how far from its ends it is looked at


@dataclass(frozen=True)
class TimedPace:
    """Longest steps by expressions of time, and names of the parameters that they depend on."""

    pace: Pace
    parameters: frozenset[str]


def timed_pace(trees: Sequence[Expr], parameters: Mapping[str, float], horizon: float) -> TimedPace:
    """Longest steps from 0 to the horizon, s, for the parameters' values.

    Lookup tables have a pace of their own, by their argument.
    """
    parts = [part for tree in trees for part in _timely(tree, parameters)]
    used = frozenset(name for part in parts for name in running_names(part)) & parameters.keys()
    return TimedPace(merged([_pace(part, parameters, horizon) for part in parts]), used)


def _timely(tree: Expr, parameters: Mapping[str, float]) -> Iterator[Expr]:
    """The largest parts of time and parameters alone that are not affine in time, without lookup tables."""
    used = set(running_names(tree)) - parameters.keys()
    if not used:
        return
    if used == {"t"} and next(tables(tree), None) is None:
        if not _is_affine(tree):
            yield tree
        return
    for child in tree.args:
        yield from _timely(child, parameters)


def _is_affine(tree: Expr) -> bool:
    if any(part.op == "if" or part.function == "noevent" for part in _parts(tree)):
        return False
    rate = differentiate.derivative(tree, "t")
    return "t" not in set(running_names(rate))


def _parts(tree: Expr) -> Iterator[Expr]:
    yield tree
    for child in tree.args:
        yield from _parts(child)


def _pace(tree: Expr, parameters: Mapping[str, float], horizon: float) -> Pace:
    def function(time: Array, begin: float) -> Array:
        margin = _INSIDE * float(time[-1] - time[0])
        inside = np.clip(time, begin + margin, time[-1] - margin)
        with np.errstate(all="ignore"):
            return np.broadcast_to(_values(tree, {"pi": math.pi, **parameters, "t": inside}), time.shape)

    breaks = [*_breaks(tree, parameters)]
    samples = function(np.linspace(0.0, horizon, 64), 0.0)
    if not np.all(np.isfinite(samples)):
        return STEADY  # a run that comes there ends with a message
    return searched(function, (0.0, horizon), breaks, smooth=_is_smooth(tree))


def _breaks(tree: Expr, parameters: Mapping[str, float]) -> Iterator[float]:
    """Times, s, at which solvers stop: ends of quintics, and switching times."""

    def is_constant(name: str) -> bool:
        return name in parameters

    times = [*differentiate.breakpoints(tree)]
    for part in _parts(tree):
        time = differentiate.switching_time(part, is_constant) if part.op == "if" else None
        times += [] if time is None else [time]
    for time in times:
        if all(map(is_constant, time.symbols)):
            yield constants.value(time, parameters)


def _is_smooth(tree: Expr) -> bool:
    """Whether it is a polynomial between its breakpoints."""
    if tree.op == "call":
        own = tree.function in _POLYNOMIAL
    else:
        own = tree.op in (*_POLYNOMIAL, "constant", "symbol", "if") or (
            tree.op == "/" and tree.args[1].op == "constant"
        )
    return own and all(map(_is_smooth, tree.args))


def _values(tree: Expr, known: Mapping[str, Array | float]) -> Array | float:
    """Values at many times at once."""
    if tree.op == "constant":
        return float(tree.data)
    if tree.op == "symbol":
        return known[tree.data]
    if tree.function == "start":
        return 0.0  # a shift, which narrows nothing
    operands = [_values(child, known) for child in tree.args]
    if tree.op == "if":
        left, right, then, otherwise = operands
        return np.where(_COMPARISONS[tree.data[0]](left, right), then, otherwise)
    return np.asarray(_OPERATIONS[tree.function](*operands))


def _step(tau: Array) -> Array:
    x = np.clip(tau, 0.0, 1.0)
    return np.asarray(x**3 * (10.0 - 15.0 * x + 6.0 * x * x))


_COMPARISONS: dict[str, Callable[..., Array]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
_OPERATIONS: dict[str, Callable[..., Array]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "^": np.power,
    "neg": np.negative,
    "noevent": np.asarray,
    "min": np.minimum,
    "max": np.maximum,
    "quintic_0": _step,
    **{name: getattr(np, name) for name in ("abs", "sign", "sin", "cos", "tan", "sqrt", "exp", "log", "tanh")},
    **{name: getattr(np, f"arc{name[1:]}") for name in ("asin", "acos", "atan", "atan2")},
}
