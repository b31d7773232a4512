"""Mechanisms that are projected onto their constraints, and the generated projections at any state."""

from __future__ import annotations

from typing import Any

import numpy as np
from helpers_parts import body, link, machine
from helpers_stages import StagedModel
from numpy.typing import NDArray

Array = NDArray[np.float64]
ON = {"projection": True, "alpha": 0.0, "beta": 0.0}  # nothing but the projection keeps the constraints


class Projector(StagedModel):
    """A model whose projections are evaluated."""

    def change(self, level: str, t: float, q: Array, qd: Array, z: Array | None = None) -> Array:
        """Change of the states that one step of a level proposes, shape (2n + f,), at t, s, q, qd, (n,), and z."""
        self._put("time", t)
        self._put("states", np.concatenate([q, qd, np.zeros(0) if z is None else z]))
        self._put("inputs", 0.0)
        self._put("switches", (self._get("event_times") <= t).astype(float))
        self._run(f"project_{level}")
        return self._get(f"{level}_change")


def _disc(name: str, x: float, velocity: tuple[float, float, float]) -> dict[str, Any]:
    return link(name, "planar", position=[x, 0.0, 0.0], velocity=list(velocity)) | body(
        2.0 if name == "left" else 1.0, inertia=[0.1, 0.1, 0.1]
    )


def dumbbell(**changes: Any) -> dict[str, Any]:
    """Two discs of 2 and 1 kg in the x–y plane, 1 m of massless rod between them, that nothing else acts on."""
    rod = {"name": "rod", "type": "distance", "length": 1.0, "a": {"link": "left"}, "b": {"link": "right"}}
    times = {"start": "description", "stop": 5.0, "output_step": 0.05}
    discs = _disc("left", 0.0, (0.3, -0.1, 0.5)), _disc("right", 1.0, (0.3, 0.1, -2.0))
    rest = {"gravity": [0.0, 0.0, 0.0], "closures": [rod], "constraints": ON, "simulation": times}
    return machine(*discs, name="Dumbbell", **rest) | changes


def swing(**changes: Any) -> dict[str, Any]:
    """A disc that swings on a rod of 1 m about the world's origin: a pendulum in Cartesian coordinates.

    Gravity acts along x, the amplitude is 60°: right.x never vanishes, so that it can depend on right.y. A spring
    of 0.5 N·m/rad turns the disc back.
    """
    disc = _disc("right", 1.0, (0.0, 3.1, 0.7))
    disc["joint"]["stiffness"] = [0.0, 0.0, 0.5]
    rod = {"name": "rod", "type": "distance", "length": 1.0, "a": {"link": "ground"}, "b": {"link": "right"}}
    return dumbbell(name="Swing", gravity=[9.81, 0.0, 0.0], links=[disc], closures=[rod]) | changes


def skate(**changes: Any) -> dict[str, Any]:
    """A disc on a line y = 0.1 sin(x), whose rotation follows its motion along x by their rates."""
    rows = [
        {"name": "line", "expression": "right.y - 0.1*sin(right.x)"},
        {"name": "follow", "expression": "right.angle_dot - 2*right.x_dot", "order": 1},
    ]
    return swing(name="Skate", closures=[], programmed=rows) | changes
