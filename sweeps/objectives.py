"""Objectives of a run: expressions of its signals with one number as result: `peak(E_z) - 2*final(E_x)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..core.errors import DescriptionError, Problem
from ..core.trajectory import Array
from ..language import on_arrays
from ..language.expressions import Dialect, names, parse, renamed
from ..language.ir import Expr

_LATE = 0.9  # of the run: what is outside its band after that has not settled
_NAME = r"[A-Za-z_]\w*"


def _mean(time: Array, x: Array) -> float:
    return float(np.trapezoid(x, time) / (time[-1] - time[0]))


def _at(time: Array, x: Array, when: Any) -> Any:
    """NaN outside of the run, but for rounding."""
    margin = 1e-9 * (time[-1] - time[0])
    return np.interp(when, time, x) if time[0] - margin <= when <= time[-1] + margin else np.nan


def _settling(time: Array, x: Array, band: Any) -> float:
    """When x is within ± band of its last value for good; infinite if that is not before the last tenth, and NaN
    for a band below 0."""
    if not band >= 0.0:
        return np.nan
    outside = np.flatnonzero(np.abs(x - x[-1]) > band)
    if not len(outside):
        return float(time[0])
    settled = time[outside[-1] + 1]
    return float(settled) if settled <= time[0] + _LATE * (time[-1] - time[0]) else np.inf


# of a signal over time: name → number of arguments, function of the time and of them, what it is
OVER_TIME: dict[str, tuple[int, Callable[..., Any], str]] = {
    "peak": (1, lambda t, x: np.max(np.abs(x)), "largest magnitude"),
    "max": (1, lambda t, x: np.max(x), "largest value"),
    "min": (1, lambda t, x: np.min(x), "least value"),
    "range": (1, lambda t, x: np.ptp(x), "largest less least value"),
    "start": (1, lambda t, x: x[0], "value at the start"),
    "final": (1, lambda t, x: x[-1], "value at the end"),
    "at": (2, _at, "at(x, t): value at a time of the run, s"),
    "mean": (1, _mean, "mean over time"),
    "rms": (1, lambda t, x: np.sqrt(_mean(t, x * x)), "root mean square over time"),
    "integral": (1, lambda t, x: np.trapezoid(x, t), "integral over time"),
    "settling": (2, _settling, "settling(x, band): from when on x stays within the band about its last value, s"),
}
_AT_EACH_TIME = {(name, function.nin): function for name, function in on_arrays.FUNCTIONS.items()}
_COUNTS = sorted({*((name, count) for name, (count, _, _) in OVER_TIME.items()), *_AT_EACH_TIME})
FUNCTIONS = sorted({name for name, _ in _COUNTS})
_OBJECTIVES = Dialect(
    {name: tuple(count for other, count in _COUNTS if other == name) for name in FUNCTIONS},
    "time, pi, names of signals and parameters",
)


@dataclass(frozen=True)
class Objective:
    """A number of a run.

    Parameters:
        name  column of the table
        text  expression of signals and parameters by their names in the FMU, of `time` and of `FUNCTIONS`
    """

    name: str
    text: str

    @property
    def signals(self) -> tuple[str, ...]:
        """Names of the variables that it needs."""
        return tuple(name for name in dict.fromkeys(names(_parsed(self.text))) if name not in ("time", "pi"))

    def problem(self, constants: Container[str]) -> str:
        """Return the fault of the expression if all names but constants vary over time; else nothing."""
        try:
            moves = _over_time(_parsed(self.text), constants)
        except ValueError as error:
            return str(error)
        return f"changes over time; expected a number, by one of {', '.join(sorted(OVER_TIME))}" if moves else ""

    def of(self, time: Array, signals: Mapping[str, Any]) -> float:
        """Return the value for a run, or NaN; time, s, and signals, shape (N,) each; parameters are numbers."""
        with np.errstate(all="ignore"):
            return float(_value(_parsed(self.text), time, {**signals, "time": time, "pi": np.float64(np.pi)}))


def objectives(texts: Sequence[str]) -> tuple[Objective, ...]:
    """From `name=expression`, or an expression, which then is its name, too; raises DescriptionError."""
    found, problems = list[Objective](), list[Problem]()
    for text in texts:
        name, expression = _split(text)
        try:
            _over_time(_parsed(expression), None)
        except ValueError as error:
            problems.append(Problem(f"--objective {text!r}", str(error)))
            continue
        if any(name == other.name for other in found):
            problems.append(
                Problem(f"--objective {text!r}", f"there is another objective {name!r}; name one anew")
            )
        found.append(Objective(name, expression))
    if problems:
        raise DescriptionError("sweep", problems)
    return tuple(found)


def _split(text: str) -> tuple[str, str]:
    match = re.fullmatch(rf"\s*({_NAME})\s*=(?!=)(.*)", text, re.DOTALL)
    return (match[1], match[2].strip()) if match else (text.strip(), text.strip())


@lru_cache(maxsize=64)  # runs ask for the same ones again and again
def _parsed(text: str) -> Expr:
    """Return the expression, with names as the FMU has them; raises ValueError."""
    tree = parse(text, _OBJECTIVES)
    return renamed(tree, {name: name.replace(".", "_") for name in names(tree)})


def _over_time(tree: Expr, constants: Container[str] | None) -> bool:
    """Whether the value changes over time if names other than the constants do; None: no name does.

    Raises ValueError for a second argument that changes over time.
    """
    if tree.op == "symbol":
        return tree.data != "pi" and constants is not None and tree.data not in constants
    parts = [_over_time(part, constants) for part in tree.args]
    if not _makes_a_number(tree):
        return any(parts)
    if any(parts[1:]):
        raise ValueError(f"{tree.data}: expected a number as its second argument, got what changes over time")
    return False


def _makes_a_number(tree: Expr) -> bool:
    """Whether the expression is a function of a whole signal, such as `peak`; `max` of two signals is none."""
    return tree.op == "call" and tree.data in OVER_TIME and OVER_TIME[tree.data][0] == len(tree.args)


def _value(tree: Expr, time: Array, signals: Mapping[str, Any]) -> Any:
    """Return the value at each of the times, s, or one number."""
    if tree.op == "constant":
        return np.float64(tree.data)
    if tree.op == "symbol":
        return signals[tree.data]
    values = [_value(part, time, signals) for part in tree.args]
    if _makes_a_number(tree):
        return OVER_TIME[tree.data][1](time, np.broadcast_to(values[0], time.shape), *values[1:])
    if tree.op == "call":
        return _AT_EACH_TIME[tree.data, len(values)](*values)
    if tree.op == "if":
        left, right, then, otherwise = values
        return np.where(on_arrays.COMPARISONS[tree.data[0]](left, right), then, otherwise)
    return on_arrays.OPERATIONS[tree.op](*values)
