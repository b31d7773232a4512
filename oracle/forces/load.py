"""Class that adds up the applied forces and the potential energies of all force elements."""

from __future__ import annotations

import numpy as np

from ...core.trajectory import Array
from ..bodies.motion import Motion, PointMotion, cross


class Load:
    """Sum of the applied forces on B bodies and n coordinates at one state.

    Parameters
    ----------
    bodies, n : int
        Numbers of bodies and coordinates.

    Attributes
    ----------
    force, moment : ndarray, shape (B + 1, 3)
        Force, N, and moment about the body's origin, N·m, on each body and the ground, in world axes.
    effort : ndarray, shape (n,)
        Effort on each coordinate, N or N·m, which acts between the two bodies of the joint.
    energy : float
        Potential energy, J.
    """

    def __init__(self, bodies: int, n: int) -> None:
        self.force, self.moment = np.zeros((bodies + 1, 3)), np.zeros((bodies + 1, 3))
        self.effort = np.zeros(n)
        self.energy = 0.0
        self._pushed: list[tuple[int, Array]] = []

    def push(self, k: int, force: Array) -> None:
        """Add a force in world axes, shape (3,), N, at point k."""
        self._pushed.append((k, force))

    def settle(self, points: PointMotion) -> None:
        """Replace each force at a point by the equivalent force and moment at the origin of the body."""
        if self._pushed:
            which, forces = [k for k, _ in self._pushed], np.array([force for _, force in self._pushed])
            np.add.at(self.force, points.body[which], forces)
            np.add.at(self.moment, points.body[which], cross(points.arm[which], forces))
        self._pushed = []

    def generalised(self, motion: Motion) -> Array:
        """Return the generalised forces of all applied forces, shape (n,), N or N·m."""
        n = len(self.effort)
        power = (
            motion.moving.reshape(n, -1) @ self.force.ravel() + motion.turning.reshape(n, -1) @ self.moment.ravel()
        )
        return np.asarray(power + self.effort)
