"""Rigid finite elements of a prismatic beam, and the springs between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from .inertia import Inertia


@dataclass(frozen=True)
class BeamElement:
    """A rigid finite element that begins at `start` and has this length, both in m along the beam."""

    start: float
    length: float
    inertia: Inertia


@dataclass(frozen=True)
class Beam:
    """Elements of a beam, and the springs and dampers about psi, theta and phi between two of them.

    Parameters
    ----------
    elements : tuple of BeamElement
        From the beam's start to its end.
    stiffness, damping : tuple of float
        About z, y and x, N·m/rad and N·m·s/rad.
    """

    elements: tuple[BeamElement, ...]
    stiffness: tuple[float, float, float]
    damping: tuple[float, float, float]

    def element_at(self, x: float) -> int:
        """Return the index of the element that contains x, m; beyond an end the first or last one."""
        return max(sum(element.start <= x for element in self.elements) - 1, 0)


def beam(table: Mapping[str, Any]) -> Beam:
    """Cut the beam of a table into its rigid finite elements."""
    count = table["elements"] if table["flexible"] else 1
    if count == 1:
        return Beam((_element(table, 0.0, table["length"]),), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    spacing = table["length"] / (count - 1)
    # A spring lies in the middle of each of the count − 1 equal sections; elements reach from spring to spring.
    ends = [0.0, *(spacing * (k + 0.5) for k in range(count - 1)), table["length"]]
    elements = tuple(_element(table, a, b - a) for a, b in pairwise(ends))
    bending_xy, bending_xz = table["E"] * table["Iz"] / spacing, table["E"] * table["Iy"] / spacing
    stiffness = (bending_xy, bending_xz, table["G"] * table["J"] / spacing)
    psi, theta, phi = (table["damping_time"] * spring for spring in stiffness)
    return Beam(elements, stiffness, (psi, theta, phi))


def _element(table: Mapping[str, Any], start: float, length: float) -> BeamElement:
    """Return a bar of this length, m: its section's second moments of area count as inertia, too."""
    density, mass = table["density"], table["density"] * table["area"] * length
    section = density * length * np.array([table["Iy"] + table["Iz"], table["Iy"], table["Iz"]])
    slender = mass * length**2 / 12.0 * np.array([0.0, 1.0, 1.0])
    return BeamElement(
        start, length, Inertia(mass, np.array([length / 2.0, 0.0, 0.0]), np.diag(section + slender))
    )
