"""Force elements whose laws are expressions in the package `laws`.

The expressions are translated into symbols of the equations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ....description.types.origin import Origin
from ....language import differentiate, ir
from ....language.ir import Expr
from ....laws.law import Vector
from ....mechanism.symbolic import SymbolicLawElement, SymbolicMechanism
from ...program.program import HELD, HeldVariable, Input, Sampling
from .element import Forces


@dataclass(frozen=True)
class LawForce:
    """Force element whose efforts and forces are expressions from the package `laws`."""

    element: SymbolicLawElement

    def act(self, forces: Forces) -> None:
        """Add the inputs, outputs, efforts and forces of the element to the equations."""
        element, program = self.element, forces.program
        program.section(element.kind, element.name)
        program.inputs += [Input(given.name, given.unit, given.description) for given in element.inputs]
        if element.period is not None:
            self._sample(forces, element.period)
            return
        for tree in element.given:
            forces.lower.add_breakpoints(differentiate.expand(tree))
        for quantity, tree in element.observed.items():
            forces.publish(element.signals[quantity], _lowered(forces, tree))
        for key, state in element.states.items():
            forces.integrate(element.signals[key], forces.lower(state.start), _lowered(forces, state.rate))
        for coordinate, effort in element.efforts:
            forces.effort(forces.mechanism.coordinate_index(coordinate), _lowered(forces, effort))
        for point, force in element.forces:
            self._push(forces, point, force)
        energy = element.energy
        if energy is not None:
            forces.stores(lambda: forces.lower.without_events(differentiate.expand(energy)))

    def _sample(self, forces: Forces, period: Expr) -> None:
        """Define the sampled inputs of the element, and variables that change at sample times only."""
        element, program = self.element, forces.program
        for command in element.sampled:
            value = forces.lower.without_events(differentiate.expand(command.expression))
            program.give(command.name, value, command.unit, command.description)
        sampling = self._sampling(forces, period)
        program.samplings.append(sampling)
        for variable, measure in zip(sampling.held, element.signals.values(), strict=True):
            forces.publish(measure, ir.symbol(variable.variable))

    def _sampling(self, forces: Forces, period: Expr) -> Sampling:
        """Return the values of all quantities and states of a sampled element after a sample time."""
        element = self.element
        known = {key: ir.symbol(f"{m.signal.name}{HELD}") for key, m in element.signals.items()}
        known |= {key: ir.call("pre", known[key]) for key in element.states}
        own = {element.signals[key].signal.name: value for key, value in known.items()}

        def lowered(tree: Expr) -> Expr:
            return differentiate.substituted(forces.lower.without_events(differentiate.expand(tree)), own)

        values = {quantity: (ir.constant(0.0), lowered(tree)) for quantity, tree in element.observed.items()}
        for key, state in element.states.items():
            values[key] = forces.lower(state.start), known[key] + period * lowered(state.rate)
        measures = ((element.signals[key], *value) for key, value in values.items())
        held = (HeldVariable(m.signal, m.unit, m.description, start, after) for m, start, after in measures)
        return Sampling(Origin(element.kind, element.name), period, tuple(held))

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
    """Return one force element for each entry of the description that has a law in the package `laws`."""
    return (LawForce(element) for element in mechanism.elements)
