"""Joint loads: the wrench that a joint transmits to its subtree, and the forces of closures.

To accelerate a body takes the force ∫ r̈ dm and the moment ∫ r × r̈ dm. With its pseudo-inertia H, both stand in
P = T̈ H Tᵀ = ∫ r̈ rᵀ dm, r homogeneous: the force in the last column, the moment in the skew part. P is linear in
T̈ = Σ T_i q̈_i + Σ T_mn q̇_m q̇_n.
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
    """Loads of J joints: constant + Σ by_qdd q̈ + Σ by_multiplier λ, λ of knife edges and closures.

    Wrenches are force, then moment about the posture's datum; world axes, N and N·m.

    constant        shape (…, J, 6)
    by_qdd          shape (…, n, J, 6)
    by_multiplier   shape (…, rows, J, 6)
    """

    constant: Array
    by_qdd: Array
    by_multiplier: Array

    def change(self, qdd: Array, multipliers: Array) -> Array:
        """Return the linear part for q̈ of shape (…, n, c) and λ of shape (…, rows, c), shape (…, J, 6, c)."""
        parts = ((self.by_qdd, qdd), (self.by_multiplier, multipliers))
        return np.asarray(sum(_combined(loads, factors) for loads, factors in parts))

    def at(self, qdd: Array, multipliers: Array) -> Array:
        """The loads, shape (…, J, 6), for q̈ of shape (…, n) and λ of shape (…, rows)."""
        return self.constant + self.change(qdd[..., None], multipliers[..., None])[..., 0]


class CompiledJointLoads:
    """Loads of some links' joints, compiled.

    inertia   shape (B, 4, 4), pseudo-inertias of the slots
    """

    def __init__(
        self, mechanism: Mechanism, links: Sequence[str], inertia: Array, constraints: CompiledConstraints
    ) -> None:
        self.links = tuple(links)
        joints = [joint_body(mechanism, link) for link in links]
        self._slots = np.array(joints, dtype=int) + 1
        self._carried = np.array([_subtree(mechanism, body) for body in joints]).reshape(-1, len(inertia))
        coordinates = [mechanism.bodies[body].coordinates for body in joints]
        # Revolute and prismatic joints have one coordinate, whose axis is the same in the link's frame.
        self.axes = {
            link: np.array(mechanism.coordinates[own[0]].axis)
            for link, own in zip(links, coordinates, strict=True)
            if len(own) == 1
        }
        self._inertia, self._constraints = inertia, constraints
        self._gravity = np.zeros((4, len(inertia), 4))
        self._gravity[:3, :, 3] = np.asarray(mechanism.gravity, dtype=float)[:, None]

    def affine(self, posture: Posture, external: Array) -> AffineLoads:
        """The loads as functions of q̈ and the multipliers of knife edges and closures.

        external   shape (…, B, 6), wrenches of point forces and spring-damper closures on the slots
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
        """Loads of shape (J, 6) about the links' origins, in the links' axes."""
        T = posture.T[:, self._slots].transpose(1, 0, 2)
        force, moment = loads[:, :3], loads[:, 3:] - np.cross(T[:, :3, 3], loads[:, :3])
        return np.concatenate([(x[:, None] @ T[:, :3, :3])[:, 0] for x in (force, moment)], axis=1)


def joint_body(mechanism: Mechanism, link: str) -> int:
    """Index of the body that the link's joint moves: of a flexible link the first element.

    Raises SolveError if there is no such link.
    """
    links = [body.link for body in mechanism.bodies]
    if link not in links or link == "base":
        known = ", ".join(dict.fromkeys(name for name in links if name != "base"))
        raise SolveError(f"joint loads: there is no link {link!r}; known are: {known}")
    return links.index(link)


def all_links(mechanism: Mechanism) -> tuple[str, ...]:
    """The links in the order of their bodies."""
    return tuple(dict.fromkeys(body.link for body in mechanism.bodies if body.link != "base"))


def _subtree(mechanism: Mechanism, root: int) -> list[float]:
    """1 for each slot that the body `root` carries, itself included, else 0."""
    carried = [False] * len(mechanism.bodies)
    for b, body in enumerate(mechanism.bodies):
        carried[b] = b == root or (body.parent != GROUND and carried[body.parent])
    return [0.0, *map(float, carried)]


def _rate_of_momentum(T_ddot: Array, HT: Array) -> Array:
    """∫ r̈ dm and ∫ r × r̈ dm of each slot, shape (…, c, B, 6), for c parts of T̈, shape (…, c, 4, B, 4).

    HT   shape (…, B, 4, 4), H Tᵀ
    """
    *many, count, _, slots, _ = T_ddot.shape
    P = np.moveaxis(T_ddot, -2, -4).reshape(*many, slots, -1, 4) @ HT
    P = P.reshape(*many, slots, count, 4, 4).swapaxes(-4, -3)
    moment = P[..., [2, 0, 1], [1, 2, 0]] - P[..., [1, 2, 0], [2, 0, 1]]
    return np.concatenate([P[..., :3, 3], moment], axis=-1)


def _combined(loads: Array, factors: Array) -> Array:
    """Σ_i loads[…, i, :, :] factors[…, i, c], shape (…, J, 6, c)."""
    *many, count, J, _ = loads.shape
    flat = loads.reshape(*many, count, J * 6).swapaxes(-2, -1)
    return np.asarray((flat @ factors).reshape(*many, J, 6, factors.shape[-1]))


def axial_and_normal(load: Array, axis: Array) -> tuple[float, float]:
    """Force along the joint's axis and length of the force across it, N, of a load of shape (6,) in link axes."""
    axial = float(load[:3] @ axis)
    return axial, float(np.linalg.norm(load[:3] - axial * axis))


def closure_wrench(posture: Posture, closure: LoopClosure, wrenches: Array) -> Array:
    """Force and moment about frame b's origin on the body of frame b, shape (6,), N and N·m, world axes.

    wrenches   shape (rows, B, 6): what each of the closure's conditions does to the slots
    """
    total = wrenches[:, closure.b.place.body + 1].sum(axis=0)
    total[3:] -= np.cross(frame_pose(posture, closure.b)[:3, 3], total[:3])
    return np.asarray(total)
