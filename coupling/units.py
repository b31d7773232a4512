"""Units of signals: what they are in base units, and how values convert."""

from __future__ import annotations

from dataclasses import dataclass

from ..description.types.units import exponents

_BASE = ("kg", "m", "s", "A", "K", "mol", "cd")  # rad is 1


@dataclass(frozen=True)
class Unit:
    """A unit by its exponents of kg, m, s, A, K, mol and cd: base value = factor · value + offset."""

    exponents: tuple[int, ...]
    factor: float = 1.0
    offset: float = 0.0

    def fits(self, other: Unit) -> bool:
        """Whether values of one can be converted into the other."""
        return self.exponents == other.exponents

    def times(self, other: Unit) -> Unit:
        """Unit of the product of two values."""
        summed = tuple(a + b for a, b in zip(self.exponents, other.exponents, strict=True))
        return Unit(summed, self.factor * other.factor)

    @property
    def plain(self) -> bool:
        """Whether the unit has no dimension."""
        return not any(self.exponents)


SECOND, WATT = Unit((0, 0, 1, 0, 0, 0, 0)), Unit((1, 2, -3, 0, 0, 0, 0))


def defined(base: object) -> Unit:
    """Return the unit of a definition whose attributes are the exponents, the factor and the offset."""
    powers = tuple(int(float(getattr(base, key, 0) or 0)) for key in _BASE)
    factor = float(getattr(base, "factor", 1.0) or 1.0)
    return Unit(powers, factor, float(getattr(base, "offset", 0.0) or 0.0))


def by_name(name: str) -> Unit | None:
    """Return a coherent SI unit that is written as in `N.m` or `m/s`; None for another name."""
    try:
        found = exponents(name)
    except ValueError:
        return None
    return Unit(tuple(found.get(key, 0) for key in _BASE))


def conversion(source: Unit, target: Unit) -> tuple[float, float]:
    """Factor and offset from a value in one unit to that in another that fits."""
    return source.factor / target.factor, (source.offset - target.offset) / target.factor
