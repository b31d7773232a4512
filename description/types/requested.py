"""Signals of `[outputs]` with their units and meanings."""

from __future__ import annotations

from .measures import Measure
from .origin import Origin, Signal, of_point

AXES = "xyz"
ENERGIES = ("kinetic", "potential", "total")
_ENERGY = {
    "kinetic": "kinetic energy, including the rotors (armature)",
    "potential": "potential energy of gravity (zero at the world origin) and of all acting springs",
    "total": "sum of kinetic and potential energy",
}


def accelerations(point: str) -> list[Measure]:
    """Return the measures of a point's acceleration along x, y, z."""
    text = f"acceleration of point {point}, world"
    return [Measure(of_point(point, "acceleration", x), "m/s2", f"{text} {x}, without gravity") for x in AXES]


def origins(link: str) -> list[Measure]:
    """Return the measures of the origin of a link's frame, x, y, z."""
    return _of_link(link, "origin", AXES, "m", f"position of the origin of {link}, world")


def quaternions(link: str) -> list[Measure]:
    """Return the measures of a link's orientation as a quaternion, w, x, y, z."""
    text = f"orientation of {link} relative to the world as a unit quaternion"
    return _of_link(link, "quaternion", f"w{AXES}", "1", f"{text}, continuous in the joint coordinates:")


def omegas(link: str) -> list[Measure]:
    """Return the measures of a link's angular velocity, x, y, z."""
    return _of_link(link, "omega", AXES, "rad/s", f"angular velocity of {link}, world")


def energies() -> list[Measure]:
    """In the order of `ENERGIES`."""
    origin = Origin("energy")
    return [Measure(Signal("energy", origin, kind), "J", _ENERGY[kind]) for kind in ENERGIES]


def value(name: str) -> Signal:
    """Return the signal of an expression's output."""
    return Signal("value", Origin("output", name))


def _of_link(link: str, quantity: str, parts: str, unit: str, text: str) -> list[Measure]:
    origin = Origin("link", link)
    return [Measure(Signal(quantity, origin, x), unit, f"{text} {x}") for x in parts]
