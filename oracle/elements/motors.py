"""Motors whose force or torque is proportional to the current up to a saturation limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..expressions.setting import Setting
from ..expressions.sides import Condition
from ..expressions.state import State
from ..forces.commands import Command
from ..forces.load import Load

MEASURES = ("force",)
_WORDS = ("saturates", "is below its limit again")


class Motor:
    """Motor that exerts a force or torque on a joint coordinate.

    The force or torque is proportional to the current and limited in magnitude.
    """

    def __init__(self, table: Mapping[str, Any], setting: Setting) -> None:
        self._name, self._k = table["name"], setting.machine.coordinate(table["joint"])
        self._constant, self._limit = table["constant"], table["limit"]
        self._current = Command(table, "current", setting)
        setting.names.forces[f"{self._name}.force"] = self._effort

    def act(self, state: State, load: Load) -> None:
        load.effort[self._k] += self._effort(state)

    def signals(self, state: State) -> dict[str, float]:
        return {f"{self._name}_force": self._effort(state)}

    def _effort(self, state: State) -> float:
        wanted, label = self._constant * self._current(state), f"motor {self._name}"
        for way in (1.0, -1.0):
            beyond = Condition(label, _WORDS, way * wanted - self._limit, False)
            if state.sides.decide((label, way), beyond):
                return way * float(self._limit)
        return float(wanted)


of = Motor
