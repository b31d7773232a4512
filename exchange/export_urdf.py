"""Conversion of a description's tree of bodies to URDF, with a list of omissions.

A beam becomes a chain of rigid finite elements. A `free` or `planar` joint becomes a single URDF
joint. Any other joint with several coordinates becomes a chain of URDF joints with auxiliary
frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from lxml import etree

from .. import mechanism
from ..description import Description
from ..description.elements import ELEMENTS
from ..description.fields.numbers import value_of, values_of
from ..description.tables.frame import angles_of
from ..description.tables.link import Joint
from ..mechanism import GROUND, Body, Coordinate, Mechanism

# URDF requires limits of the position, effort and velocity of many joints; the value 1e9 means no limit.
_UNLIMITED = {"lower": -1e9, "upper": 1e9, "effort": 1e9, "velocity": 1e9}
_WHOLE = {"free": "floating", "planar": "planar"}
_Z = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Exported:
    """Result of an export to URDF (Unified Robot Description Format).

    Parameters
    ----------
    text
        Contents of the URDF file.
    notes
        Sentences about elements of the description that URDF cannot represent.

    Examples
    --------
    >>> import gpmelica as gp
    >>> robot = gp.to_urdf(gp.load("examples/four_bar_3d.toml"))
    >>> len(robot.notes) > 0
    True
    """

    text: str
    notes: tuple[str, ...]


def exported(chain: Description) -> Exported:
    """Return the bodies and joints of a description as URDF."""
    numbers = mechanism.build(chain)
    return Exported(_Writer(numbers).text(), tuple(_left_out(numbers)))


class _Writer:
    def __init__(self, numbers: Mechanism) -> None:
        self.numbers = numbers
        self.kinds = {link.name: link.joint.type for link in numbers.chain.links} | {"base": "free"}
        self.rpy = {link.name: link.frame.rpy for link in numbers.chain.links if link.frame.matrix is None}
        self.joints = {link.name: link.joint for link in numbers.chain.links}
        self.aliases = _aliases(numbers)
        self.taken: set[str] = set()  # These joint names are already in use in the URDF file.
        self.robot = etree.Element("robot", name=numbers.name)

    def text(self) -> str:
        if self.root_body() is None:
            etree.SubElement(self.robot, "link", name="ground")
        for body in self.numbers.bodies:
            self.body(body)
        etree.indent(self.robot, "  ")
        return str(etree.tostring(self.robot, encoding="unicode")) + "\n"

    def root_body(self) -> Body | None:
        """Return the body that becomes the root link in URDF; None if the ground becomes the root link.

        A body becomes the root link under three conditions. It is the only body on the ground, its
        frame is the world frame, and a fixed joint without a name connects it to the ground.
        """
        roots = [body for body in self.numbers.bodies if body.parent == GROUND]
        if any(self.joints[body.link].name for body in roots if body.link in self.joints):
            return None
        at_ground = all(not body.coordinates and _is_identity(body) for body in roots)
        return roots[0] if len(roots) == 1 and at_ground else None

    def body(self, body: Body) -> None:
        numbers = self.numbers
        parent = "ground" if body.parent == GROUND else self.aliases[numbers.bodies[body.parent].name]
        steps = list(self.steps(body))
        for k, (kind, coordinate) in enumerate(steps):
            last = k == len(steps) - 1
            child = self.aliases[body.name] if last or coordinate is None else self.frame(coordinate)
            frame = (body.offset, self.angles(body)) if k == 0 else (np.zeros(3), (0.0, 0.0, 0.0))
            if body is not self.root_body():
                name = self.joint_name(body, child, coordinate, alone=len(steps) == 1)
                self.joint((name, parent, child), kind, frame, coordinate)
            link = etree.SubElement(self.robot, "link", name=child)
            if last:
                _inertial(link, body)
            parent = child

    def frame(self, coordinate: Coordinate) -> str:
        """Return an unused name for the auxiliary frame between two coordinates of a joint."""
        name, taken = f"{coordinate.symbol}_frame", {*self.aliases.values()}
        while name in taken:
            name += "_"
        return name

    def steps(self, body: Body) -> Iterator[tuple[str, Coordinate | None]]:
        """Yield type and coordinate of each URDF joint between a body and its parent body.

        A joint with several coordinates requires several URDF joints. The coordinate is None for
        fixed, floating and planar joints.
        """
        coordinates = [self.numbers.coordinates[k] for k in body.coordinates]
        held = body.name == "base" and self.numbers.base_fixed
        whole = _WHOLE.get(self.kinds[body.link]) if coordinates and coordinates[0].role != "elastic" else None
        if not coordinates or held:
            yield "fixed", None
        elif whole:
            yield whole, None
        else:
            for c in coordinates:
                yield "continuous" if c.motion.kind == "rotation" else "prismatic", c

    def angles(self, body: Body) -> Iterable[float]:
        """Return roll, pitch and yaw of a body's frame, rad.

        If the description contains these angles, they are returned unchanged.
        """
        first = next(b for b in self.numbers.bodies if b.link == body.link)
        given = self.rpy.get(body.link) if first is body else None
        return values_of(given) if given else angles_of(body.rotation)

    def joint_name(self, body: Body, child: str, coordinate: Coordinate | None, *, alone: bool) -> str:
        """Return an unused name for a URDF joint.

        If a joint of the description becomes a single URDF joint, both have the same name.
        """
        described = self.joints.get(body.link)
        own = described is not None and alone and (coordinate is None or coordinate.role == "joint")
        name = described.name if own and described is not None else ""
        name = name or (f"{child}_joint" if coordinate is None else coordinate.symbol)
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def joint(self, names: tuple[str, str, str], kind: str, frame: Any, coordinate: Coordinate | None) -> None:
        """Write a joint to the URDF file.

        The argument `names` contains the names of the joint, the parent link and the child link.
        """
        name, parent, child = names
        limits = _limits(self.joints.get(coordinate.owner) if coordinate and coordinate.role == "joint" else None)
        if kind == "continuous" and {"lower", "upper"} <= limits.keys():
            kind = "revolute"
        joint = etree.SubElement(self.robot, "joint", name=name, type=kind)
        etree.SubElement(joint, "parent", link=parent)
        etree.SubElement(joint, "child", link=child)
        etree.SubElement(joint, "origin", xyz=_text(frame[0]), rpy=_text(frame[1]))
        if kind == "planar":
            etree.SubElement(joint, "axis", xyz=_text(_Z))
        if coordinate is None:
            return
        etree.SubElement(joint, "axis", xyz=_text(coordinate.axis))
        if kind == "prismatic" or limits:
            keys = _UNLIMITED if kind == "prismatic" else ("effort", "velocity")
            given = {key: _UNLIMITED[key] for key in keys} | limits
            etree.SubElement(joint, "limit", {key: _text([value]) for key, value in given.items()})
        friction = None if coordinate.coulomb is None else coordinate.coulomb.effort
        losses = {"damping": coordinate.damping, "friction": friction}
        if any(losses.values()):
            etree.SubElement(joint, "dynamics", {key: _text([value]) for key, value in losses.items() if value})


def _aliases(numbers: Mechanism) -> dict[str, str]:
    """Return a unique URDF name for each body.

    The name is the alias of the link in the description, or the name of the body if there is no
    alias.
    """
    given = {link.name: link.alias for link in numbers.chain.links if link.alias}
    found, own = dict[str, str](), {body.name for body in numbers.bodies} - given.keys()
    for body in numbers.bodies:
        alias = given.get(body.name, body.name)
        found[body.name] = body.name if alias in {*found.values(), *(own - {body.name}), "ground"} else alias
    return found


def _limits(joint: Joint | None) -> dict[str, float]:
    """Return the limits of a joint by the names of their URDF attributes."""
    given = None if joint is None else joint.limits
    keys = ("lower", "upper", "effort", "velocity")
    return {} if given is None else {k: value_of(v) for k in keys if (v := getattr(given, k)) is not None}


def _inertial(link: etree._Element, body: Body) -> None:
    if not body.mass and not np.any(body.inertia):
        return
    part = etree.SubElement(link, "inertial")
    etree.SubElement(part, "origin", xyz=_text(body.com), rpy="0.0 0.0 0.0")
    etree.SubElement(part, "mass", value=_text([body.mass]))
    places = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    etree.SubElement(part, "inertia", {key: _text([body.inertia[i]]) for key, i in places.items()})


def _is_identity(body: Body) -> bool:
    return not np.any(body.offset) and bool((body.rotation == np.eye(3)).all())


def _text(numbers: Iterable[float]) -> str:
    return " ".join(repr(float(x)) for x in numbers)


def _left_out(numbers: Mechanism) -> Iterator[str]:
    """Yield a sentence for each kind of entry in the description that URDF cannot represent."""
    chain, coordinates = numbers.chain, numbers.coordinates
    whole = {link.name for link in chain.links if link.joint.type in _WHOLE}
    counted = {
        "supports of the base": numbers.supports,
        "points": chain.points,
        "shapes of links": [x for x in (chain.base, *chain.links) if x is not None and x.shape is not None],
        "closures": chain.closures,
        "programmed constraints": chain.programmed,
        "motions": chain.motions,
        "knife edges": chain.nonholonomic,
        "applied forces": chain.forces,
        "parameters": chain.parameters,
        "joint springs": [c for c in coordinates if c.role == "joint" and c.stiffness],
        "springs between beam elements": [c for c in coordinates if c.role == "elastic"],
        "lines": chain.lines,
        "contacts": chain.contacts,
        **{key: getattr(chain, key) for key in ELEMENTS},
        "joints with friction that depends on their loads": [c for c in coordinates if c.friction is not None],
        "velocities v_s at which joint friction is fully developed": [
            c for c in coordinates if c.coulomb is not None
        ],
        "stiffnesses of joint stops": [c for c in coordinates if c.limits is not None],
        "joints with an armature": [c for c in coordinates if c.armature],
        "initial positions and velocities other than 0": [c for c in coordinates if c.position or c.velocity],
        "damping of free and planar joints": [
            c for c in coordinates if c.damping and c.role == "joint" and c.owner in whole
        ],
    }
    yield from (f"omitted: {len(things)} {what}" for what, things in counted.items() if things)
    if values_of(chain.gravity) != (0.0, 0.0, -9.81):
        yield f"omitted: gravity {list(values_of(chain.gravity))} m/s²"
