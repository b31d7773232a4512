"""A six-axis arm of the common kind on a base of springs, with a tool frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from helpers_parts import body, link

# of each link: where its joint is in the one before, its axis there, start angle, mass, com
_LINKS = {
    "waist": ([0.0, 0.0, 0.3], [0.0, 0.0, 1.0], 0.2, 8.0, [0.0, 0.0, 0.1]),
    "upper": ([0.0, 0.1, 0.2], [0.0, 1.0, 0.0], -0.9, 12.0, [0.25, 0.0, 0.0]),
    "fore": ([0.6, -0.05, 0.0], [0.0, 1.0, 0.0], 1.5, 6.0, [0.2, 0.0, 0.0]),
    "wrist1": ([0.5, 0.0, 0.0], [0.0, 1.0, 0.0], 0.9, 2.0, [0.0, 0.03, 0.0]),
    "wrist2": ([0.0, 0.1, 0.0], [1.0, 0.0, 0.0], 0.3, 2.0, [0.03, 0.0, 0.0]),
    "wrist3": ([0.1, 0.0, 0.0], [0.0, 0.0, 1.0], -0.4, 0.5, [0.0, 0.0, 0.02]),
}


def arm(base: str | None = None, **changes: Any) -> dict[str, Any]:
    """The arm; its point `T` is a frame at the tool's end. `base`: None (on the ground) | flexible | rigid."""
    links, parent = [], "ground" if base is None else "base"
    for name, (xyz, axis, angle, mass, com) in _LINKS.items():
        links.append(
            link(name, "revolute", axis, parent, xyz=xyz, position=angle, damping=0.5)
            | body(mass, com, (mass * np.array([0.01, 0.012, 0.011])).tolist())
        )
        parent = name
    data: dict[str, Any] = {"schema": 1, "name": "Arm", "links": links}
    data["points"] = {"T": {"link": "wrist3", "position": [0.05, 0.0, 0.12], "rpy": [0.3, -0.2, 0.5]}}
    if base is not None:
        corners = [(x, y) for x in (-0.4, 0.4) for y in (-0.4, 0.4)]
        spring = {"stiffness": [4e4, 4e4, 1e5], "damping": [8e2, 8e2, 2e3]}
        supports = [{"position": [x, y, 0.0]} | spring for x, y in corners]
        data["base"] = {
            "mass": 120.0,
            "com": [0.0, 0.0, 0.1],
            "inertia": [8.0, 8.0, 12.0],
            "support": base,
            "supports": supports,
        }
    return data | {"simulation": {"stop": 1.0, "start": "description"}} | changes
