"""Equipment of a random mechanism besides joints and loops: lookup tables, driven joints, ropes, contacts,
outriggers, stops, friction, paths with orientations, and expressions of the resulting quantities.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from helpers_random import random_frame
from scipy.spatial.transform import Rotation

from machines.families import Machine, machine
from machines.scales import frame as resized_frame
from machines.tree import Posture, Table, Tree, transform

_TABLE = Path(__file__).parents[1] / "data" / "every_table.csv"
_REGULAR = ("tree", "springs")  # families without rows, to which rows may be added
_AXES = "xyz"


@dataclass
class _Equipped:
    """A description that grows. weight: N, of the bodies; measured: names that forces may use, lengths: rows."""

    rng: np.random.Generator
    data: Table
    length: float
    weight: float
    free: list[str]
    measured: list[tuple[str, float]]
    lengths: list[str]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def one(self, values: Any) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def about(self, size: float) -> float:
        """A number of that order, above 0."""
        return float(size * np.exp(self.rng.uniform(-1.0, 1.0)))

    def vector(self, size: float) -> list[float]:
        return [float(x) for x in size * self.rng.normal(size=3)]

    def body(self) -> str:
        return str(
            self.one([*(["base"] if "base" in self.data else []), *(x["name"] for x in self.data["links"])])
        )

    def add(self, key: str, entry: Table) -> None:
        self.data.setdefault(key, []).append(entry)


def equipped(seed: int, largest: int = 16) -> Table:
    """The seed's mechanism with some of everything; it starts as it is described, without violated rows."""
    drawn = machine(seed, largest)
    made = _begun(np.random.default_rng([seed, 2024]), drawn)
    for part in (_tables, _outriggers, _joints, _axes, _lines, _contacts):
        part(made)
    if drawn.family in _REGULAR:
        made.one(_ROWS)(made)
    _forces(made)
    _outputs(made)
    return made.data


def _begun(rng: np.random.Generator, drawn: Machine) -> _Equipped:
    data, tree = copy.deepcopy(drawn.data), drawn.oracle.tree
    mass = float(sum(body.mass for body in tree.model.inertias))
    held = data.get("base", {}).get("support") == "rigid"
    free = [name for name in tree.names if not (held and name.startswith("base.")) and ".r" not in name]
    data["parameters"] = {"a": 0.7, "lag": {"value": 0.1, "unit": "s", "min": 0.0, "max": 1.0}, "L": drawn.length}
    return _Equipped(rng, data, drawn.length, 10.0 * mass, free, [], [])


def _tables(made: _Equipped) -> None:
    table = {"file": str(_TABLE), "time": "t", "value": "angle"}
    made.data["tables"] = {
        "ramp": table | {"ends": str(made.one(("rest", "free")))},
        "gust": table | {"interpolation": "linear"},
    }


def _outriggers(made: _Equipped) -> None:
    for k, support in enumerate(made.data.get("base", {}).get("supports", ())):
        if made.chance(0.4):
            support["one_sided"] = True
            name = f"support{k + 1}"
            if made.chance(0.5):
                name = support["name"] = f"outrigger{k}"
            made.measured += [(f"{name}_gap", made.length), (f"{name}_force", made.weight)]
            made.lengths.append(f"{name}_gap")


def _joints(made: _Equipped) -> None:
    for link in made.data["links"]:
        joint = link["joint"]
        if joint["type"] not in ("revolute", "prismatic"):
            continue
        turns = joint["type"] == "revolute"
        size, effort = (1.0, made.weight * made.length) if turns else (made.length, made.weight)
        if made.chance(0.3):
            at = float(np.ravel(joint.get("position", 0.0))[0])
            lower, upper = at - made.about(0.1 * size), at + made.about(0.1 * size)
            limits = {"stiffness": made.about(10 * effort / size), "damping": made.about(0.1 * effort / size)}
            joint["limits"] = limits | made.one(
                ({"lower": lower}, {"upper": upper}, {"lower": lower, "upper": upper})
            )
        if made.chance(0.3):
            joint["armature"] = made.about(0.01 * effort / size)
        if made.chance(0.4):
            joint["friction"] = _friction(made, turns, size, effort)


def _friction(made: _Equipped, turns: bool, size: float, effort: float) -> Table:
    normal = made.one(({}, {"normal_force": made.about(0.3 * made.weight)})) | (
        {"diameter": made.about(0.05 * made.length)} if turns else {}
    )
    bristles = {"sigma0": made.about(20.0 / size), "mu_s": 0.2}
    lugre = {"sigma1": made.about(0.1 / size), "sigma2": made.about(0.02 / size), "mu_k": 0.15, "v_s": 0.05 * size}
    return made.one(
        (
            {"model": "coulomb", "effort": made.about(0.01 * effort), "v_s": made.about(0.3 * size)},
            {"model": "dahl", "gamma": made.one((1.0, 1.5))} | bristles | normal,
            {"model": "lugre"} | bristles | lugre | normal,
        )
    )


def _axes(made: _Equipped) -> None:
    made.data["points"]["E"]["rpy"] = made.one(([0.0, 0.0, 0.0], made.vector(1.0), [0.1, "a", 0.0]))
    made.measured += [(f"E.R{i}{j}", 1.0) for i in (1, 2, 3) for j in (1, 2, 3)]


def _lines(made: _Equipped) -> None:
    for k in range(int(made.rng.integers(4))):
        name, size = f"line{k}", made.length
        a = made.one(("ground", made.body()))
        b = made.one([link["name"] for link in made.data["links"] if link["name"] != a] or ["base"])
        if a == b:
            continue
        ends = {"a": {"link": a, "point": made.vector(size)}, "b": {"link": b, "point": made.vector(size)}}
        made.add(
            "lines",
            {"name": name} | ends | _law(made, name) | ({"tension_only": True} if made.chance(0.4) else {}),
        )
        made.measured += [(f"{name}_length", size), (f"{name}_rate", size), (f"{name}_force", made.weight)]
        made.lengths.append(f"{name}_length")


def _law(made: _Equipped, name: str) -> Table:
    """Spring with one of the kinds of rest, law, or input."""
    size, weight = made.length, made.weight
    spring = {"stiffness": made.about(weight / size), "damping": made.about(0.1 * weight / size)}
    kind = int(made.rng.integers(6))
    if kind < 4:
        begin = {"start": "2*L"} if made.chance(0.5) else {}
        rests: tuple[Any, ...] = (
            1.5 * size,
            "L*(2 + 0.1*quintic(t, 0, lag, 0, a))",
            "L*(2 + 0.1*table(ramp, 0.5*t + lag))",
            {"input": f"{name}_command", "cutoff": made.about(2.0)} | begin,
        )
        return spring | {"rest": rests[kind]}
    if kind == 4:
        return {"input": True}
    other = made.one([*made.measured, ("sin(t)", 1.0)])
    return {"force": f"{weight!r}*(0.3 - length/{size!r} - 0.1*rate/{size!r} + 0.1*tanh({other[0]}/{other[1]!r}))"}


def _contacts(made: _Equipped) -> None:
    """On planes through anywhere near, so that some press at the start."""
    for k in range(int(made.rng.integers(3))):
        entry = {"name": f"deck{k}", "link": made.body(), "point": made.vector(0.5 * made.length)}
        entry["plane"] = {"point": made.vector(made.length), "normal": made.vector(1.0)}
        entry |= {"stiffness": made.about(10 * made.weight / made.length)}
        if made.chance(0.7):
            entry["damping"] = made.about(made.weight / made.length)
        if made.chance(0.5):
            entry["friction"] = {"mu": 0.3, "v_s": made.about(0.2 * made.length)}
        made.add("contacts", entry)
        made.measured += [(f"deck{k}_gap", made.length), (f"deck{k}_force", made.weight)]
        made.lengths.append(f"deck{k}_gap")


# rows, each of which a tree can follow


def _motion(made: _Equipped) -> None:
    """A joint that is driven."""
    name = made.one([name for name in made.free if not name.startswith("base.")])
    size = 1.0 if name.partition(".")[2] not in ("x", "y", "z", "position") else made.length
    laws = (
        {"position": f"start({name}) + {0.3 * size!r}*quintic(t, 0, 1, 0, a)"},
        {"position": f"start({name}) + {0.1 * size!r}*(table(ramp, t) - table(ramp, 0))"},
        {"input": True, "cutoff": made.about(2.0)},
    )
    made.add("motions", {"name": "slewing", "joint": name} | made.one(laws))


def _cosine(made: _Equipped) -> None:
    """A tilt of the point's axes."""
    cosine = f"E.R{made.one('123')}{made.one('123')}"
    made.add("programmed", {"name": "tilt", "expression": f"{cosine} - start({cosine}) - 0.05*t^2"})


def _stroke(made: _Equipped) -> None:
    """A length or a gap, or its rate."""
    if not made.lengths:
        return _motion(made)
    name = made.one(made.lengths)
    order = 1 if name.endswith("_length") and made.chance(0.3) else 0
    law = f"{name.replace('_length', '_rate')} - {0.05 * made.length!r}*t"
    law = law if order else f"{name} - start({name}) - {0.05 * made.length!r}*t^2"
    made.add("programmed", {"name": "stroke", "expression": law, "order": order})
    return None


def _path(made: _Equipped) -> None:
    """From where the point is, by one or two legs, with orientations or without."""
    tree, size = Tree(made.data | {"lines": []}), made.length
    point = made.data["points"]["E"]
    posture = Posture(tree, tree.described(), np.zeros(tree.n))
    rpy = [0.7 if x == "a" else x for x in point["rpy"]]
    at = posture.frame(point["link"], transform({"xyz": point["position"], "rpy": rpy}))
    frame = transform(given := resized_frame(random_frame(made.rng), size))
    begin = (frame.rotation.T @ (at.r - frame.translation)).tolist()
    ways = [(np.array(begin) + made.vector(0.1 * size)).tolist() for _ in range(int(made.rng.integers(1, 3)))]
    path = {
        "point": "E",
        "frame": given,
        "waypoints": [begin, *ways],
        "leg_time": made.one((0.5, "a", [0.4] * len(ways))),
    }
    path["components"] = list(made.one(("x", "xz", "xyz")))
    if made.chance(0.5):
        path |= {"profile": "trapezoidal"} | made.one(({}, {"ramp": 0.4}))
    if len(ways) > 1 and made.chance(0.5):
        path["blend_time"] = 0.1
    if made.chance(0.5):
        first = _rpy(frame.rotation.T @ at.R)
        path["orientations"] = [first, *((np.array(first) + made.vector(0.2)).tolist() for _ in ways)]
    made.add("programmed", {"name": "way", "path": path})


def _rpy(R: Any) -> list[float]:
    return [float(x) for x in Rotation.from_matrix(R).as_euler("ZYX")[::-1]]


_ROWS: tuple[Callable[[_Equipped], Any], ...] = (_motion, _cosine, _stroke, _path, _path)


def _forces(made: _Equipped) -> None:
    """At a link, of a table and of what is measured."""
    texts = ["table(gust, 2*t)", "sin(3*t)", "0.2"]
    for name, size in [made.one(made.measured) for _ in range(3)]:
        texts.append(f"tanh({name}/{size!r})")
    texts.append(f"(1 if {made.one(made.measured)[0]} > 0 else 0.5)")
    for k in range(int(made.rng.integers(3))):
        force = [f"{0.1 * made.weight!r}*{made.one(texts)}" for _ in _AXES]
        entry = {"name": f"wind{k}", "link": made.body(), "frame": made.one(("world", "link"))}
        made.add("forces", entry | made.one(({"force": force}, {"force": force}, {"input": True})))


def _outputs(made: _Equipped) -> None:
    names = [name for name, _ in made.measured]
    texts = {"reach": "sqrt(E.x^2 + E.y^2)", "jerk": "E.ax + 0.1*E.vz", "free": f"abs({made.one(names)})"}
    made.data["outputs"] = {
        "loads": made.one(("all", [made.data["links"][0]["name"]])),
        "points": "all",
        "links": "all",
        "energy": True,
        "expressions": texts,
    }
