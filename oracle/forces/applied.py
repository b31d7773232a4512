"""Applied forces and joint efforts, given by expressions or inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..expressions.jets import value
from ..expressions.setting import Setting
from ..expressions.state import Numbers, State
from .element import Silent
from .load import Load


class AppliedForce(Silent):
    """Applied effort on a joint coordinate, or applied force at a point of a link."""

    def __init__(self, table: Mapping[str, Any], setting: Setting) -> None:
        name, self._names = table["name"], setting.names
        on_joint = table["joint"] is not None
        self._coordinate = setting.machine.coordinate(table["joint"]) if on_joint else None
        self._point = None if on_joint else setting.point(table["link"], table["point"])
        self._in_world = table["frame"] == "world"
        self._inputs = ([name] if on_joint else [f"{name}_{x}" for x in "xyz"]) if table["input"] else []
        texts = [] if table["input"] else [table["effort"]] if on_joint else table["force"]
        self._laws = [setting.compile(text, f"force {name}") for text in texts]

    def act(self, state: State, load: Load) -> None:
        scope = Numbers(state, self._names)
        values = [state.input(name) for name in self._inputs] or [value(law(scope)) for law in self._laws]
        if self._coordinate is not None:
            load.effort[self._coordinate] += values[0]
            return
        assert self._point is not None
        force = np.array(values)
        if not self._in_world:
            force = state.motion.R[state.points.body[self._point]] @ force
        load.push(self._point, force)
