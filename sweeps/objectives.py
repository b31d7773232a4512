"""What is asked of a run: expressions of its signals that come to one number, as `peak(E_z) - 2*final(E_x)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..core.errors import DescriptionError, Problem
from ..core.trajectory import Array
from ..language.suggest import alternatives

_LONGEST, _DEEPEST = 2000, 50
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
_AT_EACH_TIME: dict[tuple[str, int], Callable[..., Any]] = {
    **{
        (name, 1): getattr(np, name) for name in ("sin", "cos", "tan", "sqrt", "exp", "log", "tanh", "sign", "abs")
    },
    ("asin", 1): np.arcsin,
    ("acos", 1): np.arccos,
    ("atan", 1): np.arctan,
    ("atan2", 2): np.arctan2,
    ("min", 2): np.minimum,
    ("max", 2): np.maximum,
}
_OPERATORS: dict[type[ast.operator], Callable[..., Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
}
FUNCTIONS = sorted({*OVER_TIME, *(name for name, _ in _AT_EACH_TIME)})


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
        return tuple(dict.fromkeys(name for name in _names(_parsed(self.text)) if name not in ("time", "pi")))

    def problem(self, constants: Container[str]) -> str:
        """What is wrong with it where all names but these change over time; nothing if it comes to a number."""
        try:
            moves = _over_time(_parsed(self.text), 1, constants)
        except ValueError as error:
            return str(error)
        return f"changes over time; expected a number, by one of {', '.join(sorted(OVER_TIME))}" if moves else ""

    def of(self, time: Array, signals: Mapping[str, Any]) -> float:
        """Its value for a run, or NaN; time, s, and signals, shape (N,) each; parameters are numbers."""
        with np.errstate(all="ignore"):
            return float(_value(_parsed(self.text), time, {**signals, "time": time, "pi": np.float64(np.pi)}))


def objectives(texts: Sequence[str]) -> tuple[Objective, ...]:
    """From `name=expression`, or an expression, which then is its name, too; raises DescriptionError."""
    found, problems = list[Objective](), list[Problem]()
    for text in texts:
        name, expression = _split(text)
        try:
            _over_time(_parsed(expression), 1, None)
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
def _parsed(text: str) -> ast.expr:
    if len(text) > _LONGEST:
        raise ValueError(f"expected at most {_LONGEST} characters, got {len(text)}")
    line = re.sub(rf"\b({_NAME})\.({_NAME})", r"\1_\2", text).replace("^", "**")
    try:
        return ast.parse(line, mode="eval").body
    except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
        said = error.msg if isinstance(error, SyntaxError) else "too deep"
        raise ValueError(f"cannot be read: {said}; expected an expression such as peak(E_z)") from None


def _over_time(node: ast.expr, level: int, constants: Container[str] | None) -> bool:
    """Whether the value changes over time, where names other than these do; None: of nothing that is known.

    Raises ValueError for what is not of the language.
    """
    if level > _DEEPEST:
        raise ValueError(f"expected at most {_DEEPEST} levels")
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return False
        case ast.Name(id=name):
            return name != "pi" and constants is not None and name not in constants
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return _over_time(operand, level + 1, constants)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            sides = [_over_time(side, level + 1, constants) for side in (left, right)]
            return any(sides)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            _check_function(name)
            return _called(name, [_over_time(argument, level + 1, constants) for argument in arguments])
    raise ValueError(
        f"{ast.unparse(node):.60} is not part of it: numbers, names of signals, + - * / ^, {', '.join(FUNCTIONS)}"
    )


def _check_function(name: str) -> None:
    if name not in FUNCTIONS:
        raise ValueError(f"unknown function {name!r}; {alternatives(name, FUNCTIONS)}")


def _called(name: str, over_time: Sequence[bool]) -> bool:
    if name in OVER_TIME and OVER_TIME[name][0] == len(over_time):
        if any(over_time[1:]):
            raise ValueError(f"{name}: expected a number as its second argument, got what changes over time")
        return False
    if (name, len(over_time)) in _AT_EACH_TIME:
        return any(over_time)
    counts = {OVER_TIME[name][0]} if name in OVER_TIME else set()
    counts |= {count for known, count in _AT_EACH_TIME if known == name}
    raise ValueError(f"{name} takes {' or '.join(map(str, sorted(counts)))} argument(s), got {len(over_time)}")


def _names(node: ast.expr) -> Iterator[str]:
    functions = {id(call.func) for call in ast.walk(node) if isinstance(call, ast.Call)}
    yield from (n.id for n in ast.walk(node) if isinstance(n, ast.Name) and id(n) not in functions)


def _value(node: ast.expr, time: Array, signals: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=value):
            return np.float64(value)  # type: ignore[arg-type]
        case ast.Name(id=name):
            return signals[name]
        case ast.UnaryOp(op=op, operand=operand):
            value = _value(operand, time, signals)
            return -value if isinstance(op, ast.USub) else value
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_value(left, time, signals), _value(right, time, signals))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            values = [_value(argument, time, signals) for argument in arguments]
            if name in OVER_TIME and OVER_TIME[name][0] == len(values):
                return OVER_TIME[name][1](time, np.broadcast_to(values[0], time.shape), *values[1:])
            return _AT_EACH_TIME[name, len(values)](*values)
    raise AssertionError(ast.dump(node))
