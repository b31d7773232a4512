"""Functions that write numbers and units in readable notation."""

from __future__ import annotations

import math

NOTHING = "–"


def scientific(value: float | None) -> str:
    """Return a number with two significant digits, such as `3.2e−09`.

    Numbers from 0.1 to 100 have no exponent, zero is `0`, and None is a dash.
    """
    if value is None:
        return NOTHING
    if not math.isfinite(value):
        return "not finite"
    if value == 0 or 0.1 <= abs(value) < 100:
        return decimal(value, 2)
    return _with_minus(f"{value:.1e}")


def decimal(value: float, digits: int = 5) -> str:
    """Return a number with the given number of significant digits and no trailing zeros, such as `4.7124`."""
    return _with_minus(f"{value + 0.0:.{digits}g}") if math.isfinite(value) else "not finite"


def unit_text(unit: str) -> str:
    """Return a unit of Modelica such as `kg.m2/s2` as `kg·m²/s²`."""
    return unit.replace(".", "·").translate(str.maketrans("234", "²³⁴"))


def _with_minus(text: str) -> str:
    return text.replace("-", "−")
