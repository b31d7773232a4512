"""Joints, loop closures and ropes at which a mechanism can be cut.

Pairs of points replace them; opposite forces act on the two points of a pair. A spherical joint or
a rope has one pair of points. A revolute joint has two pairs on its axis, and a fixed joint has
three. With more than one pair, some force components are redundant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ..analysis import poses
from ..analysis.system import System
from ..core.errors import DescriptionError, Problem
from ..core.trajectory import Array
from ..description.fields.elements import Element
from ..description.fields.numbers import values_of
from ..description.tables.closure import Closure
from ..description.tables.frame import Frame
from ..description.tables.line import OWN_NAMES, Followed, Line
from ..description.tables.link import Link
from ..description.tables.task import Force, Motion
from ..language import expressions
from ..language.suggest import unknown

_Z = np.array([0.0, 0.0, 1.0])
# Points that replace a cut joint have this distance from the joint's origin, relative to the mechanism's size.
_SPAN = 0.1
# A cut joint is replaced by points in these directions from the joint's origin; z is the joint axis.
_TRIANGLE = tuple(np.array([0.0, np.cos(angle), np.sin(angle)]) for angle in 2.0 * np.pi / 3.0 * np.arange(3))
_DIRECTIONS = {"spherical": (np.zeros(3),), "revolute": (-_Z, _Z), "fixed": _TRIANGLE}
# A joint with a spring, damper, friction, end stops or armature cannot be cut.
_ACTING = ("stiffness", "damping", "friction", "stops", "armature")


@dataclass(frozen=True)
class FixedPoint:
    """A point fixed to a link.

    Parameters
    ----------
    link : name of the link
    position : coordinates in the frame of the link, m; for a flexible link, in the undeformed state
    """

    link: str
    position: tuple[float, ...]


@dataclass(frozen=True)
class PointPair:
    """Two points on which opposite forces act: coincident points of a cut joint, or the ends of a rope.

    Parameters
    ----------
    port : prefix of the names of the variables at these points, equal in both FMUs
    sides : the two points
    """

    port: str
    sides: tuple[FixedPoint, FixedPoint]


@dataclass(frozen=True)
class Cut:
    """A joint, loop closure or rope at which a mechanism is cut.

    Pairs of opposite forces between coincident points, or between the ends of the rope, replace it.

    Parameters
    ----------
    name : name of the link that the joint moves, of the closure, or of the rope
    kind : `joint`, `closure` or `rope`
    pairs : pairs of points on which opposite forces act
    axis : axis of the joint in the frame of its link, shape (3,)
    line : description of the rope; None for a joint or closure
    """

    name: str
    kind: Literal["joint", "closure", "rope"]
    pairs: tuple[PointPair, ...]
    axis: Array = field(default_factory=_Z.copy)
    line: Line | None = None

    @property
    def links(self) -> tuple[str, str]:
        """Names of the two links that the cut separates."""
        first, second = self.pairs[0].sides
        return first.link, second.link


def cuts_at(model: System, names: Sequence[str], source: str) -> list[Cut]:
    """Return the cuts of a mechanism at the joints, loop closures and force elements with given names.

    The name of a joint is the name of the link that the joint moves.

    Raises
    ------
    DescriptionError : if a name is unknown, or if a joint, closure or force element cannot be cut
    """
    chain = model.chain
    known: dict[str, Link | Closure | Line] = {
        **{link.name: link for link in chain.links},
        **{closure.name: closure for closure in chain.closures},
        **{line.name: line for line in chain.lines},
    }
    taken = {*chain.points, *known, *(force.name.removesuffix("_f") for force in chain.forces)}
    span = float(f"{_SPAN * model.solvability.extent:.1g}")
    found, problems = [], []
    for name in dict.fromkeys(names):
        place = known.get(name)
        wrong = [unknown("joint, closure or rope", name, known)] if place is None else [*_refused(place, model)]
        problems += [Problem(f"cut at {name}", text) for text in wrong]
        if place is not None and not wrong:
            found.append(_cut(place, span, taken))
            problems += [Problem(f"cut at {name}", text) for text in _bent(found[-1], model)]
    if problems:
        raise DescriptionError(source, problems)
    return found


def _bent(cut: Cut, model: System) -> Iterator[str]:
    """Yield a message for each flexible beam whose bending would move points of a cut joint.

    The points of a joint must keep their distances. The axis of a beam is its x axis, so bending
    changes the distance between points with different x.
    """
    beams = {link.name: link.beam for link in model.chain.links if link.beam is not None}
    for link, points in zip(cut.links, zip(*(pair.sides for pair in cut.pairs), strict=True), strict=True):
        beam = beams.get(link)
        if beam is not None and beam.flexible and np.ptp([point.position[0] for point in points]) > 1e-9:
            yield f"its points would lie in several elements of the beam {link}; cut at a joint across the beam"


def frame_of(model: System, link: str, q: Array) -> Array:
    """Return the frame of a link at its joint as a homogeneous matrix in world axes, shape (4, 4), m.

    The argument q contains all coordinates of the mechanism.
    """
    body = next(k for k, body in enumerate(model.mechanism.bodies) if body.link == link)
    return np.asarray(poses(model.mechanism, q)[body])


def _cut(place: Link | Closure | Line, span: float, taken: set[str]) -> Cut:
    if isinstance(place, Line):
        first, second = (FixedPoint(end.link, values_of(end.point)) for end in (place.a, place.b))
        return Cut(place.name, "rope", (PointPair(free(f"{place.name}_end", taken), (first, second)),), line=place)
    if isinstance(place, Closure):
        sides = [_Side(frame.link, frame.offset, frame.rotation) for frame in (place.a, place.b)]
        return Cut(place.name, "closure", _pairs(place.name, place.type, span, sides, taken))
    axis = np.array(place.joint.axis or _Z)
    turn, frame = turning(axis), place.frame or Frame()
    sides = [_Side(place.parent, frame.offset, frame.rotation @ turn), _Side(place.name, np.zeros(3), turn)]
    return Cut(place.name, "joint", _pairs(place.name, place.joint.type, span, sides, taken), axis)


@dataclass(frozen=True)
class _Side:
    """Frame of a cut joint, relative to one of the two links that the joint connects.

    The z axis is the axis of the joint.

    Parameters
    ----------
    link : name of the link
    offset : origin in the frame of the link, shape (3,), m
    rotation : rotation matrix from the joint's frame to the link's frame, shape (3, 3)
    """

    link: str
    offset: Array
    rotation: Array


def _pairs(name: str, kind: str, span: float, sides: Sequence[_Side], taken: set[str]) -> tuple[PointPair, ...]:
    directions = _DIRECTIONS[kind]
    found = []
    for number, direction in enumerate(directions, start=1):
        port = free(f"{name}_pin{number if len(directions) > 1 else ''}", taken)
        first, second = (
            FixedPoint(side.link, tuple((side.offset + side.rotation @ (span * direction)).tolist()))
            for side in sides
        )
        found.append(PointPair(port, (first, second)))
    return tuple(found)


def turning(axis: Array) -> Array:
    """Return a rotation matrix, shape (3, 3), that turns the z axis into the given unit vector."""
    if np.array_equal(axis, _Z):
        return np.eye(3)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(axis)))], axis)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


def free(name: str, taken: set[str]) -> str:
    """Return a name that the set `taken` of used names does not contain, and add the name to this set."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _refused(place: Link | Closure | Line, model: System) -> Iterator[str]:
    """Yield the reasons why a mechanism cannot be cut at a joint, closure or two-point force element.

    A cut removes the joint, closure or force element; opposite forces on pairs of points replace
    it.
    """
    if isinstance(place, Line):
        links: tuple[str, ...] = (place.a.link, place.b.link)
        yield from _rope(place, {*model.chain.parameters})
    elif isinstance(place, Closure):
        links = (place.a.link, place.b.link)
        if place.model != "constraint":
            yield 'is a spring_damper; expected a closure with model = "constraint"'
        yield from _kind(place.type)
    else:
        links = (place.parent, place.name)
        yield from _kind(place.joint.type)
        acting = [key for key in _ACTING if _acts(getattr(place.joint, key, None))]
        if acting:
            yield f"its joint has {', '.join(acting)}, which points cannot transmit; cut at another joint"
        elements = [element for _, element in model.chain.elements]
        drives: list[Force | Motion | Element] = [*model.chain.forces, *model.chain.motions, *elements]
        driven = [drive.name for drive in drives if _on(getattr(drive, "joint", None), place.name)]
        if driven:
            yield f"its joint is driven by {', '.join(driven)}; cut the mechanism at a joint without a drive"
    if "ground" in links:
        yield "one of its sides is the ground, which does not move; cut between two links"


def _acts(value: object) -> bool:
    """Return whether the value of a joint's key, such as `stiffness`, is nonzero and thus causes a force."""
    return any(value) if isinstance(value, list | tuple) else bool(value)


def _rope(line: Line, parameters: set[str]) -> Iterator[str]:
    """Yield the reasons why a mechanism cannot be cut at a two-point force element.

    A cut is possible if the force depends only on time, parameters, and the length of the element
    and its time derivative. The positions and velocities of the two ends then determine the force.
    """
    if line.input or isinstance(line.rest, Followed):
        yield "its force or length is an input; expected a rope with spring and damper, or with an expression"
        return
    force, rest = ({*expressions.names(expressions.parse(text or 0.0))} for text in (line.force, line.rest))
    foreign = sorted((force - {"t", *OWN_NAMES} | rest) - {"pi"} - parameters)
    if foreign:
        yield f"its force or length depends on {', '.join(foreign)}; expected its own length, rate and parameters"


def _kind(kind: str) -> Iterator[str]:
    if kind not in _DIRECTIONS:
        yield f"expected a {', '.join(_DIRECTIONS)} joint, which pairs of points replace, found a {kind} one"


def _on(joint: str | None, link: str) -> bool:
    return joint is not None and joint.partition(".")[0] == link
