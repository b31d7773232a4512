"""Step lengths that are short enough for brief features of expressions, such as pulses over time.

An integrator with longer steps could step over a pulse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...core.trajectory import Array
from ...language.held import held_values, wanders
from ...language.pace import STEADY, Pace, merged, searched
from .expression import (
    Branch,
    Call,
    Choice,
    Constant,
    Instant,
    Looked,
    Node,
    NoValue,
    affine,
    names,
    stops,
    with_children,
)
from .jet import Number, plain
from .segment import NotVectorisable, Segment

_POLYNOMIAL = ("+", "-", "*", "neg", "quintic")
_POWERS = (2.0, 3.0, 4.0)  # A power with one of these exponents is a polynomial that a few samples resolve.
# Lookup tables are sampled at these fractions of the interval between two table points.
_SHARES = np.array([0.25, 0.5, 0.75])


@dataclass(frozen=True)
class Timed:
    """Expression with the initial values of the names that it uses.

    Attributes
    ----------
    node : Node
        Compiled expression.
    initial : mapping of str to number
        Initial values by name.
    """

    node: Node
    initial: Mapping[str, Number]


@dataclass(frozen=True)
class Features:
    """Short features of an expression, such as pulses, which an integrator with long steps could miss.

    Attributes
    ----------
    pace : Pace
        Longest integration steps that resolve the expression's functions of time.
    wanders : bool
        Whether the expression has a short pulse at a time that depends on state variables. No list of
        step lengths can resolve such a pulse.
    """

    pace: Pace
    wanders: bool


def features(expression: Timed, horizon: float) -> Features:
    """Return the short features (such as pulses) of an expression between time 0 and `horizon`, s."""
    alone = [_pace(part, horizon) for part in _timely(expression.node)]
    cores = [[*_held(core, expression, horizon)] for core in _mixed(expression.node)]
    held = [found for core in cores for found, _ in core]
    return Features(merged([*alone, *held]), any(wanders(core, horizon) for core in cores))


def _timely(node: Node) -> Iterator[Node]:
    """Yield the largest subexpressions that depend on time alone.

    Subexpressions that are affine in time are omitted.
    """
    used = set(names(node))
    if used == {"t"}:
        if affine(node) is None:
            yield node
    elif "t" in used:
        for child in (*node.children, *_without_states(node)):
            yield from _timely(child)


def _without_states(node: Node) -> Iterator[Node]:
    """Yield functions of time alone that occur in an expression of time and states.

    One kind is the reciprocal 1/d of a divisor d that depends on time alone. The other kind is a
    condition on time, written as a number: 1 if true, 0 if false.
    """
    if isinstance(node, Call) and node.function == "/" and set(names(node.children[1])) == {"t"}:
        yield Call("/", (Constant(1.0), node.children[1]))
    if isinstance(node, Branch) and not _is_mixed(*node.children[:2]):
        yield with_children(node, [*node.children[:2], Constant(1.0), Constant(0.0)])


def _mixed(node: Node) -> Iterator[Node]:
    """Yield the operations on both time and state variables that can generate short pulses.

    Sums and products are not included: a sum or product has a pulse only if one of its operands has
    a pulse.
    """
    if _is_mixed(node):
        if _is_decisive(node):
            yield node
        for child in node.children:
            yield from _mixed(child)


def _is_mixed(*nodes: Node) -> bool:
    used = {name for node in nodes for name in names(node)}
    return "t" in used and len(used) > 1


def _is_decisive(node: Node) -> bool:
    """Whether an operation on time and state variables can generate a short pulse.

    An operation that only adds, multiplies or selects its operands cannot generate a pulse.
    """
    if isinstance(node, Branch):
        return _is_mixed(*node.children[:2])
    if isinstance(node, Call):
        return _is_mixed(node.children[1]) if node.function == "/" else not _is_polynomial(node)
    return False


def _held(core: Node, expression: Timed, horizon: float) -> Iterator[tuple[Pace, Callable[[Array], Array]]]:
    """Replace the state variables in an expression by constants, for several sets of constants.

    Each set of constants yields a function of time. The result for each set consists of two items: the step
    lengths that resolve this function, and the function itself.
    """
    initial = [_initial(part, expression.initial) for part in _timeless(core)]
    for values in held_values(initial):
        part = _with_held(core, iter(values))
        yield _pace(part, horizon), partial(_from_first, part)


def _from_first(node: Node, time: Array) -> Array:
    """Return an expression's values at increasing times of shape (N,), s.

    Conditional expressions of time keep the branch that is active at the first of these times.
    """
    return _values(node, time, float(time[0]))


def _timeless(node: Node) -> Iterator[Node]:
    """Yield the largest subexpressions that do not depend on time; constants are skipped."""
    used = set(names(node))
    if used and "t" not in used:
        yield node
    elif used:
        for child in node.children:
            yield from _timeless(child)


def _with_held(node: Node, values: Iterator[float]) -> Node:
    """Return an expression in which constants replace the time-independent parts.

    The argument `values` contains the constants, in the order in which `_timeless` yields the parts.
    """
    used = set(names(node))
    if used and "t" not in used:
        return Constant(next(values))
    return with_children(node, [_with_held(child, values) for child in node.children]) if used else node


def _initial(node: Node, values: Mapping[str, Number]) -> float | None:
    try:
        return float(plain(node.value(Instant({**values, "t": 0.0}, Segment(0.0)))))
    except NoValue:
        return None


def _pace(node: Node, horizon: float) -> Pace:
    if affine(node) is not None:
        return STEADY
    try:
        return searched(
            lambda time, begin: _values(node, time, begin),
            (0.0, horizon),
            list(stops(node)),
            smooth=_is_smooth(node),
            points=[*_looked_at(node)],
        )
    except NoValue:
        return STEADY  # No step limit is needed where an expression is undefined, because the run fails there.


def _values(node: Node, time: Array, begin: float) -> Array:
    """Return an expression's values at N times, s, shape (N,).

    Conditions on time keep the truth values that they have at the time `begin`, s.
    """
    segment = Segment(begin)
    with np.errstate(all="raise", under="ignore"):  # Underflow is harmless, because its result is zero.
        try:
            return _at_once(node, time, segment)
        except (NotVectorisable, FloatingPointError):
            # The expression is evaluated at single times, because the evaluation of the array has failed.
            return np.array([plain(node.value(Instant({"t": t}, segment))) for t in time.tolist()])


def _at_once(node: Node, time: Array, segment: Segment) -> Array:
    """Return an expression's values at N times, shape (N,).

    Each branch of a condition is evaluated only at those times at which the branch is active.
    """
    if isinstance(node, Branch):
        left, right, then, otherwise = node.children
        holds = node.compare(_at_once(left, time, segment), _at_once(right, time, segment))
        found = np.empty(time.shape)
        for side, where in ((then, holds), (otherwise, ~holds)):
            if where.any():
                found[where] = _at_once(side, time[where], segment)
        return found
    if isinstance(node, Choice):
        return _at_once(node.chosen(Instant({"t": time}, segment)), time, segment)
    if isinstance(node, Call):
        values = node.of(*(_at_once(child, time, segment) for child in node.children))
    else:
        values = node.value(Instant({"t": time}, segment))
    return np.broadcast_to(plain(values), time.shape)


def _is_smooth(node: Node) -> bool:
    """Whether an expression is a piecewise polynomial of time.

    The pieces meet at the breakpoints of functions and at the points of lookup tables.
    """
    own = _is_polynomial(node) if isinstance(node, Call) else not isinstance(node, Branch)
    return own and all(map(_is_smooth, node.children))


def _is_polynomial(call: Call) -> bool:
    if call.function == "/":
        return isinstance(call.children[1], Constant)
    if call.function == "^":
        return isinstance(call.children[1], Constant) and call.children[1].number in _POWERS
    return isinstance(call, Looked) or call.function in _POLYNOMIAL


def _looked_at(node: Node) -> Iterator[float]:
    """Yield sample times, s, that resolve the lookup tables in an expression.

    Sample times are the times at which a table's argument reaches a point of the table, and times in between.
    """
    if isinstance(node, Looked):
        line = affine(node.children[0])
        if line is not None and line[1] != 0.0:
            offset, rate = line
            points = node.curve.points
            between = points[:-1, None] + np.diff(points)[:, None] * _SHARES
            yield from ((np.concatenate([points, between.ravel()]) - offset) / rate).tolist()
    for child in node.children:
        yield from _looked_at(child)
