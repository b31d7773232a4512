"""Modelica package in which the plant has the flanges and signals of the Modelica Standard Library.

The main package `Name` must not depend on the library, so the connectors are in a package of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...core.templates import environment
from ...mechanism import Mechanism
from ..program.items import Definition
from ..program.program import EquationSystem, Input
from . import parts
from . import text as mo

# The Modelica package has output connectors only for signals of these quantities.
_SIGNALS = ("position", "velocity")


@dataclass(frozen=True)
class _Domain:
    """Mechanical domain of the Modelica Standard Library: translational or rotational.

    The attributes contain the names of position and effort in the flanges of the domain.
    """

    package: str
    position: str
    effort: str


_DOMAINS = {"rad": _Domain("Rotational", "phi", "tau"), "m": _Domain("Translational", "s", "f")}


@dataclass(frozen=True)
class Connector:
    """Modelica connector, with the equations that connect it to variables of the plant.

    The attribute `kind` is the Modelica class of the connector.
    """

    kind: str
    name: str
    unit: str | None
    description: str
    equations: tuple[str, ...]


def render(program: EquationSystem, mechanism: Mechanism, version: str) -> str:
    """Return the Modelica source of the package `NameDrives` for the model `Name`.

    The package `Name` and the Modelica Standard Library must be loaded before this package.
    """
    plant = _plant(program)
    left = [*_flanges(program, mechanism, plant), *_inputs(program, mechanism, plant)]
    right = list(_outputs(program, mechanism, plant))
    template = environment("modelica_templates", quoted=mo.quoted).get_template("drives.mo.jinja")
    placed = [
        (connector, parts.placement(k, len(side), x))
        for side, x in ((left, -110.0), (right, 110.0))
        for k, connector in enumerate(side)
    ]
    return template.render(name=program.name, plant=plant, connectors=placed, version=version)


def _plant(program: EquationSystem) -> str:
    """Return a name for the plant that differs from the names of all connectors."""
    name, taken = "plant", {*(entry.name for entry in program.inputs), *(o.name for o in program.outputs)}
    taken |= {force.name for force in parts.applied_forces(program)}
    while name in taken:
        name += "_"
    return name


def _input_names(program: EquationSystem) -> dict[str, str]:
    names = {entry.name: entry.name for entry in program.inputs}
    return names | {force.name: parts.input_name(program, force) for force in parts.applied_forces(program)}


def _flanges(program: EquationSystem, built: Mechanism, plant: str) -> Iterator[Connector]:
    names = _input_names(program)
    for force in built.forces:
        if force.coordinate is not None:
            coordinate = built.coordinates[force.coordinate]
            domain = _DOMAINS[coordinate.unit]
            yield Connector(
                f"Modelica.Mechanics.{domain.package}.Interfaces.Flange_a",
                force.name,
                None,
                f"flange of {coordinate.name}, {coordinate.sense}",
                (
                    f"{force.name}.{domain.position} = {plant}.{coordinate.symbol}",
                    f"{plant}.{names[force.name]} = {force.name}.{domain.effort}",
                ),
            )


def _inputs(program: EquationSystem, built: Mechanism, plant: str) -> Iterator[Connector]:
    on_joints = {force.name for force in built.forces if force.coordinate is not None}
    given: list[Input | Definition] = [*program.inputs, *parts.applied_forces(program)]
    texts = {entry.name: (entry.unit, entry.description) for entry in given}
    for name, plants in _input_names(program).items():
        if name not in on_joints:
            equation = f"{plant}.{plants} = {name}"
            yield Connector("Modelica.Blocks.Interfaces.RealInput", name, *texts[name], (equation,))


def _outputs(program: EquationSystem, built: Mechanism, plant: str) -> Iterator[Connector]:
    joints = {c.name for c in built.coordinates if c.role == "joint"}
    for output in program.outputs:
        origin = output.signal.origin
        if output.signal.quantity in _SIGNALS and (origin.kind == "point" or origin.name in joints):
            equation = f"{output.name} = {plant}.{output.name}"
            kind = "Modelica.Blocks.Interfaces.RealOutput"
            yield Connector(kind, output.name, output.unit, output.description, (equation,))
