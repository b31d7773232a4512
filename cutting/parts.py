"""Descriptions of the parts of a cut mechanism.

Two links belong to the same part if an uncut joint, closure, force element or programmed constraint
connects them. If the joint of a link is cut, the link gets a free joint to the ground. The link has
the initial position and velocity that it has in the uncut mechanism.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, shortest_path

from ..analysis.system import System
from ..core.errors import DescriptionError, Problem
from ..core.trajectory import Array
from ..description.elements import ELEMENTS
from ..description.load import from_data, tables_of
from ..description.uses import unused
from ..language import expressions
from .cuts import Cut, FixedPoint, frame_of, free, turning

Tables = dict[str, Any]
_LISTS = ("closures", "programmed", "motions", "nonholonomic", "forces", "lines", "contacts", *ELEMENTS)
_OUTPUTS = ("loads", "points", "links")
_COPIED = ("schema", "gravity", "parameters", "tables")
# The FMUs of a cut mechanism are named part_a, part_b and so on, with these letters.
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Initial velocities follow from a central difference of two poses with this time step, s.
_STEP = 1e-6


@dataclass(frozen=True)
class MachinePart:
    """One part of a cut mechanism.

    Parameters
    ----------
    name : name of the SSP element
    links : names of the part's links, including `base`
    tables : tables of the part's description
    start : start values of beam deflections and of the base, by parameter name; a description
        cannot contain these values
    notes : sentences about outputs of the mechanism that no part contains
    """

    name: str
    links: frozenset[str]
    tables: Tables
    start: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Use:
    """Entry of a description, such as a joint or a force, and the names of the links that it connects."""

    what: str
    links: frozenset[str]


def parts_of(model: System, cuts: Sequence[Cut], source: str) -> list[MachinePart]:
    """Return the parts into which the cuts divide a mechanism.

    The first part contains the first link of the description that is connected to a cut.

    Raises
    ------
    DescriptionError : if the two sides of a cut remain connected; the message names the connections
    """
    tables = tables_of(model.chain)
    owners = _Owners(tables, cuts)
    uses = [*_uses(tables, owners, cuts)]
    labels = _labels(owners.bodies, uses, cuts)
    problems = [*_joined(owners.bodies, uses, cuts, labels)]
    if problems:
        raise DescriptionError(source, problems)
    if max(labels.values()) >= len(_LETTERS):
        text = f"expected at most {len(_LETTERS)} parts, got {max(labels.values()) + 1}; cut fewer joints"
        raise DescriptionError(source, text)
    groups = [frozenset(b for b in owners.bodies if labels[b] == k) for k in range(max(labels.values()) + 1)]
    return [_Builder(model, cuts, tables, owners, group, k).part() for k, group in enumerate(groups)]


class _Owners:
    """Search for the links to which an entry of a description refers.

    An entry can refer to links directly, or by the name of a point, a coordinate or an element.
    """

    def __init__(self, tables: Tables, cuts: Sequence[Cut]) -> None:
        links = [link["name"] for link in tables.get("links", ())]
        self.bodies = [*(["base"] if "base" in tables else []), *links]
        self._links = {name: frozenset([name]) for name in self.bodies}
        # The coordinate of a cut joint depends on links on both sides of the cut.
        self._coordinates = self._links | {c.name: frozenset(c.links) for c in cuts if c.kind == "joint"}
        self._points = {name: self._of_link(point["link"]) for name, point in tables.get("points", {}).items()}
        self._parameters = {*tables.get("parameters", ()), "t", "pi"}
        self._elements: dict[str, frozenset[str]] = {}
        for key in ("forces", "motions", "lines", "contacts", *ELEMENTS):
            for entry in tables.get(key, ()):
                self._elements[entry["name"]] = self.of({k: v for k, v in entry.items() if k != "name"})

    def _of_link(self, name: str) -> frozenset[str]:
        # The ground is not a link, so it belongs to no single FMU of a cut mechanism.
        return self._links.get(name, frozenset())

    def of(self, entry: Any, key: str = "") -> frozenset[str]:
        """Return the names of all links to which an entry of a description refers.

        The argument `entry` is a table, a list or a string. For a string, `key` is its key in the
        description.
        """
        if isinstance(entry, dict):
            return frozenset().union(*(self.of(value, name) for name, value in entry.items()))
        if isinstance(entry, list):
            return frozenset().union(*(self.of(value, key) for value in entry))
        if not isinstance(entry, str):
            return frozenset()
        if key in ("link", "joint"):
            return self._of_link(entry.partition(".")[0])
        if key == "point" and entry in self._points:
            return self._points[entry]
        # The key `drives` of a controller contains the name of an input.
        if key == "drives":
            return self._named(f"{entry}_")
        return self._in_expression(entry)

    def _in_expression(self, text: str) -> frozenset[str]:
        try:
            names = set(expressions.names(expressions.parse(text)))
        except ValueError:  # Some names and keywords are not valid expressions, so the parser rejects them.
            return frozenset()
        return frozenset().union(*map(self._named, names - self._parameters))

    def _named(self, name: str) -> frozenset[str]:
        owner, dot, _ = name.partition(".")
        if dot:
            return self._points.get(owner, frozenset()) | self._coordinates.get(owner, frozenset())
        return next((found for own, found in self._elements.items() if name.startswith(f"{own}_")), frozenset())


def _uses(tables: Tables, owners: _Owners, cuts: Sequence[Cut]) -> Iterator[_Use]:
    """Yield the joints and the other entries of the description that are not cut, with the links they connect.

    Joints come first. Other entries are, for example, loop closures and force elements.
    """
    cut = {(c.kind, c.name) for c in cuts}
    for link in tables.get("links", ()):
        if ("joint", link["name"]) not in cut:
            yield _Use(f"joint {link['name']}", owners.of({"link": link["parent"]}) | {link["name"]})
    for key, entry in _entries(tables, cuts):
        yield _Use(f"{key}.{entry['name']}", owners.of({k: v for k, v in entry.items() if k != "name"}))


def _entries(tables: Tables, cuts: Sequence[Cut]) -> Iterator[tuple[str, Tables]]:
    cut = {("closures" if c.kind == "closure" else "lines", c.name) for c in cuts if c.kind != "joint"}
    for key in _LISTS:
        yield from ((key, entry) for entry in tables.get(key, ()) if (key, entry["name"]) not in cut)


def _graph(bodies: Sequence[str], uses: Sequence[_Use]) -> Any:
    place = {body: k for k, body in enumerate(bodies)}
    pairs = [(place[a], place[b]) for use in uses for a in use.links for b in use.links if a < b]
    rows, columns = (np.array([pair[k] for pair in pairs], dtype=np.intp) for k in (0, 1))
    return coo_array((np.ones(len(pairs)), (rows, columns)), shape=(len(bodies), len(bodies))).tocsr()


def _labels(bodies: Sequence[str], uses: Sequence[_Use], cuts: Sequence[Cut]) -> dict[str, int]:
    """Return the index of the part to which each link belongs, by name of the link.

    Links without a connection to any cut joint or rope belong to the first part.
    """
    _, found = connected_components(_graph(bodies, uses), directed=False)
    component = dict(zip(bodies, found.tolist(), strict=True))
    concerned = {component[link] for cut in cuts for link in cut.links}
    numbers = {c: k for k, c in enumerate(c for c in dict.fromkeys(component.values()) if c in concerned)}
    return {body: numbers.get(c, 0) for body, c in component.items()}


def _joined(
    bodies: Sequence[str], uses: Sequence[_Use], cuts: Sequence[Cut], labels: Mapping[str, int]
) -> Iterator[Problem]:
    """Yield an error for each cut that does not separate the links on its two sides.

    The error names the other joints and elements that connect these links.
    """
    for cut in cuts:
        first, second = cut.links
        if labels[first] != labels[second]:
            continue
        names = _connections(uses, _path(bodies, uses, first, second))
        text = (
            f"does not separate {first} from {second}, which {', '.join(names)} also"
            f" connect{'s' if len(names) == 1 else ''}; also cut or remove one of these connections"
        )
        yield Problem(f"cut at {cut.name}", text)


def _connections(uses: Sequence[_Use], path: Sequence[str]) -> list[str]:
    """Return the names of the connections along a path of links.

    If other entries than joints connect the links, the result does not contain the joints.
    """
    steps = [{*step} for step in pairwise(path)]
    along = [use.what for use in uses if any(step <= use.links for step in steps)]
    return [what for what in along if not what.startswith("joint ")] or along


def _path(bodies: Sequence[str], uses: Sequence[_Use], first: str, second: str) -> list[str]:
    begin, end = bodies.index(first), bodies.index(second)
    _, before = shortest_path(_graph(bodies, uses), directed=False, indices=begin, return_predecessors=True)
    found = [end]
    while found[-1] != begin:
        found.append(int(before[found[-1]]))
    return [bodies[k] for k in found]


class _Builder:
    """Builder of the description of one part of a cut mechanism."""

    def __init__(
        self, model: System, cuts: Sequence[Cut], tables: Tables, owners: _Owners, links: frozenset[str], k: int
    ) -> None:
        self._model, self._cuts, self._tables, self._owners, self._links = model, cuts, tables, owners, links
        self._letter, self._notes = _LETTERS[k], list[str]()
        self._start = {
            coordinate.name: (float(q), float(rate))
            for coordinate, q, rate in zip(model.mechanism.coordinates, *model.start, strict=True)
        }

    def part(self) -> MachinePart:
        """Return this part of the mechanism, with its description and the start values of its FMU."""
        whole = self._tables
        found: Tables = {key: whole[key] for key in _COPIED if key in whole}
        found["name"] = f"{whole['name']}_{self._letter}"
        found["description"] = f"Part {self._letter} of {whole['name']}: {', '.join(sorted(self._links))}"
        if "base" in self._links:
            found["base"] = whole["base"]
        found["links"] = [link for table in whole.get("links", ()) for link in self._placed(table)]
        found["points"] = self._points()
        for key, entry in _entries(whole, self._cuts):
            if self._has(self._owners.of({k: v for k, v in entry.items() if k != "name"})):
                found.setdefault(key, []).append(entry)
        found["forces"] = [*found.get("forces", ()), *self._pins()]
        found |= self._settings()
        parameters = dict(self._parameters())
        name = f"part_{self._letter}"
        return MachinePart(name, self._links, _used(found, name), parameters, tuple(self._notes))

    def _has(self, links: frozenset[str]) -> bool:
        """Return whether an entry of the description that refers to the given links belongs to this part.

        An entry that refers to no link belongs to the first part.
        """
        return bool(links & self._links) if links else self._letter == "a"

    def _placed(self, table: Tables) -> Iterator[Tables]:
        """Yield the table of a link with initial position and velocity, if the link belongs to this part.

        If the joint of the link is cut, an auxiliary link without mass, the carrier, is yielded
        first. A free joint connects the carrier to the ground, and a fixed joint connects the link
        to the carrier.
        """
        if table["name"] not in self._links:
            return
        cut = next((c for c in self._cuts if c.kind == "joint" and c.name == table["name"]), None)
        if cut is None:
            yield table | {"joint": self._started(table)}
            return
        carrier, turn = free(f"{cut.name}_carrier", {*self._owners.bodies}), np.eye(4)
        turn[:3, :3] = turning(cut.axis)
        yield {"name": carrier, "parent": "ground", **self._carried(cut, turn)}
        kept = {key: value for key, value in table.items() if key not in ("parent", "frame", "joint")}
        frame = {"frame": {"matrix": turn.T.tolist()}} if np.any(turn != np.eye(4)) else {}
        yield {**kept, "parent": carrier, **frame, "joint": {"type": "fixed"}}

    def _started(self, table: Tables) -> Tables:
        joint = dict(table["joint"])
        names = [c for c in self._start if c.startswith(f"{table['name']}.") and self._is_joint(c)]
        for key, column in (("position", 0), ("velocity", 1)):
            values = [self._start[name][column] for name in names]
            if any(values) or key in joint:
                joint[key] = values[0] if len(values) == 1 else values
        return {k: v for k, v in joint.items() if v != []}

    def _is_joint(self, coordinate: str) -> bool:
        return any(c.name == coordinate and c.role == "joint" for c in self._model.mechanism.coordinates)

    def _carried(self, cut: Cut, turn: Array) -> Tables:
        """Return frame and free joint of the carrier, a massless link that replaces a cut joint.

        The carrier starts with the pose and velocity of the link at the joint. The z axis of the
        carrier is the axis of the joint.
        """
        (q, rate), link = self._model.start, cut.name
        pose = frame_of(self._model, link, q) @ turn
        joint: Tables = {"type": "free"}
        if np.any(rate):
            after, before = (frame_of(self._model, link, q + sign * _STEP * rate) @ turn for sign in (1.0, -1.0))
            change = pose[:3, :3].T @ (after - before)[:3] / (2.0 * _STEP)
            joint["velocity"] = [*change[:, 3].tolist(), change[1, 0], change[0, 2], change[2, 1]]
        return {"frame": {"matrix": pose.tolist()}, "joint": joint}

    def _ends(self) -> Iterator[tuple[str, FixedPoint]]:
        for cut in self._cuts:
            for pair in cut.pairs:
                yield from ((pair.port, side) for side in pair.sides if side.link in self._links)

    def _points(self) -> Tables:
        own = {n: p for n, p in self._tables.get("points", {}).items() if self._has(self._owners.of(p))}
        return own | {port: {"link": end.link, "position": list(end.position)} for port, end in self._ends()}

    def _pins(self) -> Iterator[Tables]:
        for port, end in self._ends():
            yield {"name": f"{port}_f", "link": end.link, "point": list(end.position), "input": True}

    def _settings(self) -> Tables:
        whole = self._tables
        constraints = {
            k: v for k, v in whole.get("constraints", {}).items() if k not in ("dependent", "redundant")
        }
        if whole.get("constraints", {}).get("redundant") == "minimum_norm":
            constraints["redundant"] = "minimum_norm"
        if isinstance(constraints.get("actuated"), list):
            cut = {c.name for c in self._cuts if c.kind == "joint"}
            own = self._links - cut
            constraints["actuated"] = [n for n in constraints["actuated"] if n.partition(".")[0] in own]
        simulation = {k: v for k, v in whole.get("simulation", {}).items() if k != "starts_violated"}
        settings = {"constraints": constraints, "simulation": simulation | {"start": "description"}}
        return {k: v for k, v in (settings | {"outputs": self._outputs()}).items() if v}

    def _outputs(self) -> Tables:
        whole = self._tables.get("outputs", {})
        cut = {c.name for c in self._cuts if c.kind == "joint"}
        found: Tables = {"energy": True} if whole.get("energy") else {}
        for key in _OUTPUTS:
            chosen = whole.get(key, [])
            if key == "points":
                known = [n for n, p in self._tables.get("points", {}).items() if self._has(self._owners.of(p))]
            else:
                known = sorted(self._links - cut - ({"base"} if key == "loads" else set()))
            names = known if chosen == "all" else [name for name in chosen if name in known]
            found |= {key: names} if names else {}
        shown = {n: e for n, e in whole.get("expressions", {}).items() if self._shows(n, self._owners.of(e))}
        return found | ({"expressions": shown} if shown else {})

    def _shows(self, name: str, links: frozenset[str]) -> bool:
        """Return whether this part contains an output.

        If an output depends on links of several parts, no part contains this output. A note about the
        output is then added to the notes of the part.
        """
        if self._has(links) and not links <= self._links:
            self._notes.append(f"output {name} is omitted, because it depends on links of several parts")
            return False
        return self._has(links)

    def _parameters(self) -> Iterator[tuple[str, float]]:
        """Yield names and values of the start parameters for the base and for the deflections of beams.

        These start values are parameters of the FMU, because a description cannot contain them.
        """
        for coordinate in self._model.mechanism.coordinates:
            if coordinate.role != "joint" and coordinate.owner in self._links:
                for quantity, value in zip(("position", "velocity"), self._start[coordinate.name], strict=True):
                    yield f"{coordinate.signal(quantity).name}_start", value


def _used(tables: Tables, source: str) -> Tables:
    """Return the tables of a description without unused parameters and unused lookup tables."""
    found = dict(tables)
    while True:
        idle = unused(from_data(found, source=source))
        if not any(idle.values()):
            return found
        for key, names in idle.items():
            found[key] = {name: value for name, value in found.get(key, {}).items() if name not in names}
