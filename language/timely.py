"""Parts of expressions that depend on time alone, and the integration steps that resolve them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import constants, differentiate, ir
from .expressions import running_names, tables
from .held import held_values
from .ir import Expr
from .on_arrays import COMPARISONS, FUNCTIONS, OPERATIONS
from .pace import STEADY, Pace, merged, searched

Array = NDArray[np.float64]
_POLYNOMIAL = ("+", "-", "*", "neg", "quintic_0")
# A power with one of these exponents counts as a polynomial, for which a few samples suffice.
_POWERS = (2.0, 3.0, 4.0)
# The outermost samples of a smooth interval lie this fraction of its length inside the interval.
_INSIDE = 1e-9


class _NoValueError(ValueError):
    """Exception for an expression that is undefined at some time."""


@dataclass(frozen=True)
class TimedPace:
    """Longest integration steps that resolve expressions of time.

    Attributes
    ----------
    pace : Pace
        Longest step as a function of time.
    parameters : frozenset of str
        Names of the parameters that influence these steps.
    start_values : mapping
        Known values of start(x) that influence these steps. The key of each value is `ir.key(x)`.
    """

    pace: Pace
    parameters: frozenset[str]
    start_values: Mapping[Hashable, float]


def timed_pace(
    trees: Sequence[Expr], parameters: Mapping[str, float], initial: Mapping[str, float], horizon: float
) -> TimedPace:
    """Return the longest integration steps that resolve expressions of time between 0 and `horizon`.

    Lookup tables are excluded, because each table has step limits of its own.

    Parameters
    ----------
    trees : sequence of Expr
        Expressions of the description, in the form that `differentiate.expand` returns.
    parameters : mapping of str to float
        Values of parameters by name.
    initial : mapping of str to float
        Known values of other names at t = 0.
    horizon : float
        End of the time span in which short features are searched for, s.
    """
    parts = [part for tree in trees for part in _timely(tree, parameters)]
    mixed = [part for tree in trees for part in _mixed(tree, parameters)]
    used = frozenset(name for part in (*parts, *mixed) for name in running_names(part)) & parameters.keys()
    known = {"pi": math.pi, **parameters, **initial}
    found = {ir.key(x): _start_value(x, parameters, known) for part in (*parts, *mixed) for x in _started(part)}
    start_values = {key: value for key, value in found.items() if value is not None}
    parts, mixed = ([_with_start_values(part, start_values) for part in each] for each in (parts, mixed))
    held = [part for core in mixed for part in _held(core, parameters, initial)]
    pace = merged([_pace(part, parameters, horizon) for part in (*parts, *held)])
    return TimedPace(pace, used, start_values)


def _started(tree: Expr) -> Iterator[Expr]:
    """Yield the argument x of each call `start(x)` in an expression."""
    if tree.function == "start":
        yield tree.args[0]
        return
    for child in tree.args:
        yield from _started(child)


def _start_value(tree: Expr, parameters: Mapping[str, float], known: Mapping[str, float]) -> float | None:
    """Return the value of an expression just after t = 0, or None if it is unknown or undefined."""
    if _has_table(tree):
        return None
    initial = differentiate.just_after_zero(differentiate.expand(tree), parameters.__contains__)
    value = _initial(initial, known)
    return value if value is not None and math.isfinite(value) else None


def _with_start_values(tree: Expr, values: Mapping[Hashable, float]) -> Expr:
    """Return an expression with numbers in place of the calls `start(x)`.

    An unknown value is replaced by zero.
    """
    if tree.function == "start":
        return ir.constant(values.get(ir.key(tree.args[0]), 0.0))
    return ir.rebuilt(tree, [_with_start_values(child, values) for child in tree.args]) if tree.args else tree


def _timely(tree: Expr, parameters: Mapping[str, float]) -> Iterator[Expr]:
    """Yield the largest subexpressions that depend on time and parameters alone.

    Subexpressions that are affine in time or contain lookup tables are omitted.
    """
    if _is_timely(parameters, tree):
        if not _is_affine(tree):
            yield _without_offset(tree)
    elif "t" in _running(parameters, tree):
        for child in (*tree.args, *_without_states(tree, parameters)):
            yield from _timely(child, parameters)


def _without_offset(tree: Expr) -> Expr:
    """Return an expression without those summands and factors that contain `start(x)` but not the time t.

    Such a summand or factor is constant. It does not change the times and durations of pulses.
    """
    for kept, other in (tree.args, tree.args[::-1]) if tree.op in ("+", "-", "*") else ():
        if "t" not in running_names(other) and any(True for _ in _started(other)):
            return _without_offset(kept)
    return tree


def _is_timely(parameters: Mapping[str, float], *trees: Expr) -> bool:
    return _running(parameters, *trees) == {"t"} and not any(map(_has_table, trees))


def _has_table(tree: Expr) -> bool:
    return next(tables(tree), None) is not None


def _without_states(tree: Expr, parameters: Mapping[str, float]) -> Iterator[Expr]:
    """Yield functions of time alone whose short pulses also occur in the value of the given operation.

    If the operation is a division by d, and d depends on time alone, the function is 1/d. If the
    operation is a conditional expression, and its condition depends on time alone, the function is 1
    while the condition is true, and 0 otherwise.
    """
    if tree.op == "/" and _is_timely(parameters, tree.args[1]):
        yield differentiate.ONE / tree.args[1]
    if tree.op == "if" and _is_timely(parameters, *tree.args[:2]):
        left, right = tree.args[:2]
        yield ir.choose(tree.data[0], left, right, differentiate.ONE, differentiate.ZERO)


def _running(parameters: Mapping[str, float], *trees: Expr) -> set[str]:
    """Return the names of variables in the expressions, including the time `t`.

    Parameters are excluded, and so are names inside `start(x)`, the initial value of x.
    """
    return {name for tree in trees for name in running_names(tree)} - parameters.keys()


def _mixed(tree: Expr, parameters: Mapping[str, float]) -> Iterator[Expr]:
    """Yield the operations that combine time with state variables and can cause short pulses.

    Sums and products are omitted, because they have a short pulse only if one of their operands has
    one.
    """
    if _is_mixed(parameters, tree):
        if _is_decisive(tree, parameters):
            yield tree
        for child in tree.args:
            yield from _mixed(child, parameters)


def _is_mixed(parameters: Mapping[str, float], *trees: Expr) -> bool:
    used = _running(parameters, *trees)
    return "t" in used and len(used) > 1


def _is_decisive(tree: Expr, parameters: Mapping[str, float]) -> bool:
    """Whether an operation on time and state variables can cause a short pulse.

    Sums and products cannot. A conditional expression can cause one only if its condition depends on
    both time and states, and a quotient only if its divisor does.
    """
    if _has_table(tree):
        return False
    if tree.op == "if":
        return _is_mixed(parameters, *tree.args[:2])
    if tree.op == "/":
        return _is_mixed(parameters, tree.args[1])
    return not _is_polynomial(tree)


def _held(tree: Expr, parameters: Mapping[str, float], initial: Mapping[str, float]) -> list[Expr]:
    """Return copies of an expression in which constants replace the parts that do not depend on time.

    The constants differ from copy to copy; see `held_values`.
    """
    known = {"pi": math.pi, **parameters, **initial}
    values = [_initial(part, known) for part in _timeless(tree, parameters)]
    # An expression without a finite initial value does not limit the integration steps.
    with np.errstate(all="ignore"):
        return [_with_held(tree, parameters, iter(choice)) for choice in held_values(values)]


def _timeless(tree: Expr, parameters: Mapping[str, float]) -> Iterator[Expr]:
    """Yield the largest subexpressions that contain variables, but not the time `t`."""
    used = _running(parameters, tree)
    if used and "t" not in used:
        yield tree
    elif used:
        for child in tree.args:
            yield from _timeless(child, parameters)


def _with_held(tree: Expr, parameters: Mapping[str, float], values: Iterator[float]) -> Expr:
    used = _running(parameters, tree)
    if used and "t" not in used:
        return ir.constant(next(values))
    return ir.rebuilt(tree, [_with_held(child, parameters, values) for child in tree.args]) if used else tree


def _initial(tree: Expr, known: Mapping[str, float]) -> float | None:
    """Return the value of an expression at t = 0.

    The result is None if the expression contains names without a known initial value.
    """
    if not set(running_names(tree)) <= known.keys():
        return None
    with np.errstate(all="ignore"):
        return float(_values(tree, known))


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
            found = np.broadcast_to(_values(tree, {"pi": math.pi, **parameters, "t": inside}), time.shape)
        if not np.all(np.isfinite(found)):
            raise _NoValueError
        return found

    try:
        breaks = [*_breaks(tree, parameters)]
        return searched(function, (0.0, horizon), breaks, smooth=_is_smooth(tree))
    except ValueError:
        # If the expression is undefined at some time, a run ends at this time with an error message.
        return STEADY


def _breaks(tree: Expr, parameters: Mapping[str, float]) -> Iterator[float]:
    """Yield the times, s, at which every solver ends a step because of a given expression.

    Such times are the start and end times of the functions `quintic` in the expression. The times at
    which conditions in the expression switch are also included if they depend on parameters only.
    """

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
    """Whether an expression is a polynomial in time between its breakpoints."""
    return _is_polynomial(tree) and all(map(_is_smooth, tree.args))


def _is_polynomial(tree: Expr) -> bool:
    """Whether an operation on piecewise polynomials in time yields a piecewise polynomial."""
    if tree.op in ("/", "^"):
        exponent = tree.args[1]
        return exponent.op == "constant" and (tree.op == "/" or float(exponent.data) in _POWERS)
    if tree.op == "if":
        return differentiate.switching_time(tree, lambda name: name != "t") is not None
    return tree.op in ("constant", "symbol") or tree.function in _POLYNOMIAL


def _values(tree: Expr, known: Mapping[str, Array | float]) -> Array | float:
    if tree.op == "constant":
        return float(tree.data)
    if tree.op == "symbol":
        return known[tree.data]
    operands = [_values(child, known) for child in tree.args]
    if tree.op == "if":
        left, right, then, otherwise = operands
        return np.where(COMPARISONS[tree.data[0]](left, right), then, otherwise)
    return np.asarray(_OPERATIONS[tree.function](*operands))


def _step(tau: Array) -> Array:
    x = np.clip(tau, 0.0, 1.0)
    return np.asarray(x**3 * (10.0 - 15.0 * x + 6.0 * x * x))


_OPERATIONS: dict[str, Callable[..., Array]] = {
    **OPERATIONS,
    **FUNCTIONS,
    "noevent": np.asarray,
    "quintic_0": _step,
}
