"""Springs, dampers and regularised Coulomb friction on joint coordinates and between beam elements."""

from __future__ import annotations

import numpy as np

from ..expressions.setting import Setting
from ..expressions.state import State
from .element import Silent
from .load import Load


class CoordinateSprings(Silent):
    """Springs, dampers and Coulomb friction on all coordinates."""

    def __init__(self, setting: Setting) -> None:
        coordinates = setting.machine.coordinates
        numbers = [(c.stiffness, c.rest, c.damping) for c in coordinates]
        self._stiffness, self._rest, self._damping = np.array(numbers, dtype=float).reshape(-1, 3).T
        self._coulomb = [
            (k, c.joint["friction"]["effort"], c.joint["friction"]["v_s"])
            for k, c in enumerate(coordinates)
            if c.joint is not None and (c.joint["friction"] or {}).get("model") == "coulomb"
        ]

    def act(self, state: State, load: Load) -> None:
        stretch = state.motion.q - self._rest
        load.effort -= self._stiffness * stretch + self._damping * state.motion.qd
        load.energy += 0.5 * float(self._stiffness @ stretch**2)
        for k, effort, v_s in self._coulomb:
            load.effort[k] -= effort * np.tanh(state.motion.qd[k] / v_s)
