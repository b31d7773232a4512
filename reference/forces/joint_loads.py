"""Joint reactions: the wrenches that joints and closures transmit.

The acceleration of a body requires the force ∫ r̈ dm and the moment ∫ r × r̈ dm. Let H be the
body's pseudo-inertia, T its transform and r a homogeneous position vector. Then the matrix P = T̈ H
Tᵀ = ∫ r̈ rᵀ dm contains the force in its last column and the moment in its skew part. The matrix P
is linear in T̈ = Σ_i T_i q̈_i + Σ_mn T_mn q̇_m q̇_n. Indices of T denote partial derivatives with
respect to coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.errors import SolveError
from ...core.trajectory import Array
from ...mechanism import GROUND, LoopClosure, Mechanism
from ..constraints.closures import frame_pose
from ..constraints.constraints import CompiledConstraints
from ..kinematics.kinematics import Posture

COMPONENTS = ("fx", "fy", "fz", "nx", "ny", "nz")


@dataclass(frozen=True)
class AffineLoads:
    """Reactions of J joints as affine functions of accelerations q̈ and multipliers λ.

    The multipliers are those of knife edges and closures. A wrench is a force, N, followed by a
    moment, N·m, in world axes. Moments refer to the posture's datum, a reference point near the
    mechanism.

    Attributes
    ----------
    constant : ndarray, shape (…, J, 6)
        Reactions for q̈ = 0 and λ = 0.
    by_qdd : ndarray, shape (…, n, J, 6)
        Derivatives with respect to the accelerations.
    by_multiplier : ndarray, shape (…, rows, J, 6)
        Derivatives with respect to the multipliers; `rows` is the number of multipliers.
    """

    constant: Array
    by_qdd: Array
    by_multiplier: Array

    def change(self, qdd: Array, multipliers: Array) -> Array:
        """Return the part of the joint reactions that is linear in accelerations and multipliers.

        The result has shape (…, J, 6, c) for c columns of accelerations and multipliers. The
        accelerations have shape (…, n, c) and the multipliers shape (…, rows, c).
        """
        parts = ((self.by_qdd, qdd), (self.by_multiplier, multipliers))
        return np.asarray(sum(_combined(loads, factors) for loads, factors in parts))

    def at(self, qdd: Array, multipliers: Array) -> Array:
        """Return the joint reactions, shape (…, J, 6).

        The accelerations q̈ have shape (…, n). The multipliers have shape (…, rows), with one
        multiplier for each equation of knife edges and closures.
        """
        return self.constant + self.change(qdd[..., None], multipliers[..., None])[..., 0]


class CompiledJointLoads:
    """Joint reactions of selected links, compiled.

    Attributes
    ----------
    links : tuple of str
        Links whose joint reactions are computed.
    axes : dict
        Axis of each revolute or prismatic joint in the link's frame, shape (3,), by link.
    """

    def __init__(
        self, mechanism: Mechanism, links: Sequence[str], inertia: Array, constraints: CompiledConstraints
    ) -> None:
        self.links = tuple(links)
        joints = [joint_body(mechanism, link) for link in links]
        self._slots = np.array(joints, dtype=int) + 1
        self._carried = np.array([_subtree(mechanism, body) for body in joints]).reshape(-1, len(inertia))
        coordinates = [mechanism.bodies[body].coordinates for body in joints]
        # The axis of a revolute or prismatic joint has the same components in the joint frame and the link frame.
        self.axes = {
            link: np.array(mechanism.coordinates[own[0]].axis)
            for link, own in zip(links, coordinates, strict=True)
            if len(own) == 1
        }
        self._inertia, self._constraints = inertia, constraints
        self._gravity = np.zeros((4, len(inertia), 4))
        self._gravity[:3, :, 3] = np.asarray(mechanism.gravity, dtype=float)[:, None]

    def affine(self, posture: Posture, external: Array) -> AffineLoads:
        """Return the joint reactions as affine functions of accelerations and multipliers.

        Parameters
        ----------
        posture : Posture
            Transforms of the bodies.
        external : ndarray, shape (…, B, 6)
            Wrench on the ground and on each body. Point forces and spring-damper closures exert the wrench.
        """
        HT = self._inertia @ np.moveaxis(posture.T, -3, -1)
        fixed = (
            _rate_of_momentum((posture.T_bias - self._gravity)[..., None, :, :, :], HT)[..., 0, :, :] - external
        )
        return AffineLoads(
            constant=self._carried @ fixed,
            by_qdd=self._carried @ _rate_of_momentum(posture.T_q, HT),
            by_multiplier=-self._carried @ self._constraints.contact_wrenches(posture),
        )

    def local(self, posture: Posture, loads: Array) -> Array:
        """Return joint reactions of J links, shape (J, 6), in link axes, with moments about the links' origins."""
        T = posture.T[:, self._slots].transpose(1, 0, 2)
        force, moment = loads[:, :3], loads[:, 3:] - np.cross(T[:, :3, 3], loads[:, :3])
        return np.concatenate([(x[:, None] @ T[:, :3, :3])[:, 0] for x in (force, moment)], axis=1)


def joint_body(mechanism: Mechanism, link: str) -> int:
    """Return the index of the body that a link's joint moves.

    For a flexible link, this is the first of its rigid elements.

    Raises
    ------
    SolveError
        If there is no such link.
    """
    links = [body.link for body in mechanism.bodies]
    if link not in links or link == "base":
        known = ", ".join(dict.fromkeys(name for name in links if name != "base"))
        raise SolveError(f"joint reactions: no link is called {link!r}; known are: {known}")
    return links.index(link)


def all_links(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the names of all links in the order of their bodies."""
    return tuple(dict.fromkeys(body.link for body in mechanism.bodies if body.link != "base"))


def _subtree(mechanism: Mechanism, root: int) -> list[float]:
    """Return 1 for body `root` and all its descendants, and 0 for all other bodies.

    The first value belongs to the ground.
    """
    carried = [False] * len(mechanism.bodies)
    for b, body in enumerate(mechanism.bodies):
        carried[b] = b == root or (body.parent != GROUND and carried[body.parent])
    return [0.0, *map(float, carried)]


def _rate_of_momentum(T_ddot: Array, HT: Array) -> Array:
    """Return ∫ r̈ dm and ∫ r × r̈ dm of the ground and each body, shape (…, c, B, 6), for c cases.

    Parameters
    ----------
    T_ddot : ndarray, shape (…, c, 4, B, 4)
        Second time derivatives of the body transforms for c cases, such as a unit acceleration of each
        coordinate in turn.
    HT : ndarray, shape (…, B, 4, 4)
        Products H Tᵀ of pseudo-inertia and transposed transform.
    """
    *many, count, _, slots, _ = T_ddot.shape
    P = np.moveaxis(T_ddot, -2, -4).reshape(*many, slots, -1, 4) @ HT
    P = P.reshape(*many, slots, count, 4, 4).swapaxes(-4, -3)
    moment = P[..., [2, 0, 1], [1, 2, 0]] - P[..., [1, 2, 0], [2, 0, 1]]
    return np.concatenate([P[..., :3, 3], moment], axis=-1)


def _combined(loads: Array, factors: Array) -> Array:
    *many, count, J, _ = loads.shape
    flat = loads.reshape(*many, count, J * 6).swapaxes(-2, -1)
    return np.asarray((flat @ factors).reshape(*many, J, 6, factors.shape[-1]))


def axial_and_normal(load: Array, axis: Array) -> tuple[float, float]:
    """Return the force along a joint's axis and the magnitude of the force across it, N.

    The joint reaction has shape (6,) and refers to link axes.
    """
    axial = float(load[:3] @ axis)
    return axial, float(np.linalg.norm(load[:3] - axial * axis))


def closure_wrench(posture: Posture, closure: LoopClosure, wrenches: Array) -> Array:
    """Return the force and moment of a closure on the body that carries its frame b, shape (6,).

    Units are N and N·m. The moment refers to the origin of frame b; all components are in world axes.
    The argument `wrenches` has the shape (rows, B, 6). Each row contains the wrenches that one constraint
    equation, or one spring-damper, of the closure exerts on the ground and on all bodies.
    """
    total = wrenches[:, closure.b.place.body + 1].sum(axis=0)
    total[3:] -= np.cross(frame_pose(posture, closure.b)[:3, 3], total[:3])
    return np.asarray(total)
