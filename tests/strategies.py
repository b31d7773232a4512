"""Hypothesis strategies: valid descriptions as raw tables, fit for `description.load.from_data`."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from gpmelica.description.tables.frame import roll_pitch_yaw
from gpmelica.description.types.joints import JOINT_TYPES

Table = dict[str, Any]
# names that the generated equations use themselves, or that look like parts of other names
AWKWARD_NAMES = ("M", "C", "Phi", "qdd", "f", "A", "R", "p", "boom_r1", "boom_r1_psi", "x", "com", "alpha1", "g")

PARAMETERS = {"a": 1.5, "start_boom_angle": 3.0, "start_M_angle": 4.0, "Phi_": 5.0, "der_a": 6.0}
AXES = ([1, 0, 0], [0.0, -1.0, 0.0], [0, 0, 1], [1 / 3, 2 / 3, 2 / 3], [0.6, 0.0, -0.8])


def numbers(lowest: float, highest: float) -> st.SearchStrategy[float]:
    """Numbers of few digits, integers included; TOML keeps 1 and 1.0 apart, descriptions do not."""
    fractions = st.integers(0, 1000).map(lambda k: round(lowest + (highest - lowest) * k / 1000, 6))
    whole = st.integers(int(np.ceil(lowest)), int(np.floor(highest)))
    return fractions | whole if np.ceil(lowest) <= np.floor(highest) else fractions


def vectors(size: float) -> st.SearchStrategy[list[float]]:
    """Three components between −size and size."""
    return st.lists(numbers(-size, size), min_size=3, max_size=3)


@st.composite
def frames(draw: st.DrawFn) -> Table:
    """A frame in one of its forms, or none of its keys."""
    form = draw(st.sampled_from(("xyz", "rpy", "both", "matrix", "dh", "none")))
    if form == "dh":
        return {"dh": draw(st.lists(numbers(-1.0, 1.0), min_size=4, max_size=4))}
    if form == "matrix":
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = roll_pitch_yaw(*draw(vectors(3.0))), draw(vectors(0.6))
        return {"matrix": matrix.tolist()}
    keys = {"xyz": ("xyz",), "rpy": ("rpy",), "both": ("xyz", "rpy"), "none": ()}[form]
    return {key: draw(vectors(0.6 if key == "xyz" else 3.0)) for key in keys}


@st.composite
def inertias(draw: st.DrawFn) -> Table:
    """Mass, com and inertia in one of the three forms, of a body with positive second moments."""
    mass, com = draw(numbers(0.5, 5.0)), np.array(draw(vectors(0.4)), dtype=float)
    second = np.diag(draw(st.lists(numbers(0.02, 0.5), min_size=3, max_size=3)))
    form = draw(st.sampled_from(("diagonal", "matrix", "pseudo_inertia")))
    if form != "diagonal":
        axes = roll_pitch_yaw(*draw(vectors(3.0)))
        second = axes @ second @ axes.T
    inertia = np.trace(second) * np.eye(3) - second
    if form == "pseudo_inertia":
        H = np.zeros((4, 4))
        H[:3, :3], H[:3, 3], H[3, :3], H[3, 3] = second + mass * np.outer(com, com), mass * com, mass * com, mass
        return {"pseudo_inertia": ((H + H.T) / 2).tolist()}
    moments = np.diag(inertia) if form == "diagonal" else (inertia + inertia.T) / 2
    return {"mass": mass, "com": com.tolist(), "inertia": moments.tolist()}


@st.composite
def beams(draw: st.DrawFn) -> Table:
    """A soft beam of one to three elements."""
    return {
        "length": draw(numbers(0.5, 1.5)),
        "density": draw(numbers(500.0, 2000.0)),
        "Iy": draw(numbers(1e-5, 5e-5)),
        **{"area": 1e-3, "E": 1e6, "G": 4e5, "Iz": 3e-5, "J": 4e-5},
        "damping_time": draw(st.sampled_from((0.0, 1e-2))),
        "elements": draw(st.integers(1, 3)),
        "flexible": draw(st.booleans()),
    }


@st.composite
def joints(draw: st.DrawFn, moving: bool = False) -> Table:
    """A joint of any type; `moving`: not a fixed one. Angles stay away from the Euler angles' singularity."""
    kind = draw(st.sampled_from([kind for kind, motions in JOINT_TYPES.items() if motions or not moving]))
    joint: Table = {"type": kind}
    motions = JOINT_TYPES[kind]
    if any(motion.axis is None for motion in motions):
        joint["axis"] = draw(st.sampled_from(AXES))
    ranges = {"position": (-0.6, 0.6), "velocity": (-1.0, 1.0)}
    ranges |= {"stiffness": (0.0, 50.0), "rest": (-0.5, 0.5), "damping": (0.0, 2.0)}
    for key, limits in ranges.items():
        if motions and draw(st.booleans()):
            one = numbers(*limits)
            joint[key] = draw(one | st.lists(one, min_size=len(motions), max_size=len(motions)))
    return joint


@st.composite
def bases(draw: st.DrawFn) -> Table:
    """A base body, on one to three supports or rigid."""
    support = st.fixed_dictionaries(
        {"position": vectors(1.0), "stiffness": st.lists(numbers(0.0, 900.0), min_size=3, max_size=3)},
        optional={"damping": st.lists(numbers(0.0, 5.0), min_size=3, max_size=3)},
    )
    table = draw(inertias())
    table["supports"] = draw(st.lists(support, min_size=1, max_size=3))
    table |= draw(
        st.fixed_dictionaries(
            {}, optional={"support": st.sampled_from(("flexible", "rigid")), "linearized": st.booleans()}
        )
    )
    return table


@st.composite
def trees(draw: st.DrawFn, most_links: int = 4) -> Table:
    """A tree of links in any order with points on it; some names are awkward. Gravity may be zero."""
    data: Table = {"schema": 1, "name": "Tree", "gravity": draw(vectors(10.0) | st.just([0, 0, 0]))}
    if draw(st.booleans()):
        data["base"] = draw(bases())
    names = draw(st.permutations(("boom", *AWKWARD_NAMES)))[: draw(st.integers(1, most_links))]
    parents, links = ["ground", *(["base"] if "base" in data else [])], []
    for k, name in enumerate(names):
        link = {"name": name, "parent": draw(st.sampled_from(parents)), "frame": draw(frames())}
        link["joint"] = draw(joints(moving=k == 0))
        link |= draw(inertias() | beams().map(lambda beam: {"beam": beam}))
        parents.append(name)
        links.append(link)
    data["links"] = draw(st.permutations(links))
    data["points"] = {"E": {"link": names[-1], "position": draw(vectors(0.8))}, "O": {"link": parents[0]}}
    data["simulation"] = {"start": "description"}
    return data


def coordinates(data: Table, elastic: bool = True) -> list[str]:
    """Full names of the coordinates of a tree, base first, then links in the file's order."""
    found = [f"base.{motion.coordinate}" for motion in JOINT_TYPES["free"] if "base" in data]
    for link in data["links"]:
        found += [f"{link['name']}.{motion.coordinate}" for motion in JOINT_TYPES[link["joint"]["type"]]]
        beam = link.get("beam", {"flexible": False})
        for r in range(1, beam["elements"] if beam["flexible"] and elastic else 1):
            found += [f"{link['name']}.r{r}_{motion.coordinate}" for motion in JOINT_TYPES["spherical"]]
    return found


@st.composite
def tasks(draw: st.DrawFn, data: Table) -> Table:
    """Parameters, programmed constraints (none to two, so that something moves freely) and forces for a tree."""
    fixed = data.get("base", {}).get("support") == "rigid"
    free = [name for name in coordinates(data) if not (fixed and name.startswith("base."))]
    chosen = draw(st.permutations(free))[:2]
    rows = [draw(st.sampled_from(_rows(name))) for name in chosen]
    count = draw(st.integers(0, min(len(rows), len(free) - 1)))
    programmed = [{"name": f"row{i}"} | row for i, row in enumerate(rows[:count])]
    forces = [{"name": f"load{i}"} | draw(_forces(data)) for i in range(draw(st.integers(0, 3)))]
    return {
        "parameters": PARAMETERS | {"qdd_": draw(numbers(-2.0, 2.0))},
        "programmed": programmed,
        "forces": forces,
    }


def _rows(name: str) -> list[Table]:
    """Constraints whose Jacobian has an entry for the coordinate that does not vanish."""
    return [
        {"expression": f"{name} - start({name}) - quintic(t, 0.1, a, 0, 0.2)"},
        {"expression": f"exp(0.3*{name}) - a*cos(t) + 0.01*E.x^2"},
        {"expression": f"{name} - (0.1*t if t <= 0.5 else 0.05) + 0.001*sin(E.z)*abs(E.y)"},
        {"expression": f"(2 + sin({name}))*{name}_dot - a*t + 0.01*E.vy*max(E.x, 0.3)", "order": 1},
        {"expression": f"{name}_dot + 0.01*E.vx*E.x - start({name}_dot)", "order": 1},
    ]


@st.composite
def _forces(draw: st.DrawFn, data: Table) -> Table:
    links = [link for link in data["links"] if JOINT_TYPES[link["joint"]["type"]]]
    moving = draw(st.sampled_from(coordinates(data, elastic=False)))
    texts = ("-3.5", "a*sin(t)", f"-4 if t <= 0.1 else {moving}", f"a - qdd_*{moving}_dot", "E.vx*E.y")
    value = draw(st.sampled_from(texts) | numbers(-5.0, 5.0))
    if draw(st.booleans()):
        link = draw(st.sampled_from(links))
        keys = [motion.coordinate for motion in JOINT_TYPES[link["joint"]["type"]]]
        joint = link["name"] if len(keys) == 1 else f"{link['name']}.{draw(st.sampled_from(keys))}"
        return {"joint": joint} | draw(st.sampled_from(({"effort": value}, {"input": True})))
    place = {"link": draw(st.sampled_from(links))["name"], "point": draw(vectors(0.5))}
    place["frame"] = draw(st.sampled_from(("world", "link")))
    return place | draw(st.sampled_from(({"force": [value, "0", "-0.5*t"]}, {"input": True})))


@st.composite
def descriptions(draw: st.DrawFn, most_links: int = 4) -> Table:
    """A tree with a task."""
    data = draw(trees(most_links))
    return data | draw(tasks(data))
