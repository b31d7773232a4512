"""A description of ordinary size made larger or smaller, heavier or lighter, by its keys."""

from __future__ import annotations

from typing import Any

import numpy as np

from machines.tree import MOTIONS, Table


def resized(data: Table, mass: float, length: float) -> Table:
    """Tree, base and points with all masses and lengths multiplied; springs and dampers keep the times they make.

    Gravity, tasks, closures and forces stay as they are.
    """
    sized = dict(data) | {"links": [_link(link, mass, length) for link in data["links"]]}
    if "base" in data:
        sized["base"] = _base(data["base"], mass, length)
    points = data.get("points", {})
    sized["points"] = {name: _times(point, position=length) for name, point in points.items()}
    return sized


def _times(table: Table, **factors: float) -> Table:
    """A table with the numbers of some of its keys multiplied, as far as it has them."""
    return table | {key: (np.array(table[key]) * by).tolist() for key, by in factors.items() if key in table}


def frame(given: Table, length: float) -> Table:
    """A frame in any of its forms."""
    sized = _times(given, xyz=length)
    if "dh" in given:
        sized["dh"] = (np.array(given["dh"]) * [length, 1.0, length, 1.0]).tolist()
    if "matrix" in given:
        matrix = np.array(given["matrix"])
        matrix[:3, 3] *= length
        sized["matrix"] = matrix.tolist()
    return sized


def _inertial(part: Table, mass: float, length: float) -> Table:
    sized = _times(part, mass=mass, com=length, inertia=mass * length**2)
    if "pseudo_inertia" in part:
        by = np.array([length, length, length, 1.0])
        sized["pseudo_inertia"] = (mass * np.outer(by, by) * part["pseudo_inertia"]).tolist()
    return sized


def _link(link: Table, mass: float, length: float) -> Table:
    sized = _inertial(link, mass, length) | {"joint": _joint(link["joint"], mass, length)}
    if "frame" in link:
        sized["frame"] = frame(link["frame"], length)
    if "beam" in link:
        section = {"length": length, "area": length**2, "density": mass / length**3}
        moduli = dict.fromkeys(("E", "G"), mass / length) | dict.fromkeys(("Iy", "Iz", "J"), length**4)
        sized["beam"] = _times(link["beam"], **section, **moduli)
    return sized


def _joint(joint: Table, mass: float, length: float) -> Table:
    size = np.array([length if kind == "P" else 1.0 for _, kind, _ in MOTIONS[joint["type"]]])
    factors: dict[str, Any] = dict.fromkeys(("position", "velocity", "rest"), size)
    factors |= dict.fromkeys(("stiffness", "damping"), mass * length**2 / size**2)
    return _times(joint, **factors)


def _base(base: Table, mass: float, length: float) -> Table:
    supports = [_times(s, position=length, stiffness=mass, damping=mass) for s in base.get("supports", ())]
    return _inertial(base, mass, length) | {"supports": supports}
