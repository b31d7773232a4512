"""Units in the notation of Modelica: `N.m/rad`, `kg.m2`, `1/s`."""

from __future__ import annotations

import re
from collections.abc import Mapping

BASE = ("kg", "m", "s", "A", "rad")
DERIVED = {
    "N": {"kg": 1, "m": 1, "s": -2},
    "Pa": {"kg": 1, "m": -1, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
    "W": {"kg": 1, "m": 2, "s": -3},
    "V": {"kg": 1, "m": 2, "s": -3, "A": -1},
    "Hz": {"s": -1},
}


def exponents(name: str) -> dict[str, int]:
    """Return the exponent of each base unit in a unit; raise ValueError for an unknown unit."""
    found = dict.fromkeys(BASE, 0)
    parts = name.split("/")
    if len(parts) > 2:
        raise ValueError(f"expected a unit such as 'kg', 'N.m/rad' or '1/s', got {name!r}: one '/' at most")
    for position, factors in enumerate(parts):
        for factor in factors.split("."):
            for base, exponent in _factor(name, factor).items():
                found[base] += exponent * (1 if position == 0 else -1)
    return found


def _factor(name: str, factor: str) -> dict[str, int]:
    if factor == "1":
        return {}
    match = re.fullmatch(r"([A-Za-z]+)(-?[1-9])?", factor)
    known = {base: {base: 1} for base in BASE} | DERIVED
    if match is None or match[1] not in known:
        raise ValueError(
            f"expected a unit such as 'kg', 'N.m/rad' or '1/s', made of {', '.join(known)} and 1, got {name!r}"
        )
    return {base: exponent * int(match[2] or 1) for base, exponent in known[match[1]].items()}


def known_unit(name: str) -> str:
    """Return a unit unchanged, or raise ValueError if the unit is unknown."""
    exponents(name)
    return name


def quotient(name: str, other: str) -> str:
    """Return the unit of the quotient of two quantities.

    For example, the quotient of `N.m` and `rad/s` has the unit `N.m.s/rad`.
    """
    powers: dict[str, int] = {}
    for unit, sign in ((name, 1), (other, -1)):
        for products, side in zip(unit.split("/"), (sign, -sign), strict=False):
            for factor in products.split("."):
                base = factor.rstrip("-123456789")
                powers[base] = powers.get(base, 0) + side * int(factor[len(base) :] or 1)
    above, below = (_product(powers, sign) for sign in (1, -1))
    return f"{above or 1}/{below}" if below else above or "1"


def _product(powers: Mapping[str, int], sign: int) -> str:
    """Return the numerator (`sign` 1) or the denominator (`sign` −1) of a unit, such as `N.m`.

    The argument `powers` contains the exponent of each base unit.
    """
    parts = ((base, sign * power) for base, power in powers.items() if base and sign * power > 0)
    return ".".join(base if power == 1 else f"{base}{power}" for base, power in parts)
