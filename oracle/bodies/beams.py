"""Discretisation of prismatic beams into rigid finite elements connected by springs and dampers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from .inertia import Inertia


@dataclass(frozen=True)
class BeamElement:
    """Rigid finite element of a beam.

    Parameters
    ----------
    start, length : float
        Position of the element's first end along the undeformed beam, and its length, m.
    inertia : Inertia
        Mass, centre of mass and moments of inertia of the element.
    """

    start: float
    length: float
    inertia: Inertia


@dataclass(frozen=True)
class Beam:
    """Rigid finite elements of a beam and the spring-dampers between neighbouring elements.

    Parameters
    ----------
    elements : tuple of BeamElement
        Elements in their order along the beam.
    stiffness, damping : tuple of float
        Rotational stiffness, N·m/rad, and damping, N·m·s/rad, about the z, y and x axes (angles psi,
        theta, phi).
    """

    elements: tuple[BeamElement, ...]
    stiffness: tuple[float, float, float]
    damping: tuple[float, float, float]

    def element_at(self, x: float) -> int:
        """Return the index of the element at the position x, m, along the beam.

        Positions beyond an end of the beam belong to the element at this end.
        """
        return max(sum(element.start <= x for element in self.elements) - 1, 0)


def beam(table: Mapping[str, Any]) -> Beam:
    """Return the rigid finite elements and spring-dampers of a beam from its description table."""
    count = table["elements"] if table["flexible"] else 1
    if count == 1:
        return Beam((_element(table, 0.0, table["length"]),), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    spacing = table["length"] / (count - 1)
    # A beam has equal sections, each with a spring in the middle; rigid elements extend between the springs.
    ends = [0.0, *(spacing * (k + 0.5) for k in range(count - 1)), table["length"]]
    elements = tuple(_element(table, a, b - a) for a, b in pairwise(ends))
    bending_xy, bending_xz = table["E"] * table["Iz"] / spacing, table["E"] * table["Iy"] / spacing
    stiffness = (bending_xy, bending_xz, table["G"] * table["J"] / spacing)
    psi, theta, phi = (table["damping_time"] * spring for spring in stiffness)
    return Beam(elements, stiffness, (psi, theta, phi))


def _element(table: Mapping[str, Any], start: float, length: float) -> BeamElement:
    """Return the rigid finite element for a beam section of the given length, m.

    The moments of inertia include the rotary inertia of the cross-section.
    """
    density, mass = table["density"], table["density"] * table["area"] * length
    section = density * length * np.array([table["Iy"] + table["Iz"], table["Iy"], table["Iz"]])
    slender = mass * length**2 / 12.0 * np.array([0.0, 1.0, 1.0])
    return BeamElement(
        start, length, Inertia(mass, np.array([length / 2.0, 0.0, 0.0]), np.diag(section + slender))
    )
