"""Everything at one state, in one call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..generator import expressions
from ..generator.expressions import Apply, Tree
from ..generator.mechanism import Mechanism
from .loads import Input
from .model import Evaluation, Model, Start
from .statics import start_state


def evaluate(
    mechanism: Mechanism,
    t: float,
    q: ArrayLike,
    qd: ArrayLike,
    *,
    start: Start | None = None,
    inputs: Mapping[str, Input] | None = None,
    dependent: Sequence[str] | None = None,
) -> Evaluation:
    """M, h, Q, Φ, C, γ, q̈ and the constraints' effort at t, s, q and qd, shape (n,), rad or m (per s).

    start      state that `start(x)` refers to; default the description's start state, found only if needed
    inputs     FMU inputs by symbol: numbers or functions of time in s; default zero
    dependent  dependent coordinates, or "auto": chosen in this state; default the description's choice
    Raises SolveError where C_d is singular or the start state is not found.
    """
    if start is None and uses_start(mechanism):
        start = start_state(mechanism)
    model = Model(mechanism, start=start, inputs=inputs)
    state = model.state(t, np.asarray(q, dtype=float), np.asarray(qd, dtype=float))
    return model.evaluate(state, model.partition(state, dependent))


def uses_start(mechanism: Mechanism) -> bool:
    """Whether any expression refers to the start state."""
    return any(map(_has_start, _trees(mechanism)))


def _trees(mechanism: Mechanism) -> Iterator[Tree]:
    for force in mechanism.forces:
        yield from force.values or ()
    for entry in mechanism.programmed:
        if entry.expression is not None:
            yield expressions.parse(entry.expression)


def _has_start(tree: Tree) -> bool:
    return (isinstance(tree, Apply) and tree.function == "start") or any(
        map(_has_start, expressions.children(tree))
    )
