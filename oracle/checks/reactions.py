"""Independent check of the joint reactions that the model generator claims to be unique.

The check uses absolute coordinates: six velocities per body, and the constraint equations of every joint.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...core.trajectory import Array
from ..bodies.machine import GROUND
from ..constraints.rows import Wrench
from ..equations.model import Model
from ..expressions.state import State
from .ranks import units_of

# Singular values of the Jacobian count as zero if they are at most this fraction of the largest one.
_IDLE = 1e-10
_EMPTY = 1e-12  # A Jacobian row with at most this norm is omitted, because such a row acts only on the ground.
# A joint reaction is not unique if multipliers λ with Cᵀλ = 0 and |λ| = 1 change the reaction by more than this.
_SURELY = 1e-4


def not_unique(model: Model, state: State) -> Iterator[str]:
    """Yield a message for each joint or loop closure whose reaction is claimed to be unique but is not.

    Programmed constraint equations are ignored, because additional equations cannot make a reaction
    unique.
    """
    if not any(model.claims.unique.values()):
        return
    owners, rows = _equations(model, state)
    if not rows:
        return
    C = np.array(rows)
    C = C / np.linalg.norm(C, axis=1, keepdims=True)
    left, values, _ = np.linalg.svd(C)
    rank = int(np.count_nonzero(values > _IDLE * values[0]))
    idle = left[:, rank:]
    for name in dict.fromkeys(owners):
        own = [i for i, owner in enumerate(owners) if owner == name]
        if (
            model.claims.unique.get(name, False)
            and np.linalg.norm(C[own].T @ idle[own], axis=0).max(initial=0.0) > _SURELY
        ):
            yield f"the reaction of {name} is claimed to be unique, but redundant constraints leave it open"


def _equations(model: Model, state: State) -> tuple[list[str], list[Array]]:
    """Return the constraint Jacobian for absolute body velocities, and the origin of each row.

    The origin of a row is a joint, knife edge or loop closure. A row contains the force and the moment
    on each body for a unit multiplier. Moments are divided by the mechanism's size.

    Returns
    -------
    owners : list of str
        Name of the joint, knife edge or loop closure of each row.
    rows : list of ndarray, shape (6 B,)
        Jacobian rows for B bodies.
    """
    owners, rows = list[str](), list[Array]()
    size = units_of(model, state)[0]

    def add(owner: str, wrenches: Sequence[Wrench]) -> None:
        row = np.zeros((len(model.machine.bodies) + 1, 6))
        for wrench in wrenches:
            row[wrench.body] += np.concatenate([wrench.force, wrench.moment / size])
        owners.append(owner)
        rows.append(row[:-1].ravel())

    first: set[str] = set()
    for b, body in enumerate(model.machine.bodies):
        name = f"{body.link} element" if body.link in first else body.link
        first.add(body.link)
        for wrenches in _joint(model, state, b):
            add(name, wrenches)
    for edge in model.edges:
        add(edge.names[0], edge.equations(state)[0].wrenches)
    for cut in model.cuts:
        for equation in cut.equations(state):
            add(cut.name, equation.wrenches)
    kept = [i for i, row in enumerate(rows) if np.linalg.norm(row) > _EMPTY]
    return [owners[i] for i in kept], [rows[i] for i in kept]


def _joint(model: Model, state: State, b: int) -> Iterator[list[Wrench]]:
    """Yield the independent constraint wrenches of the joint between a body and its parent.

    Each constraint wrench is a list: a unit wrench on the body and, unless the parent is the ground,
    the opposite wrench on the parent.
    """
    machine, m = model.machine, state.motion
    body, none = machine.bodies[b], np.zeros(3)
    is_held = machine.base_held and body.link == "base"
    twists = [
        np.concatenate([none, m.axes[k]] if machine.coordinates[k].freedom.turns else [m.axes[k], none])
        for k in (() if is_held else body.coordinates)
    ]
    motions = np.array(twists).reshape(-1, 6)
    complement = np.linalg.svd(motions)[2][len(motions) :] if len(motions) else np.eye(6)
    for wrench in complement:
        force, moment = wrench[:3], wrench[3:]
        found = [Wrench(b, force, moment)]
        if body.parent != GROUND:
            arm = m.r[b] - m.r[body.parent]
            found.append(Wrench(body.parent, -force, -moment - np.cross(arm, force)))
        yield found
