"""What a description asks for and does not get: rows left out that do not hold, a start that is changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...generator.mechanism import Mechanism
from ...trajectory import Trajectory
from ..forces.loads import Input
from ..kinematics.extent import units_of_change
from ..solve.assembly import assemble
from ..solve.left_out import LeftOut, Opening
from ..solve.manifold import Manifold
from ..solve.model import Model, Start
from ..solve.solver import row_choice
from ..solve.statics import described_state

Array = NDArray[np.float64]
_FAR = 0.1  # rad, or of the extent: a change of the start that is worth a word
_CHANGED = 1e-6  # of the velocities: the same


@dataclass(frozen=True)
class LeftOutRows:
    """Rows that take no part because others imply them, over a run; k of them.

    names      of the rows
    time       shape (N,), s
    residuals  shape (N, k): what each is open by beyond what the rows that imply it are, in its unit (per second
               for a row of order 1, per second squared for one of order 2)
    allowed    shape (N, k): what `simulation.violation` and drift explain
    opened     the first time that one is open, or None
    """

    names: tuple[str, ...]
    time: Array
    residuals: Array
    allowed: Array
    opened: Opening | None


def left_out(
    mechanism: Mechanism,
    trajectory: Trajectory,
    *,
    start: Start | None = None,
    inputs: Mapping[str, Input] | None = None,
) -> LeftOutRows:
    """Whether rows that are left out hold at each time of a run of any backend.

    trajectory  with `<coordinate>`, `<coordinate>_dot`, `<coordinate>_ddot` of all coordinates
    start       (q0, qd0), shape (n,) each, where rows were chosen and `start(x)` refers to; default the first time
    """
    symbols = [c.symbol for c in mechanism.coordinates]
    q, qd, qdd = (
        np.array([trajectory.signals[symbol + suffix] for symbol in symbols]).T for suffix in ("", "_dot", "_ddot")
    )
    start = (q[0], qd[0]) if start is None else start
    model = Model(mechanism, start=start, inputs=inputs)
    left = LeftOut(model, row_choice(model, model.state(0.0, *start)))
    found = np.zeros((2, len(q), len(left.rows)))
    opened = None
    for k, t in enumerate(trajectory.time.tolist() if left.rows else ()):
        state = model.state(t, q[k], qd[k])
        found[:, k] = left.residuals(state, qdd[k])
        opened = opened or left.opened(state, qdd[k])
    return LeftOutRows(left.names, trajectory.time, found[0], found[1], opened)


def start_notes(mechanism: Mechanism, start: Start) -> list[str]:
    """What was changed of the described start, and what cannot be fulfilled near it; sentences.

    start   (q0, qd0), shape (n,) each, as `start_state` found it
    """
    unreachable = _unreachable(Model(mechanism, start=start), start)
    return [*_moved(mechanism, start[0]), *_slowed(mechanism, start[1]), *unreachable]


def _moved(mechanism: Mechanism, q: Array) -> Iterator[str]:
    """Joints that were moved far to close loops."""
    if not mechanism.closures:
        return
    extent, unit = units_of_change(mechanism, Model(mechanism).state(0.0, q, 0 * q).posture)
    given = described_state(mechanism)[0]
    closed = assemble(mechanism, given)
    far = np.flatnonzero(np.abs(closed - given) > _FAR * extent * unit).tolist()
    if far:
        changes = _changes(mechanism, far, given, closed, "")
        yield f"loops were closed by moving joints far: {changes}; give these positions, or see whether links fit"


def _slowed(mechanism: Mechanism, qd: Array) -> Iterator[str]:
    """Start velocities that constraints do not allow."""
    given = described_state(mechanism)[1]
    unit = units_of_change(mechanism, Model(mechanism).state(0.0, 0 * qd, qd).posture)[1]
    size = float(np.abs(given / unit).max(initial=0.0))
    changed = [k for k in np.flatnonzero(given).tolist() if abs(qd[k] - given[k]) / unit[k] > _CHANGED * size]
    if changed:
        changes = _changes(mechanism, changed, given, qd, "/s")
        yield f"start velocities were changed to what closures, knife edges and rows of order 1 allow: {changes}"


def _changes(mechanism: Mechanism, which: list[int], before: Array, after: Array, per: str) -> str:
    named = [(mechanism.coordinates[k], before[k], after[k]) for k in which]
    return ", ".join(f"{c.name} from {a:.4g} to {b:.4g} {c.unit}{per}" for c, a, b in named)


def _unreachable(model: Model, start: Start) -> Iterator[str]:
    """Rows that cannot be fulfilled anywhere near."""
    state = model.state(0.0, *start)
    nearest = Manifold(model, state).nearest(state)
    if nearest.fulfilled:
        return
    Phi = np.abs(model.constraints(nearest.state).Phi)
    k = int(np.argmax(Phi))
    yield (
        f"the constraint rows cannot be fulfilled near the start: the nearest position misses"
        f" {model.constraints.names[k]} by {Phi[k]:.3g}, so that the motion will end where they become singular"
    )
