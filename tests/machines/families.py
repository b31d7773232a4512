"""Random mechanisms of all kinds, each with its rank as it is made and with an oracle for its accelerations.

A family is how the mechanism's constraints come about: none, tasks, a loop that closes, a planar loop closed by a
spatial joint, a second hinge on a joint's own axis, tasks that are said twice, a joint replaced by springs.
Mechanisms that are near to a singular position are left out; the oracle alone decides that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from helpers_random import about_z, closing_motion, random_chain, random_frame, random_inertia
from scipy.spatial.transform import Rotation

from machines.oracle import Oracle, Task
from machines.scales import frame as resized_frame
from machines.scales import resized
from machines.tasks import Combined, Knife, Leg, Round
from machines.tree import Array, Posture, Table, Tree, transform

_SMALLEST = 1e-3  # of the singular values of C that count
_LARGEST_NOISE = 1e-4  # of the others
_WORST = 1e7  # condition of M, its diagonal scaled to 1
_MASSES, _LENGTHS = (1e-3, 1e5), (1e-3, 1e2)
_RANKS = {
    "revolute": 5,
    "spherical": 3,
    "universal": 4,
    "prismatic": 5,
    "fixed": 6,
    "distance": 1,
    "point_on_line": 2,
}


@dataclass(frozen=True)
class Machine:
    """A description, what it is, its size in m, and states that obey its constraints: t in s, q and q̇, (n,)."""

    data: Table
    family: str
    length: float
    rank: int
    oracle: Oracle
    states: tuple[tuple[float, Array, Array], ...]


@dataclass
class _Draft:
    """A mechanism in the making. rank: of what closes and constrains it so far."""

    rng: np.random.Generator
    mass: float
    length: float
    data: Table
    rank: int = 0
    tasks: list[Task] = field(default_factory=list)

    def posture(self) -> Posture:
        """At rest where the description starts."""
        tree = Tree(self.data)
        return Posture(tree, tree.described(), np.zeros(tree.n))

    def close(self, name: str, kind: str, a: Table, b: str, motion: Array) -> None:
        """Add a closure from frame a to link b; the motion leads from one frame to the other."""
        given = self.posture()
        T = [given.frame(link, transform(at)) for link, at in ((a["link"], a), (b, {}))]
        world = [_frame_of(f.R, f.r) for f in T]
        matrix = np.linalg.solve(world[1], world[0] @ motion)
        matrix[3] = [0.0, 0.0, 0.0, 1.0]
        closure = {"name": name, "type": kind, "a": a, "b": {"link": b, "matrix": matrix.tolist()}}
        if kind == "distance":
            closure["length"] = float(np.linalg.norm(motion[:3, 3]))
        self.data.setdefault("closures", []).append(closure)

    def add(self, task: Any) -> None:
        """Add a task that holds at the start."""
        task = task.started(self.posture())
        key, table = task.table()
        self.data.setdefault(key, []).append(table)
        self.tasks.append(task)


def machine(seed: int, largest: int = 40) -> Machine:
    """The seed's mechanism of at most so many coordinates; families take turns."""
    family = tuple(FAMILIES)[seed % len(FAMILIES)]
    for attempt in range(200):
        rng = np.random.default_rng([seed, attempt])
        try:
            found = _made(rng, family, largest)
        except (ValueError, np.linalg.LinAlgError, FloatingPointError):
            continue
        if found is not None:
            return found
    raise AssertionError(f"no regular mechanism of family {family} found for seed {seed}")


def _made(rng: np.random.Generator, family: str, largest: int) -> Machine | None:
    mass, length = (float(np.exp(rng.uniform(*np.log(limits)))) for limits in (_MASSES, _LENGTHS))
    base = (None, None, "flexible", "rigid")[rng.integers(4)]
    draft = _Draft(rng, mass, length, _tree(rng, family, base))
    draft.data = resized(draft.data, mass, length)
    draft.rank = 6 * (base == "rigid")
    FAMILIES[family](draft)
    if not draft.rank <= Tree(draft.data).n <= largest:
        return None
    _load(draft)
    _settle(draft)
    oracle = Oracle(draft.data, draft.tasks, draft.rank)
    _check_paths(draft, oracle)
    return Machine(draft.data, family, length, draft.rank, oracle, tuple(_states(draft, oracle)))


def _tree(rng: np.random.Generator, family: str, base: str | None) -> Table:
    links = int(rng.integers(2, 6)) if family != "planar" else int(rng.integers(1, 3))
    data = random_chain(rng, links, base)
    for link in data["links"]:
        link["joint"].pop("velocity", None)
    if rng.random() < 0.5:
        data["gravity"] = [0.0, 0.0, -9.81]
    return data


def _states(draft: _Draft, oracle: Oracle) -> Iterator[tuple[float, Array, Array]]:
    """The start, and two places near by, at the end of paths, too; raises ValueError near singular ones."""
    q, n = oracle.tree.described(), oracle.tree.n
    units = np.array([1.0 if _turns(name) else draft.length for name in oracle.tree.names])
    for t in (0.0, 0.3, 1.0):
        moved = t > 0
        given = q + moved * 0.1 * draft.rng.normal(size=n) * units, moved * draft.rng.normal(size=n) * units
        state = oracle.on_constraints(t, *given)
        _check(oracle, t, *state)
        if not moved and np.abs((state[0] - q) / units).max() > 1e-9:
            raise ValueError("the start is not where it should be")
        yield t, *state


def _check_paths(draft: _Draft, oracle: Oracle) -> None:
    """Raises ValueError where the joints alone, base and beams as at the start, do not bring a path to its end."""
    joints = [k for k, name in enumerate(oracle.tree.names) if _is_of_a_joint(name)]
    for leg in draft.tasks:
        q = oracle.tree.described()
        for _ in range(50 * isinstance(leg, Leg)):
            posture = Posture(oracle.tree, q, 0 * q)
            rows = [row for task in (leg, *oracle.loops) for row in task.constraints(posture, 1.0)]
            gap = np.array([row.Phi for row in rows], dtype=float)
            if np.abs(gap).max() < 1e-9 * draft.length:
                break
            q[joints] -= np.linalg.lstsq(np.array([row.C for row in rows])[:, joints], gap)[0]
        else:
            if isinstance(leg, Leg):
                raise ValueError("the end of a path is out of the joints' reach")


def _is_of_a_joint(coordinate: str) -> bool:
    return not coordinate.startswith("base.") and ".r" not in coordinate


def _turns(coordinate: str) -> bool:
    return coordinate.partition(".")[2] not in ("x", "y", "z", "position")


def _check(oracle: Oracle, t: float, q: Array, qd: Array) -> None:
    answer = oracle(t, q, qd)
    M = answer.L @ answer.L.T
    size = np.sqrt(np.diag(M))
    singular, rank = answer.singular, oracle.rank
    # constraints of a point that no joint moves have nothing but noise
    regular = rank == 0 or singular[rank - 1] > max(_SMALLEST * singular[0], _LARGEST_NOISE)
    if not regular or np.linalg.cond(M / np.outer(size, size)) > _WORST or np.abs(q).max() > 1e3:
        raise ValueError("near a singular position")
    noise = singular[rank:].max(initial=0.0)
    assert noise < _LARGEST_NOISE, f"rank {rank} is not what was made: {singular}"


# families


def _bodies(draft: _Draft) -> list[str]:
    return ["ground", *(["base"] if "base" in draft.data else []), *(link["name"] for link in draft.data["links"])]


def _free(draft: _Draft) -> list[str]:
    """Coordinates that nothing holds."""
    held = draft.data.get("base", {}).get("support") == "rigid"
    return [name for name in Tree(draft.data).names if not (held and name.startswith("base."))]


def _no_constraints(draft: _Draft) -> None:
    """A tree as it is."""


def _with_tasks(draft: _Draft) -> None:
    """One to three tasks."""
    for k in range(int(draft.rng.integers(1, 4))):
        _one_task(draft, f"task{k}")


def _one_task(draft: _Draft, name: str) -> None:
    rng, size = draft.rng, draft.length
    law = (0.0, 0.0, float(0.1 * size * rng.normal()))
    match rng.integers(5):
        case 0:
            coordinate = str(rng.choice(_free(draft)))
            law = law if not _turns(coordinate) else (0.0, 0.0, law[2] / size)
            draft.add(Combined(name, ((1.0, coordinate),), law, int(rng.integers(3))))
        case 1:
            weights = rng.normal(size=3)
            terms = tuple((float(w), f"E.{axis}") for w, axis in zip(weights, "xyz", strict=True))
            draft.add(Combined(name, terms[: int(rng.integers(1, 4))], law, int(rng.integers(3))))
        case 2:
            centre = tuple(float(x) for x in 3 * size * rng.normal(size=3))
            draft.add(Round(name, centre, (0.0, 0.0, law[2] * size)))  # type: ignore[arg-type]
        case 3:
            components = "".join(sorted(rng.choice(list("xyz"), int(rng.integers(1, 4)), replace=False)))
            way = tuple(float(x) for x in 0.3 * size * rng.normal(size=3))
            frame = resized_frame(random_frame(rng), size)
            draft.add(Leg(name, frame, components, (0.0, 0.0, 0.0), way))
            draft.rank += len(components) - 1
        case _:
            at, normal = (tuple(float(x) for x in rng.normal(size=3)) for _ in range(2))
            link = str(rng.choice(_bodies(draft)[1:]))
            draft.add(Knife(name, link, tuple(size * x for x in at), normal))
    draft.rank += 1


def _with_loop(draft: _Draft) -> None:
    """A loop through any closure, sometimes with a task."""
    kind = str(draft.rng.choice(list(_RANKS)))
    _loop(draft, "ring", kind)
    draft.rank += _RANKS[kind]
    if draft.rng.random() < 0.3:
        _one_task(draft, "task")


def _loop(draft: _Draft, name: str, kind: str) -> Array:
    """Close a loop; returns the motion from frame a to frame b at the start, shape (4, 4)."""
    bodies = _bodies(draft)
    ends = bodies[-1], str(draft.rng.choice(bodies[:-1]))
    a, b = ends if draft.rng.random() < 0.5 else ends[::-1]
    frame = {"link": a} | resized_frame(random_frame(draft.rng), draft.length)
    motion = _shrunk(closing_motion(draft.rng, kind, 1.0), draft.length)
    draft.close(name, kind, frame, b, motion)
    return motion


def _shrunk(motion: Array, length: float) -> Array:
    motion = motion.copy()
    motion[:3, 3] *= length
    return motion


def _with_springs(draft: _Draft) -> None:
    """A loop through a replacement joint, off its rest, sometimes with a task."""
    rng, size, mass = draft.rng, draft.length, draft.mass
    motion = _loop(draft, "ring", str(rng.choice([kind for kind in _RANKS if kind != "distance"])))
    closure = draft.data["closures"][-1]
    units = np.repeat([mass, mass * size**2], 3)
    closure |= {"model": "spring_damper", "axes": str(rng.choice(["local", "world"]))}
    stiffness = rng.uniform(0.0, 300.0, 6) * units * (rng.random(6) < 0.7)
    if stiffness[3:].all() and Rotation.from_matrix(motion[:3, :3]).magnitude() > _FAR_TURN:
        stiffness[5] = 0.0  # springs about all axes turn such frames apart, and descriptions with them are refused
    closure["stiffness"] = stiffness.tolist()
    closure["damping"] = (rng.uniform(0.0, 3.0, 6) * units).tolist()
    if rng.random() < 0.3:
        _one_task(draft, "task")


_FAR_TURN = 1.5  # rad


# rows that count of closures in a plane whose normal is z; the motion that they leave, as a turn of frame a
_IN_PLANE = {"revolute": 2, "spherical": 2, "fixed": 3, "prismatic": 2, "point_on_line": 2, "distance": 1}


def _with_planar_loop(draft: _Draft) -> None:
    """Parallel axes closed by a spatial joint: most of its rows are redundant."""
    rng, size = draft.rng, draft.length
    carrier, kind = _stiff_body(draft), str(rng.choice(list(_IN_PLANE)))
    parent, frame = carrier, {key: rng.normal(size=3).tolist() for key in ("xyz", "rpy")}
    for k in range(_IN_PLANE[kind] + int(rng.integers(1, 3))):
        side = {"name": f"side{k}", "parent": parent, "frame": resized_frame(frame, size)}
        slides = k > 0 and rng.random() < 0.2
        joint = _joint("prismatic" if slides else "revolute", draft, "x" if slides else "z")
        draft.data["links"].append(side | {"joint": joint} | _inertial(draft))
        parent, frame = f"side{k}", {"xyz": [rng.uniform(0.5, 1.0), 0.0, rng.uniform(-0.2, 0.2)]}
    turn = _in_plane(kind, rng)
    end = {"link": parent, "matrix": _frame_of(turn, size * np.array([rng.uniform(0.5, 1.0), 0.0, 0.1])).tolist()}
    draft.close("ring", kind, end, carrier, _planar_motion(kind, rng, size))
    draft.rank += _IN_PLANE[kind]


def _joint(kind: str, draft: _Draft, axis: str = "z") -> Table:
    """A joint somewhere in its range."""
    if kind == "spherical":
        return {"type": kind, "position": draft.rng.uniform(-0.6, 0.6, 3).tolist()}
    position = draft.rng.uniform(0.3, 1.5) * (draft.length if kind == "prismatic" else 1.0)
    return {"type": kind, "axis": [float(axis == a) for a in "xyz"], "position": float(position)}


def _stiff_body(draft: _Draft) -> str:
    """Something that is no beam: all its frames keep their places."""
    beams = {link["name"] for link in draft.data["links"] if "beam" in link}
    return str(draft.rng.choice([name for name in _bodies(draft) if name not in beams]))


def _inertial(draft: _Draft) -> Table:
    """Mass and inertia of the draft's size, sometimes far lighter or heavier."""
    link = {"name": "x", "parent": "y", "joint": {"type": "fixed"}} | random_inertia(draft.rng)
    spread = 10 ** draft.rng.uniform(-1, 1)
    sized = resized({"links": [link]}, draft.mass * spread, draft.length)["links"][0]
    return {key: value for key, value in sized.items() if key not in ("name", "parent", "joint")}


def _in_plane(kind: str, rng: np.random.Generator) -> Array:
    """Axes of the closure's frame a in the last side: z along the normal, or in the plane for a slide."""
    about = about_z(rng.uniform(-1.0, 1.0))
    return about @ np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]) if kind == "prismatic" else about


def _planar_motion(kind: str, rng: np.random.Generator, size: float) -> Array:
    motion = np.eye(4)
    if kind == "distance":
        motion[:3, 3] = size * np.array([*rng.normal(size=2), 0.0])
    if kind in ("prismatic", "point_on_line"):
        motion[2, 3] = size * rng.normal()
    return motion


def _frame_of(R: Array, r: Array) -> Array:
    return np.vstack([np.column_stack([R, r]), [0.0, 0.0, 0.0, 1.0]])


# closures that a joint of the first type fulfils by itself
_SECOND = {
    "revolute": ("revolute", "spherical", "distance"),
    "prismatic": ("prismatic", "point_on_line"),
    "spherical": ("spherical", "distance"),
}


def _with_second_hinge(draft: _Draft) -> None:
    """A door on two hinges, a slide on two rails, a ball held by a rod at its centre: no row counts."""
    rng, size, parent = draft.rng, draft.length, _stiff_body(draft)
    joint, mount = str(rng.choice(list(_SECOND))), resized_frame(random_frame(rng), size)
    link = {"name": "door", "parent": parent, "frame": mount, "joint": _joint(joint, draft)}
    draft.data["links"].append(link | _inertial(draft))
    closure = str(rng.choice(_SECOND[joint]))
    height = [0.0, 0.0, 0.0 if joint == "spherical" else size * float(rng.normal())]
    a = (transform(mount) * transform({"xyz": height})).homogeneous
    motion = np.eye(4)
    if closure == "distance":
        motion[:3, 3] = size * rng.normal(size=3)
    if closure == "point_on_line":
        motion[2, 3] = size * rng.normal()
    draft.close("second", closure, {"link": parent, "matrix": a.tolist()}, "door", motion)
    if rng.random() < 0.5:
        _one_task(draft, "task")


def _said_twice(draft: _Draft) -> None:
    """One or two rows, and sums of them once more."""
    rng = draft.rng
    law = 0.0, 0.0, 0.1 * draft.length
    rows = [Combined(f"row_{axis}", ((1.0, f"E.{axis}"),), law) for axis in "xz"[: int(rng.integers(1, 3))]]
    for row in rows:
        draft.add(row)
    for k in range(int(rng.integers(1, 3))):
        weights = [float(x) for x in rng.normal(size=len(rows))]
        terms = tuple((w, row.terms[0][1]) for w, row in zip(weights, rows, strict=True))
        draft.add(Combined(f"again{k}", terms, (0.0, 0.0, law[2] * sum(weights))))
    draft.rank += len(rows)


FAMILIES: dict[str, Callable[[_Draft], None]] = {
    "tree": _no_constraints,
    "tasks": _with_tasks,
    "loop": _with_loop,
    "planar": _with_planar_loop,
    "hinges": _with_second_hinge,
    "twice": _said_twice,
    "springs": _with_springs,
}


# what goes with every family


def _load(draft: _Draft) -> None:
    """Up to two forces of constant values."""
    forces = [_effort, _push]
    made = (forces[draft.rng.integers(2)](draft) for _ in range(int(draft.rng.integers(3))))
    draft.data["forces"] = [{"name": f"force{k}"} | force for k, force in enumerate(made) if force]


def _effort(draft: _Draft) -> Table:
    """On a joint's coordinate; nothing where there is none."""
    joints = [name for name in _free(draft) if _is_of_a_joint(name)]
    if not joints:
        return {}
    joint = str(draft.rng.choice(joints))
    lever = draft.length if _turns(joint) else 1.0
    return {"joint": joint, "effort": 10 * draft.mass * lever * float(draft.rng.normal())}


def _push(draft: _Draft) -> Table:
    """At a point of a link."""
    rng = draft.rng
    value, point = 10 * draft.mass * rng.normal(size=3), draft.length * rng.normal(size=3)
    link, frame = str(rng.choice(_bodies(draft)[1:])), str(rng.choice(["world", "link"]))
    return {"link": link, "point": point.tolist(), "force": value.tolist(), "frame": frame}


def _settle(draft: _Draft) -> None:
    """Formulation, and the start as it is described."""
    orders = [row.get("order", 0) for row in draft.data.get("programmed", ())]
    forms = ["gpme", "lagrange", *["gpme_reduced"] * (2 not in orders)]
    redundant = "minimum_norm" if draft.rng.random() < 0.2 else "auto"
    draft.data["constraints"] = {"formulation": str(draft.rng.choice(forms)), "redundant": redundant}
    draft.data["simulation"] = {"start": "description", "stop": 0.5}
