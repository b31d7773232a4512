"""Spring-dampers that replace the constraints of a loop closure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..constraints.closures import Closure
from ..expressions.setting import Setting
from ..expressions.state import State
from .element import Silent
from .load import Load


class ReplacementJoint(Silent):
    """Loop closure that is modelled by spring-dampers instead of constraint equations."""

    def __init__(self, table: Mapping[str, Any], setting: Setting) -> None:
        self._closure = Closure(table, setting)
        self._stiffness, self._damping = table["stiffness"], table["damping"] or [0.0] * 6

    def act(self, state: State, load: Load) -> None:
        numbers = zip(self._closure.equations(state), self._stiffness, self._damping, strict=True)
        for deformation, stiffness, damping in numbers:
            effort = -(stiffness * deformation.value + damping * deformation.rate)
            for wrench in deformation.wrenches:
                load.force[wrench.body] += effort * wrench.force
                load.moment[wrench.body] += effort * wrench.moment
            load.energy += 0.5 * stiffness * deformation.value**2
