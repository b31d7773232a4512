"""Two-point force elements: spring-dampers, cylinders and ropes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..expressions.jets import Jet, jet, value
from ..expressions.setting import Setting
from ..expressions.sides import Condition
from ..expressions.state import Derivatives, Numbers, State
from .load import Load


@dataclass(frozen=True)
class _Tension:
    """Axial force of a two-point element, N, with spring elongation, m, and potential energy, J.

    The force is positive in tension.
    """

    force: float
    stretch: float = 0.0
    energy: float = 0.0


class Line:
    """Force element between two points: a spring-damper, a cylinder or a rope."""

    def __init__(self, table: Mapping[str, Any], setting: Setting) -> None:
        self._table, self._names = table, setting.names
        self._name = name = table["name"]
        self._a, self._b = (setting.point(table[end]["link"], table[end]["point"]) for end in "ab")
        self._is_spring = table["force"] is None and not table["input"]
        rest, label = table["rest"], f"line {name}"
        self._filter = setting.filters[rest["input"]] if isinstance(rest, dict) else None
        self._rest = setting.compile(0.0 if isinstance(rest, dict) else rest, label)
        own = {"length": f"{name}.length", "rate": f"{name}.rate"}
        self._law = None if table["force"] is None else setting.compile(table["force"], label, own)
        setting.names.add(f"{name}.length", self._length, f"{name}.rate", f"{name}.rate_dot")
        setting.names.forces[f"{name}.force"] = lambda state: self._tension(state).force

    def act(self, state: State, load: Load) -> None:
        tension, p = self._tension(state), state.points
        pull = tension.force / self._length(state).value * (p.position[self._b] - p.position[self._a])
        load.push(self._a, pull)
        load.push(self._b, -pull)
        load.energy += tension.energy

    def signals(self, state: State) -> dict[str, float]:
        length = self._length(state)
        found = {"length": length.value, "rate": length.rate, "force": self._tension(state).force}
        return {f"{self._name}_{key}": number for key, number in found.items()}

    def _length(self, state: State) -> Jet:
        return state.distance(self._a, self._b)

    def _tension(self, state: State) -> _Tension:
        free = self._free(state)
        if not self._table["tension_only"]:
            return free
        label, decide = f"line {self._name}", state.sides.decide
        if self._is_spring:
            taut = Condition(label, ("is taut", "is slack"), free.stretch, False)
            if not decide((label, "stretch"), taut):
                return _Tension(0.0)
        words = ("would pull", "would push") if self._is_spring else ("is taut", "is slack")
        pulls = decide((label, "force"), Condition(label, words, free.force, False))
        return free if pulls else _Tension(0.0)

    def _free(self, state: State) -> _Tension:
        """Return the axial force without the limit to tension; a negative force is compressive."""
        if self._table["input"]:
            return _Tension(state.input(self._name))
        if self._law is not None:
            return _Tension(value(self._law(Numbers(state, self._names))))
        rest, length = self._at_rest(state), self._length(state)
        stretch = length.value - rest.value
        elastic = self._table["stiffness"] * stretch
        damping = self._table["damping"] * (length.rate - rest.rate)
        return _Tension(elastic + damping, stretch, 0.5 * elastic * stretch)

    def _at_rest(self, state: State) -> Jet:
        if self._filter is not None:
            length, rate, _ = state.followed[self._filter]
            return Jet(length, 0.0, rate)
        return jet(self._rest(Derivatives(state, self._names, 0)))
