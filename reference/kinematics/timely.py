"""Parts of expressions that depend on time alone, and the longest steps that resolve them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...core.trajectory import Array
from ...language.pace import STEADY, Pace, merged, searched
from .expression import Branch, Call, Choice, Constant, Instant, Looked, Node, NoValue, affine, names, stops
from .jet import plain
from .segment import Apart, Segment

_POLYNOMIAL = ("+", "-", "*", "neg", "quintic")
_SHARES = np.array([0.25, 0.5, 0.75])  # of a table's piece, where it is looked at


def pace(nodes: Sequence[Node], horizon: float) -> Pace:
    """Longest steps that resolve all functions of time in expressions, from 0 to the horizon, s."""
    return merged([_pace(part, horizon) for node in nodes for part in _timely(node)])


def _timely(node: Node) -> Iterator[Node]:
    """The largest parts that depend on time alone; those that are affine in it need no care."""
    used = set(names(node))
    if used == {"t"}:
        if affine(node) is None:
            yield node
    elif used:
        for child in node.children:
            yield from _timely(child)


def _pace(node: Node, horizon: float) -> Pace:
    try:
        return searched(
            lambda time, begin: _values(node, time, begin),
            (0.0, horizon),
            list(stops(node)),
            smooth=_is_smooth(node),
            points=[*_looked_at(node)],
        )
    except NoValue:
        return STEADY  # a run that comes there ends with a message


def _values(node: Node, time: Array, begin: float) -> Array:
    """Values at times, shape (N,), of the piece from a breakpoint on, s."""
    segment = Segment(begin)
    with np.errstate(all="raise", under="ignore"):  # an exponential that vanishes has a value
        try:
            return _at_once(node, time, segment)
        except (Apart, FloatingPointError):  # no value somewhere
            return np.array([plain(node.value(Instant({"t": t}, segment))) for t in time.tolist()])


def _at_once(node: Node, time: Array, segment: Segment) -> Array:
    """Values at all times; of a condition that changes, each side where it holds."""
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
    """Whether it is a polynomial between its breakpoints and the points of its tables."""
    return all(map(_is_smooth, node.children)) and (
        not isinstance(node, Call) or isinstance(node, Looked) or node.function in _POLYNOMIAL or _divides(node)
    )


def _divides(node: Call) -> bool:
    return node.function == "/" and isinstance(node.children[1], Constant)


def _looked_at(node: Node) -> Iterator[float]:
    """Times, s, at and between the points of tables."""
    if isinstance(node, Looked):
        line = affine(node.children[0])
        if line is not None and line[1] != 0.0:
            offset, rate = line
            points = node.curve.points
            between = points[:-1, None] + np.diff(points)[:, None] * _SHARES
            yield from ((np.concatenate([points, between.ravel()]) - offset) / rate).tolist()
    for child in node.children:
        yield from _looked_at(child)
