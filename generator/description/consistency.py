"""Problems between the parts of a description: names that do not exist, cycles, clashes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ...errors import Problem
from .. import expressions
from ..joints import JOINT_TYPES
from .chain import Chain
from .link import Link


def problems_of(chain: Chain, data: Mapping[str, Any]) -> list[Problem]:
    """All problems between parts; `data` is the file, for the names of parts that are faulty themselves."""
    names = _Names(chain, data)
    found = [
        *_duplicates(chain),
        *_parents(chain, names),
        *_points(chain, names),
        *_programmed(chain, names),
        *_forces(chain, names),
        *_settings(chain, names),
    ]
    return list(dict.fromkeys(found))


class _Names:
    """What the parts may refer to. Faulty parts count as known: they have been reported already."""

    def __init__(self, chain: Chain, data: Mapping[str, Any]) -> None:
        self.links = {link.name: link for link in chain.links}
        self.faulty = _raw_names(data.get("links")) - set(self.links)
        self.points = set(chain.points) | set(data.get("points") or {})
        self.parameters = set(chain.parameters) | set(data.get("parameters") or {})
        self.has_base = chain.base is not None or "base" in data

    def is_body(self, name: str) -> bool:
        return (
            name in self.links
            or name in self.faulty
            or name == "ground"
            or (name == "base" and self.has_base)
        )

    def bodies(self) -> str:
        return ", ".join(["ground", *(["base"] if self.has_base else []), *self.links])

    def coordinates(self) -> set[str]:
        """Full names of all coordinates, elastic ones included."""
        names = {f"base.{m.coordinate}" for m in JOINT_TYPES["free"]} if self.has_base else set()
        for link in self.links.values():
            names |= {f"{link.name}.{m.coordinate}" for m in JOINT_TYPES[link.joint.type]}
            if link.beam is not None:
                names |= {
                    f"{link.name}.r{r}_{m.coordinate}"
                    for r in range(1, link.beam.count)
                    for m in JOINT_TYPES["spherical"]
                }
        return names

    def expression_problem(self, name: str) -> str | None:
        """Why a name in an expression is wrong, or None."""
        if name in ("t", "pi") or name in self.parameters:
            return None
        owner, _, quantity = name.partition(".")
        if owner in self.faulty or (owner in self.points and quantity in ("x", "y", "z", "vx", "vy", "vz")):
            return None
        if quantity and name.removesuffix("_dot") in self.coordinates():
            return None
        return (
            f"unknown name {name!r}; expected t, pi, a parameter, <point>.x/.y/.z/.vx/.vy/.vz,"
            " or <link>.<coordinate> and <link>.<coordinate>_dot"
        )


def is_velocity(name: str) -> bool:
    """Whether a name of an expression is a velocity: `E.vx`, `column.angle_dot`."""
    owner, _, quantity = name.partition(".")
    return bool(quantity) and (quantity in ("vx", "vy", "vz") or quantity.endswith("_dot"))


def _raw_names(items: Any) -> set[str]:
    if not isinstance(items, list):
        return set()
    return {str(item["name"]) for item in items if isinstance(item, dict) and "name" in item}


def _duplicates(chain: Chain) -> Iterator[Problem]:
    for key in ("links", "programmed", "forces", "cases"):
        counts = Counter(item.name for item in getattr(chain, key))
        for name, count in counts.items():
            if count > 1:
                yield Problem(key, f"{count} entries are called {name!r}; names must be unique")
    for index, link in enumerate(chain.links):
        if link.name in ("base", "ground"):
            yield Problem(f"links[{index}].name", f"{link.name!r} is reserved; choose another name")
    if chain.base is None and not chain.links:
        yield Problem("links", "the description has neither a base nor a link")


def _parents(chain: Chain, names: _Names) -> Iterator[Problem]:
    for index, link in enumerate(chain.links):
        if not names.is_body(link.parent):
            yield Problem(
                f"links[{index}].parent", f"there is no {link.parent!r}; known are: {names.bodies()}"
            )
        elif _on_cycle(link, names):
            yield Problem(
                f"links[{index}].parent", f"{link.name!r} is its own ancestor; links must form a tree"
            )


def _on_cycle(link: Link, names: _Names) -> bool:
    seen, parent = {link.name}, link.parent
    while parent in names.links and parent not in seen:
        seen.add(parent)
        parent = names.links[parent].parent
    return parent == link.name


def _points(chain: Chain, names: _Names) -> Iterator[Problem]:
    for name, point in chain.points.items():
        if not names.is_body(point.link):
            yield Problem(
                f"points.{name}.link", f"there is no {point.link!r}; known are: {names.bodies()}"
            )
        if name in names.links or name == "base":
            yield Problem(f"points.{name}", "a link has the same name; rename one of them")


def _programmed(chain: Chain, names: _Names) -> Iterator[Problem]:
    for index, entry in enumerate(chain.programmed):
        where = f"programmed[{index}]"
        if entry.path is not None and entry.path.point not in names.points:
            yield Problem(f"{where}.path.point", f"there is no point {entry.path.point!r}")
        if entry.expression is None:
            continue
        found = list(_expression(entry.expression, f"{where}.expression", names))
        yield from found
        if not found:
            yield from _order(entry.expression, entry.order, where)


def _order(text: str, order: int, where: str) -> Iterator[Problem]:
    used = set(expressions.running_names(expressions.parse(text)))
    moving = {name for name in used if "." in name}
    if not moving:
        yield Problem(f"{where}.expression", "expected at least one point or coordinate that moves")
    elif order == 0 and any(is_velocity(name) for name in moving):
        yield Problem(f"{where}.order", "the expression has velocities; set order = 1")
    elif order == 1 and not any(is_velocity(name) for name in moving):
        yield Problem(f"{where}.order", "order = 1 needs a velocity in the expression; or set order = 0")


def _expression(text: str | float, where: str, names: _Names) -> Iterator[Problem]:
    try:
        tree = expressions.parse(text)
    except ValueError as error:
        yield Problem(where, str(error))
        return
    for name in dict.fromkeys(expressions.names(tree)):
        message = names.expression_problem(name)
        if message:
            yield Problem(where, message)


def _forces(chain: Chain, names: _Names) -> Iterator[Problem]:
    for index, force in enumerate(chain.forces):
        where = f"forces[{index}]"
        if force.joint is not None:
            yield from _force_joint(force.joint, f"{where}.joint", names)
        if force.link is not None and not names.is_body(force.link):
            yield Problem(f"{where}.link", f"there is no {force.link!r}; known are: {names.bodies()}")
        if force.effort is not None:
            yield from _expression(force.effort, f"{where}.effort", names)
        for i, component in enumerate(force.force or ()):
            yield from _expression(component, f"{where}.force[{i}]", names)


def _force_joint(joint: str, where: str, names: _Names) -> Iterator[Problem]:
    owner, _, key = joint.partition(".")
    if owner in names.faulty:
        return
    if owner not in names.links:
        yield Problem(where, f"there is no link {owner!r}; known are: {', '.join(names.links)}")
        return
    keys = [motion.coordinate for motion in JOINT_TYPES[names.links[owner].joint.type]]
    if not (key in keys or (not key and len(keys) == 1)):
        choice = ", ".join(f"{owner}.{k}" for k in keys) or "no coordinate"
        yield Problem(where, f"expected one coordinate of the joint ({choice}), got {joint!r}")


def _settings(chain: Chain, names: _Names) -> Iterator[Problem]:
    for index, name in enumerate(chain.statics.locked or ()):
        if name not in names.links and name not in names.faulty:
            yield Problem(f"statics.locked[{index}]", f"there is no link {name!r}")
    if chain.constraints.dependent == "auto":
        return
    for index, name in enumerate(chain.constraints.dependent):
        if name.partition(".")[0] not in names.faulty and name not in names.coordinates():
            yield Problem(f"constraints.dependent[{index}]", f"there is no coordinate {name!r}")
    rows = constraint_rows(chain)
    given = len(set(chain.constraints.dependent))
    if given != rows:
        yield Problem(
            "constraints.dependent", f"expected {rows} different coordinates, one per constraint row, got {given}"
        )


def constraint_rows(chain: Chain) -> int:
    """Number of constraint rows: programmed, and six for a rigid base."""
    programmed = sum(len(entry.path.components) if entry.path else 1 for entry in chain.programmed)
    return programmed + (6 if chain.base is not None and chain.base.support == "rigid" else 0)
