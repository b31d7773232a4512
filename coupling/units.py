"""Units of signals: what they are in base units, and how values convert."""

from __future__ import annotations

from dataclasses import dataclass

from ..description.types.units import exponents
from ..exchange.ssp.system import EXPONENTS


@dataclass(frozen=True)
class PhysicalUnit:
    """A unit by its exponents of kg, m, s, A, K, mol and cd: base value = factor · value + offset."""

    exponents: tuple[int, ...]
    factor: float = 1.0
    offset: float = 0.0

    def fits(self, other: PhysicalUnit) -> bool:
        """Whether values of one can be converted into the other."""
        return self.exponents == other.exponents

    def times(self, other: PhysicalUnit) -> PhysicalUnit:
        """Unit of the product of two values."""
        summed = tuple(a + b for a, b in zip(self.exponents, other.exponents, strict=True))
        return PhysicalUnit(summed, self.factor * other.factor)


SECOND, WATT = PhysicalUnit((0, 0, 1, 0, 0, 0, 0)), PhysicalUnit((1, 2, -3, 0, 0, 0, 0))


def defined(base: object) -> PhysicalUnit:
    """Return the unit of a definition whose attributes are the exponents, the factor and the offset."""
    powers = tuple(int(float(getattr(base, key, 0) or 0)) for key in EXPONENTS)
    factor = float(getattr(base, "factor", 1.0) or 1.0)
    return PhysicalUnit(powers, factor, float(getattr(base, "offset", 0.0) or 0.0))


def by_name(name: str) -> PhysicalUnit | None:
    """Return a coherent SI unit that is written as in `N.m` or `m/s`; None for another name."""
    try:
        found = exponents(name)
    except ValueError:
        return None
    return PhysicalUnit(tuple(found.get(key, 0) for key in EXPONENTS))


def conversion(source: PhysicalUnit, target: PhysicalUnit) -> tuple[float, float]:
    """Factor and offset from a value in one unit to that in another that fits."""
    return source.factor / target.factor, (source.offset - target.offset) / target.factor
