"""Signals that `[outputs]` requests, with units and meanings."""

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
    """Return the output variables for the acceleration of a point: x, y, z, world frame, m/s²."""
    text = f"acceleration of {point}, world"
    return [Measure(of_point(point, "acceleration", x), "m/s2", f"{text} {x}, without gravity") for x in AXES]


def origins(link: str) -> list[Measure]:
    """Return the output variables for the origin of a link's frame: x, y, z, world frame, m."""
    return _of_link(link, "origin", AXES, "m", f"origin of the frame of {link}, world")


def quaternions(link: str) -> list[Measure]:
    """Return the output variables for the orientation of a link: unit quaternion w, x, y, z."""
    text = f"orientation of the frame of {link} in the world frame, unit quaternion"
    return _of_link(link, "quaternion", f"w{AXES}", "1", f"{text}, continuous in the joint coordinates:")


def omegas(link: str) -> list[Measure]:
    """Return the output variables for the angular velocity of a link: x, y, z, world frame, rad/s."""
    return _of_link(link, "omega", AXES, "rad/s", f"angular velocity of {link}, world axes,")


def energies() -> list[Measure]:
    """Return the output variables for kinetic, potential and total energy, J, in the order of `ENERGIES`."""
    origin = Origin("energy")
    return [Measure(Signal("energy", origin, kind), "J", _ENERGY[kind]) for kind in ENERGIES]


def value(name: str) -> Signal:
    """Return the signal of an output that is given by an expression."""
    return Signal("value", Origin("output", name))


def _of_link(link: str, quantity: str, parts: str, unit: str, text: str) -> list[Measure]:
    origin = Origin("link", link)
    return [Measure(Signal(quantity, origin, x), unit, f"{text} {x}") for x in parts]
