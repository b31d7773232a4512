"""Conversion of a robot in URDF to the tables of a description, with notes on changes and omissions.

Each URDF link becomes one link of the description.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from ..description.fields.names import identifier
from ..description.tables.frame import roll_pitch_yaw
from ..description.tables.inertia import Inertial as Checked
from ..description.types.joints import JOINT_TYPES
from .names import identifiers, printable
from .solids import inertia_of
from .urdf import WITH_ONE_COORDINATE, Robot, UrdfInertial, UrdfJoint, UrdfLink, UrdfOrigin, Vector

Table = dict[str, Any]
_TYPES = {"continuous": "revolute", "floating": "free"}
_GROUND = ("world", "ground")  # A massless root link with one of these names is replaced by the ground.
# Coulomb friction of imported joints is proportional to tanh(v/v_s) with this velocity v_s, rad/s or m/s.
_REGULAR = 0.01
_UNITS = {"soft_lower_limit": "", "soft_upper_limit": ""}


@dataclass(frozen=True)
class LinkText:
    """Link with its keys, values and comments, as written to the TOML file.

    Attributes
    ----------
    table : dict
        Keys and values of the link.
    comment : str
        Comment with name and type of the URDF joint from which the link comes.
    missing : dict
        Placeholder values for keys that the URDF file does not define; the TOML file contains them
        as comments.
    """

    table: Table
    comment: str
    missing: Table = field(default_factory=dict)


@dataclass(frozen=True)
class Imported:
    """Contents of a URDF file as tables of a description.

    Attributes
    ----------
    name, description : str
        Name of the mechanism, and a phrase with the name of the file.
    links : tuple of LinkText
        Links in the order of the URDF file.
    programmed : tuple of dict
        Programmed constraints for joints that mimic other joints.
    notes : tuple of str
        Sentences about changes and omissions.
    """

    name: str
    description: str
    links: tuple[LinkText, ...]
    programmed: tuple[Table, ...]
    notes: tuple[str, ...]


def imported(robot: Robot, floating: bool, source: str, density: float | None = None) -> Imported:
    """Convert the robot of a URDF file to tables of a description.

    Parameters
    ----------
    robot
        Robot of a URDF file.
    floating
        Whether the root link has six degrees of freedom. If False, the root link is fixed to the
        ground.
    source
        Name of the URDF file.
    density
        Density, kg/m³, from which mass and inertia are computed for links that have a shape but no
        inertia. None leaves these links without mass.

    Raises
    ------
    DescriptionError
        If the mesh of a link without inertia cannot be read.
    """
    return _Import(robot, floating, density).result(source)


@dataclass
class _Import:
    robot: Robot
    floating: bool
    density: float | None = None
    notes: list[str] = field(default_factory=list)
    # Auxiliary links that represent the planes of planar joints have these names.
    planes: list[str] = field(default_factory=list)
    massless: list[str] = field(default_factory=list)  # Links with these names have no inertia in the URDF file.

    def result(self, source: str) -> Imported:
        robot = self.robot
        self.ground = robot.root.name if self.root_is_ground() else None
        self.names = identifiers((name for name in robot.links if name != self.ground), "link_")
        self.joints = {joint.name: joint for joint in robot.joints}
        links = [*self.root(), *(text for joint in robot.joints for text in self.link(joint))]
        name = identifiers([robot.name], "robot_", identifier)[robot.name]
        followers = [joint for joint in robot.joints if joint.mimic is not None]
        rows = identifiers([f"mimic_{self.names[joint.child]}" for joint in followers], "", identifier)
        programmed = [
            {"name": row, "expression": self.mimic_row(joint)}
            for row, joint in zip(rows.values(), followers, strict=True)
        ]
        self.said_of_names({robot.name: name} | self.names)
        self.said_of_joints()
        notes = (*self.notes, *(f"omitted: {text}" for text in robot.not_carried))
        about = f"from {source}, {'floating' if self.floating else 'fixed'} base"
        return Imported(name, about, tuple(links), tuple(programmed), notes)

    def root_is_ground(self) -> bool:
        root = self.robot.root
        is_frame = root.inertial is None and root.name.lower() in _GROUND
        return is_frame and not self.floating and bool(self.robot.joints)

    def root(self) -> Iterator[LinkText]:
        root = self.robot.root
        if self.ground is not None:
            self.notes.append(f"changed: the root link {root.name!r} has become the ground")
            self.notes += ["omitted: the shape of the ground"] * (root.shape is not None)
            return
        joint = {"type": "free" if self.floating else "fixed"}
        yield self.described(self.table(root, "ground", {}, joint), "root")

    def link(self, joint: UrdfJoint) -> Iterator[LinkText]:
        """Yield the child link of a URDF joint as a link of the description, whose table includes the joint.

        If the normal of a planar joint is not the z axis, an auxiliary link is yielded first. The z
        axis of this link is the normal. The joint moves the auxiliary link, to which the child link
        is fixed.
        """
        child, parent = self.robot.links[joint.child], self.parent(joint)
        comment = f"joint {joint.name}: {joint.type}{_kept_text(joint)}"
        if joint.type != "planar" or joint.axis == (0.0, 0.0, 1.0):
            yield self.described(self.table(child, parent, _frame(joint.origin), self.joint(joint)), comment)
            return
        plane = _unused(f"{self.names[joint.child]}_plane", (*self.names.values(), *self.planes))
        self.planes.append(plane)
        text = f"planar joint {joint.name!r} moves the frame {plane!r}, whose z axis is the normal of the plane"
        self.notes.append(f"changed: {text}")
        turn = _to_z(joint.axis)
        origin = np.eye(4)
        origin[:3, :3], origin[:3, 3] = roll_pitch_yaw(*joint.origin.rpy) @ turn, joint.origin.xyz
        moving = {
            "name": plane,
            "parent": parent,
            "frame": {"matrix": origin.tolist()},
            "joint": self.joint(joint),
        }
        yield LinkText(moving, comment)
        back = np.eye(4)
        back[:3, :3] = turn.T
        fixed = self.table(child, plane, {"matrix": back.tolist()}, {"type": "fixed"})
        yield self.described(fixed, f"carried by joint {joint.name}")

    def described(self, table: Table, comment: str) -> LinkText:
        """Return a link with its comment.

        If the URDF file contains no inertia, the comment contains placeholder values.
        """
        if "mass" in table:
            return LinkText(table, comment)
        self.massless.append(table["name"])
        return LinkText(table, comment, {"mass": 1.0, "com": [0.0, 0.0, 0.0], "inertia": [0.01, 0.01, 0.01]})

    def parent(self, joint: UrdfJoint) -> str:
        return "ground" if joint.parent == self.ground else self.names[joint.parent]

    def table(self, link: UrdfLink, parent: str, frame: Table, joint: Table) -> Table:
        table: Table = {"name": self.names[link.name]}
        if table["name"] != link.name:
            table["alias"] = printable(link.name)
        table["parent"] = parent
        if frame:
            table["frame"] = frame
        shape = {} if link.shape is None else {"shape": link.shape}
        return table | self.inertia(link) | shape | {"joint": joint}

    def inertia(self, link: UrdfLink) -> Table:
        """Return a table of mass, centre of mass and inertia of a link.

        If the URDF file contains no inertia, the values are computed from shape and density. If the
        shape or the density is also missing, the table is empty.
        """
        if link.inertial is None or not any((link.inertial.mass, *link.inertial.moments)):
            return self.filled(link)
        table: Table = {"mass": link.inertial.mass}
        if any(link.inertial.origin.xyz):
            table["com"] = list(link.inertial.origin.xyz)
        table["inertia"] = _moments(link.inertial)
        try:
            Checked.model_validate(table)
        except ValidationError as error:
            cause = error.errors(include_url=False)[0].get("ctx", {}).get("error", "cannot be")
            self.notes.append(f"unchanged: the inertia of link {link.name!r} is not physical: {cause}")
            table["physical"] = False
        return table

    def filled(self, link: UrdfLink) -> Table:
        """Return a table of mass, centre of mass and inertia, computed from the link's shape and a density.

        The table is empty if the link has no shape or if the user has given no density.
        """
        if self.density is None or link.shape is None:
            return {}
        table, is_closed = inertia_of(link.shape, self.density)
        self.notes.append(
            f"chosen: inertia of link {link.name!r}, computed from its shape with a density of {self.density:g}"
            " kg/m³"
        )
        self.notes += [] if is_closed else [f"chosen: the convex hull of the open mesh of link {link.name!r}"]
        return table

    def joint(self, joint: UrdfJoint) -> Table:
        kind = _TYPES.get(joint.type, joint.type)
        table: Table = {"type": kind, "name": printable(joint.name)}
        if kind in ("revolute", "prismatic"):
            table["axis"] = list(joint.axis)
            if joint.damping:
                table["damping"] = joint.damping
            if joint.friction:
                table["friction"] = {"model": "coulomb", "effort": joint.friction, "v_s": _REGULAR}
            start = self.start(joint)
            if start:
                table["position"] = start
            limits = self.limits(joint)
            if limits:
                table["limits"] = limits
        elif joint.type != "fixed":
            lost = ["damping and friction"] * bool(joint.damping or joint.friction) + ["limits"] * bool(
                joint.limits
            )
            self.notes += [f"omitted: {what} of the {joint.type} joint {joint.name!r}" for what in lost]
        return table

    def limits(self, joint: UrdfJoint) -> Table:
        """Return the limits of a joint; if `lower` is not less than `upper`, both are omitted.

        The limits have no effect in simulations until the user adds a stiffness.
        """
        found = joint.limits
        if found.get("lower", -math.inf) >= found.get("upper", math.inf):
            self.notes.append(f"omitted: the limits of joint {joint.name!r}, because lower is not less than upper")
            return {key: value for key, value in found.items() if key not in ("lower", "upper")}
        return found

    def start(self, joint: UrdfJoint) -> float:
        """Return the initial position of a joint; for a mimic joint, it follows from the mimicked joint."""
        if joint.mimic is None:
            return 0.0
        return joint.mimic.multiplier * self.start(self.joints[joint.mimic.joint]) + joint.mimic.offset

    def mimic_row(self, joint: UrdfJoint) -> str:
        """Return the expression of the programmed constraint by which a joint mimics another joint."""
        assert joint.mimic is not None
        other, factor, offset = self.joints[joint.mimic.joint], joint.mimic.multiplier, joint.mimic.offset
        text = f"{self.coordinate(joint)} {'-' if factor >= 0 else '+'} {abs(factor)!r}*{self.coordinate(other)}"
        return text if not offset else f"{text} {'-' if offset > 0 else '+'} {abs(offset)!r}"

    def coordinate(self, joint: UrdfJoint) -> str:
        motion = JOINT_TYPES[_TYPES.get(joint.type, joint.type)][0]
        return f"{self.names[joint.child]}.{motion.coordinate}"

    def said_of_names(self, names: dict[str, str]) -> None:
        changed = [f"{old!r} by {new!r}" for old, new in names.items() if old != new]
        if changed:
            self.notes.append(f"changed: invalid names were replaced, {', '.join(changed)}")

    def said_of_joints(self) -> None:
        rubbing = sum(1 for joint in self.robot.joints if joint.friction and joint.type in WITH_ONE_COORDINATE)
        if rubbing:
            self.notes.append(
                f"chosen: friction of joints ({rubbing}) reaches its full value at v_s = {_REGULAR:g} rad/s"
                " or m/s, which URDF does not define"
            )
        names = list(dict.fromkeys(key for joint in self.robot.joints for key in joint.kept))
        if names:
            self.notes.append(f"omitted: {', '.join(names)} of joints; comments in the file contain the values")
        if any(joint.limits for joint in self.robot.joints):
            self.notes.append(
                "unchanged: joint limits have no effect; add a stiffness to turn limits into end stops"
            )
        if self.massless:
            massless = ", ".join(self.massless)
            self.notes.append(
                f"unchanged: the links {massless} have no inertia;"
                " replace the placeholders in the comments of the file"
            )


def relocated(robot: Imported, folder: Path) -> Imported:
    """Return an imported robot whose paths of mesh files are relative to a folder.

    A path remains absolute if no relative path exists.
    """
    links = tuple(replace(link, table=_relocated(link.table, folder)) for link in robot.links)
    return replace(robot, links=links)


def _relocated(table: Table, folder: Path) -> Table:
    if "file" not in table.get("shape", {}):
        return table
    file = table["shape"]["file"]
    with suppress(ValueError):  # On Windows, no relative path exists between two drives.
        file = Path(os.path.relpath(file, folder.resolve())).as_posix()
    return table | {"shape": table["shape"] | {"file": file}}


def _frame(origin: UrdfOrigin) -> Table:
    table: Table = {}
    if any(origin.xyz):
        table["xyz"] = list(origin.xyz)
    if any(origin.rpy):
        table["rpy"] = list(origin.rpy)
    return table


def _moments(inertial: UrdfInertial) -> list[Any]:
    """Return the inertia about the centre of mass in the link's axes, kg·m².

    The result is a list of three moments of inertia if all products of inertia are zero. Otherwise,
    it is the 3×3 matrix.
    """
    xx, yy, zz, xy, xz, yz = inertial.moments
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if any(inertial.origin.rpy):
        R = roll_pitch_yaw(*inertial.origin.rpy)
        turned = R @ tensor @ R.T
        tensor = (turned + turned.T) / 2
    diagonal = np.diag(tensor)
    return list((diagonal if (tensor == np.diag(diagonal)).all() else tensor).tolist())


def _to_z(axis: Vector) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return a rotation matrix, shape (3, 3), whose third column is the given unit vector."""
    z = np.array(axis)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= math.hypot(*x)
    return np.column_stack([x, np.cross(z, x), z])


def _unused(name: str, taken: Collection[str]) -> str:
    """Return an unused name: the first 60 characters of `name`, with a number if necessary."""
    candidates = chain((name[:60],), (f"{name[:58]}_{i}" for i in count(2)))
    return next(candidate for candidate in candidates if candidate not in taken)


def _kept_text(joint: UrdfJoint) -> str:
    unit = "m" if joint.type == "prismatic" else "rad"
    units = {key: f"{unit}{rest}" for key, rest in _UNITS.items()}
    return "".join(f", {key} {value:.9g} {units.get(key, '')}".rstrip() for key, value in joint.kept.items())
