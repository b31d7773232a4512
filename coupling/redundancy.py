"""Removal of redundant forces in rigid joints that are modelled by several connected points.

A pin is a rigid connection of two positions; each connected point has three pins. Consider two
points of a rigid body. A pair of opposite forces along the line between the points does not change
the motion of the body. Such a pair of forces is redundant. A revolute joint, modelled by two
points, has one redundant pair of forces. A fixed joint, modelled by three points, has three. The
unknowns of a communication step are therefore components of the pin forces in the orthogonal
complement of the redundant forces. The distance between two points is equal on both bodies, so the
points cannot separate in the direction of a redundant force.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..core.trajectory import Array
from .network import Pin


class PinBasis:
    """Orthonormal basis for pin forces; the basis excludes redundant forces.

    A pin is a rigid connection of two positions by a pair of opposite forces.

    Parameters
    ----------
    pins : pins of one group of coupled FMUs
    rows : index of the first of the two positions of each pin, among the outputs of the coupled
        system
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
        """Recompute the basis of the vector space of forces at rigid connections (pins).

        The basis depends on the positions of the pins.

        The positions are elements of `values`, the outputs of the coupled system.
        """
        if not self._joints:
            return
        idle = np.linalg.qr(np.array([*self._idle(values[self._rows])]).T)[0]
        kept = self._matrix - idle @ (idle.T @ self._matrix)
        left, _, right = np.linalg.svd(kept, full_matrices=False)
        if self._matrix.shape[1] == self.size:
            # The polar decomposition yields the orthonormal basis that is closest to the previous basis.
            self._matrix = left @ right
        else:
            self._matrix = left[:, : self.size]

    def _idle(self, positions: Array) -> Iterator[Array]:
        """Yield each redundant pair of forces as a unit vector with one component per pin, shape (pins,)."""
        for joint in self._joints:
            for a, b in combinations(joint, 2):
                force = np.zeros(len(positions))
                force[a] = positions[a] - positions[b]
                force[b] = -force[a]
                yield force / np.linalg.norm(force)

    def reduced(self, values: Array) -> Array:
        """Project arrays with one value per pin onto the basis, and return the components.

        The arrays have the shape (pins, …). The components have the shape (size, …) for a basis of
        `size` vectors.
        """
        return np.asarray(self._matrix.T @ values)

    def full(self, components: Array) -> Array:
        """Return the pin forces that have the given components in the basis.

        The components have the shape (size, …) for a basis of `size` vectors. The forces have the
        shape (pins, …).
        """
        return np.asarray(self._matrix @ components)
