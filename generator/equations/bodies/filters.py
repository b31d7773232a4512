"""FMU inputs that motions and lengths follow through critically damped filters: y'' = ω² (u − y) − 2 ω y'.

States are what y is beyond where it begins, and its rate: a start that follows parameters is at rest, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....description.types.origin import Origin
from ....language import ir
from ....language.ir import Expr
from ....mechanism import Filter, Mechanism
from ...program.program import START_VALUES, Input, Output, Parameter, Program, State
from .lowering import Lowering


@dataclass(frozen=True)
class Followed:
    """Where a filter leads to, rad or m, its rate and its second derivative; symbols."""

    filter: Filter
    value: Expr
    rate: Expr
    second: Expr


def derive(program: Program, mechanism: Mechanism, lower: Lowering, begins: Sequence[float]) -> list[Followed]:
    """Inputs, and what follows them; begins: what each filter begins with, rad or m."""
    pairs = zip(mechanism.filters, begins, strict=True)
    return [_followed(program, mechanism, lower, given, begin) for given, begin in pairs]


def _followed(program: Program, mechanism: Mechanism, lower: Lowering, given: Filter, begin: float) -> Followed:
    name, unit = given.name, given.unit
    program.section("filter", name)
    about = f"command of {_follower(mechanism, given)}, which follows it through a filter"
    program.inputs.append(Input(name, unit, about, begin))
    offset, rate = (ir.symbol(given.signal(quantity).name) for quantity in ("offset", "offset_rate"))
    omega = program.define(
        f"omega_{name}", 2 * np.pi * ir.lift(given.cutoff), "rad/s", f"frequency of filter {name}"
    )
    start = _start(program, mechanism, lower, given, begin)
    value = program.define(f"y_{name}", start + offset, unit, f"where filter {name} leads to")
    second = omega * omega * (ir.symbol(name) - value) - 2.0 * omega * rate
    second = program.define(f"{name}_second", second, f"{unit}/s2", f"second derivative of y_{name}")
    return Followed(given, value, rate, second)


def _follower(mechanism: Mechanism, given: Filter) -> str:
    if given.coordinate is not None:
        coordinate = mechanism.coordinates[given.coordinate]
        return f"{coordinate.name}, {coordinate.sense}"
    return next(f"the length at rest of {line.name}" for line in mechanism.lines if line.filter is given)


def _start(program: Program, mechanism: Mechanism, lower: Lowering, given: Filter, begin: float) -> Expr:
    """Where the joint starts, or the length that is given or has been found."""
    if given.coordinate is not None:
        return lower(ir.call("start", ir.symbol(mechanism.coordinates[given.coordinate].name)))
    if given.start is not None:
        return ir.lift(given.start)
    name, text = program.fresh(f"{given.name}_start"), f"what {given.name} begins with"
    program.parameters.append(Parameter(name, np.array(begin), given.unit, text, Origin("filter", given.name)))
    return ir.symbol(name)


def states(program: Program, found: Sequence[Followed]) -> None:
    """Add the filters' states to the program, and where they lead to to its outputs."""
    for followed in found:
        given = followed.filter
        _state(program, given, "offset", given.unit, followed.rate, "what {} is beyond where it began")
        _state(program, given, "offset_rate", f"{given.unit}/s", followed.second, "rate of {}")
        text = f"{given.name} after its filter"
        program.outputs.append(Output(given.signal("value"), given.unit, text, followed.value))


def _state(program: Program, given: Filter, quantity: str, unit: str, derivative: Expr, text: str) -> None:
    signal, about = given.signal(quantity), text.format(f"{given.name} after its filter")
    name = f"{signal.name}_start"
    program.parameters.append(Parameter(name, np.array(0.0), unit, f"{about}, at the start", START_VALUES))
    program.integrate(State(signal, unit, about, ir.symbol(name), derivative, 1.0))
