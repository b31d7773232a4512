"""Additional FMU outputs for the forces that arrows show in an interactive web page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..analysis import ForceArrow
from ..analysis.system import System
from ..description.types.origin import Origin, Signal
from ..generator.program.items import given
from ..generator.program.program import EquationSystem, Output
from ..language import ir
from ..language.ir import Expr
from ..mechanism import Mechanism


@dataclass(frozen=True)
class ArrowVariables:
    """Variables of the FMU that determine one drawn force arrow.

    Parameters
    ----------
    mark
        Index of the force arrow in the attribute `forces.marks` of `ReferenceModel`, and in the scene
        of the web page.
    values
        Three force components in world axes, N; or one force or torque on a coordinate, N or N·m.
    coordinate
        Index of the coordinate on which the force or torque acts; None for three force components.
    """

    mark: int
    values: tuple[Expr, ...]
    coordinate: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the FMU's variables."""
        return tuple(signal.name for signal in self._signals)

    def outputs(self) -> list[Output]:
        """Return FMU outputs, one per variable, from which the web page reads the arrow's variables."""
        pairs = zip(self._signals, self.values, strict=True)
        return [Output(signal, None, "force of an arrow in a page", value) for signal, value in pairs]

    @property
    def _signals(self) -> tuple[Signal, ...]:
        origin = Origin("element", f"_arrow{self.mark}")
        return tuple(Signal("measure", origin, f"{k}") for k in range(len(self.values)))


def arrows(model: System) -> list[ArrowVariables]:
    """Return the FMU variables that determine direction and length of the drawn force arrows.

    If the equations have no variable for a force, no arrow is drawn for this force. If a force law acts
    on a coordinate, such a variable exists only if the law has the output `force`.
    """
    program, mechanism = model.native_program, model.mechanism
    known = {name for item in program.items for name in given(item)} | {i.name for i in program.inputs}
    marks: Sequence[ForceArrow] = model.problem.model.forces.marks
    found = []
    for k, mark in enumerate(marks):
        coordinate = _effort_coordinate(mechanism, mark)
        values = _components(mechanism, mark) if coordinate is None else _effort(program, mechanism, mark)
        if values and all(value.symbols <= known for value in values):
            found.append(ArrowVariables(k, values, coordinate))
    return found


def with_arrows(program: EquationSystem, found: Sequence[ArrowVariables]) -> EquationSystem:
    """Return the equations with additional outputs, from which a web page draws the force arrows."""
    return replace(program, outputs=[*program.outputs, *(output for arrow in found for output in arrow.outputs())])


def _components(mechanism: Mechanism, mark: ForceArrow) -> tuple[Expr, ...]:
    """Return the three components of the variable `F_…`, the force vector of a force element."""
    vector = ir.symbol(f"F_{_name(mechanism, mark)}", (3,))
    return tuple(vector[i] for i in range(3))


def _name(mechanism: Mechanism, mark: ForceArrow) -> str:
    if mark.kind == "support":
        names = [f"support {support.name.removeprefix('support')}" for support in mechanism.supports]
        return f"support{1 + names.index(mark.name)}"
    if mark.table in {element.key for element in mechanism.elements}:
        point = next(name for name, place in mechanism.points.items() if place is mark.a)
        return f"{mark.name}_{point}"
    return mark.name


def _effort_coordinate(mechanism: Mechanism, mark: ForceArrow) -> int | None:
    """Return the index of the coordinate whose force or torque an arrow shows; None for a force at a point."""
    for force in mechanism.forces:
        if mark.table == "forces" and force.name == mark.name:
            return force.coordinate
    for element in mechanism.elements:
        if (element.key, element.name) == (mark.table, mark.name) and element.efforts and not element.forces:
            return mechanism.coordinate_index(element.efforts[0][0])
    return None


def _effort(program: EquationSystem, mechanism: Mechanism, mark: ForceArrow) -> tuple[Expr, ...]:
    for force in mechanism.forces:
        if mark.table == "forces" and force.name == mark.name:
            return (ir.symbol(force.symbols[0]),)
    return tuple(output.expr for output in program.outputs if output.name == f"{mark.name}_force")
