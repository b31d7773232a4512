"""Rigid finite element method: rigid elements with springs between them (Jarzębowska et al. 2020, equation (7)).

The formulas take numbers or symbols alike, so that the generated model keeps the beam's parameters.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Generic

from ..core.arithmetic import S


@dataclass(frozen=True)
class RigidElement(Generic[S]):
    """One rigid finite element; its frame is at its start, x along the beam.

    start    distance from the beam's start, m
    length   m
    mass     kg; the com is at length/2
    moments  about the com, axes of the element, kg·m²
    """

    start: S
    length: S
    mass: S
    moments: tuple[S, S, S]


@dataclass(frozen=True)
class BeamData(Generic[S]):
    """Length, section, density and moduli of a prismatic beam; SI units."""

    length: S
    area: S
    density: S
    E: S
    G: S
    Iy: S
    Iz: S
    J: S


def element_lengths(length: S, count: int) -> list[S]:
    """Δ/2, Δ, …, Δ, Δ/2 with Δ = length/(count − 1); m."""
    if count == 1:
        return [length]
    section = length / (count - 1)
    return [section / 2, *[section] * (count - 2), section / 2]


def element_starts(length: S, count: int) -> list[S]:
    """Return the begins of the elements, from the beam's begin, m."""
    return [0.0 * length, *[(r - 0.5) * length / (count - 1) for r in range(1, count)]]


def elements(beam: BeamData[S], count: int) -> list[RigidElement[S]]:
    """The beam's rigid finite elements, from its start to its end."""
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
    """Springs between elements about z (psi), y (theta) and x (phi), N·m/rad; count ≥ 2."""
    section = beam.length / (count - 1)
    return beam.E * beam.Iz / section, beam.E * beam.Iy / section, beam.G * beam.J / section


def element_at(x: float, length: float, count: int) -> int:
    """Index of the element with start ≤ x < end; the ends of the beam belong to the first and last one."""
    return max(bisect_right(element_starts(length, count), x) - 1, 0)
