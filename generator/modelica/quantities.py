"""Modelica types with units for the generated source, named as in `Modelica.Units.SI`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...language.ir import Shape
from ..program.program import EquationSystem

PACKAGE = "SI"
# Each key is a unit, and each value is the name of its Modelica type.
_TYPES = {
    "m": "Length",
    "m2": "Area",
    "m4": "SecondMomentOfArea",
    "s": "Time",
    "m/s": "Velocity",
    "m/s2": "Acceleration",
    "rad": "Angle",
    "rad/s": "AngularVelocity",
    "rad/s2": "AngularAcceleration",
    "kg": "Mass",
    "kg/m3": "Density",
    "kg.m2": "MomentOfInertia",
    "N": "Force",
    "N.m": "Torque",
    "Pa": "ModulusOfElasticity",
    "N/m": "TranslationalSpringConstant",
    "N.s/m": "TranslationalDampingConstant",
    "N.m/rad": "RotationalSpringConstant",
    "N.m.s/rad": "RotationalDampingConstant",
    "J": "Energy",
}
_DISPLAYED = {"rad": "deg"}
# Every Modelica source defines types for these units: s for times, and rad for angles in functions.
_ALWAYS = {"s", "rad"}


def declared(unit: str | None, shape: Shape, *modifiers: str, kind: str | None = None) -> tuple[str, str]:
    """Return the Modelica type of a variable and its modifiers, such as `(each unit = "m")`, as texts.

    If no type exists for a unit, the unit becomes a modifier.

    Parameters
    ----------
    kind
        Name of a Modelica type. If it is given, it replaces the type that belongs to the unit.
    """
    if kind is None and unit in _TYPES:
        return f"{PACKAGE}.{_TYPES[unit]}", _listed(modifiers)
    each = "each " if shape else ""
    return kind or "Real", _listed([*modifiers, *([f'{each}unit = "{unit}"'] if unit else [])])


def _listed(modifiers: Iterable[str]) -> str:
    text = ", ".join(modifiers)
    return f"({text})" if text else ""


def definitions(program: EquationSystem) -> Iterator[str]:
    """Yield the definitions, without semicolons, of the Modelica types that a program's variables need."""
    declarations = (*program.parameters, *program.items, *program.states, *program.outputs)
    units = {declaration.unit for declaration in declarations} | _ALWAYS
    for unit, name in _TYPES.items():
        if unit in units:
            displayed = f', displayUnit = "{_DISPLAYED[unit]}"' if unit in _DISPLAYED else ""
            yield f'type {name} = Real(unit = "{unit}"{displayed})'
