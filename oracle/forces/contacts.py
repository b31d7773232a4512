"""Unilateral contacts between points of links and planes, with regularised Coulomb friction."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..expressions.jets import Jet
from ..expressions.setting import Setting
from ..expressions.state import State
from .load import Load
from .pressing import pressing


class Contact:
    """Unilateral contact between a point of a link and a fixed plane."""

    def __init__(self, table: Mapping[str, Any], setting: Setting) -> None:
        self._name = name = table["name"]
        self._point = setting.point(table["link"], table["point"])
        normal = np.array(table["plane"]["normal"], dtype=float)
        self._normal = normal / np.linalg.norm(normal)
        self._origin = np.array(table["plane"]["point"], dtype=float)
        self._friction = table["friction"]
        self._law = pressing(f"contact {name}", ("touches", "is clear"), table["stiffness"], table)
        setting.names.add(f"{name}.gap", self._gap)
        setting.names.forces[f"{name}.force"] = self._force

    def act(self, state: State, load: Load) -> None:
        N = self._force(state)
        if N == 0.0:
            return
        force = N * self._normal
        if self._friction is not None:
            velocity = state.points.velocity[self._point]
            sliding = velocity - (velocity @ self._normal) * self._normal
            speed = float(np.sqrt(sliding @ sliding))
            if speed > 0.0:
                grip = self._friction["mu"] * N * math.tanh(speed / self._friction["v_s"])
                force = force - grip * sliding / speed
        load.push(self._point, force)
        load.energy += self._law.energy(-self._gap(state).value)

    def signals(self, state: State) -> dict[str, float]:
        return {f"{self._name}_gap": self._gap(state).value, f"{self._name}_force": self._force(state)}

    def _gap(self, state: State) -> Jet:
        found = state.along(self._point, self._normal)
        return found + -float(self._origin @ self._normal)

    def _force(self, state: State) -> float:
        gap = self._gap(state)
        depth, rate = -gap.value, -gap.rate
        return self._law.free(depth, rate) if self._law.acts(state.sides, depth, rate) else 0.0
