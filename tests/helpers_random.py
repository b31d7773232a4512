"""Random mechanisms for property tests: raw tables, fit for `description.load.from_data`."""

from __future__ import annotations

from typing import Any

import numpy as np

JOINTS = ("revolute", "prismatic", "universal", "spherical", "planar", "free", "fixed")
COORDINATES = {"revolute": 1, "prismatic": 1, "universal": 2, "spherical": 3, "planar": 3, "free": 6, "fixed": 0}


def random_chain(
    rng: np.random.Generator,
    links: int = 4,
    base: str | None = None,
    *,
    springs: bool = True,
    dampers: bool = True,
    beams: bool = True,
    joints: tuple[str, ...] = JOINTS,
) -> dict[str, Any]:
    """A random tree with at least one coordinate.

    links     how many
    base      None | "flexible" | "rigid"
    springs   whether some joints have springs
    dampers   whether joints, supports and beams have dampers
    beams     whether some links are beams of one to three elements
    joints    joint types to draw from
    The point `E` sits on the last link. Angles stay well away from the singularity of the Euler angles.
    """
    parents = ["ground"] if base is None else ["base"]
    data: dict[str, Any] = {"schema": 1, "name": "Random", "gravity": _vector(rng, 10.0), "links": []}
    if base is not None:
        data["base"] = _base(rng, base, dampers)
    for k in range(links):
        # A first joint that moves: without any coordinate there is no mechanism.
        types = joints if k else tuple(t for t in joints if COORDINATES[t])
        link = {"name": f"link{k}", "parent": str(rng.choice(parents)), "frame": random_frame(rng)}
        link["joint"] = random_joint(rng, str(rng.choice(types)), springs, dampers)
        link |= {"beam": _beam(rng, dampers)} if beams and rng.random() < 0.3 else random_inertia(rng)
        data["links"].append(link)
        parents.append(link["name"])
    data["points"] = {"E": {"link": parents[-1], "position": _vector(rng, 0.5)}}
    return data


def random_closure(rng: np.random.Generator, kind: str, links: tuple[str, str]) -> dict[str, Any]:
    """A closure of random frames on two links; nothing says that it is closed."""
    a, b = ({"link": link} | random_frame(rng) for link in links)
    length = {"length": float(rng.uniform(0.5, 1.5))} if kind == "distance" else {}
    return {"name": "ring", "type": kind, "a": a, "b": b} | length


def closing_motion(rng: np.random.Generator, kind: str, length: float) -> np.ndarray[Any, Any]:
    """Frame b in frame a, shape (4, 4), m, of a closed closure: some motion that the type leaves free."""
    motion, free = np.eye(4), rng.uniform(-1.0, 1.0, 3)
    if kind in ("spherical", "distance", "point_on_line"):
        motion[:3, :3] = _rotation(rng)
    if kind == "revolute":
        motion[:3, :3] = about_z(free[0])
    if kind == "universal":
        motion[:3, :3] = about_z(free[0]) @ np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]) @ about_z(free[1])
    if kind in ("prismatic", "point_on_line"):
        motion[2, 3] = free[2]
    if kind == "distance":
        motion[:3, 3] = length * free / np.linalg.norm(free)
    return motion


def about_z(angle: float) -> np.ndarray[Any, Any]:
    """Matrix of a turn, rad."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def random_frame(rng: np.random.Generator) -> dict[str, Any]:
    """A frame in one of the three forms."""
    form = rng.integers(3)
    if form == 0:
        return {"dh": [*rng.uniform(-1.0, 1.0, 4).tolist()]}
    xyz, rotation = _vector(rng, 0.6), _rotation(rng)
    if form == 1:
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = rotation, xyz
        return {"matrix": matrix.tolist()}
    return {"xyz": xyz, "rpy": _vector(rng, 3.0)}


def random_joint(rng: np.random.Generator, kind: str, springs: bool, dampers: bool) -> dict[str, Any]:
    """A joint with start values, and with springs and dampers on some."""
    count = COORDINATES[kind]
    joint: dict[str, Any] = {"type": kind}
    if kind in ("revolute", "prismatic"):
        axis = rng.normal(size=3)
        joint["axis"] = (axis / np.linalg.norm(axis)).tolist()
    if count:
        joint["position"] = rng.uniform(-0.6, 0.6, count).tolist()
        joint["velocity"] = rng.uniform(-1.0, 1.0, count).tolist()
    if count and springs and rng.random() < 0.6:
        joint["stiffness"] = rng.uniform(5.0, 50.0, count).tolist()
        joint["rest"] = rng.uniform(-0.5, 0.5, count).tolist()
    if count and dampers and rng.random() < 0.6:
        joint["damping"] = rng.uniform(0.1, 2.0, count).tolist()
    return joint


def random_inertia(rng: np.random.Generator) -> dict[str, Any]:
    """Mass, com and inertia of a random cloud of points, in one of the three forms."""
    masses, points = rng.uniform(0.1, 1.0, 6), rng.uniform(-0.4, 0.4, (6, 3))
    homogeneous = np.hstack([points, np.ones((6, 1))])
    pseudo = (homogeneous.T * masses) @ homogeneous
    pseudo = (pseudo + pseudo.T) / 2
    form = rng.integers(3)
    if form == 0:
        return {"pseudo_inertia": pseudo.tolist()}
    mass, com = float(pseudo[3, 3]), pseudo[:3, 3] / pseudo[3, 3]
    second = pseudo[:3, :3] - mass * np.outer(com, com)
    inertia = np.trace(second) * np.eye(3) - second
    if form == 1:
        return {"mass": mass, "com": com.tolist(), "inertia": np.linalg.eigvalsh(inertia).tolist()}
    return {"mass": mass, "com": com.tolist(), "inertia": ((inertia + inertia.T) / 2).tolist()}


def _base(rng: np.random.Generator, support: str, dampers: bool) -> dict[str, Any]:
    table = random_inertia(rng) | {"support": support, "linearized": bool(rng.integers(2))}
    if support == "flexible":
        table["supports"] = [
            {
                "position": _vector(rng, 1.0),
                "stiffness": rng.uniform(200.0, 900.0, 3).tolist(),
                "damping": (dampers * rng.uniform(1.0, 5.0, 3)).tolist(),
            }
            for _ in range(4)
        ]
    return table


def _beam(rng: np.random.Generator, dampers: bool) -> dict[str, Any]:
    # Soft and light, so that the beam's frequencies are near those of the joints.
    section = {"area": 1e-3, "density": 1000.0, "E": 1e6, "G": 4e5, "Iy": 2e-5, "Iz": 3e-5, "J": 4e-5}
    length, elements = float(rng.uniform(0.5, 1.5)), int(rng.integers(1, 4))
    return section | {"length": length, "damping_time": dampers * 1e-2, "elements": elements}


def _vector(rng: np.random.Generator, scale: float) -> list[float]:
    return [float(x) for x in rng.uniform(-scale, scale, 3)]


def _rotation(rng: np.random.Generator) -> np.ndarray[Any, Any]:
    matrix, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return matrix if np.linalg.det(matrix) > 0 else -matrix


def branched(**parameters: float) -> dict[str, Any]:
    """By recursion: most kinds of joints, fixed bodies with mass and without, armatures, friction by the load."""
    rng = np.random.default_rng(3)
    parameters = {"payload": 1.3, "reach": 0.4, "inertia": 0.4} | parameters
    joints = {
        "turret": ("ground", {"type": "revolute", "axis": [0.0, 0.6, 0.8], "armature": 0.4, "friction": _RUBBING}),
        "arm": ("turret", {"type": "prismatic", "axis": [1.0, 0.0, 0.0], "position": 0.3}),
        "flange": ("arm", {"type": "fixed"}),
        "hand": ("flange", {"type": "spherical", "position": [0.2, -0.3, 0.1]}),
        "side": ("turret", {"type": "universal", "position": [0.2, 0.4]}),
        "tip": ("side", {"type": "revolute", "axis": [0.0, 1.0, 0.0]}),
        "mount": ("ground", {"type": "fixed"}),
        "rotor": ("mount", {"type": "revolute", "axis": [0.0, 0.0, 1.0], "armature": "inertia"}),
        "camera": ("flange", {"type": "fixed"}),
        "lens": ("camera", {"type": "fixed"}),
        "foot": ("ground", {"type": "fixed"}),
        "disc": ("rotor", {"type": "fixed"}),
    }
    links = [
        {"name": name, "parent": parent, "frame": random_frame(rng), "joint": joint}
        | (random_inertia(rng) if name not in ("flange", "mount", "rotor") else {})
        for name, (parent, joint) in joints.items()
    ]
    links[4] = links[4] | {"frame": {"xyz": ["reach", 0.1, "-reach/2"]}}
    links[5] = {key: links[5][key] for key in ("name", "parent", "frame", "joint")}
    links[5] |= {
        "mass": "payload",
        "com": ["reach/2", 0.0, 0.1],
        "inertia": ["0.3*payload", "0.3*payload", "0.4*payload"],
    }
    links[9] |= {"mass": "0.3*payload", "frame": {"xyz": ["0.2*reach", 0.0, 0.1], "rpy": [0.3, -0.2, 0.5]}}
    settings = {"start": "description", "accelerations": "recursion"}
    tables = {"parameters": parameters, "links": links, "simulation": settings}
    return {"schema": 1, "name": "Branched", "outputs": {"loads": ["tip"]}} | tables


def tied(**parameters: float) -> dict[str, Any]:
    """Random mechanism with constraints: a joint that follows others, a rod that joints with friction carry, a
    held joint.
    """
    data = branched(**parameters)
    follow = "tip.angle - 0.4*side.psi + 0.2*arm.position^2 - 0.1*sin(t)"
    rows = [{"name": "follow", "expression": follow}, {"name": "hold", "expression": "rotor.angle - 0.3*t"}]
    ends = {"a": {"link": "hand", "xyz": [0.1, 0.0, 0.2]}, "b": {"link": "side", "xyz": [0.0, 0.3, 0.0]}}
    rod = {"name": "rod", "type": "distance", "length": 0.31389602909918896} | ends  # closed as it stands
    return data | {"name": "Tied", "programmed": rows, "closures": [rod]}


_RUBBING = {"model": "dahl", "sigma0": 40.0, "mu_s": 0.2, "gamma": 1.5, "diameter": 0.1}
