"""Bounds of physical numbers in descriptions, FMU parameters and Modelica parameters."""

from __future__ import annotations

from dataclasses import dataclass

LARGEST = 1e30  # products of ten of them are still finite
FARTHEST = 1e12  # m, of places: numbers are 0.1 mm apart there


@dataclass(frozen=True)
class Bounds:
    """Interval from `low` to `high`; both ends belong to the interval, except `low` if `exclusive`
    is true.
    """

    low: float = -LARGEST
    high: float = LARGEST
    exclusive: bool = False

    @property
    def minimum(self) -> float | None:
        """Attribute `min` of FMI, which includes the bound itself; None without a lower bound."""
        return None if self.low <= -LARGEST else self.low

    @property
    def maximum(self) -> float | None:
        """Attribute `max` of FMI; None without an upper bound."""
        return None if self.high >= LARGEST else self.high

    def within(self, other: Bounds) -> Bounds:
        """Return the intersection with other bounds."""
        low = max(self, other, key=lambda bounds: (bounds.low, bounds.exclusive))
        return Bounds(low.low, min(self.high, other.high), low.exclusive)

    def problem(self, value: float) -> str | None:
        """Return the expected range as a message for a number outside the bounds, else None."""
        if self.exclusive and not value > self.low:
            return f"expected a number above {self.low:g}"
        if not value >= self.low:
            return f"expected at least {self.low:g}"
        return None if value <= self.high else f"expected at most {self.high:g}"


ANY = Bounds()
POSITIVE = Bounds(0.0, exclusive=True)
NON_NEGATIVE = Bounds(0.0)
EXPONENT = Bounds(1.0, 2.0)  # of Dahl's model
HERTZIAN = Bounds(1.0, 10.0)  # exponent of a contact's depth
RAMP = Bounds(0.0, 0.5, exclusive=True)  # of a trapezoidal profile
