"""Constraint Jacobian in absolute coordinates, six per body.

The formulation follows Wojtyra and Frączek 2013, sections 2.1 and 3. The absolute velocities of a
body are the velocity v and the angular velocity ω of the body's frame. In each Jacobian row, the
coefficients of v and ω are the force and moment that a unit multiplier exerts on the body. The
coefficients of ω are divided by the mechanism's extent, so that all coefficients are comparable. A
tree joint has one constraint equation for each independent wrench that does no work in the joint's
motions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...core.trajectory import Array
from ...mechanism import GROUND
from ...reference.constraints.closures import Conditions, frame_pose
from ...reference.forces.joint_loads import COMPONENTS
from ...reference.kinematics.extent import units_of_change
from ...reference.kinematics.quantities import KinematicState
from ...reference.solve.model import ReferenceModel

_ROUNDING = 1e-12  # A Jacobian row counts as zero if its norm is at most this value.
# In the matrix of a joint's twists, singular values up to this fraction of the largest one count as zero.
_RANK = 1e-9


@dataclass(frozen=True)
class Pair:
    """Kinematic pair, or another constraint, with k constraint equations.

    Parameters
    ----------
    name : str
        Name of the joint, closure or constraint equation.
    kind : str
        joint | closure | programmed | nonholonomic
    order : int
        Level of the equations: 0 for positions, 1 for velocities, 2 for accelerations.
    rows : ndarray, shape (k, 6·bodies)
        Jacobian with respect to v and ω of each body, world axes.
    wrenches : ndarray, shape (k, c)
        Force and moment components, in the order of `components`, that a unit multiplier of each
        equation exerts.
    components : tuple of str
        Names of the c components. A joint has fx fy fz nx ny nz, about the origin and in the axes of
        the joint's frame. A scalar constraint has a single component.
    """

    name: str
    kind: str
    order: int
    rows: Array
    wrenches: Array
    components: tuple[str, ...]

    def scaled(self) -> Pair:
        """Return the kinematic pair with each Jacobian row divided by its length.

        The wrench of each row is divided by the same length.

        Rows that are zero up to rounding become exactly zero.
        """
        lengths = np.linalg.norm(self.rows, axis=1, keepdims=True)
        factors = np.where(lengths > _ROUNDING, 1.0 / np.maximum(lengths, _ROUNDING), 0.0)
        return replace(self, rows=self.rows * factors, wrenches=self.wrenches * factors)


def pairs(model: ReferenceModel, state: KinematicState) -> list[Pair]:
    """Return all kinematic pairs of a mechanism.

    The list contains joints (named by their links), closures, programmed constraints and knife edges.
    Spring-damper closures, flexible supports of a base, and drives are not included, because they
    impose no constraints.
    """
    absolute = _Absolute(model, state)
    found = [*absolute.joints(), *absolute.closures(), *absolute.programmed(), *absolute.nonholonomic()]
    names = [pair.name for pair in found]
    # The kind of constraint distinguishes a link and a loop closure that have the same name.
    return [replace(p, name=f"{p.name} ({p.kind})") if names.count(p.name) > 1 else p for p in found]


class _Absolute:
    """Constraint Jacobian of a model in absolute coordinates at one state."""

    def __init__(self, model: ReferenceModel, state: KinematicState) -> None:
        self._model, self._mechanism, self._state = model, model.mechanism, state
        self._extent = units_of_change(model.mechanism, state.posture)[0]
        self._frames = state.posture.T.transpose(1, 0, 2)
        bodies = range(len(model.mechanism.bodies))
        self._motions = [self._motion(b) for b in bodies]

    def joints(self) -> Iterator[Pair]:
        """Yield the tree joints, including the joints between the beam elements of a flexible link."""
        first: set[str] = set()
        for b, body in enumerate(self._mechanism.bodies):
            name = body.name if body.link in first else body.link
            first.add(body.link)
            held = name == "base" and self._mechanism.base_fixed
            borne = np.eye(6) if held else _complement(self._motions[b])
            if len(borne):
                unscaled = borne * np.repeat([1.0, self._extent], 3)
                yield Pair(name, "joint", 0, self._columns(self._between(b, unscaled)), unscaled, COMPONENTS)

    def closures(self) -> Iterator[Pair]:
        """Yield the loop closures with constraint equations as kinematic pairs.

        The moment components of a reaction are about the origin of frame b. All components are in
        the axes of frame a.
        """
        posture = self._state.posture
        for closure in self._mechanism.closures:
            if not closure.rows:
                continue
            wrenches = Conditions(self._mechanism, [closure]).wrenches(posture)
            axes = frame_pose(posture, closure.a)[:3, :3]
            own = _about(wrenches[:, closure.b.place.body + 1], frame_pose(posture, closure.b)[:3, 3])
            local = np.hstack([own[:, :3] @ axes, own[:, 3:] @ axes])
            yield Pair(closure.name, "closure", 0, self._columns(wrenches), local, COMPONENTS)

    def programmed(self) -> Iterator[Pair]:
        """Yield the programmed constraint equations as kinematic pairs."""
        by_quantity = self._by_quantity()
        for task in self._model.constraints.tasks:
            for name, slopes in zip(task.names, task.slopes(self._state), strict=True):
                rows = self._columns(np.tensordot(slopes, by_quantity, 1)[None])
                yield Pair(name, "programmed", task.order, rows, np.ones((1, 1)), ("multiplier",))

    def nonholonomic(self) -> Iterator[Pair]:
        """Yield the knife edges as kinematic pairs."""
        edges = self._model.constraints.edges
        for name, wrench in zip(edges.names, edges.wrenches(self._state.posture), strict=True):
            yield Pair(name, "nonholonomic", 1, self._columns(wrench[None]), np.ones((1, 1)), ("force",))

    def _motion(self, b: int) -> Array:
        """Return the twists (v, ω·extent) that the joint of a body permits, in body axes, shape (k, 6).

        Each of the k rows is the twist relative to the parent body for a unit rate of one coordinate.
        """
        S = self._state.posture.S.reshape(-1, 4, 4)[list(self._mechanism.bodies[b].coordinates)]
        R, p = self._frames[b + 1, :3, :3], self._frames[b + 1, :3, 3]
        turning = S[:, [2, 0, 1], [1, 2, 0]]
        moving = S[:, :3, 3] + np.cross(turning, p)
        return np.hstack([moving @ R, self._extent * turning @ R])

    def _between(self, b: int, local: Array) -> Array:
        """Return wrenches on body b and the opposite wrenches on its parent body, all about the world origin.

        Parameters
        ----------
        b : int
            Index of the body.
        local : ndarray, shape (k, 6)
            Wrenches on body b about the body's origin in body axes.

        Returns
        -------
        ndarray, shape (k, B, 6)
            Wrenches on the ground and all bodies.
        """
        R, p = self._frames[b + 1, :3, :3], self._frames[b + 1, :3, 3]
        force, moment = local[:, :3] @ R.T, local[:, 3:] @ R.T
        wrench = np.hstack([force, moment + np.cross(p, force)])
        found = np.zeros((len(local), len(self._frames), 6))
        found[:, b + 1] = wrench
        parent = self._mechanism.bodies[b].parent
        found[:, 0 if parent == GROUND else parent + 1] -= wrench
        return found

    def _by_quantity(self) -> Array:
        """Return the wrenches of a unit effort on each kinematic quantity, shape (quantities, B, 6).

        The total power of these wrenches equals the time derivative of the quantity. The wrenches depend on
        the kind of quantity.

        - Point coordinate: a unit force at the point along the axis.
        - Direction cosine a·e: the moment a × e, because (ω × a)·e = (a × e)·ω.
        - Joint coordinate: the wrench that does no work in the other motions of the joint.
        - Length: two opposite forces that increase the length.

        All moments are about the origin of the frame in which the positions of bodies are stored.
        """
        quantities, slots = self._model.quantities, len(self._frames)
        found = np.zeros((len(self._state.x), slots, 6))
        for number, (name, place) in enumerate(self._mechanism.points.items()):
            at = self._state.places.position[:, number]
            found[quantities.point(name), place.body + 1] = np.hstack([np.eye(3), np.cross(at, np.eye(3))])
        for name, frame in self._mechanism.frames.items():
            used = quantities.axes(name)
            moments = np.cross(self._state.x[used].T[None], np.eye(3)[:, None])
            found[used, frame.place.body + 1, 3:] = moments
        for b, body in enumerate(self._mechanism.bodies):
            efforts = np.linalg.pinv(self._motions[b]).T * np.repeat([1.0, self._extent], 3)
            names = [self._mechanism.coordinates[k].name for k in body.coordinates]
            found[[quantities.position[name] for name in names]] = self._between(b, efforts)
        by_coordinate = found[[quantities.position[c.name] for c in self._mechanism.coordinates]]
        for length in quantities.lengths:
            wrench = length.wrench(self._state.posture, self._state.places, by_coordinate)
            found[quantities.position[length.name]] = wrench
        return found

    def _columns(self, wrenches: Array) -> Array:
        """Return Jacobian rows, shape (k, 6·bodies), from wrenches about the world origin, shape (k, B, 6)."""
        at = self._frames[1:, :3, 3]
        own: Array = _about(wrenches[:, 1:], at) / np.repeat([1.0, self._extent], 3)
        return own.reshape(len(wrenches), -1)


def _about(wrenches: Array, at: Array) -> Array:
    """Transfer wrenches, shape (…, 6), from the world origin to the reference points `at`, shape (…, 3)."""
    force: Array = wrenches[..., :3]
    moment: Array = wrenches[..., 3:] - np.cross(at, force)
    return np.concatenate([force, moment], axis=-1)


def _complement(motions: Array) -> Array:
    """Return an orthonormal basis of the wrenches that do no work in the given twists.

    The shape is (6 − rank, 6).
    """
    _, values, directions = np.linalg.svd(motions)
    rank = int(np.count_nonzero(values > _RANK * values.max(initial=0.0)))
    return np.asarray(directions[rank:])
