"""Objectives: numbers that are computed from a run, such as `peak(E_z) - 2*final(E_x)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from typing import Any

import numpy as np

from ..core.errors import DescriptionError, Problem
from ..core.trajectory import Array
from ..language import on_arrays
from ..language.expressions import Dialect, names, parse, renamed
from ..language.ir import Expr

_LATE = 0.9  # A signal has not settled if it leaves its tolerance band after this fraction of the run's duration.
_NAME = r"[A-Za-z_]\w*"


def _mean(time: Array, x: Array) -> float:
    return float(np.trapezoid(x, time) / (time[-1] - time[0]))


def _at(time: Array, x: Array, when: Any) -> Any:
    """Return the value of the signal x at the time `when`, s, by interpolation; NaN outside of the run."""
    margin = 1e-9 * (time[-1] - time[0])
    return np.interp(when, time, x) if time[0] - margin <= when <= time[-1] + margin else np.nan


def _settling(time: Array, x: Array, band: Any) -> float:
    """Return the time after which x stays within ± band of its last value.

    The result is NaN for a negative band. If x leaves the band in the last tenth of the run, x has
    not settled, and the result is infinite.
    """
    if not band >= 0.0:
        return np.nan
    outside = np.flatnonzero(np.abs(x - x[-1]) > band)
    if not len(outside):
        return float(time[0])
    settled = time[outside[-1] + 1]
    return float(settled) if settled <= time[0] + _LATE * (time[-1] - time[0]) else np.inf


# Each function maps a whole signal to a number; its entry contains argument count, implementation and description.
OVER_TIME: dict[str, tuple[int, Callable[..., Any], str]] = {
    "peak": (1, lambda t, x: np.max(np.abs(x)), "largest magnitude"),
    "max": (1, lambda t, x: np.max(x), "largest value"),
    "min": (1, lambda t, x: np.min(x), "least value"),
    "range": (1, lambda t, x: np.ptp(x), "difference of the largest and the least value"),
    "start": (1, lambda t, x: x[0], "value at the start"),
    "final": (1, lambda t, x: x[-1], "value at the end"),
    "at": (2, _at, "at(x, t): value at a time of the run, s"),
    "mean": (1, _mean, "mean over time"),
    "rms": (1, lambda t, x: np.sqrt(_mean(t, x * x)), "root mean square over time"),
    "integral": (1, lambda t, x: np.trapezoid(x, t), "integral over time"),
    "settling": (2, _settling, "settling(x, band): time after which x stays within ± band of its last value, s"),
}
_MOST_ARGUMENTS = 1000
# With one argument, these functions return the extremum over time; with several, the extremum at each time.
_OF_ANY_NUMBER = ("max", "min")


def _counts(name: str) -> Sequence[int]:
    if name in _OF_ANY_NUMBER:
        return range(1, _MOST_ARGUMENTS)
    over_time = [OVER_TIME[name][0]] if name in OVER_TIME else []
    at_each_time = [on_arrays.FUNCTIONS[name].nin] if name in on_arrays.FUNCTIONS else []
    return tuple(sorted({*over_time, *at_each_time}))


FUNCTIONS = sorted({*OVER_TIME, *on_arrays.FUNCTIONS})
_OBJECTIVES = Dialect({name: _counts(name) for name in FUNCTIONS}, "time, pi, names of signals and parameters")


@dataclass(frozen=True)
class Objective:
    """Objective: an expression that gives one number for each run.

    Attributes
    ----------
    name : str
        Column of the result table.
    text : str
        Expression of `time`, FMU variables and the functions in `FUNCTIONS`.
    goal : str
        `maximize` if large values are better, `minimize` if small values are better, or empty.
    """

    name: str
    text: str
    goal: str = ""

    @property
    def signals(self) -> tuple[str, ...]:
        """Names of the FMU variables that the expression uses."""
        return tuple(name for name in dict.fromkeys(names(_parsed(self.text))) if name not in ("time", "pi"))

    def problem(self, constants: Container[str]) -> str:
        """Return an error message if the expression is invalid or its value changes over time.

        The message is empty for a valid expression. The argument `constants` contains names of
        constants; all other names are signals that change over time.
        """
        try:
            moves = _over_time(_parsed(self.text), constants)
        except ValueError as error:
            return str(error)
        return (
            f"changes over time; expected a number, computed by one of {', '.join(sorted(OVER_TIME))}"
            if moves
            else ""
        )

    def of(self, time: Array, signals: Mapping[str, Any]) -> float:
        """Return the value of the expression for a run; NaN if the expression has no value.

        Parameters
        ----------
        time : ndarray, shape (N,)
            Output times, s.
        signals : mapping
            Values by name: arrays of shape (N,) for signals, numbers for parameters.
        """
        with np.errstate(all="ignore"):
            return float(_value(_parsed(self.text), time, {**signals, "time": time, "pi": np.float64(np.pi)}))


def objectives(
    texts: Sequence[str], maximize: Sequence[str] = (), minimize: Sequence[str] = ()
) -> tuple[Objective, ...]:
    """Parse objectives of the form `name=expression`.

    For an expression without a name, the text of the expression is the name.

    Parameters
    ----------
    texts
        Objectives without a goal.
    maximize, minimize
        Objectives with the goal `maximize` or `minimize`: new texts, or names of objectives in
        `texts`.

    Raises
    ------
    DescriptionError
        If texts are invalid or goals contradict each other; the error lists all problems.
    """
    found, problems = dict[str, Objective](), list[Problem]()
    entries = [("", text) for text in texts]
    entries += [("maximize", text) for text in maximize] + [("minimize", text) for text in minimize]
    for goal, text in entries:
        try:
            objective = _with_goal(found, goal, text)
        except ValueError as error:
            problems.append(Problem(f"--{goal or 'objective'} {text!r}", str(error)))
            continue
        found[objective.name] = objective
    if problems:
        raise DescriptionError("sweep", problems)
    return tuple(found.values())


def _with_goal(known: Mapping[str, Objective], goal: str, text: str) -> Objective:
    """Return the objective that a text defines, with the given goal.

    The text is the name of an objective that is already defined and has no goal yet, or the definition
    of a new objective.

    Raises ValueError for an invalid text.
    """
    if goal and text in known:
        if known[text].goal:
            raise ValueError(f"already has the goal {known[text].goal}; give one goal per objective")
        return replace(known[text], goal=goal)
    name, expression = _split(text)
    _over_time(_parsed(expression), None)
    if name in known:
        raise ValueError(f"several objectives have the name {name!r}; rename all but one")
    return Objective(name, expression, goal)


def _split(text: str) -> tuple[str, str]:
    match = re.fullmatch(rf"\s*({_NAME})\s*=(?!=)(.*)", text, re.DOTALL)
    return (match[1], match[2].strip()) if match else (text.strip(), text.strip())


# All runs of a sweep evaluate the same expressions, so the cache avoids repeated parsing.
@lru_cache(maxsize=64)
def _parsed(text: str) -> Expr:
    """Return the syntax tree of an expression; dots in names become underscores, as in FMU variables.

    Raises
    ------
    ValueError
        If the text is not a valid expression.
    """
    tree = parse(text, _OBJECTIVES)
    return renamed(tree, {name: name.replace(".", "_") for name in names(tree)})


def _over_time(tree: Expr, constants: Container[str] | None) -> bool:
    """Return whether the value of an expression changes over time.

    The argument `constants` contains names of constants; all other names are signals that change
    over time. If `constants` is None, all names are constants.

    Raises
    ------
    ValueError
        If the second argument of a function changes over time.
    """
    if tree.op == "symbol":
        return tree.data != "pi" and constants is not None and tree.data not in constants
    parts = [_over_time(part, constants) for part in tree.args]
    if not _makes_a_number(tree):
        return any(parts)
    if any(parts[1:]):
        raise ValueError(
            f"function {tree.data}: expected a number as second argument, got an expression that changes over time"
        )
    return False


def _makes_a_number(tree: Expr) -> bool:
    """Return whether an expression is a function of a whole signal, such as `peak`.

    The function `max` with two signals is not such a function, because its value changes over time.
    """
    return tree.op == "call" and tree.data in OVER_TIME and OVER_TIME[tree.data][0] == len(tree.args)


def _value(tree: Expr, time: Array, signals: Mapping[str, Any]) -> Any:
    """Return the value of an expression: an array with one value per output time, or one number."""
    if tree.op == "constant":
        return np.float64(tree.data)
    if tree.op == "symbol":
        return signals[tree.data]
    values = [_value(part, time, signals) for part in tree.args]
    if _makes_a_number(tree):
        return OVER_TIME[tree.data][1](time, np.broadcast_to(values[0], time.shape), *values[1:])
    if tree.op == "call":
        function = on_arrays.FUNCTIONS[tree.data]
        return reduce(function, values) if tree.data in _OF_ANY_NUMBER else function(*values)
    if tree.op == "if":
        left, right, then, otherwise = values
        return np.where(on_arrays.COMPARISONS[tree.data[0]](left, right), then, otherwise)
    return on_arrays.OPERATIONS[tree.op](*values)
