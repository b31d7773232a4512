"""Numbers and units as people read them."""

from __future__ import annotations

import math

NOTHING = "–"


def scientific(value: float | None) -> str:
    """`3.2e−09`, two digits; `0.42` where that is as short; `0` for zero, a dash for None."""
    if value is None:
        return NOTHING
    if not math.isfinite(value):
        return "not finite"
    if value == 0 or 0.1 <= abs(value) < 100:
        return decimal(value, 2)
    return _with_minus(f"{value:.1e}")


def decimal(value: float, digits: int = 5) -> str:
    """`4.7124`: so many significant digits, trailing zeros left out, no negative zero."""
    return _with_minus(f"{value + 0.0:.{digits}g}") if math.isfinite(value) else "not finite"


def unit_text(unit: str) -> str:
    """`kg·m²/s²` for Modelica's `kg.m2/s2`."""
    return unit.replace(".", "·").translate(str.maketrans("234", "²³⁴"))


def _with_minus(text: str) -> str:
    return text.replace("-", "−")
