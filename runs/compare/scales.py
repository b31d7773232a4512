"""Scales of signals for relative errors: the signal's range, or its natural scale if the signal is
constant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ...core.trajectory import Array, Magnitude

VIOLATIONS = frozenset({"violation_position", "violation_velocity"})  # signals whose exact value is zero
# Lower bounds of a scale, relative to the natural scale of the signal, and to the largest of link and mechanism.
OWN, LINK, MACHINE = 0.1, 1e-2, 1e-3
PLACE = 1e-7  # lower bound of a position's scale, relative to its distance from zero
_OFFSET = 1e-2  # lower bound of a signal's natural scale, relative to the signal's largest value
_FROM_ZERO = ("N", "N.m", "rad/s", "m/s", "rad/s2", "m/s2")  # units of quantities with a physical zero


def scales(
    signals: Mapping[str, Array], units: Mapping[str, str], natural: Sequence[Magnitude] = ()
) -> dict[str, float]:
    """Return the scale of each signal, in its unit.

    The scale is the signal's range (largest minus smallest value), but at least

    - a tenth of the signal's natural scale,
    - a hundredth of the largest natural scale with the same unit and link (or point, or base),
    - a thousandth of the largest natural scale with the same unit,
    - the lower bound `least` of the natural scale.

    Thus, the error of a signal at rest is divided by a physically meaningful magnitude, not by rounding
    errors. If natural scales are unknown, the scale of velocities, accelerations and forces is the
    largest value. The scale of other signals is then the range, but at least a hundredth of the largest
    value, and the first word of a signal's name counts as the name of the link. The scale is 1 if all
    these values are zero. Violations are omitted.
    """
    known = {entry.signal: entry for entry in natural if entry.signal}
    found = [
        known.get(name) or _own(name, values, units.get(name))
        for name, values in signals.items()
        if name not in VIOLATIONS
    ]
    machine, link = _largest([*found, *natural], lambda entry: entry.unit), _largest(found, _link)
    return {
        entry.signal: max(
            _finite(np.ptp(signals[entry.signal])),
            PLACE * _finite(np.max(np.abs(signals[entry.signal]))),
            OWN * entry.size,
            LINK * link[_link(entry)],
            MACHINE * machine[entry.unit],
            entry.least,
        )
        or 1.0
        for entry in found
    }


def _own(name: str, values: Array, unit: str | None) -> Magnitude:
    """Return a substitute for the unknown natural scale of a signal, derived from the values of the
    signal.
    """
    largest, extent = _finite(np.max(np.abs(values))), _finite(np.ptp(values))
    size = largest if unit in _FROM_ZERO else max(extent, _OFFSET * largest)
    return Magnitude(name, unit or f"unit of {name}", name.partition("_")[0], size)


def _largest(entries: Sequence[Magnitude], group: Callable[[Magnitude], str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for entry in entries:
        found[group(entry)] = max(found.get(group(entry), 0.0), _finite(entry.size))
    return found


def _link(entry: Magnitude) -> str:
    return f"{entry.unit} of {entry.owner}"


def _finite(value: float) -> float:
    return float(value) if np.isfinite(value) else 0.0
