"""Applied forces and efforts, prescribed by expressions in the description or by inputs of the FMU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ....language import differentiate, ir
from ....language.ir import Expr
from ....mechanism.symbolic import SymbolicForce, SymbolicMechanism
from ...program.items import Traits
from ...program.program import Input
from .element import Forces


@dataclass(frozen=True)
class Applied:
    """Applied force at a point of a body, or applied effort on a coordinate."""

    force: SymbolicForce

    def act(self, forces: Forces) -> None:
        """Add the applied effort or force to the equations.

        Each component becomes a variable if the description gives an expression, otherwise an FMU
        input.
        """
        force, program, kinematics, name = self.force, forces.program, forces.kinematics, self.force.name
        program.section("applied force", name)
        unit, texts = _meaning(forces.mechanism, force)
        components = zip(force.symbols, force.values, texts, strict=True)
        values = [_value(forces, symbol, tree, unit, text) for symbol, tree, text in components]
        if force.coordinate is not None:
            forces.effort(force.coordinate, values[0])
            return
        assert force.place is not None
        body, lever = force.place.body, kinematics.lever(force.place)
        lever = program.define(
            f"lever_{name}", lever, "m", f"point of application of {name} relative to the origin of its body"
        )
        F: Expr = ir.array(values)
        if not force.in_world:
            F = kinematics.motion(body).R @ F
        F = program.define(f"F_{name}", F, "N", f"applied force {name}, world axes")
        N = program.define(
            f"N_{name}", ir.cross(lever, F), "N.m", f"moment of applied force {name} about the origin of its body"
        )
        forces.wrench(body, N, F)


def _value(forces: Forces, symbol: str, given: Expr | None, unit: str, text: str) -> Expr:
    """Return the symbol of one component of an applied force.

    Without an expression in the description, the component is an FMU input. Otherwise it is a variable
    with the value of this expression.
    """
    if given is None:
        forces.program.inputs.append(Input(symbol, unit, text))
        return ir.symbol(symbol)
    tree = differentiate.expand(given)
    forces.lower.add_breakpoints(tree)
    # A constant force also needs a variable, because the Modelica model `Plant` has an input for the force.
    value = forces.lower(tree)
    return forces.program.assemble(symbol, (), [((), value)], unit, text, Traits(replaceable=True))


def _meaning(mechanism: SymbolicMechanism, force: SymbolicForce) -> tuple[str, list[str]]:
    """Return the unit of an applied force or effort, and one description for each of its components."""
    if force.coordinate is not None:
        coordinate = mechanism.coordinates[force.coordinate]
        return coordinate.effort_unit, [f"applied effort on {coordinate.name}, {coordinate.sense}"]
    assert force.place is not None
    link = mechanism.bodies[force.place.body].link
    frame = "world" if force.in_world else f"{link}'s"
    return "N", [f"applied force on {link}, along {frame} {axis}" for axis in "xyz"]


def of(mechanism: SymbolicMechanism) -> Iterator[Applied]:
    """Return one force element for each applied force of the mechanism."""
    return (Applied(force) for force in mechanism.forces)
