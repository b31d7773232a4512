"""Terminals of an FMI 3.0 FMU.

If an applied force is an input, a terminal groups the variables of this force. Force components that
controllers of the description prescribe are not inputs of the FMU.
"""

from __future__ import annotations

from ...core.templates import fill
from ...mechanism import Mechanism
from ...mechanism.parts import AppliedForce

PATH = "terminalsAndIcons/terminalsAndIcons.xml"


def terminals(mechanism: Mechanism) -> dict[str, str]:
    """Return a dictionary from the path of `terminalsAndIcons.xml` in the archive to the file's content.

    The dictionary is empty if no applied force of the model is an input. The terminal of a joint force
    has the members effort, position and velocity. The terminal of a force at a point has the members x,
    y and z.
    """
    found = {force.name: _members(mechanism, force) for force in mechanism.forces if None in force.values}
    if not found:
        return {}
    return {PATH: fill("fmu/archive/terminals.xml.jinja", {"terminals": found})}


def _members(mechanism: Mechanism, force: AppliedForce) -> dict[str, str]:
    """Return the variable name of each member of a force's terminal, by member name."""
    if force.coordinate is None:
        components = zip("xyz", force.symbols, force.values, strict=True)
        return {axis: symbol for axis, symbol, value in components if value is None}
    coordinate = mechanism.coordinates[force.coordinate]
    motion = {level: coordinate.signal(level).name for level in ("position", "velocity")}
    return {"effort": force.symbols[0], **motion}
