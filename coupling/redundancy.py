"""Redundant forces of rigid joints of several points, which are left out of the unknowns of a step.

Opposite forces along the line between two points of a rigid body move nothing. For each joint of two points (a
revolute joint) one such force is redundant, for three points (a fixed joint) three. The unknowns are forces in the
orthogonal complement, so that the forces have the minimum norm. No other gaps can open, because the distances
between the points are equal on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..core.trajectory import Array
from .network import Pin


class PinBasis:
    """Orthonormal basis of the pin forces without redundant ones.

    Parameters
    ----------
    pins : pins of a group
    rows : row of the first position of each pin among the values of the network
    """

    def __init__(self, pins: Sequence[Pin], rows: NDArray[np.intp]) -> None:
        names = [pin.joint for pin in pins]
        self._joints = [
            np.array([k for k, name in enumerate(names) if name == joint], dtype=np.intp).reshape(-1, 3)
            for joint in dict.fromkeys(names)
            if joint and names.count(joint) > 3
        ]
        self._rows, self._matrix = rows, np.eye(len(pins))
        redundant = sum(len(joint) * (len(joint) - 1) // 2 for joint in self._joints)
        self.size = len(pins) - redundant

    def update(self, values: Array) -> None:
        """Turn the basis with the joints, by their positions among the values of the network."""
        if not self._joints:
            return
        idle = np.linalg.qr(np.array([*self._idle(values[self._rows])]).T)[0]
        kept = self._matrix - idle @ (idle.T @ self._matrix)
        left, _, right = np.linalg.svd(kept, full_matrices=False)
        if self._matrix.shape[1] == self.size:  # the orthonormal matrix closest to the one before
            self._matrix = left @ right
        else:
            self._matrix = left[:, : self.size]

    def _idle(self, positions: Array) -> Iterator[Array]:
        """Redundant forces, shape (pins,) each."""
        for joint in self._joints:
            for a, b in combinations(joint, 2):
                force = np.zeros(len(positions))
                force[a] = positions[a] - positions[b]
                force[b] = -force[a]
                yield force / np.linalg.norm(force)

    def reduced(self, values: Array) -> Array:
        """Components in the basis of values per pin, shape (pins, …)."""
        return np.asarray(self._matrix.T @ values)

    def full(self, components: Array) -> Array:
        """Values per pin by their components, shape (size, …)."""
        return np.asarray(self._matrix @ components)
