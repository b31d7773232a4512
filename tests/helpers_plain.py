"""A mechanism as its tables describe it: frames, loop gaps and potential energy, by NumPy and SciPy alone.

Nothing of the package is used. Joints, beams, closures and springs follow the pages `docs/joints.md` and
`docs/theory.md`, so a fault in a table that production and the reference solver share shows here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]
Table = Mapping[str, Any]
ANGLES = ("psi", "theta", "phi")


@dataclass(frozen=True)
class Frame:
    """Axes R, shape (3, 3), as columns in the world's axes, and origin r, shape (3,), m."""

    R: Array
    r: Array

    def moved(self, xyz: Array, R: Array) -> Frame:
        """A frame that is displaced by `xyz` and turned by R, both in this frame's axes."""
        return Frame(self.R @ R, self.r + self.R @ xyz)

    def point(self, xyz: Array) -> Array:
        """World position of a point of this frame, shape (3,), m."""
        return np.asarray(self.r + self.R @ xyz)


WORLD = Frame(np.eye(3), np.zeros(3))


class PlainMechanism:
    """Positions of a mechanism from the tables of its description.

    Parameters
    ----------
    tables : mapping
        The description as TOML has it, without expressions.
    """

    def __init__(self, tables: Table) -> None:
        self.tables = tables
        self._links = {link["name"]: link for link in tables["links"]}

    def coordinates(self) -> list[str]:
        """Names of all coordinates, the base's first, then link by link in the file's order."""
        base = [f"base.{key}" for key in ("x", "y", "z", *ANGLES)] if "base" in self.tables else []
        return base + [f"{name}.{key}" for name, link in self._links.items() for key in _names(link)]

    def described(self) -> dict[str, float]:
        """Start value of each coordinate, rad or m: the joint's position, zero for base and beams."""
        values = dict.fromkeys(self.coordinates(), 0.0)
        for name, link in self._links.items():
            given = np.atleast_1d(link["joint"].get("position", 0.0)).astype(float).tolist()
            values.update(zip((f"{name}.{key}" for key in _joint_names(link)), given, strict=False))
        return values

    def link_frame(self, name: str, q: Mapping[str, float], x: float = 0.0) -> Frame:
        """Frame of a link; of a flexible one the frame that carries the points at x, m, of the straight beam."""
        if name == "ground":
            return WORLD
        if name == "base":
            return _joint_frame(WORLD, {"type": "free"}, [q[f"base.{key}"] for key in ("x", "y", "z", *ANGLES)])
        link = self._links[name]
        mount = fixed_frame(link.get("frame", {}))
        foot = self.link_frame(link["parent"], q, float(mount.r[0])).moved(mount.r, mount.R)
        frame = _joint_frame(foot, link["joint"], [q[f"{name}.{key}"] for key in _joint_names(link)])
        for r, start in enumerate(_starts(link)[1:], 1):
            if start <= x:
                turn = _turn([q[f"{name}.r{r}_{angle}"] for angle in ANGLES])
                along = np.array([start, 0.0, 0.0])
                # each element keeps the straight beam's coordinates: its origin is displaced back by its start
                frame = frame.moved(along, turn).moved(-along, np.eye(3))
        return frame

    def place(self, table: Table, q: Mapping[str, float]) -> Frame:
        """Frame of a closure's end or of a point's table."""
        own = fixed_frame(table)
        return self.link_frame(table["link"], q, float(own.r[0])).moved(own.r, own.R)

    def gaps(self, q: Mapping[str, float]) -> Array:
        """All scalars that vanish where the closures are closed, shape (rows,), m or without a unit."""
        ends = [(c, self.place(c["a"], q), self.place(c["b"], q)) for c in self.tables.get("closures", ())]
        return np.concatenate([_gap(c, a, b) for c, a, b in ends]) if ends else np.zeros(0)

    def potential(self, q: Mapping[str, float]) -> float:
        """Energy of weight, supports, joint springs and beam springs, J."""
        masses = [part for link in self._links.values() for part in self._masses(link)]
        if "base" in self.tables:
            masses.append(("base", 0.0, *_mass_and_centre(self.tables["base"])))
        gravity = np.asarray(self.tables.get("gravity", [0.0, 0.0, -9.81]))
        weight = -sum(m * gravity @ self.link_frame(name, q, x).point(np.asarray(at)) for name, x, m, at in masses)
        return float(weight + self._supports(q) + sum(self._springs(link, q) for link in self._links.values()))

    def _masses(self, link: Table) -> list[tuple[str, float, float, Any]]:
        """Link, x that names the element, m, mass, kg, and its centre in the straight link's frame, m."""
        beam = link.get("beam")
        if beam is None:
            return [(link["name"], 0.0, *_mass_and_centre(link))]
        ends = [*_starts(link), beam["length"]]
        line = beam["area"] * beam["density"]
        return [
            (link["name"], begin, line * (end - begin), [(begin + end) / 2, 0.0, 0.0])
            for begin, end in pairwise(ends)
        ]

    def _supports(self, q: Mapping[str, float]) -> float:
        found = 0.0
        for support in self.tables.get("base", {}).get("supports", ()):
            at = np.asarray(support["position"], dtype=float)
            way = self.link_frame("base", q).point(at) - at
            found += 0.5 * float(np.asarray(support["stiffness"]) @ way**2)
        return found

    def _springs(self, link: Table, q: Mapping[str, float]) -> float:
        joint, name = link["joint"], link["name"]
        keys = _joint_names(link)
        stiffness, rest = (np.resize(joint.get(key, 0.0), len(keys)) for key in ("stiffness", "rest"))
        way = np.array([q[f"{name}.{key}"] for key in keys]) - rest
        found = 0.5 * float(stiffness @ way**2)
        beam = link.get("beam")
        if beam is None or beam["elements"] == 1:
            return found
        spacing = beam["length"] / (beam["elements"] - 1)
        rigidity = np.array([beam["E"] * beam["Iz"], beam["E"] * beam["Iy"], beam["G"] * beam["J"]]) / spacing
        for r in range(1, beam["elements"]):
            found += 0.5 * float(rigidity @ np.array([q[f"{name}.r{r}_{angle}"] for angle in ANGLES]) ** 2)
        return found


def fixed_frame(table: Table) -> Frame:
    """A constant frame: `xyz` and `rpy`, `matrix`, or `dh` by Craig's convention."""
    if "matrix" in table:
        matrix = np.asarray(table["matrix"], dtype=float)
        return Frame(matrix[:3, :3], matrix[:3, 3])
    if "dh" in table:
        a, alpha, d, theta = table["dh"]
        about_x = Rotation.from_rotvec([alpha, 0.0, 0.0]).as_matrix()
        about_z = Rotation.from_rotvec([0.0, 0.0, theta]).as_matrix()
        return Frame(about_x @ about_z, np.array([a, 0.0, 0.0]) + about_x @ np.array([0.0, 0.0, d]))
    roll, pitch, yaw = table.get("rpy", (0.0, 0.0, 0.0))
    xyz = np.asarray(table.get("xyz", table.get("position", (0.0, 0.0, 0.0))), dtype=float)
    return Frame(_turn([yaw, pitch, roll]), xyz)


def _mass_and_centre(table: Table) -> tuple[float, Any]:
    """Mass, kg, and its centre in the link's frame, m."""
    if "pseudo_inertia" in table:
        matrix = np.asarray(table["pseudo_inertia"], dtype=float)
        return float(matrix[3, 3]), matrix[:3, 3] / matrix[3, 3]
    return table["mass"], table["com"]


def gradient(function: Callable[[Array], float], x: Array, step: float = 1e-5) -> Array:
    """Central differences of a scalar function at x, shape (n,)."""
    return np.array([(function(x + e) - function(x - e)) / (2 * step) for e in step * np.eye(len(x))])


def jacobian(function: Callable[[Array], Array], x: Array, step: float = 1e-6) -> Array:
    """Central differences of a vector function at x, shape (m, n)."""
    return np.array([(function(x + e) - function(x - e)) / (2 * step) for e in step * np.eye(len(x))]).T


def _turn(angles: Any) -> Array:
    """Rz(ψ)·Ry(θ)·Rx(φ)."""
    return np.asarray(Rotation.from_euler("ZYX", np.asarray(angles, dtype=float)).as_matrix())


def _joint_names(link: Table) -> tuple[str, ...]:
    return {
        "revolute": ("angle",),
        "prismatic": ("position",),
        "universal": ("psi", "theta"),
        "spherical": ANGLES,
        "planar": ("x", "y", "angle"),
        "free": ("x", "y", "z", *ANGLES),
        "fixed": (),
    }[link["joint"]["type"]]


def _names(link: Table) -> list[str]:
    return [*_joint_names(link), *(f"r{r}_{angle}" for r in range(1, len(_starts(link))) for angle in ANGLES)]


def _joint_frame(foot: Frame, joint: Table, values: Any) -> Frame:
    values = np.asarray(values, dtype=float)
    nothing = np.zeros(3)
    match joint["type"]:
        case "revolute":
            return foot.moved(nothing, Rotation.from_rotvec(values[0] * np.asarray(joint["axis"])).as_matrix())
        case "prismatic":
            return foot.moved(values[0] * np.asarray(joint["axis"]), np.eye(3))
        case "universal":
            return foot.moved(nothing, _turn([*values, 0.0]))
        case "spherical":
            return foot.moved(nothing, _turn(values))
        case "planar":
            return foot.moved(np.array([*values[:2], 0.0]), _turn([values[2], 0.0, 0.0]))
        case "free":
            return foot.moved(values[:3], _turn(values[3:]))
    return foot


def _starts(link: Table) -> list[float]:
    """Begin of each rigid element along x, m: half a spacing, whole ones, half a spacing."""
    beam = link.get("beam", {})
    count = beam.get("elements", 1)
    if count == 1:
        return [0.0]
    spacing = beam["length"] / (count - 1)
    return [0.0, *(spacing * (r - 0.5) for r in range(1, count))]


def _gap(closure: Table, a: Frame, b: Frame) -> Array:
    way, turn = a.R.T @ (b.r - a.r), a.R.T @ b.R
    vector = Rotation.from_matrix(turn).as_rotvec()
    match closure["type"]:
        case "revolute":
            return np.array([*way, turn[0, 2], turn[1, 2]])
        case "spherical":
            return np.asarray(way)
        case "universal":
            return np.array([*way, turn[2, 2]])
        case "prismatic":
            return np.array([*way[:2], *vector])
        case "fixed":
            return np.array([*way, *vector])
        case "distance":
            return np.array([np.linalg.norm(way) - closure["length"]])
        case "point_on_line":
            return np.asarray(way[:2])
    raise ValueError(closure["type"])
