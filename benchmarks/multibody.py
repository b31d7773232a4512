"""A chain as a model of the Modelica Standard Library's MultiBody: what an engineer would draw by hand.

Bodies, joints, springs and dampers as in the description, without programmed constraints and applied forces, but
for an input that drives the first joint; the base's supports are taken together, as one spring and damper on each
of its coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from gpmelica.generator.mechanism import GROUND, Body, Coordinate, Mechanism

_PARTS = "Modelica.Mechanics.MultiBody.Parts"
_JOINTS = {
    "rotation": ("Modelica.Mechanics.MultiBody.Joints.Revolute", "phi", "w"),
    "translation": ("Modelica.Mechanics.MultiBody.Joints.Prismatic", "s", "v"),
}
_SPRINGS = {
    "rotation": "Modelica.Mechanics.Rotational.Components.SpringDamper",
    "translation": "Modelica.Mechanics.Translational.Components.SpringDamper",
}


def text(mechanism: Mechanism, start: np.ndarray, name: str, tip: Sequence[float] = (0.0, 0.0, 0.0)) -> str:
    """Modelica text of a model `name`, with an input `torque` and a frame `tip`.

    Parameters:
        start  coordinates at t = 0, shape (n,), rad or m
        tip    point of the last body, shape (3,), m
    """
    declarations, connections = [_world(mechanism), *_torque(), *_tip(tip)], []
    driven = next(k for k, c in enumerate(mechanism.coordinates) if c.role == "joint")
    connections += [("drive.flange", f"joint{driven}.axis"), ("torque", "drive.tau")]
    connections.append((_end(mechanism, len(mechanism.bodies) - 1), "tip.frame_a"))
    for b, body in enumerate(mechanism.bodies):
        parent = "world.frame_b" if body.parent == GROUND else _end(mechanism, body.parent)
        declarations += _body(b, body)
        chain = [f"mount{b}", *(f"joint{k}" for k in body.coordinates)]
        connections += [(parent, f"{chain[0]}.frame_a"), (_end(mechanism, b), f"body{b}.frame_a")]
        connections += [(f"{one}.frame_b", f"{next_}.frame_a") for one, next_ in pairwise(chain)]
    base = _base_springs(mechanism)
    for k, coordinate in enumerate(mechanism.coordinates):
        stiffness, damping = base.get(k, (coordinate.stiffness, coordinate.damping))
        declarations += _joint(k, coordinate, float(start[k]), k == driven or bool(stiffness or damping))
        if stiffness or damping:
            rest = "phi_rel0" if coordinate.motion.kind == "rotation" else "s_rel0"
            values = f"c = {stiffness or 0.0!r}, d = {damping or 0.0!r}, {rest} = {coordinate.rest or 0.0!r}"
            declarations.append(f"{_SPRINGS[coordinate.motion.kind]} spring{k}({values});")
            connections += [
                (f"spring{k}.flange_a", f"joint{k}.support"),
                (f"spring{k}.flange_b", f"joint{k}.axis"),
            ]
    lines = [*declarations, "equation", *(f"connect({a}, {b});" for a, b in connections)]
    return "\n".join([f"model {name}", *(f"  {line}" for line in lines), f"end {name};", ""])


def _world(mechanism: Mechanism) -> str:
    size = float(np.linalg.norm(mechanism.gravity))
    return (
        "inner Modelica.Mechanics.MultiBody.World world("
        f"n = {_vector(np.array(mechanism.gravity) / size)}, g = {size!r}, enableAnimation = false);"
    )


def _torque() -> Iterator[str]:
    yield "Modelica.Blocks.Interfaces.RealInput torque(start = 0.0);"
    yield "Modelica.Mechanics.Rotational.Sources.Torque drive;"


def _tip(point: Sequence[float]) -> Iterator[str]:
    yield f"{_PARTS}.FixedTranslation tip(r = {_vector(np.array(point))}, animation = false);"


def _end(mechanism: Mechanism, b: int) -> str:
    coordinates = mechanism.bodies[b].coordinates
    return f"joint{coordinates[-1]}.frame_b" if coordinates else f"mount{b}.frame_b"


def _body(b: int, body: Body) -> Iterator[str]:
    n_x, n_y = (_vector(body.rotation[:, i]) for i in (0, 1))
    axes = "rotationType = Modelica.Mechanics.MultiBody.Types.RotationTypes.TwoAxesVectors"
    yield f"{_PARTS}.FixedRotation mount{b}(r = {_vector(body.offset)}, {axes}, n_x = {n_x}, n_y = {n_y});"
    inertia = ", ".join(
        f"I_{i + 1}{j + 1} = {float(body.inertia[i, j])!r}" for i in range(3) for j in range(i + 1)
    )
    yield f"{_PARTS}.Body body{b}(r_CM = {_vector(body.com)}, m = {float(body.mass)!r}, {inertia});"


def _joint(k: int, coordinate: Coordinate, start: float, flange: bool) -> Iterator[str]:
    joint, position, rate = _JOINTS[coordinate.motion.kind]
    axis = f"n = {_vector(np.array(coordinate.axis))}, useAxisFlange = {str(flange).lower()}"
    states = f"{position}(start = {start!r}, fixed = true), {rate}(start = 0.0, fixed = true)"
    yield f"{joint} joint{k}({axis}, {states});"


def _base_springs(mechanism: Mechanism) -> dict[int, tuple[float, float]]:
    """Coordinate of the base → stiffness and damping of all supports together, for small angles."""
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


def _vector(values: np.ndarray) -> str:
    return "{" + ", ".join(repr(float(x)) for x in values) + "}"
