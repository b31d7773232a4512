"""Descriptions of few words: links by their joints, their bodies, and machines of links."""

from __future__ import annotations

from typing import Any

Table = dict[str, Any]

X, Y, Z = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]
_FRAME = ("xyz", "rpy", "dh", "matrix")


def link(name: str, joint: str, axis: Any = None, /, parent: str = "ground", **keys: Any) -> Table:
    """A link of 1 kg and 1 kg·m²; frame by its keys, all other keys are the joint's."""
    frame = {key: keys.pop(key) for key in _FRAME if key in keys}
    motion = {"type": joint} | ({} if axis is None else {"axis": list(axis)}) | keys
    return {"name": name, "parent": parent, "joint": motion} | ({"frame": frame} if frame else {}) | body()


def body(mass: Any = 1.0, com: Any = (0.0, 0.0, 0.0), inertia: Any = (1.0, 1.0, 1.0)) -> Table:
    """Mass, kg, centre, m, and moments about it, kg·m², or their matrix."""
    return {"mass": mass, "com": list(com), "inertia": list(inertia)}


def beam(name: str, section: Table, joint: str, axis: Any = None, /, parent: str = "ground", **keys: Any) -> Table:
    """A link that is a beam."""
    whole = link(name, joint, axis, parent, **keys)
    return {key: value for key, value in whole.items() if key not in body()} | {"beam": section}


def machine(*links: Table, **tables: Any) -> Table:
    """A description of links and further tables."""
    return {"schema": 1, "name": "Machine", "links": list(links)} | tables
