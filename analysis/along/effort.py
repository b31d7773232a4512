"""Limit of the number of integration steps, so that a run near gimbal lock ends with a message."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.errors import SolveError
from ...core.trajectory import Array
from ...mechanism import Mechanism

_STEPS = 2000  # A run's progress is checked over this many successive integration steps.
# A run fails if 2,000 successive integration steps cover less than this fraction of the run's duration.
_PART = 1e-5
# For simulated times above this value, s, a run fails if 2,000 integration steps cover less than 0.1 ms.
_LONG = 10.0
_NEAR = 1e-2  # Gimbal lock explains short steps if the |cosine| of the Euler angle theta is below this value.


def check_effort(mechanism: Mechanism, steps: Sequence[tuple[float, Array]], end: float) -> None:
    """Raise SolveError if the last 2,000 steps cover less than 1e-5 of the run.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism with n coordinates.
    steps : sequence of pairs
        Time, s, and state, at the end of each step since the last event. A state begins with the n
        coordinates, rad or m.
    end : float
        Duration of the run, s.
    """
    if len(steps) <= _STEPS:
        return
    t, y = steps[-1]
    covered = t - steps[-1 - _STEPS][0]
    if covered < _PART * min(end, _LONG):
        raise SolveError(f"the motion ends at t = {t:.5g} s: {_reason(mechanism, y, covered)}")


def _reason(mechanism: Mechanism, y: Array, covered: float) -> str:
    found = f"{_STEPS:,} integration steps cover only {covered:.2g} s"
    locked = _in_gimbal_lock(mechanism, y)
    if locked is None:
        return f"{found}; soften or remove stiff elements, or use another simulation.method or a larger tolerance"
    coordinate, distance = mechanism.coordinates[locked], np.pi / 2 - abs(_wrapped(y[locked]))
    return (
        f"expected {coordinate.name} away from ±pi/2, found {y[locked]:.9g} rad, {abs(distance):.2g} rad from"
        f" gimbal lock; {found} there; rotate the joint's frame, so that theta stays away from ±pi/2"
    )


def _in_gimbal_lock(mechanism: Mechanism, y: Array) -> int | None:
    """Return the index of the Euler angle theta that is closest to ±π/2, or None if no such angle is close.

    Only joints with three rotations have a gimbal lock.
    """
    owners = {c.owner for c in mechanism.coordinates if c.key == "phi"}
    thetas = [k for k, c in enumerate(mechanism.coordinates) if c.key == "theta" and c.owner in owners]
    nearest = min(thetas, key=lambda k: abs(np.cos(y[k])), default=None)
    return nearest if nearest is not None and abs(np.cos(y[nearest])) < _NEAR else None


def _wrapped(angle: float) -> float:
    """Return the angle plus the multiple of 2π that brings the sum into the range −π to π, rad."""
    return float(np.arctan2(np.sin(angle), np.cos(angle)))
