"""Rigid finite element method (RFEM): rigid elements of a beam with springs between them.

The formulas follow Jarzębowska et al. 2020, equation (7). They accept numbers or symbols, so that
the parameters of a beam can be changed in the generated model.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Generic

from ..core.arithmetic import S


@dataclass(frozen=True)
class RigidElement(Generic[S]):
    """Rigid finite element of a beam.

    The frame of the element is at the start of the element, with the x axis along the beam.

    Attributes
    ----------
    start : scalar
        Distance from the start of the beam, m.
    length : scalar
        Length, m.
    mass : scalar
        Mass, kg; the centre of mass is at half the length.
    moments : tuple of scalars
        Moments of inertia, kg·m², about the axes through the centre of mass that are parallel to the
        element's axes x, y and z.
    """

    start: S
    length: S
    mass: S
    moments: tuple[S, S, S]


@dataclass(frozen=True)
class BeamData(Generic[S]):
    """Length, cross-section, density and moduli of elasticity of a prismatic beam, SI units."""

    length: S
    area: S
    density: S
    E: S
    G: S
    Iy: S
    Iz: S
    J: S


def element_lengths(length: S, count: int) -> list[S]:
    """Return the element lengths Δ/2, Δ, …, Δ, Δ/2 of a beam, m, with Δ = length/(count − 1)."""
    if count == 1:
        return [length]
    section = length / (count - 1)
    return [section / 2, *[section] * (count - 2), section / 2]


def element_starts(length: S, count: int) -> list[S]:
    """Return the distance between the start of a beam and the start of each rigid finite element, m."""
    return [0.0 * length, *[(r - 0.5) * length / (count - 1) for r in range(1, count)]]


def elements(beam: BeamData[S], count: int) -> list[RigidElement[S]]:
    """Return the rigid finite elements of a beam from its start to its end."""
    places = zip(element_starts(beam.length, count), element_lengths(beam.length, count), strict=True)
    return [_element(beam, start, length) for start, length in places]


def _element(beam: BeamData[S], start: S, length: S) -> RigidElement[S]:
    mass = beam.density * beam.area * length
    slender = mass * (length * length) / 12
    moments = (
        beam.density * (beam.Iy + beam.Iz) * length,
        beam.density * beam.Iy * length + slender,
        beam.density * beam.Iz * length + slender,
    )
    return RigidElement(start, length, mass, moments)


def stiffnesses(beam: BeamData[S], count: int) -> tuple[S, S, S]:
    """Return the stiffnesses of the springs between elements, N·m/rad.

    The beam must have at least two elements. The springs resist relative rotations about z (psi), y
    (theta) and x (phi).
    """
    section = beam.length / (count - 1)
    return beam.E * beam.Iz / section, beam.E * beam.Iy / section, beam.G * beam.J / section


def element_at(x: float, length: float, count: int) -> int:
    """Return the index of the element that contains the position x, m.

    A position beyond an end of the beam belongs to the element at this end.
    """
    return max(bisect_right(element_starts(length, count), x) - 1, 0)
