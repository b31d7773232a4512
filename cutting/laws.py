"""Laws of the forces between parts, as FMUs without states: a bushing at a pin, a rope between two ends.

The FMU of a law takes positions and velocities of its ends a and b in the world frame, and returns the forces on
the parts there.
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
    """A number of a law with its unit and meaning."""

    value: float
    unit: str
    text: str


@dataclass(frozen=True)
class ForceLaw:
    """Expressions of the description language that give forces.

    Parameters
    ----------
    name : name of the FMU's model
    text : description of the model
    ports : names of the ends, in pairs
    parameters : numbers by name
    definitions : name → unit and expression, as text or as a tree, each of names before it
    outputs : names of definitions that are outputs besides the forces
    starts : inputs in the initial state, m and m/s, by name
    """

    name: str
    text: str
    ports: Sequence[str]
    parameters: Mapping[str, LawParameter]
    definitions: Mapping[str, Definition]
    outputs: Sequence[str] = field(default_factory=tuple)
    starts: Mapping[str, float] = field(default_factory=dict)

    def program(self) -> EquationSystem:
        """Return the equations of the FMU."""
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
    """Constants of the spring-dampers of a cut.

    Parameters
    ----------
    stiffness, damping : in all directions, N/m and N·s/m
    preload : port of the cut → force on the first part while the points coincide, shape (3,), N
    """

    stiffness: float
    damping: float
    preload: Mapping[str, Array]


def bushing(name: str, cut: Cut, constants: Bushing, starts: Mapping[str, float]) -> ForceLaw:
    """Law of a spring-damper at each pair of points of a cut.

    Parameters
    ----------
    name : name of the FMU's model
    cut : pin
    starts : inputs in the initial state, by name
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
    """Names of the ends of a law at each pair of points of a cut."""
    several = len(cut.pairs) > 1
    for number in range(1, len(cut.pairs) + 1):
        yield (f"a{number}", f"b{number}") if several else ("a", "b")


def rope(name: str, line: Line, chain: Description, starts: Mapping[str, float]) -> ForceLaw:
    """Law of a rope with spring and damper, or with an expression; see `[[lines]]` of a description."""
    length, rate, force = outputs = [f"{line.name}_{key}" for key in ("length", "rate", "force")]
    d = {axis: f"{line.name}_d{axis}" for axis in AXES}  # names that no parameter of the description has
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
    """Parameters of the description that expressions use."""
    used = {name for _, given in definitions.values() for name in expressions.names(_tree(given))}
    for name, given in chain.parameters.items():
        if name in used:
            yield name, LawParameter(given.value, given.unit or "1", given.description or name)


def _tension(line: Line, length: str, rate: str) -> Iterator[tuple[str, Definition]]:
    """Definitions of the tension; a rope with a spring exerts no force while it is shorter than at rest.

    An FMU without states looks for no events inside its steps, so conditions take effect at once.
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
