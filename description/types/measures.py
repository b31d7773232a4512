"""Measured quantities of force elements, with names such as `lift_length` and `deck_gap`.

Outputs and expressions use these names. Equations use the names `lift.length` and `deck.gap`.
"""

from __future__ import annotations

from dataclasses import dataclass

from .origin import Origin, Signal

# Unit of each quantity of a force element, and meaning of a positive value.
_MEASURES = {
    "line": {
        "length": ("m", "length of {}"),
        "rate": ("m/s", "time derivative of the length of {}"),
        "force": ("N", "force of {}, positive in tension"),
    },
    "contact": {
        "gap": ("m", "gap between the point of {} and the contact plane, negative in contact"),
        "force": ("N", "normal force of {}, positive in compression"),
    },
    "support": {
        "gap": ("m", "height of {} above the position with zero spring force"),
        "force": ("N", "vertical force of {} on the base, along world z"),
    },
}
MEASURED = {quantity for measures in _MEASURES.values() for quantity in measures}
FORCE = "force"
RATES = {"length": "rate", "gap": "gap_dot"}  # name of the time derivative of each kinematic quantity


@dataclass(frozen=True)
class Measure:
    """Measured quantity of a force element: signal, unit, and meaning of a positive value."""

    signal: Signal
    unit: str
    description: str


def measures(kind: str, name: str) -> dict[str, Measure]:
    """Return the measured quantities of a `line`, `contact` or unilateral `support` with the given
    name.
    """
    origin = Origin(kind, name)
    return {
        quantity: Measure(Signal(quantity, origin), unit, text.format(name))
        for quantity, (unit, text) in _MEASURES[kind].items()
    }


def measured_by_law(name: str, quantity: str, unit: str, description: str) -> Measure:
    """Return an output quantity of a force element, which its force law computes."""
    return Measure(Signal("measure", Origin("element", name), quantity), unit, description)


def spelled(kind: str, name: str) -> dict[str, str]:
    """Return the names of measured quantities in equations, by their names in expressions.

    For example, `lift_length` in expressions is `lift.length` in equations.
    """
    return {measure.signal.name: f"{name}.{quantity}" for quantity, measure in measures(kind, name).items()}
