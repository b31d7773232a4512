"""Values of the outputs that `[outputs]` requests, at one state.

Outputs are positions of points, poses of link frames, energies and expressions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from ...core.trajectory import Array
from ...description.tables.frame import Frame
from ...description.types import requested
from ...description.types.measures import Measure
from ...mechanism import GROUND, Numbers
from ..kinematics.quantities import KinematicState
from .model import ReferenceModel


def values(model: ReferenceModel, state: KinematicState, qdd: Array) -> dict[str, float]:
    """Return the values of all requested outputs by name.

    The accelerations qdd have shape (n,), rad/s² or m/s².
    """
    return {measure.signal.name: value for measure, value in _measured(model, state, qdd)} | _expressions(
        model, state, qdd
    )


def _measured(model: ReferenceModel, state: KinematicState, qdd: Array) -> Iterator[tuple[Measure, float]]:
    chain, bodies = model.mechanism.chain, model.mechanism.bodies
    for point in chain.accelerated:
        own = model.quantities.point(point)
        yield from _paired(requested.accelerations(point), state.bias[own] + state.jacobian[own] @ qdd)
    for link in chain.posed:
        b = next(b for b, body in enumerate(bodies) if body.link == link)
        T, T_dot = (frames.transpose(1, 0, 2)[b + 1] for frames in (state.posture.T, state.posture.T_dot))
        spin = T_dot[:3, :3] @ T[:3, :3].T
        yield from _paired(requested.origins(link), T[:3, 3] + state.posture.datum)
        yield from _paired(requested.quaternions(link), _quaternion(model, b, state.q, T[:3, :3]))
        yield from _paired(requested.omegas(link), spin[[2, 0, 1], [1, 2, 0]])
    if chain.outputs.energy:
        kinetic = 0.5 * float(state.qd @ model.mass(state.posture)[0] @ state.qd)
        potential = model.forces.potential(state)
        yield from _paired(requested.energies(), np.array([kinetic, potential, kinetic + potential]))


def _expressions(model: ReferenceModel, state: KinematicState, qdd: Array) -> dict[str, float]:
    # Output expressions use the actual accelerations, so the contribution of q̈ is added to the bias acceleration.
    moving = replace(state, bias=state.bias + state.jacobian @ qdd)
    return {requested.value(name).name: reading.number(moving) for name, reading in model.outputs.items()}


def _paired(measures: list[Measure], found: Array) -> Iterator[tuple[Measure, float]]:
    return zip(measures, found.tolist(), strict=True)


def _quaternion(model: ReferenceModel, b: int, q: Array, R: Array) -> Array:
    """Return the quaternion w, x, y, z of a rotation matrix, with a sign that is continuous in q.

    The sign agrees with the quaternion that is computed from the half angles of the joints.
    """
    x, y, z, w = Rotation.from_matrix(R).as_quat()
    found, near = np.array([w, x, y, z]), _half_turns(model, b, q)
    return found if found @ near > 0.0 else -found


def _half_turns(model: ReferenceModel, b: int, q: Array) -> Array:
    """Return a body's quaternion w, x, y, z from the half angles of its joints, shape (4,)."""
    mechanism = model.mechanism
    frames = {link.name: link.frame for link in mechanism.chain.links}
    body, total = mechanism.bodies[b], np.array([1.0, 0.0, 0.0, 0.0])
    for k in reversed(body.coordinates):
        coordinate = mechanism.coordinates[k]
        if coordinate.motion.kind == "rotation":
            turn = np.concatenate([[np.cos(q[k] / 2)], np.sin(q[k] / 2) * np.array(coordinate.axis)])
            total = _left(turn) @ total
    if body.link != (None if body.parent == GROUND else mechanism.bodies[body.parent].link):
        total = _left(np.array(frames.get(body.link, Frame()).quaternion(Numbers()))) @ total
    return total if body.parent == GROUND else _left(_half_turns(model, body.parent, q)) @ total


def _left(a: Array) -> Array:
    """Return the matrix L(a) of left multiplication by a quaternion a: L(a) b is the product a b."""
    w, v = a[0], a[1:]
    lower = w * np.eye(3) + np.cross(np.eye(3), v)
    return np.block([[w, -v[None]], [v[:, None], lower]])
