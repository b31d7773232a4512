"""Force elements whose laws are expressions in the package `laws`.

The expressions are translated into symbols of the equations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ....language import differentiate, ir
from ....language.ir import Expr
from ....laws.law import Vector
from ....mechanism.symbolic import SymbolicLawElement, SymbolicMechanism
from ...program.program import Input
from .element import Forces


@dataclass(frozen=True)
class LawForce:
    """Force element whose efforts and forces are expressions from the package `laws`."""

    element: SymbolicLawElement

    def act(self, forces: Forces) -> None:
        """Declare the inputs and observed outputs of the element, and add its efforts and forces."""
        element, program = self.element, forces.program
        program.section(element.kind, element.name)
        program.inputs += [Input(given.name, given.unit, given.description) for given in element.inputs]
        for tree in element.given:
            forces.lower.add_breakpoints(differentiate.expand(tree))
        for quantity, tree in element.observed.items():
            forces.publish(element.signals[quantity], _lowered(forces, tree))
        for coordinate, effort in element.efforts:
            forces.effort(forces.mechanism.coordinate_index(coordinate), _lowered(forces, effort))
        for point, force in element.forces:
            self._push(forces, point, force)
        energy = element.energy
        if energy is not None:
            forces.stores(lambda: forces.lower.without_events(differentiate.expand(energy)))

    def _push(self, forces: Forces, point: str, force: Vector) -> None:
        define, name = forces.program.define, f"{self.element.name}_{point}"
        lever, parts = forces.points.lever(point), [_lowered(forces, part) for part in force]
        F = define(f"F_{name}", ir.array(parts), "N", f"force of {self.element.name} on {point}, world axes")
        text = f"moment of {self.element.name} on {point} about the origin of its body"
        N = define(f"N_{name}", ir.cross(lever, F), "N.m", text)
        forces.wrench(forces.mechanism.points[point].body, N, F)


def _lowered(forces: Forces, tree: Expr) -> Expr:
    return forces.lower(differentiate.expand(tree))


def of(mechanism: SymbolicMechanism) -> Iterator[LawForce]:
    """Return one force element for each element of the description that has a law in the package `laws`."""
    return (LawForce(element) for element in mechanism.elements)
