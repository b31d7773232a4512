"""Functions that compute a pose with closed loops after a slider has moved one coordinate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .. import analysis
from ..core.errors import SolveError
from ..core.trajectory import Array
from ..mechanism import Mechanism
from .machine import PreviewMachine

_STEP = 0.1  # Largest change of the moved coordinate before the loops are closed again, rad or m.
_MOST_STEPS = 100  # Largest number of steps into which one move of a coordinate is divided.


@dataclass(frozen=True)
class Pose:
    """Pose of a mechanism: coordinates q, shape (n,), rad or m.

    The attribute `note` explains why the coordinates differ from the requested ones; otherwise it
    is empty.
    """

    q: Array
    note: str = ""


@dataclass(frozen=True)
class Move:
    """Request to give a named coordinate a new value, rad or m."""

    name: str
    value: float


def posed(machine: PreviewMachine, given: Mapping[str, float], move: Move | None = None) -> Pose:
    """Return the pose in which a slider has moved one coordinate and all loops are closed.

    Coordinates that are not given start at their initial values. The coordinates of the other joints
    change as little as possible to close the loops. If the loops cannot be closed at the new value, the
    coordinate stops before this value.

    Parameters
    ----------
    machine : PreviewMachine
        Mechanism with its initial coordinates.
    given : mapping
        Coordinates by name, rad or m; unknown names are ignored.
    move : Move, optional
        Coordinate that moves and its new value.
    """
    mechanism, q = machine.mechanism, machine.start[0].copy()
    index = {c.name: k for k, c in enumerate(mechanism.coordinates)}
    for name, value in given.items():
        if name in index:
            q[index[name]] = value
    if move is None or move.name not in index:
        return _closed(machine, q) if given else Pose(q)
    return _moved(machine, q, index[move.name], move.value)


def settled(machine: PreviewMachine, pose: Pose, inputs: Mapping[str, float]) -> Pose:
    """Return the static equilibrium near a pose; inputs of the FMU are constant."""
    try:
        return Pose(
            analysis.equilibrium_near(analysis.ReferenceModel(machine.mechanism, inputs=dict(inputs)), pose.q)
        )
    except SolveError as error:
        return Pose(pose.q, str(error))


def open_by(mechanism: Mechanism, q: Array) -> float:
    """Return the largest residual of the loop closures at the coordinates q, shape (n,).

    The residual is in m or dimensionless. It is 0 if the mechanism has no loop closures.
    """
    model = analysis.ReferenceModel(mechanism)
    loops = model.constraints.loops.rows(model.state(0.0, q, np.zeros(mechanism.n)).posture)
    return float(np.abs(loops.Phi).max(initial=0.0))


def _has_loops(mechanism: Mechanism) -> bool:
    return any(closure.rows for closure in mechanism.closures)


def _followers(mechanism: Mechanism) -> Array:
    """Return a weight for each coordinate, shape (n,).

    The weight is 1 for joint coordinates and 0 for all other coordinates. Only coordinates with weight
    1 may change when loops are closed.
    """
    return np.array([float(c.role == "joint") for c in mechanism.coordinates])


def _closed(machine: PreviewMachine, q: Array) -> Pose:
    mechanism = machine.mechanism
    if not _has_loops(mechanism) or machine.obstacle:
        return Pose(q)
    try:
        return Pose(analysis.assemble(mechanism, q, _followers(mechanism)))
    except SolveError as error:
        return Pose(machine.start[0], f"the loops cannot be closed in this pose: {error}")


def _moved(machine: PreviewMachine, q: Array, k: int, value: float) -> Pose:
    mechanism, coordinate = machine.mechanism, machine.mechanism.coordinates[k]
    if not _has_loops(mechanism) or machine.obstacle:
        q[k] = value
        return Pose(q)
    mobile = _followers(mechanism)
    mobile[k] = 0.0
    steps = int(np.clip(np.ceil(abs(value - q[k]) / _STEP), 1, _MOST_STEPS))
    for target in np.linspace(q[k], value, steps + 1)[1:]:
        trial = q.copy()
        trial[k] = target
        try:
            q = analysis.assemble(mechanism, trial, mobile)
        except SolveError:
            reached = f"{coordinate.name} stops at {q[k]:.6g} {coordinate.unit}"
            return Pose(q, f"{reached}: the loops cannot be closed at {target:.6g} {coordinate.unit}")
    return Pose(q)
