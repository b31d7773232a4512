"""Representation of signal units in terms of SI base units, and conversion of values between units."""

from __future__ import annotations

from dataclasses import dataclass

from ..description.types.units import exponents
from ..exchange.ssp.system import EXPONENTS


@dataclass(frozen=True)
class PhysicalUnit:
    """A unit as a product of powers of SI base units: value in base units = factor · value + offset.

    Parameters
    ----------
    exponents : powers of kg, m, s, A, K, mol and cd
    factor, offset : conversion of a value to base units
    """

    exponents: tuple[int, ...]
    factor: float = 1.0
    offset: float = 0.0

    def fits(self, other: PhysicalUnit) -> bool:
        """Whether values of this unit can be converted into the other unit."""
        return self.exponents == other.exponents

    def times(self, other: PhysicalUnit) -> PhysicalUnit:
        """Return the unit of the product of a value in this unit and a value in the other unit."""
        summed = tuple(a + b for a, b in zip(self.exponents, other.exponents, strict=True))
        return PhysicalUnit(summed, self.factor * other.factor)


METRE, SECOND = PhysicalUnit((0, 1, 0, 0, 0, 0, 0)), PhysicalUnit((0, 0, 1, 0, 0, 0, 0))
FORCE, WATT = PhysicalUnit((1, 1, -2, 0, 0, 0, 0)), PhysicalUnit((1, 2, -3, 0, 0, 0, 0))


def defined(base: object) -> PhysicalUnit:
    """Return the unit that an XML element defines by exponents of base units, factor and offset."""
    powers = tuple(int(float(getattr(base, key, 0) or 0)) for key in EXPONENTS)
    factor = float(getattr(base, "factor", 1.0) or 1.0)
    return PhysicalUnit(powers, factor, float(getattr(base, "offset", 0.0) or 0.0))


def by_name(name: str) -> PhysicalUnit | None:
    """Return the coherent SI unit of a name such as `N.m` or `m/s`, or None for any other name."""
    try:
        found = exponents(name)
    except ValueError:
        return None
    return PhysicalUnit(tuple(found.get(key, 0) for key in EXPONENTS))


def conversion(source: PhysicalUnit, target: PhysicalUnit) -> tuple[float, float]:
    """Return the factor and offset that convert a value of one unit to a compatible unit."""
    return source.factor / target.factor, (source.offset - target.offset) / target.factor
