"""Bounds of physical numbers in descriptions, FMU parameters and Modelica parameters."""

from __future__ import annotations

from dataclasses import dataclass

LARGEST = 1e30  # largest number; ten such numbers can be multiplied without overflow
FARTHEST = 1e12  # largest distance of a point from the origin, m; double precision still resolves 0.1 mm


@dataclass(frozen=True)
class Bounds:
    """Interval [low, high], or (low, high] if `exclusive` is true."""

    low: float = -LARGEST
    high: float = LARGEST
    exclusive: bool = False

    @property
    def minimum(self) -> float | None:
        """Value of the FMI attribute `min`; None if there is no lower bound.

        FMI cannot express that an interval excludes the bound itself.
        """
        return None if self.low <= -LARGEST else self.low

    @property
    def maximum(self) -> float | None:
        """Value of the FMI attribute `max`; None if there is no upper bound."""
        return None if self.high >= LARGEST else self.high

    def within(self, other: Bounds) -> Bounds:
        """Return the intersection of this interval and the interval `other`."""
        low = max(self, other, key=lambda bounds: (bounds.low, bounds.exclusive))
        return Bounds(low.low, min(self.high, other.high), low.exclusive)

    def problem(self, value: float) -> str | None:
        """Return an error message with the expected range, or None if the value is within the bounds."""
        if self.exclusive and not value > self.low:
            return f"expected a number above {self.low:g}"
        if not value >= self.low:
            return f"expected at least {self.low:g}"
        return None if value <= self.high else f"expected at most {self.high:g}"


ANY = Bounds()
POSITIVE = Bounds(0.0, exclusive=True)
NON_NEGATIVE = Bounds(0.0)
EXPONENT = Bounds(1.0, 2.0)  # bounds of the exponent γ of the Dahl friction model
HERTZIAN = Bounds(1.0, 10.0)  # bounds of the exponent of the penetration depth in a contact law
SAMPLE_TIME = Bounds(1e-6)  # bounds of the sample time of a controller, s
# The duration of the acceleration phase, divided by the time between two waypoints, must be within these bounds.
RAMP = Bounds(0.0, 0.5, exclusive=True)
