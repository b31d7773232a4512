"""Everything at one state, in one call: motion, joint loads, closure forces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ...core.trajectory import Array
from ...language.ir import Expr
from ...mechanism import Mechanism
from ...reference.forces.element import Input
from ...reference.forces.joint_loads import all_links
from ...reference.solve.model import Evaluation, Model, Start
from ...reference.solve.solver import formulation
from ..start.statics import start_state


def evaluate(
    mechanism: Mechanism,
    t: float,
    q: ArrayLike,
    qd: ArrayLike,
    z: ArrayLike | None = None,
    *,
    start: Start | None = None,
    inputs: Mapping[str, Input] | None = None,
    dependent: Sequence[str] | None = None,
) -> Evaluation:
    """M, h, Q, Φ, C, γ, q̈, λ and friction at t, s, q and qd, shape (n,), rad or m (per s).

    With `gpme_reduced` the velocities of dependent coordinates follow from the constraints and not from qd.

    z          friction states, rad or m, in the order of their coordinates, then offset and rate of each filter;
               shape (f + 2k,), default 0
    start      state that `start(x)` refers to, and where redundant rows are chosen; default for the one: the
               description's start state, found only if needed, for the other: the state itself
    inputs     FMU inputs by symbol: numbers or functions of time in s; default zero
    dependent  dependent coordinates, or "auto"; default the description's choice
    Raises SolveError where C_d is singular or the start state is not found.
    """
    return _Point(mechanism, t, (q, qd), z, start, inputs, dependent).found


def joint_loads(
    mechanism: Mechanism,
    t: float,
    q: ArrayLike,
    qd: ArrayLike,
    z: ArrayLike | None = None,
    *,
    links: Sequence[str] | None = None,
    start: Start | None = None,
    inputs: Mapping[str, Input] | None = None,
    dependent: Sequence[str] | None = None,
) -> dict[str, Array]:
    """Wrenches that the links' joints transmit to all they carry (design 4.7), by link, shape (6,).

    fx fy fz nx ny nz, N and N·m, about the origin and in the axes of the link's frame, which moves with its joint.
    Springs, dampers, drives and friction of a joint are part of what it transmits; drives realise the programmed
    constraints. For the other arguments see `evaluate`.

    links   names; default all
    Raises SolveError for an unknown link, and as `evaluate` does.
    """
    point = _Point(mechanism, t, (q, qd), z, start, inputs, dependent)
    joints = point.model.joint_loads(all_links(mechanism) if links is None else links)
    return dict(zip(joints.links, point.model.loads_at(joints, point.state, point.found), strict=True))


def closure_wrenches(
    mechanism: Mechanism,
    t: float,
    q: ArrayLike,
    qd: ArrayLike,
    z: ArrayLike | None = None,
    *,
    start: Start | None = None,
    inputs: Mapping[str, Input] | None = None,
    dependent: Sequence[str] | None = None,
) -> dict[str, Array]:
    """What closures exert on the body of their frame b, by closure, shape (6,): constraint or spring and damper.

    fx fy fz nx ny nz, N and N·m, about the origin of frame b, in world axes. Frame a's body bears the opposite;
    only with `axes = "world"` the forces of the springs act at different points, the origins of b and of a.
    For the arguments see `evaluate`.
    """
    point = _Point(mechanism, t, (q, qd), z, start, inputs, dependent)
    return point.model.closure_wrenches(point.state, point.found)


class _Point:
    """A model made for one state, and what it finds there; see `evaluate`."""

    def __init__(
        self,
        mechanism: Mechanism,
        t: float,
        at: tuple[ArrayLike, ArrayLike],
        z: ArrayLike | None,
        start: Start | None,
        inputs: Mapping[str, Input] | None,
        dependent: Sequence[str] | None,
    ) -> None:
        if start is None and uses_start(mechanism):
            start = start_state(mechanism)
        self.model = Model(mechanism, start=start, inputs=inputs)
        q, qd = (np.asarray(part, dtype=float) for part in at)
        bristles, lag = self.model.further(None if z is None else np.asarray(z, dtype=float))
        given = self.model.state(t, q, qd, lag=lag)
        form = formulation(self.model, given if start is None else self.model.state(0.0, *start), dependent)
        self.state = self.model.consistent(given, form)
        self.found = self.model.evaluate(self.state, form, bristles)


def uses_start(mechanism: Mechanism) -> bool:
    """Whether any expression refers to the start state."""
    return any(map(_has_start, _trees(mechanism)))


def _trees(mechanism: Mechanism) -> Iterator[Expr]:
    for force in mechanism.forces:
        yield from force.values or ()
    for element in mechanism.elements:
        yield from element.trees
    for entry in mechanism.programmed:
        if entry.expression is not None:
            yield entry.expression


def _has_start(tree: Expr) -> bool:
    return tree.function == "start" or any(map(_has_start, tree.args))
