"""Reader of the links and joints in URDF files (wiki.ros.org/urdf/XML).

The reader reports errors and ignored elements.
Lengths are in m, angles in rad and masses in kg. Roll, pitch and yaw represent the rotation matrix
Rz(yaw)·Ry(pitch)·Rx(roll).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar, get_args

from lxml import etree

from ..core.errors import DescriptionError, Problem
from .visuals import Table, Visuals
from .xml_file import read_xml

JointType = Literal["revolute", "continuous", "prismatic", "fixed", "floating", "planar"]
Vector = tuple[float, float, float]
ZERO: Vector = (0.0, 0.0, 0.0)
WITH_AXIS = ("revolute", "continuous", "prismatic", "planar")
WITH_ONE_COORDINATE = WITH_AXIS[:3]
_LIMITS = ("lower", "upper", "effort", "velocity")
_KEPT = {
    "safety_controller": ("soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity"),
    "calibration": ("rising", "falling", "reference_position"),
}
_MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
# The URDF reader uses these attributes of each XML element and ignores all other attributes.
_READ: dict[str, tuple[str, ...]] = {
    "link": ("name",),
    "inertial": (),
    "mass": ("value",),
    "inertia": _MOMENTS,
    "origin": ("xyz", "rpy"),
    "joint": ("name", "type"),
    "parent": ("link",),
    "child": ("link",),
    "axis": ("xyz",),
    "dynamics": ("damping", "friction"),
    "limit": _LIMITS,
    "mimic": ("joint", "multiplier", "offset"),
} | _KEPT
_LARGEST = 1e30  # A number in a URDF file is rejected if its magnitude exceeds this value.
_LONGEST_NAME = 200
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class UrdfOrigin:
    """Pose of a frame relative to another frame: position xyz, m, and angles roll, pitch and yaw, rad."""

    xyz: Vector = ZERO
    rpy: Vector = ZERO


@dataclass(frozen=True)
class UrdfInertial:
    """Mass and inertia of a link.

    Attributes
    ----------
    mass : float
        Mass, kg.
    origin : UrdfOrigin
        Frame at the centre of mass, relative to the link's frame.
    moments : tuple of float
        Moments of inertia xx, yy, zz, xy, xz and yz in the frame `origin`, kg·m².
    """

    mass: float
    origin: UrdfOrigin
    moments: tuple[float, ...]


@dataclass(frozen=True)
class UrdfLink:
    """Link of a URDF file; a link without inertia is a frame.

    The field `shape` is a table in the form of the key `shape` of a description.
    """

    name: str
    inertial: UrdfInertial | None
    shape: Table | None = None


@dataclass(frozen=True)
class Mimic:
    """Coupling to another joint: coordinate = multiplier · (coordinate of the other joint) + offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class UrdfJoint:
    """Joint between two links; the frame of the child link is also the frame of the joint.

    Attributes
    ----------
    name, type : str
        Name and URDF type of the joint.
    parent, child : str
        Names of the links.
    origin : UrdfOrigin
        Frame of the joint in the parent link's frame.
    axis : tuple of float
        Unit vector in the joint's frame.
    damping : float
        Viscous damping, N·m·s/rad or N·s/m.
    friction : float
        Coulomb friction, N·m or N.
    mimic : Mimic or None
        Coupling to another joint, which this joint mimics; None without a coupling.
    limits : dict
        Attributes `lower`, `upper`, `effort` and `velocity` of the element <limit>.
    kept : dict
        Attributes that a description cannot represent, such as `soft_lower_limit`.
    """

    name: str
    type: JointType
    parent: str
    child: str
    origin: UrdfOrigin
    axis: Vector
    damping: float
    friction: float
    mimic: Mimic | None
    limits: dict[str, float]
    kept: dict[str, float]


@dataclass(frozen=True)
class Robot:
    """Tree of links in a URDF file.

    Attributes
    ----------
    name : str
        Name of the robot.
    root : UrdfLink
        Link without a parent.
    links : dict
        Links by name.
    joints : tuple of UrdfJoint
        Joints in the order of the file.
    not_carried : tuple of str
        Phrases that describe the ignored elements and attributes of the file.
    """

    name: str
    root: UrdfLink
    links: dict[str, UrdfLink]
    joints: tuple[UrdfJoint, ...]
    not_carried: tuple[str, ...]


def read_urdf(path: Path) -> Robot:
    """Return the robot in a URDF file.

    Raises
    ------
    DescriptionError
        If the file is invalid; the error lists all problems by line.
    """
    return _Reader(path, _without_namespace(read_xml(path))).robot()


Part = TypeVar("Part", UrdfLink, UrdfJoint)


class _Reader:
    """Reader of a URDF file that collects all errors before it fails.

    Default values replace invalid values, so that reading can continue.
    """

    def __init__(self, path: Path, root: etree._Element) -> None:
        self.path, self.root = path, root
        self.problems: list[Problem] = []
        self.others: Counter[str] = Counter()
        self.visuals = Visuals(path, root)

    def robot(self) -> Robot:
        if self.root.tag != "robot":
            self.problem(
                self.root, f"expected <robot>, got <{etree.QName(self.root).localname}>{_known_format(self.root)}"
            )
            self.fail()
        macro = next((x for x in self.root.iter(etree.Element) if "xacro" in str(x.tag)), None)
        if macro is not None:
            self.problem(macro, "is an xacro macro; expand the macros first: xacro robot.urdf.xacro > robot.urdf")
            self.fail()
        name = self.text(self.root, "name")
        links = self.named(self.root.iterchildren("link"), self.link)
        joints = self.named(self.root.iterchildren("joint"), self.joint)
        transmissions = [self.transmission(x) for x in self.root.iterchildren("transmission")]
        self.rest(self.root, "link", "joint", "transmission", "material")
        if not links:
            self.problem(self.root, "has no links; expected at least one")
        self.tree(links, joints)
        self.mimics(joints)
        self.fail()
        root = next(iter({*links} - {joint.child for joint in joints.values()}))
        besides = (*transmissions, *map(_counted, sorted((self.others + self.visuals.left).items())))
        return Robot(name, links[root], links, tuple(joints.values()), besides)

    def link(self, element: etree._Element) -> UrdfLink:
        name, inertial = self.text(element, "name"), element.find("inertial")
        self.rest(element, "inertial", "visual", place="link")
        return UrdfLink(name, None if inertial is None else self.inertial(inertial), self.visuals.shape(element))

    def inertial(self, element: etree._Element) -> UrdfInertial:
        mass, inertia = self.only(element, "mass"), self.only(element, "inertia")
        value = 0.0 if mass is None else self.number(mass, "value")
        moments = () if inertia is None else tuple(self.number(inertia, key) for key in _MOMENTS)
        if value < 0 and mass is not None:
            self.problem(mass, f"expected a mass of at least 0 kg, got {value:g}")
        self.rest(element, "mass", "inertia", "origin", place="inertial")
        return UrdfInertial(value, self.origin(element), moments)

    def joint(self, element: etree._Element) -> UrdfJoint:
        name, kind = self.text(element, "name"), self.text(element, "type")
        if kind and kind not in get_args(JointType):
            self.problem(element, f"expected a type among {', '.join(get_args(JointType))}, got {kind!r}")
        ends = [self.only(element, key) for key in ("parent", "child")]
        parent, child = ("" if end is None else self.text(end, "link") for end in ends)
        axis = self.axis(element) if kind in WITH_AXIS else (1.0, 0.0, 0.0)
        limits, kept = self.limits(element), dict(self.kept(element))
        damping, friction = (self.dissipation(element, key) for key in ("damping", "friction"))
        mimic = element.find("mimic")
        if mimic is not None and kind == "fixed":
            # A fixed joint has no coordinate, so its <mimic> element has no effect.
            self.others["<mimic> of fixed joint"] += 1
        follows = None if mimic is None or kind == "fixed" else self.mimic(mimic)
        known = (
            "parent",
            "child",
            "origin",
            "axis",
            "limit",
            "dynamics",
            "mimic",
            "safety_controller",
            "calibration",
        )
        self.rest(element, *known, place="joint")
        origin = self.origin(element)
        return UrdfJoint(name, kind, parent, child, origin, axis, damping, friction, follows, limits, kept)  # type: ignore[arg-type]

    def dissipation(self, joint: etree._Element, key: str) -> float:
        """Return the attribute `damping` or `friction` of a joint; 0 if the attribute is missing."""
        dynamics = joint.find("dynamics")
        value = 0.0 if dynamics is None else self.number(dynamics, key, 0.0)
        if dynamics is not None and value < 0:
            self.problem(dynamics, f"expected a {key} of at least 0, got {value:g}")
        return value

    def mimic(self, element: etree._Element) -> Mimic:
        factors = self.number(element, "multiplier", 1.0), self.number(element, "offset", 0.0)
        return Mimic(self.text(element, "joint"), *factors)

    def limits(self, joint: etree._Element) -> dict[str, float]:
        """Return the limits of a joint by attribute name.

        If the limit of effort or velocity is negative, an error is recorded.
        """
        limit = joint.find("limit")
        found = {} if limit is None else {key: self.number(limit, key) for key in _LIMITS if key in limit.attrib}
        for key in {"effort", "velocity"} & found.keys():
            if found[key] < 0 and limit is not None:
                self.problem(limit, f"expected a {key} of at least 0, got {found[key]:g}")
        return found

    def kept(self, element: etree._Element) -> Iterator[tuple[str, float]]:
        """Yield names and values of those joint attributes that a description cannot represent."""
        for part, attributes in _KEPT.items():
            found = element.find(part)
            if found is not None:
                yield from ((key, self.number(found, key)) for key in attributes if key in found.attrib)

    def axis(self, joint: etree._Element) -> Vector:
        element = joint.find("axis")
        if element is None:
            return 1.0, 0.0, 0.0  # The URDF specification defines this default joint axis.
        axis = self.vector(element, "xyz", (1.0, 0.0, 0.0))
        length = math.hypot(*axis)
        if not length:
            self.problem(element, "expected a direction, got a vector of length 0")
            return 1.0, 0.0, 0.0
        if length == 1.0:
            return axis
        return axis[0] / length, axis[1] / length, axis[2] / length

    def origin(self, element: etree._Element) -> UrdfOrigin:
        found = element.find("origin")
        if found is None:
            return UrdfOrigin()
        if "quat_xyzw" in found.attrib:
            self.problem(found, "quat_xyzw is not supported; specify roll, pitch and yaw: rpy")
        return UrdfOrigin(self.vector(found, "xyz", ZERO), self.vector(found, "rpy", ZERO))

    def transmission(self, element: etree._Element) -> str:
        """Return a phrase about a transmission that the conversion ignores, for a note.

        The phrase contains the name of the transmission, its joints, its inertia and its reduction.
        """
        joints = [x.get("name", "?") for x in element.iterchildren("joint")]
        numbers = [
            f"{etree.QName(x).localname} {(x.get('value') or x.text or '').strip()}"
            for x in element.iterdescendants()
            if isinstance(x.tag, str) and ("inertia" in x.tag.lower() or "reduction" in x.tag.lower())
        ]
        return f"transmission {element.get('name', '?')} of {', '.join([*joints, *numbers])}"

    def tree(self, links: dict[str, UrdfLink], joints: dict[str, UrdfJoint]) -> None:
        """Report errors if the links do not form a single tree."""
        carrier: dict[str, str] = {}
        for element in self.root.iterchildren("joint"):
            joint = joints.get(element.get("name", ""))
            if joint is None or joint.name in carrier.values():
                continue
            for end, link in (("parent", joint.parent), ("child", joint.child)):
                if link and link not in links:
                    self.problem(element, f"{end}: there is no link {link!r}")
            if joint.child in carrier:
                self.problem(element, f"link {joint.child!r} is already the child of {carrier[joint.child]!r}")
            carrier.setdefault(joint.child, joint.name)
        roots = [name for name in links if name not in carrier]
        if links and not self.problems and len(roots) != 1:
            what = f"several links have no parent: {_few(roots)}" if roots else "every link has a parent"
            self.problem(self.root, f"{what}; links must form one tree")
        placed = roots[:1]
        for link in placed:  # The loop appends the child links of each link to the list over which it iterates.
            placed += [j.child for j in joints.values() if j.parent == link and j.child not in placed]
        if not self.problems and len(placed) < len(links):
            lost = [name for name in links if name not in placed]
            self.problem(self.root, f"these links form a closed loop: {_few(lost)}; links must form one tree")

    def mimics(self, joints: dict[str, UrdfJoint]) -> None:
        """Report errors in joints that mimic other joints."""
        for element in self.root.iterchildren("joint"):
            joint = joints.get(element.get("name", ""))
            if joint is None or joint.mimic is None:
                continue
            other = joints.get(joint.mimic.joint)
            if other is None:
                self.problem(element, f"mimic: there is no joint {joint.mimic.joint!r}")
            elif not {joint.type, other.type} <= {*WITH_ONE_COORDINATE}:
                self.problem(
                    element,
                    f"mimic: a {joint.type} joint mimics a {other.type} joint; expected two joints that have one"
                    " coordinate each",
                )
            elif _returns(joint, joints):
                self.problem(element, "mimic: joints mimic each other in a cycle")

    def named(self, elements: Iterable[etree._Element], read: Callable[[etree._Element], Part]) -> dict[str, Part]:
        """Call the function `read` for each XML element, and return its results by the attribute `name`.

        If several elements have the same name, an error is recorded, and the first element is used.
        """
        found: dict[str, Part] = {}
        for element in elements:
            part = read(element)
            if part.name in found:
                self.problem(element, f"the name {part.name!r} is already in use; names must be unique")
            found.setdefault(part.name, part)
        return found

    def only(self, element: etree._Element, tag: str) -> etree._Element | None:
        """Return the first child element with the given tag, or None.

        If the number of such elements is not one, an error is recorded.
        """
        found = list(element.iterchildren(tag))
        if len(found) != 1:
            self.problem(element, f"expected exactly one element <{tag}>, found {len(found) or 'none'}")
        return found[0] if found else None

    def text(self, element: etree._Element, key: str) -> str:
        """Return a required attribute of an XML element.

        If the attribute is missing, empty or too long, an error is recorded.
        """
        value = str(element.get(key, "")).strip()
        if not value:
            self.problem(element, f"{key} is missing")
        elif len(value) > _LONGEST_NAME:
            self.problem(element, f"{key}: expected at most {_LONGEST_NAME} characters, got {len(value)}")
        return value

    def number(self, element: etree._Element, key: str, default: float | None = None) -> float:
        """Return the number in an attribute of an XML element, or the default if the attribute is missing.

        If no default is given and the attribute is missing, an error is recorded.
        """
        text = element.get(key)
        if text is None:
            if default is None:
                self.problem(element, f"{key} is missing")
            return default or 0.0
        found = self.numbers(element, key, str(text), 1)
        return found[0] if found else default or 0.0

    def vector(self, element: etree._Element, key: str, default: Vector) -> Vector:
        """Return the three numbers in an attribute of an XML element, or the default."""
        text = element.get(key)
        found = () if text is None else self.numbers(element, key, str(text), 3)
        return (found[0], found[1], found[2]) if found else default

    def numbers(self, element: etree._Element, key: str, text: str, count: int) -> tuple[float, ...]:
        """Return `count` finite numbers from a text.

        If the text does not have this form, an error is recorded, and the result is empty.
        """
        words = text.split()
        try:
            found = tuple(map(float, words))
        except ValueError:
            found = ()
        # Python's float() also accepts 1_000, inf and non-ASCII digits, which are invalid in URDF.
        plain = all(_NUMBER.fullmatch(word) for word in words)
        if len(found) == count and plain and all(abs(x) <= _LARGEST for x in found):
            return found
        what = "a number" if count == 1 else f"{count} numbers"
        self.problem(element, f"{key}: expected {what}, got {text[:60]!r}")
        return ()

    def rest(self, element: etree._Element, *known: str, place: str = "robot") -> None:
        """Count the ignored attributes and the ignored child elements of an XML element by name.

        The notes on the conversion report these counts.

        Child elements are ignored if their tags are not in `known`.
        """
        seen: set[str] = set()
        for child in element.iterchildren(etree.Element):
            if child.tag not in known:
                self.others[f"<{etree.QName(child).localname}> of {place}"] += 1
            elif child.tag in seen:
                self.others[f"<{child.tag}> of {place}, after the first"] += 1
            elif child.tag in _READ:
                self.others.update(f"{key} of <{child.tag}>" for key in _unread(child))
                # Only <robot> may contain several child elements with the same tag.
                seen |= {child.tag} if place != "robot" else set()

    def problem(self, element: etree._Element, message: str) -> None:
        """Record an error with the line, the tag, and the name of the enclosing link or joint."""
        named = next((x for x in (element, *element.iterancestors()) if x.tag in ("link", "joint")), None)
        inside = f"{named.tag} {str(named.get('name', '?'))[:_LONGEST_NAME]!r}" if named is not None else "robot"
        own = "" if named is element or element is self.root else f", <{etree.QName(element).localname}>"
        found = Problem(f"line {element.sourceline}", f"{inside}{own}: {message}")
        if found not in self.problems:
            self.problems.append(found)

    def fail(self) -> None:
        """Raise DescriptionError if errors were recorded."""
        if self.problems:
            raise DescriptionError(str(self.path), self.problems)


def _without_namespace(root: etree._Element) -> etree._Element:
    """Remove the namespace of the root element from all tags, because tags are compared without namespaces."""
    for element in root.iter(f"{{{etree.QName(root).namespace or ''}}}*"):
        element.tag = etree.QName(element).localname
    return root


def _returns(joint: UrdfJoint, joints: dict[str, UrdfJoint]) -> bool:
    """Return whether the joints that a joint mimics, directly or indirectly, form a cycle."""
    seen, here = {joint.name}, joint
    while here.mimic is not None and here.mimic.joint in joints:
        here = joints[here.mimic.joint]
        if here.name in seen:
            return True
        seen.add(here.name)
    return False


def _unread(element: etree._Element) -> list[str]:
    """Return the attributes of an XML element that the importer ignores.

    Attributes in other XML namespaces are not included.
    """
    return [key for key in map(str, element.attrib) if key not in _READ[str(element.tag)] and key[0] != "{"]


def _known_format(root: etree._Element) -> str:
    """Return a hint for an error message if the root element belongs to SDF or MJCF, otherwise an empty text."""
    formats = {"sdf": "SDF", "mujoco": "MJCF", "mujocoinclude": "MJCF"}
    found = formats.get(str(root.tag))
    return f"; this is {found}, which is not supported; convert it to URDF" if found else ""


def _few(names: list[str]) -> str:
    return ", ".join(map(repr, names[:6])) + (", …" if len(names) > 6 else "")


def _counted(item: tuple[str, int]) -> str:
    what, count = item
    return f"{count} × {what}"
