"""Rigid bodies and generalised coordinates of a mechanism, from its description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from ...core.trajectory import Array
from .beams import Beam, beam
from .frames import frame
from .inertia import Inertia, inertia
from .joints import Freedom, freedoms, per_freedom

GROUND = -1
Table = Mapping[str, Any]


@dataclass(frozen=True)
class Coordinate:
    """Generalised coordinate of a mechanism with its spring, damper and rotor.

    Parameters
    ----------
    link, key : str
        Names of the link and of its coordinate, such as `boom` and `r1_psi`.
    role : str
        `base`, `joint` or `elastic`.
    freedom : Freedom
        Elementary motion of the coordinate.
    start, start_rate : float
        Initial value, rad or m, and initial rate, rad/s or m/s, in the description.
    stiffness, rest, damping, armature : float
        Spring stiffness, coordinate value of the unloaded spring, damping and rotor inertia, in SI
        units; 0 if absent.
    joint : mapping or None
        Description table of the joint, with stops and friction; None for base and elastic coordinates.
    """

    link: str
    key: str
    role: str
    freedom: Freedom
    start: float = 0.0
    start_rate: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0
    armature: float = 0.0
    joint: Table | None = None

    @property
    def name(self) -> str:
        """Name of the coordinate in descriptions, such as `boom.r1_psi`."""
        return f"{self.link}.{self.key}"

    @property
    def signal(self) -> str:
        """Name of the coordinate in simulation results, such as `boom_r1_psi`."""
        return f"{self.link}_{self.key}"


@dataclass(frozen=True)
class Body:
    """Rigid body, or rigid finite element of a beam.

    Parameters
    ----------
    link : str
        Name of the link that contains the body.
    parent : int
        Index of the parent body, or GROUND.
    rotation, origin : Rotation and ndarray, shape (3,)
        Orientation and origin, m, of the joint frame in the parent body's frame.
    coordinates : tuple of int
        Indices of the coordinates of the body's joint.
    inertia : Inertia
        Mass, centre of mass and moments of inertia.
    """

    link: str
    parent: int
    rotation: Rotation
    origin: Array
    coordinates: tuple[int, ...]
    inertia: Inertia


@dataclass(frozen=True)
class Place:
    """Body-fixed point.

    `body` is the index of the body. `position` is the position in the body frame, m, shape (3,).
    """

    body: int
    position: Array


class Machine:
    """Bodies and generalised coordinates of a mechanism; each body is listed after its parent.

    Parameters
    ----------
    data : mapping
        Description as nested dictionaries.
    """

    def __init__(self, data: Table) -> None:
        self.data = data
        self.bodies: list[Body] = []
        self.coordinates: list[Coordinate] = []
        self._first: dict[str, int] = {"ground": GROUND}
        self._beams: dict[str, Beam] = {}
        if data["base"] is not None:
            self._add_base(data["base"])
        for link in _parents_first(data["links"], bool(data["base"])):
            self._add_link(link)

    @property
    def n(self) -> int:
        return len(self.coordinates)

    @property
    def base_held(self) -> bool:
        """Whether constraint equations keep the base's coordinates at zero."""
        return self.data["base"] is not None and self.data["base"]["support"] == "rigid"

    @property
    def links(self) -> list[str]:
        """Names of all links except the base, in the order of their bodies."""
        return [link for link in dict.fromkeys(body.link for body in self.bodies) if link != "base"]

    def first_body(self, link: str) -> int:
        """Return the index of the body that the joint of the link moves.

        For a flexible link, this body is the first beam element.
        """
        return self._first[link]

    def place(self, link: str, position: ArrayLike) -> Place:
        """Return a body-fixed point from its position on the undeformed link.

        On a flexible link, the point is fixed to the beam element that contains the position.

        Parameters
        ----------
        link : str
            Name of the link.
        position : array_like, shape (3,)
            Position in the frame of the undeformed link, m.
        """
        at, body = np.array(position, dtype=float), self._first[link]
        if link not in self._beams:
            return Place(body, at)
        r = self._beams[link].element_at(at[0])
        return Place(body + r, at - [self._beams[link].elements[r].start, 0.0, 0.0])

    def coordinate(self, name: str) -> int:
        """Return the index of a joint coordinate by its name, such as `column` or `wrist.psi`."""
        link, _, key = name.partition(".")
        return next(
            k
            for k, c in enumerate(self.coordinates)
            if c.link == link and c.role == "joint" and key in ("", c.key)
        )

    def carried_by(self, body: int) -> list[int]:
        """Return the indices of a body and all its descendants."""
        found = {body}
        for b, other in enumerate(self.bodies):
            if other.parent in found:
                found.add(b)
        return sorted(found)

    def _add_base(self, table: Table) -> None:
        self._first["base"] = 0
        own = self._add_coordinates([Coordinate("base", f.name, "base", f) for f in freedoms("free")])
        self.bodies.append(Body("base", GROUND, Rotation.identity(), np.zeros(3), own, inertia(table)))

    def _add_link(self, table: Table) -> None:
        name, own = table["name"], frame(table["frame"])
        at, rotation = self.place(table["parent"], own.origin), own.rotation
        coordinates = self._add_coordinates(_joint_coordinates(name, table["joint"]))
        self._first[name] = len(self.bodies)
        if table["beam"] is None:
            self.bodies.append(Body(name, at.body, rotation, at.position, coordinates, inertia(table)))
            return
        parts = self._beams[name] = beam(table["beam"])
        for r, element in enumerate(parts.elements):
            if r > 0:
                before = parts.elements[r - 1]
                at, rotation = (
                    Place(len(self.bodies) - 1, np.array([before.length, 0.0, 0.0])),
                    Rotation.identity(),
                )
                coordinates = self._add_coordinates(_elastic_coordinates(name, r, parts))
            self.bodies.append(Body(name, at.body, rotation, at.position, coordinates, element.inertia))

    def _add_coordinates(self, found: Sequence[Coordinate]) -> tuple[int, ...]:
        first = len(self.coordinates)
        self.coordinates += found
        return tuple(range(first, len(self.coordinates)))


def _parents_first(links: Sequence[Table], has_base: bool) -> list[Table]:
    """Return the links in the order of their coordinates, each after its parent.

    The next link is always the first one in the description whose parent is already in the list.
    """
    known, waiting, order = {"ground"} | ({"base"} if has_base else set()), list(links), list[Table]()
    while waiting:
        link = next(link for link in waiting if link["parent"] in known)
        waiting.remove(link)
        known.add(link["name"])
        order.append(link)
    return order


def _joint_coordinates(link: str, joint: Table) -> list[Coordinate]:
    own = freedoms(joint["type"], joint["axis"])
    position, velocity, stiffness, rest, damping = (
        per_freedom(joint[key], len(own)) for key in ("position", "velocity", "stiffness", "rest", "damping")
    )
    return [
        Coordinate(
            link,
            freedom.name,
            "joint",
            freedom,
            start=position[i],
            start_rate=velocity[i],
            stiffness=stiffness[i],
            rest=rest[i],
            damping=damping[i],
            armature=float(joint["armature"]),
            joint=joint,
        )
        for i, freedom in enumerate(own)
    ]


def _elastic_coordinates(link: str, r: int, parts: Beam) -> list[Coordinate]:
    springs = zip(freedoms("spherical"), parts.stiffness, parts.damping, strict=True)
    return [Coordinate(link, f"r{r}_{f.name}", "elastic", f, stiffness=k, damping=d) for f, k, d in springs]
