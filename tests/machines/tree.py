"""A mechanism in Pinocchio, built from the raw tables of its description: it shares nothing with the package.

Frames, inertias, beams and joints are read here a second time; Pinocchio gives M, the bias forces, and position,
velocity, bias acceleration and Jacobian of every frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from helpers_absolute import Vector, skew
from numpy.typing import NDArray

Array = NDArray[np.float64]
Table = dict[str, Any]
X, Y, Z = np.eye(3)

_EULER = (("psi", "R", Z), ("theta", "R", Y), ("phi", "R", X))
_AXES = (("x", "P", X), ("y", "P", Y), ("z", "P", Z))
# coordinate, R or P, and axis (None: the joint's own) of each joint type
MOTIONS: dict[str, tuple[tuple[str, str, Any], ...]] = {
    "revolute": (("angle", "R", None),),
    "prismatic": (("position", "P", None),),
    "universal": _EULER[:2],
    "spherical": _EULER,
    "planar": (*_AXES[:2], ("angle", "R", Z)),
    "free": (*_AXES, *_EULER),
    "fixed": (),
}


def transform(frame: Table) -> Any:
    """pin.SE3 of a frame given by xyz and rpy, matrix or dh; other keys do not matter."""
    if "matrix" in frame:
        return pin.SE3(np.array(frame["matrix"], dtype=float))
    if "dh" in frame:
        a, alpha, d, theta = frame["dh"]
        return _turned("x", alpha) * _moved(a * X) * _turned("z", theta) * _moved(d * Z)
    return pin.SE3(pin.rpy.rpyToMatrix(*frame.get("rpy", (0.0,) * 3)), np.array(frame.get("xyz", (0.0,) * 3)))


def _turned(axis: str, angle: float) -> Any:
    return pin.SE3(pin.utils.rotate(axis, angle), np.zeros(3))


def _moved(way: Array) -> Any:
    return pin.SE3(np.eye(3), way)


def inertia_of(table: Table) -> Any:
    """pin.Inertia in the link's frame, from mass, com and inertia or from the pseudo-inertia."""
    if "pseudo_inertia" in table:
        H = np.array(table["pseudo_inertia"])
        mass, com = H[3, 3], H[:3, 3] / H[3, 3]
        second = H[:3, :3] - mass * np.outer(com, com)
        return pin.Inertia(mass, com, np.trace(second) * np.eye(3) - second)
    moments = np.array(table["inertia"], dtype=float)
    moments = np.diag(moments) if moments.ndim == 1 else moments
    return pin.Inertia(table["mass"], np.array(table.get("com", (0.0,) * 3), dtype=float), moments)


def _element(beam: Table, length: float) -> Table:
    """Mass, centre of mass and inertia of a rigid finite element of a beam."""
    mass = beam["density"] * beam["area"] * length
    Ixx, Iyy, Izz = (beam["density"] * I * length for I in (beam["Iy"] + beam["Iz"], beam["Iy"], beam["Iz"]))
    slender = mass * length**2 / 12
    return {"mass": mass, "com": [length / 2, 0.0, 0.0], "inertia": [Ixx, Iyy + slender, Izz + slender]}


@dataclass(frozen=True)
class Spring:
    """−k (q − rest) − d q̇ on one coordinate."""

    k: float
    rest: float
    d: float


@dataclass(frozen=True)
class Piece:
    """A rigid piece of a link: Pinocchio's joint, the link's frame in it, and where the piece begins, m."""

    joint: int
    placement: Any
    start: float = 0.0


class Tree:
    """Pinocchio's model of a description's tree.

    names    coordinates in the description's order: base first, then links
    order    their places in Pinocchio's vectors
    springs  of coordinates, by their names
    """

    def __init__(self, data: Table) -> None:
        self.data, self.model = data, pin.Model()
        self.model.gravity.linear = np.array(data.get("gravity", (0.0, 0.0, -9.81)), dtype=float)
        self.springs: dict[str, Spring] = {}
        self._pieces: dict[str, list[Piece]] = {"ground": [Piece(0, pin.SE3.Identity())]}
        if "base" in data:
            self._add("base", data["base"], (0, pin.SE3.Identity()), {"type": "free"})
            self._grow("base")
        self._grow("ground")
        own = [str(name) for name in self.model.names][1:]
        self.names = [name for link in self._placed() for name in own if name.partition(".")[0] == link]
        self.order = [self.model.joints[self.model.getJointId(name)].idx_v for name in self.names]

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.names)

    @property
    def lightest(self) -> float:
        """The smallest mass, kg, or moment of inertia, kg·m², of the bodies, whichever is less."""
        bodies = [body for body in self.model.inertias if body.mass]
        return min(float(min(body.mass, np.linalg.eigvalsh(body.inertia)[0])) for body in bodies)

    def described(self) -> Array:
        """Start positions, shape (n,), rad or m: joints as described, base and beams undeformed."""
        links = {link["name"]: link for link in self.data["links"]}
        given: dict[str, float] = {}
        for name, link in links.items():
            motions = MOTIONS[link["joint"]["type"]]
            values = np.broadcast_to(link["joint"].get("position", 0.0), len(motions))
            given |= {f"{name}.{motion[0]}": float(x) for motion, x in zip(motions, values, strict=True)}
        return np.array([given.get(name, 0.0) for name in self.names])

    def _placed(self) -> list[str]:
        """Base first, then again and again the file's first link whose parent has its place."""
        placed, waiting = ["ground", *(["base"] if "base" in self.data else [])], list(self.data["links"])
        while waiting:
            link = next(link for link in waiting if link["parent"] in placed)
            placed.append(link["name"])
            waiting.remove(link)
        return placed[1:]

    def _grow(self, parent: str) -> None:
        """Children depth first, those of a beam's last piece first.

        `crba` wants the joints of a subtree one after the other, and each piece carries the next one.
        """
        children = [link for link in self.data["links"] if link["parent"] == parent]
        mounts = [self.place(parent, transform(link.get("frame", {}))) for link in children]
        outermost = sorted(zip(mounts, children, strict=True), key=lambda child: -child[0][0])
        for mount, link in outermost:
            (self._add_beam if "beam" in link else self._add)(link["name"], link, mount, link["joint"])
            self._grow(link["name"])

    def _add_beam(self, name: str, link: Table, mount: Any, joint: Table) -> None:
        beam = link["beam"]
        count = beam.get("elements", 1) if beam.get("flexible", True) else 1
        delta = beam["length"] / max(1, count - 1)
        starts = [(r - 0.5) * delta for r in range(1, count)]
        lengths = np.diff([0.0, *starts, beam["length"]])
        self._add(name, _element(beam, lengths[0]), mount, joint)
        for r, (start, length) in enumerate(zip(starts, lengths[1:], strict=True), start=1):
            mount = self.place(name, _moved(start * X))
            motions = [(f"{name}.r{r}_{c}", kind, axis) for c, kind, axis in _EULER]
            index = self._chain(mount, motions)
            self.model.appendBodyToJoint(index, inertia_of(_element(beam, length)), pin.SE3.Identity())
            self._pieces[name].append(Piece(index, pin.SE3.Identity(), start))
            moduli = (beam["E"] * beam["Iz"], beam["E"] * beam["Iy"], beam["G"] * beam["J"])
            for (coordinate, _, _), modulus in zip(motions, moduli, strict=True):
                k = modulus / delta
                self.springs[coordinate] = Spring(k, 0.0, beam.get("damping_time", 0.0) * k)

    def _add(self, name: str, body: Table, mount: Any, joint: Table) -> None:
        own = [
            (f"{name}.{c}", kind, joint["axis"] if axis is None else axis)
            for c, kind, axis in MOTIONS[joint["type"]]
        ]
        index = self._chain(mount, own)
        placement = pin.SE3.Identity() if own else mount[1]
        self.model.appendBodyToJoint(index, inertia_of(body), placement)
        self._pieces[name] = [Piece(index, placement)]
        values = [np.broadcast_to(joint.get(key, 0.0), len(own)) for key in ("stiffness", "rest", "damping")]
        for (coordinate, _, _), *spring in zip(own, *values, strict=True):
            self.springs[coordinate] = Spring(*map(float, spring))

    def _chain(self, mount: Any, motions: list[tuple[str, str, Any]]) -> int:
        """One joint per coordinate, the last one's index; the mount's own where there is no coordinate."""
        joint, placement = mount
        for name, kind, axis in motions:
            kinds = {"R": pin.JointModelRevoluteUnaligned, "P": pin.JointModelPrismaticUnaligned}
            joint = self.model.addJoint(
                joint, kinds[kind](np.asarray(axis) / np.linalg.norm(axis)), placement, name
            )
            placement = pin.SE3.Identity()
        return int(joint)

    def place(self, link: str, placement: Any) -> tuple[int, Any]:
        """Pinocchio's joint and placement of a frame given on the undeformed link."""
        first, *others = self._pieces[link]
        piece = [first, *(piece for piece in others if piece.start <= placement.translation[0])][-1]
        return piece.joint, piece.placement * _moved(-piece.start * X) * placement


class Posture:
    """The tree in one state: M, shape (n, n); bias forces and weight, (n,), N or N·m; and frames."""

    def __init__(self, tree: Tree, q: Array, qd: Array) -> None:
        self.tree, self.q, self.qd = tree, q, qd
        model, self._data = tree.model, tree.model.createData()
        given, rates = np.zeros(tree.n), np.zeros(tree.n)
        given[tree.order], rates[tree.order] = q, qd
        upper = np.triu(pin.crba(model, self._data, given))
        self.M = (upper + np.triu(upper, 1).T)[np.ix_(tree.order, tree.order)]
        self.bias = pin.nonLinearEffects(model, self._data, given, rates)[tree.order]
        pin.forwardKinematics(model, self._data, given, rates, np.zeros(tree.n))
        pin.computeJointJacobians(model, self._data, given)

    def frame(self, link: str, placement: Any) -> Frame:
        """A frame fixed to a link."""
        joint, inside = self.tree.place(link, placement)
        return Frame(self.tree, self._data, joint, inside)


class Frame:
    """A frame in one state, as `helpers_absolute` describes frames."""

    def __init__(self, tree: Tree, data: Any, joint: int, placement: Any) -> None:
        world = data.oMi[joint] * placement
        self.R, self.r = world.rotation, world.translation
        axes = pin.LOCAL_WORLD_ALIGNED
        J = np.zeros((6, tree.n))
        if joint:
            J = pin.getJointJacobian(tree.model, data, joint, axes).reshape(6, -1)[:, tree.order]
        velocity = pin.getVelocity(tree.model, data, joint, axes)
        bias = pin.getClassicalAcceleration(tree.model, data, joint, axes)
        s = self.r - data.oMi[joint].translation
        self._w, self._Jw = velocity.angular, J[3:]
        self._turn = skew(bias.angular) + skew(self._w) @ skew(self._w)
        self._v = velocity.linear + skew(self._w) @ s
        self._a = bias.linear + self._turn @ s
        self._Jv = J[:3] - skew(s) @ J[3:]

    def origin(self) -> Vector:
        """The frame's origin, m."""
        return Vector(self.r, self._v, self._a, {0: self._Jv})

    def axis(self, local: Any) -> Vector:
        """A direction fixed to the frame."""
        u = self.R @ np.asarray(local, dtype=float)
        return Vector(u, skew(self._w) @ u, self._turn @ u, {0: -skew(u) @ self._Jw})
