"""Machines as models of the Modelica Standard Library's MultiBody: what an engineer would draw by hand.

Bodies, joints, springs and dampers are as in the description; an input `torque` drives the first joint, and a
frame `tip` is on the last body. Joint k is the coordinate k, counted from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gpmelica.analysis.system import System
from gpmelica.mechanism import GROUND, Body, Coordinate, Mechanism

PARTS = "Modelica.Mechanics.MultiBody.Parts"
_STATES = {"rotation": ("phi", "w"), "translation": ("s", "v")}  # of a joint: its coordinate and rate
_JOINTS = {
    "rotation": "Modelica.Mechanics.MultiBody.Joints.Revolute",
    "translation": "Modelica.Mechanics.MultiBody.Joints.Prismatic",
}
_SPRINGS = {
    "rotation": "Modelica.Mechanics.Rotational.Components.SpringDamper",
    "translation": "Modelica.Mechanics.Translational.Components.SpringDamper",
}
Springs = Mapping[int, tuple[float, float]]  # coordinate → stiffness and damping
ORIGIN = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Drawing:
    """Lines of a model, without their semicolons."""

    declarations: list[str]
    equations: list[str]

    def connect(self, *ports: tuple[str, str]) -> None:
        """Pairs of them."""
        self.equations.extend(f"connect({a}, {b})" for a, b in ports)

    def text(self, name: str) -> str:
        """Modelica text of a model of this name."""
        parts = (self.declarations, self.equations)
        declarations, equations = ("".join(f"  {line};\n" for line in lines) for lines in parts)
        return f"model {name}\n{declarations}equation\n{equations}end {name};\n"


def chain(model: System, name: str, tip: Sequence[float] = ORIGIN) -> str:
    """Text without programmed constraints and applied forces.

    The base's supports are taken together, as one spring and damper on each of its coordinates.

    tip  point of the last body, shape (3,), m
    """
    return tree(model, tip, springs=_base_springs(model.mechanism)).text(name)


def state_names(mechanism: Mechanism) -> list[str]:
    """Names of q, then of q̇."""
    kinds = [_STATES[c.motion.kind] for c in mechanism.coordinates]
    return [f"joint{k}.{kind[level]}" for level in (0, 1) for k, kind in enumerate(kinds)]


def tree(model: System, tip: Sequence[float], springs: Springs | None = None) -> Drawing:
    """World, bodies, joints with their springs, and the frame `tip`.

    Parameters:
        tip      point of the last body, shape (3,), m
        springs  on coordinates, in place of the description's
    """
    mechanism = model.mechanism
    first = next(k for k, c in enumerate(mechanism.coordinates) if c.role == "joint")
    drawing = Drawing([_world(mechanism), "Modelica.Blocks.Interfaces.RealInput torque(start = 0.0)"], [])
    for b, body in enumerate(mechanism.bodies):
        _add_body(drawing, mechanism, b, body)
    for k, coordinate in enumerate(mechanism.coordinates):
        stiffness, damping = (springs or {}).get(k, (coordinate.stiffness or 0.0, coordinate.damping or 0.0))
        _add_joint(drawing, k, coordinate, float(model.start[0][k]), stiffness, damping, k == first)
    drawing.declarations.append(f"{PARTS}.FixedTranslation tip(r = {vector(tip)}, animation = false)")
    drawing.connect(("torque", "drive.tau"), (end(mechanism, len(mechanism.bodies) - 1), "tip.frame_a"))
    return drawing


def end(mechanism: Mechanism, b: int) -> str:
    """The frame of body b."""
    coordinates = mechanism.bodies[b].coordinates
    return f"joint{coordinates[-1]}.frame_b" if coordinates else f"mount{b}.frame_b"


def vector(values: Sequence[float] | np.ndarray) -> str:
    """Numbers as an array of Modelica's."""
    return "{" + ", ".join(repr(float(x)) for x in values) + "}"


def _world(mechanism: Mechanism) -> str:
    size = float(np.linalg.norm(mechanism.gravity))
    direction = vector(np.array(mechanism.gravity) / size)
    values = f"n = {direction}, g = {size!r}, enableAnimation = false"
    return f"inner Modelica.Mechanics.MultiBody.World world({values})"


def _add_body(drawing: Drawing, mechanism: Mechanism, b: int, body: Body) -> None:
    parent = "world.frame_b" if body.parent == GROUND else end(mechanism, body.parent)
    joints = [f"mount{b}", *(f"joint{k}" for k in body.coordinates)]
    drawing.declarations.extend(_body(b, body))
    drawing.connect((parent, f"mount{b}.frame_a"), (end(mechanism, b), f"body{b}.frame_a"))
    drawing.connect(*((f"{one}.frame_b", f"{next_}.frame_a") for one, next_ in pairwise(joints)))


def _body(b: int, body: Body) -> Iterator[str]:
    n_x, n_y = (vector(body.rotation[:, i]) for i in (0, 1))
    axes = "rotationType = Modelica.Mechanics.MultiBody.Types.RotationTypes.TwoAxesVectors"
    yield f"{PARTS}.FixedRotation mount{b}(r = {vector(body.offset)}, {axes}, n_x = {n_x}, n_y = {n_y})"
    inertia = ", ".join(
        f"I_{i + 1}{j + 1} = {float(body.inertia[i, j])!r}" for i in range(3) for j in range(i + 1)
    )
    yield f"{PARTS}.Body body{b}(r_CM = {vector(body.com)}, m = {float(body.mass)!r}, {inertia})"


def _add_joint(
    drawing: Drawing, k: int, coordinate: Coordinate, start: float, stiffness: float, damping: float, driven: bool
) -> None:
    kind, sprung = coordinate.motion.kind, bool(stiffness or damping)
    position, rate = _STATES[kind]
    axis = f"n = {vector(coordinate.axis)}, useAxisFlange = {str(sprung or driven).lower()}"
    states = f"{position}(start = {start!r}, fixed = true), {rate}(start = 0.0, fixed = true)"
    drawing.declarations.append(f"{_JOINTS[kind]} joint{k}({axis}, {states})")
    if sprung:
        values = f"c = {stiffness!r}, d = {damping!r}, {position}_rel0 = {coordinate.rest or 0.0!r}"
        drawing.declarations.append(f"{_SPRINGS[kind]} spring{k}({values})")
        drawing.connect((f"spring{k}.flange_a", f"joint{k}.support"), (f"spring{k}.flange_b", f"joint{k}.axis"))
    if driven:
        drawing.declarations.append("Modelica.Mechanics.Rotational.Sources.Torque drive")
        drawing.connect(("drive.flange", f"joint{k}.axis"))


def _base_springs(mechanism: Mechanism) -> Springs:
    """Stiffness and damping of all supports together on the base's coordinates, for small angles."""
    springs: dict[int, tuple[float, float]] = {}
    for i, k in enumerate(mechanism.bodies[0].coordinates if mechanism.supports else ()):
        springs[k] = (0.0, 0.0)
        for support in mechanism.supports:
            x, y, z = support.position
            arm = np.array([[1, 0, 0, -y, z, 0], [0, 1, 0, x, 0, -z], [0, 0, 1, 0, -x, y]], dtype=float)[:, i]
            springs[k] = (
                springs[k][0] + float(arm**2 @ support.stiffness),
                springs[k][1] + float(arm**2 @ support.damping),
            )
    return springs
