"""Forces that act on the bodies and on the coordinates, and the energy that elements store."""

from __future__ import annotations

import numpy as np

from ...core.trajectory import Array
from ..bodies.motion import Motion, PointMotion, cross


class Load:
    """Sum of the forces in a state.

    Parameters
    ----------
    force, moment : ndarray, shape (B + 1, 3)
        On each body and the ground, N, and N·m about the body's origin, world axes.
    effort : ndarray, shape (n,)
        On each coordinate, between the bodies that it connects, N or N·m.
    energy : float
        Energy of springs, J.
    """

    def __init__(self, bodies: int, n: int) -> None:
        self.force, self.moment = np.zeros((bodies + 1, 3)), np.zeros((bodies + 1, 3))
        self.effort = np.zeros(n)
        self.energy = 0.0
        self._pushed: list[tuple[int, Array]] = []

    def push(self, k: int, force: Array) -> None:
        """Add a force, shape (3,), N, at point k."""
        self._pushed.append((k, force))

    def settle(self, points: PointMotion) -> None:
        """Bring the forces at points to the bodies' origins."""
        if self._pushed:
            which, forces = [k for k, _ in self._pushed], np.array([force for _, force in self._pushed])
            np.add.at(self.force, points.body[which], forces)
            np.add.at(self.moment, points.body[which], cross(points.arm[which], forces))
        self._pushed = []

    def generalised(self, motion: Motion) -> Array:
        """Return the generalised forces, shape (n,), by the power at unit rates."""
        n = len(self.effort)
        power = (
            motion.moving.reshape(n, -1) @ self.force.ravel() + motion.turning.reshape(n, -1) @ self.moment.ravel()
        )
        return np.asarray(power + self.effort)
