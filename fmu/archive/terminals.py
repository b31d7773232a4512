"""Terminals of an FMI 3.0 FMU: what belongs together at each place where the user applies a force."""

from __future__ import annotations

from ...core.templates import fill
from ...mechanism import Mechanism
from ...mechanism.parts import AppliedForce

PATH = "terminalsAndIcons/terminalsAndIcons.xml"


def terminals(mechanism: Mechanism) -> dict[str, str]:
    """`terminalsAndIcons.xml` by its path in the archive; nothing without inputs.

    A terminal of a joint has the members effort, position and velocity; that of a force at a point x, y and z.
    """
    found = {force.name: _members(mechanism, force) for force in mechanism.forces if force.values is None}
    if not found:
        return {}
    return {PATH: fill("fmu/archive/terminals.xml.jinja", {"terminals": found})}


def _members(mechanism: Mechanism, force: AppliedForce) -> dict[str, str]:
    """Member → variable."""
    if force.coordinate is None:
        return dict(zip("xyz", force.symbols, strict=True))
    coordinate = mechanism.coordinates[force.coordinate]
    motion = {level: coordinate.signal(level).name for level in ("position", "velocity")}
    return {"effort": force.symbols[0], **motion}
