"""Removal of redundant forces in rigid joints that are modelled by pins at several points.

Opposite forces along the line between two points of a rigid body do not change its motion. Such a
pair of forces is redundant. A joint pinned at two points (a revolute joint) has one redundant pair.
A joint pinned at three points (a fixed joint) has three. The unknowns of a communication step are
therefore the components of the pin forces in the orthogonal complement. No gap can open in the
removed directions, because both bodies have equal distances between the points.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..core.trajectory import Array
from .network import Pin


class PinBasis:
    """Orthonormal basis of the pin forces that are not redundant.

    A pin is a rigid connection of two positions by a pair of opposite forces.

    Parameters
    ----------
    pins : pins of one group of coupled parts
    rows : index of the first position of each pin among the output values of the coupled system
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
        """Recompute the basis of the pin forces for the present positions of the pins.

        The positions are elements of `values`, the output values of the coupled system.
        """
        if not self._joints:
            return
        idle = np.linalg.qr(np.array([*self._idle(values[self._rows])]).T)[0]
        kept = self._matrix - idle @ (idle.T @ self._matrix)
        left, _, right = np.linalg.svd(kept, full_matrices=False)
        if self._matrix.shape[1] == self.size:  # orthonormal basis closest to the previous basis
            self._matrix = left @ right
        else:
            self._matrix = left[:, : self.size]

    def _idle(self, positions: Array) -> Iterator[Array]:
        """Yield each redundant force as a vector of unit length with one component per pin, shape (pins,)."""
        for joint in self._joints:
            for a, b in combinations(joint, 2):
                force = np.zeros(len(positions))
                force[a] = positions[a] - positions[b]
                force[b] = -force[a]
                yield force / np.linalg.norm(force)

    def reduced(self, values: Array) -> Array:
        """Transform values per pin, shape (pins, …), to the reduced basis, shape (size, …)."""
        return np.asarray(self._matrix.T @ values)

    def full(self, components: Array) -> Array:
        """Transform components in the reduced basis, shape (size, …), to values per pin, shape (pins, …)."""
        return np.asarray(self._matrix @ components)
