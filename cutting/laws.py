"""Force laws between the parts of a cut mechanism, as FMUs without states.

A force law is either a bushing or a rope. A bushing is a spring-damper that replaces a joint.
Inputs of the FMU are positions and velocities of both ends a and b in the world frame. Outputs are
the forces on the parts at the two ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ..core.trajectory import Array
from ..description import Description
from ..description.fields.numbers import value_of
from ..description.tables.line import Line
from ..description.types.origin import Origin, Signal
from ..generator.equations.bodies.lowering import Lowering
from ..generator.program.program import EquationSystem, Input, ModelParameter, Output
from ..language import differentiate, expressions, ir
from ..language.ir import Expr
from .cuts import Cut

AXES = "xyz"
Definition: TypeAlias = tuple[str, str | Expr]


@dataclass(frozen=True)
class LawParameter:
    """Parameter of a force law: value, unit and description."""

    value: float
    unit: str
    text: str


@dataclass(frozen=True)
class ForceLaw:
    """A force law as expressions in the language of descriptions.

    Parameters
    ----------
    name : name of the FMU's model
    text : description of the model for the FMU
    ports : names of the ends, two for each pair of points
    parameters : values of parameters by name
    definitions : unit and expression of each variable, by name of the variable; an expression may
        use earlier variables
    outputs : names of variables that are outputs in addition to the forces
    starts : initial positions, m, and velocities, m/s, of the ends, by name of the input
    """

    name: str
    text: str
    ports: Sequence[str]
    parameters: Mapping[str, LawParameter]
    definitions: Mapping[str, Definition]
    outputs: Sequence[str] = field(default_factory=tuple)
    starts: Mapping[str, float] = field(default_factory=dict)

    def program(self) -> EquationSystem:
        """Return the equations from which the FMU of the force law is generated."""
        found = EquationSystem(self.name, self.text, formulation="force law without states")
        known: dict[str, Expr] = {}
        lower = Lowering(found, {}, lambda name: known.get(name, ir.symbol(name)), {})
        for port in self.ports:
            for axis in AXES:
                for name, unit, what in ((axis, "m", "position"), (f"v{axis}", "m/s", "velocity")):
                    text = f"{what} of end {port}, world {axis}"
                    found.inputs.append(
                        Input(f"{port}_{name}", unit, text, self.starts.get(f"{port}_{name}", 0.0))
                    )
        for name, number in self.parameters.items():
            found.parameters.append(ModelParameter(name, np.array(number.value), number.unit, number.text))
        for name, (unit, given) in self.definitions.items():
            tree = differentiate.expand(_tree(given))
            known[name] = found.define(name, lower(tree), unit, name)
        shown = [*self.outputs, *(f"{port}_f{axis}" for port in self.ports for axis in AXES)]
        found.outputs += [
            Output(Signal("value", Origin("output", name)), self.definitions[name][0], name, known[name])
            for name in shown
        ]
        return found


@dataclass(frozen=True)
class Bushing:
    """Constants of the spring-dampers that replace a joint.

    Each pair of points has one spring-damper; all of them have the same stiffness and the same
    damping.

    Parameters
    ----------
    stiffness, damping : equal in all directions, N/m and N·s/m
    preload : force on the first part at zero deflection, N, shape (3,), by name of the pair of
        points
    """

    stiffness: float
    damping: float
    preload: Mapping[str, Array]

    @property
    def force(self) -> float:
        """Magnitude of the largest preload among the spring-dampers of the joint, N."""
        return max(float(np.linalg.norm(force)) for force in self.preload.values())

    @property
    def deflection(self) -> float:
        """Largest deflection of the spring-dampers of the joint under their preloads, m."""
        return self.force / self.stiffness


def bushing(name: str, cut: Cut, constants: Bushing, starts: Mapping[str, float]) -> ForceLaw:
    """Return the force law that replaces a joint by a spring-damper at each pair of points.

    Parameters
    ----------
    name : name of the FMU's model
    cut : joint or loop closure that is cut
    constants : stiffness, damping and preload
    starts : initial positions, m, and velocities, m/s, of the ends, by name of the input
    """
    stiffness, damping, preload = constants.stiffness, constants.damping, constants.preload
    parameters = {
        "stiffness": LawParameter(stiffness, "N/m", "stiffness of each spring in all directions"),
        "damping": LawParameter(damping, "N.s/m", "damping of each damper in all directions"),
    }
    definitions = {}
    ends = list(ends_of(cut))
    for port, (a, b) in zip((pair.port for pair in cut.pairs), ends, strict=True):
        for axis, force in zip(AXES, preload[port], strict=True):
            text = f"force on end {a} along the world's {axis} while the ends coincide"
            parameters[f"{a}_preload_{axis}"] = LawParameter(float(force), "N", text)
            spring = f"stiffness*({b}_{axis} - {a}_{axis}) + damping*({b}_v{axis} - {a}_v{axis})"
            definitions[f"{a}_f{axis}"] = "N", f"{a}_preload_{axis} + {spring}"
            definitions[f"{b}_f{axis}"] = "N", f"-{a}_f{axis}"
    text = f"Spring-dampers in place of the pin at {cut.name}"
    return ForceLaw(name, text, [end for pair in ends for end in pair], parameters, definitions, (), starts)


def ends_of(cut: Cut) -> Iterator[tuple[str, str]]:
    """Yield the names of the two points of each pair of a cut, as used in the force law.

    The names are `a` and `b` for one pair, and `a1`, `b1`, `a2`, `b2` and so on for several pairs.
    """
    several = len(cut.pairs) > 1
    for number in range(1, len(cut.pairs) + 1):
        yield (f"a{number}", f"b{number}") if several else ("a", "b")


def rope(name: str, line: Line, chain: Description, starts: Mapping[str, float]) -> ForceLaw:
    """Return the force law of a rope.

    The force results from a spring and a damper, or from an expression in the description.
    """
    length, rate, force = outputs = [f"{line.name}_{key}" for key in ("length", "rate", "force")]
    # Variable names begin with the rope's name, so that they differ from parameter names.
    d = {axis: f"{line.name}_d{axis}" for axis in AXES}
    definitions: dict[str, Definition] = {d[axis]: ("m", f"b_{axis} - a_{axis}") for axis in AXES}
    definitions[length] = "m", f"sqrt({' + '.join(f'{d[axis]}^2' for axis in AXES)})"
    definitions[rate] = "m/s", f"({' + '.join(f'{d[axis]}*(b_v{axis} - a_v{axis})' for axis in AXES)})/{length}"
    definitions |= _tension(line, length, rate)
    for axis in AXES:
        definitions[f"a_f{axis}"] = "N", f"{force}*{d[axis]}/{length}"
        definitions[f"b_f{axis}"] = "N", f"-a_f{axis}"
    numbers = {"stiffness": (line.stiffness, "N/m"), "damping": (line.damping, "N.s/m")}
    parameters = dict(_parameters(definitions, chain)) | {
        f"{line.name}_{key}": LawParameter(value_of(number), unit, f"{key} of {line.name}")
        for key, (number, unit) in numbers.items()
        if line.force is None
    }
    return ForceLaw(name, f"Rope {line.name}", ("a", "b"), parameters, definitions, outputs, starts)


def _parameters(definitions: Mapping[str, Definition], chain: Description) -> Iterator[tuple[str, LawParameter]]:
    used = {name for _, given in definitions.values() for name in expressions.names(_tree(given))}
    for name, given in chain.parameters.items():
        if name in used:
            yield name, LawParameter(given.value, given.unit or "1", given.description or name)


def _tension(line: Line, length: str, rate: str) -> Iterator[tuple[str, Definition]]:
    """Yield the variables that define the tension of a rope.

    A rope with a spring exerts no force while the rope is shorter than its unstretched length. The
    switching conditions use `noevent`, because an FMU without states does not search for events.
    """
    force, stretch, free = (f"{line.name}_{key}" for key in ("force", "stretch", "if_tight"))
    if line.force is not None:
        yield free, ("N", expressions.renamed(expressions.parse(line.force), {"length": length, "rate": rate}))
        condition = f"noevent(max({free}, 0))"
    else:
        yield stretch, ("m", f"{length} - ({line.rest})")
        yield free, ("N", f"{line.name}_stiffness*{stretch} + {line.name}_damping*{rate}")
        condition = f"noevent(max({free}, 0) if {stretch} > 0 else 0)"
    yield force, ("N", condition if line.tension_only else free)


def _tree(given: str | Expr) -> Expr:
    return expressions.parse(given) if isinstance(given, str) else given
