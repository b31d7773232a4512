"""Scales of differences between runs: a signal's range, or its natural magnitude if it is at rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ...core.trajectory import Array, Magnitude

VIOLATIONS = frozenset({"violation_position", "violation_velocity"})  # ought to be zero: differences mean nothing
# smallest scale of a signal: parts of its own magnitude, of the largest of its unit in its link, and over all
OWN, LINK, MACHINE = 0.1, 1e-2, 1e-3
PLACE = 1e-7  # part of a position's distance from zero, which is up to the description
_OFFSET = 1e-2  # the same where nothing else is known of the signal
_FROM_ZERO = ("N", "N.m", "rad/s", "m/s", "rad/s2", "m/s2")  # units in which zero means something


def scales(
    signals: Mapping[str, Array], units: Mapping[str, str], natural: Sequence[Magnitude] = ()
) -> dict[str, float]:
    """The scale of each signal, in its unit.

    The signal's range (largest minus smallest value), but at least a tenth of its own magnitude, a hundredth of
    the largest in its unit and link (or point, or base), a thousandth of the largest in its unit over all. So what
    only rounding moves is measured by what holds it, or, where nothing acts, by the entry's `least`. Without
    natural magnitudes that of velocities, accelerations and forces is its largest value, of other signals the
    range and at least a hundredth of its largest value, and a name's first word is its link. 1 where nothing has a
    magnitude. Violations are left out.
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
    """Magnitude of a signal from its values alone."""
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
