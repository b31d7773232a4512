"""Closed chains that the tests of the reference solver share."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from helpers_parts import Z, body, link, machine
from helpers_random import closing_motion, random_chain, random_closure
from helpers_reference import BASES, mechanism_of
from numpy.typing import NDArray

from gpmelica.analysis import ReferenceModel, assemble, poses
from gpmelica.core.errors import GpmelicaError
from gpmelica.description import Description
from gpmelica.description.types.closures import CLOSURE_TYPES
from gpmelica.mechanism import Mechanism

Array = NDArray[np.float64]
CLOSURES = tuple(CLOSURE_TYPES)
FOUR_BAR_ENDS = {"a": {"link": "coupler", "xyz": [1.0, 0.0, 0.0]}, "b": {"link": "rocker", "xyz": [0.8, 0.0, 0.0]}}


def four_bar(crank: float = 0.7, closure: str = "point_on_line", **changes: Any) -> dict[str, Any]:
    """A planar four-bar linkage in the x–y plane: crank 0.4 m, coupler 1 m, rocker 0.8 m, ground 1 m.

    The described angles of coupler and rocker are rough; the closure joins the coupler's end to the rocker's.
    """
    links = [
        _bar("crank", "ground", (0.0, 0.4), crank),
        _bar("coupler", "crank", (0.4, 1.0), -0.2),
        _bar("rocker", "ground", (1.0, 0.8), 1.3),
    ]
    closures = [{"name": "pin", "type": closure} | deepcopy(FOUR_BAR_ENDS)]
    return machine(*links, name="FourBar", gravity=[0.0, -9.81, 0.0], closures=closures) | changes


def _bar(name: str, parent: str, place: tuple[float, float], angle: float) -> dict[str, Any]:
    """A bar along x; place: where it begins in its parent, and its length, m."""
    start, length = place
    bar = link(name, "revolute", Z, parent, xyz=[start, 0.0, 0.0], position=angle)
    return bar | body(2 * length, [length / 2, 0.0, 0.0], [0.01, 0.2 * length, 0.2 * length])


def random_loop(seed: int, kind: str, **options: Any) -> tuple[Mechanism, Array, Array, np.random.Generator]:
    """A random tree with a closed loop in motion, q and q̇ of shape (n,), and the generator to go on with.

    The closure's rows are independent, and the velocities keep it closed; elastic coordinates are deformed.
    """
    changes = options.pop("changes", {})
    for attempt in range(100):
        rng = np.random.default_rng([seed, CLOSURES.index(kind), attempt])
        data = random_chain(rng, **{"links": 4, "base": BASES[seed % 3]} | options) | changes
        data = data | {"closures": [_closed(rng, data, kind)], "constraints": {"alpha": 5.0, "beta": 5.0}}
        if "base" in data:
            data["base"]["linearized"] = False
        try:
            mechanism = mechanism_of(data)
            q, C = _closed_state(mechanism, rng)
        except GpmelicaError:
            continue
        if len(C) < mechanism.n and np.linalg.cond(C) < 50:
            qd = rng.uniform(-2.0, 2.0, mechanism.n)
            qd[held_coordinates(mechanism)] = 0.0
            return mechanism, q, qd - np.linalg.pinv(C) @ (C @ qd), rng
    raise AssertionError("no regular loop found")


def held_coordinates(mechanism: Mechanism) -> list[int]:
    """Coordinates of a base that is held."""
    return [k for k, c in enumerate(mechanism.coordinates) if c.role == "base" and mechanism.base_fixed]


def _closed(rng: np.random.Generator, data: dict[str, Any], kind: str) -> dict[str, Any]:
    """A closure between two links that is closed at the described position."""
    names = ["ground", *(["base"] if "base" in data else []), *(link["name"] for link in data["links"])]
    links = (str(names[-1]), str(rng.choice(names[:-1])))
    closure = random_closure(rng, kind, links if rng.random() < 0.5 else links[::-1])
    mechanism = mechanism_of(data)
    T = poses(mechanism, np.array([c.position for c in mechanism.coordinates]))
    first = {body.link: T[b] for b, body in reversed([*enumerate(mechanism.bodies)])} | {"ground": np.eye(4)}
    described, X = Description.model_validate(data | {"closures": [closure]}).closures[0].a, np.eye(4)
    X[:3, :3], X[:3, 3] = described.rotation, described.offset
    T_b = first[closure["a"]["link"]] @ X @ closing_motion(rng, kind, closure.get("length", 0.0))
    matrix = np.linalg.inv(first[closure["b"]["link"]]) @ T_b
    matrix[3] = [0.0, 0.0, 0.0, 1.0]
    return closure | {"b": {"link": closure["b"]["link"], "matrix": matrix.tolist()}}


def _closed_state(mechanism: Mechanism, rng: np.random.Generator) -> tuple[Array, Array]:
    """A position with closed loops, shape (n,), and C of loops and a fixed base."""
    q = np.array([c.position for c in mechanism.coordinates]) + 0.1 * rng.normal(size=mechanism.n)
    q[held_coordinates(mechanism)] = 0.0
    q = assemble(mechanism, q)
    model = ReferenceModel(mechanism)
    return q, model.constraints(model.state(0.0, q, 0 * q)).C


# The joints of a spatial linkage with one degree of freedom: type, the two links it joins, where, and its axes.
_LINKAGE = {
    "revolute": (("ground", "crank"), [0.0, 0.0, 0.0], ([0.1, 0.2, 1.0], [1.0, 0.0, 0.0])),
    "spherical": (("crank", "coupler"), [0.3, 0.0, 0.0], ([0.0, 0.0, 1.0], [0.0, 1.0, 0.0])),
    "universal": (("slider", "coupler"), [1.0, 0.2, 0.5], ([0.3, -0.2, 1.0], [0.1, 1.0, 0.2])),
    "prismatic": (("ground", "slider"), [1.0, 0.2, 0.5], ([1.0, 0.3, 0.2], [0.0, 1.0, 0.0])),
}
_MASSES = {"crank": (1.0, [0.2, 0.0, 0.1]), "coupler": (2.0, [0.6, 0.1, 0.3]), "slider": (1.5, [1.1, 0.2, 0.5])}


def spatial_linkage(cut: str, crank: float = 0.0, speed: float = 0.0) -> dict[str, Any]:
    """A linkage of revolute, spherical, universal and prismatic joint, cut at one of them.

    At zero coordinates every cut describes the same position. The crank's angle and speed are locked.
    """
    links: list[dict[str, Any]] = []
    frames = {"ground": np.eye(4)}
    waiting = [kind for kind in _LINKAGE if kind != cut]
    while waiting:
        kind = next(kind for kind in waiting if set(_LINKAGE[kind][0]) & set(frames))
        waiting.remove(kind)
        ends = _LINKAGE[kind][0]
        parent, child = ends if ends[0] in frames else ends[::-1]
        frames[child] = _joint_frame(kind, swapped=parent != ends[0])
        axis = Z if kind in ("revolute", "prismatic") else None
        motion = {"position": crank, "velocity": speed} if kind == "revolute" and child == "crank" else {}
        matrix = (np.linalg.inv(frames[parent]) @ frames[child]).tolist()
        mass = _inertia_in(frames[child], *_MASSES[child])
        links.append(link(child, kind, axis, parent, matrix=matrix, **motion) | mass)
    (a, b), *_ = _LINKAGE[cut]
    world = _joint_frame(cut), _joint_frame(cut, swapped=cut == "universal")
    closed = {
        side: {"link": link, "matrix": (np.linalg.inv(frames[link]) @ T).tolist()}
        for side, link, T in zip("ab", (a, b), world, strict=True)
    }
    closures = [{"name": "ring", "type": cut} | closed]
    return {"schema": 1, "name": "Linkage", "links": links, "closures": closures, "statics": {"locked": ["crank"]}}


def _joint_frame(kind: str, swapped: bool = False) -> Array:
    """World frame of a joint, z and y its axes; swapped where the links change their roles."""
    _, origin, (z, y) = _LINKAGE[kind]
    first = np.array(z) / np.linalg.norm(z)
    second = np.array(y) - (first @ y) * first
    second /= np.linalg.norm(second)
    if swapped and kind == "universal":
        first, second = second, first
    frame = np.eye(4)
    frame[:3, 1], frame[:3, 2], frame[:3, 3] = second, first, origin
    frame[:3, 0] = np.cross(second, first)
    return frame


def _inertia_in(frame: Array, mass: float, com: list[float]) -> dict[str, Any]:
    """Mass, com and inertia in a link's frame; the com and the axes of inertia are given in the world."""
    inertia = np.diag([0.02, 0.03, 0.04]) * mass + 0.002
    own = np.linalg.inv(frame) @ [*com, 1.0]
    turned = frame[:3, :3].T @ inertia @ frame[:3, :3]
    return {"mass": mass, "com": own[:3].tolist(), "inertia": ((turned + turned.T) / 2).tolist()}
