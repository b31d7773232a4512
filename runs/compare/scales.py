"""Scales of signals: relative errors are absolute errors divided by these scales."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ...core.trajectory import Array, Magnitude

# Constraint violations are zero in an exact run, so relative errors of violations are undefined.
VIOLATIONS = frozenset({"violation_position", "violation_velocity"})
# `OWN`: lower bound of a signal's scale, relative to the signal's own natural magnitude.
# `LINK`: lower bound of a signal's scale, relative to the largest natural magnitude among signals of the link.
# `MACHINE`: lower bound of a signal's scale, relative to the largest natural magnitude in the mechanism.
OWN, LINK, MACHINE = 0.1, 1e-2, 1e-3
PLACE = 1e-7  # The scale of a signal is at least this fraction of the signal's largest absolute value.
_OFFSET = 1e-2  # A signal's estimated natural magnitude is at least this fraction of its largest absolute value.
# Velocities, accelerations and forces have a physical zero, so the largest absolute value is the magnitude.
_FROM_ZERO = ("N", "N.m", "rad/s", "m/s", "rad/s2", "m/s2")


def scales(
    signals: Mapping[str, Array], units: Mapping[str, str], natural: Sequence[Magnitude] = ()
) -> dict[str, float]:
    """Return the scale of each signal, in the signal's unit, by which errors are divided.

    The natural magnitude of a signal follows from the mechanism, not from the run. The scale is the
    range of the signal (largest minus smallest value), but not less than any of these bounds.

    - a tenth of the natural magnitude of the signal,
    - a hundredth of the largest natural magnitude of all signals of the same unit and the same link,
    - a thousandth of the largest natural magnitude of all signals of the same unit,
    - the minimum scale `least` of the signal,
    - a ten-millionth of the signal's largest absolute value.

    Errors of a constant signal are therefore not divided by a range of zero. If all bounds are zero,
    the scale is 1. The signals of constraint violations get no scale. If the natural magnitude of a
    signal is unknown, a value from the run replaces it. For a velocity, acceleration or force, this
    value is the largest absolute value of the signal. For other signals, this value is the range, but
    at least a hundredth of the largest absolute value.
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
    """Return the natural magnitude of a signal, estimated from its values in one run."""
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
