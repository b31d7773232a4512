"""Mechanical end stops of joints, modelled as unilateral contacts on the joint coordinate."""

from __future__ import annotations

from typing import Any

from ..bodies.machine import Coordinate
from ..expressions.setting import Setting
from ..expressions.state import State
from .element import Silent
from .load import Load
from .pressing import pressing


class Stop(Silent):
    """Mechanical end stop at the lower or upper limit of a joint coordinate."""

    def __init__(self, coordinate: Coordinate, k: int, side: str) -> None:
        assert coordinate.joint is not None
        limits = coordinate.joint["limits"]
        self._k, self._at, self._way = k, limits[side], 1.0 if side == "lower" else -1.0
        label = f"stop {coordinate.name} {side}"
        self._law = pressing(label, ("is met", "is left"), limits["stiffness"], limits)

    def act(self, state: State, load: Load) -> None:
        depth = self._way * (self._at - state.motion.q[self._k])
        rate = -self._way * state.motion.qd[self._k]
        if self._law.acts(state.sides, depth, rate):
            load.effort[self._k] += self._way * self._law.free(depth, rate)
            load.energy += self._law.energy(depth)


def stops(setting: Setting) -> list[Stop]:
    """Return the end stops of all joints."""
    return [
        Stop(coordinate, k, side)
        for k, coordinate in enumerate(setting.machine.coordinates)
        if coordinate.joint is not None and _acts(coordinate.joint["limits"])
        for side in ("lower", "upper")
        if coordinate.joint["limits"][side] is not None
    ]


def _acts(limits: dict[str, Any] | None) -> bool:
    return limits is not None and limits["stiffness"] is not None
