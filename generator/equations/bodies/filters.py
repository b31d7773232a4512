"""Second-order critically damped filters for inputs that a joint or a length follows.

The output y of a filter with the angular cutoff frequency ω and the input u obeys y'' = ω² (u − y)
− 2 ω y'. The states are y − y(0) and y'. Both are zero if the motion starts from rest, whatever the
initial value y(0).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....description.types.origin import Origin
from ....language import ir
from ....language.ir import Expr
from ....mechanism.symbolic import SymbolicFilter, SymbolicMechanism
from ...program.program import START_VALUES, EquationSystem, Input, ModelParameter, Output, StateVariable
from .lowering import Lowering


@dataclass(frozen=True)
class FilterOutput:
    """Symbols of the output of a filter, rad or m, and of its first and second time derivatives.

    Attributes
    ----------
    length
        Name of the parameter with the initial length of a two-point force element; empty if there is no
        such parameter.
    """

    filter: SymbolicFilter
    value: Expr
    rate: Expr
    second: Expr
    length: str = ""


def derive(program: EquationSystem, mechanism: SymbolicMechanism, lower: Lowering) -> list[FilterOutput]:
    """Define the FMU input and the output of each input filter.

    The initial values of the filters are still missing. The function `begin` sets them.
    """
    return [_followed(program, mechanism, lower, given) for given in mechanism.filters]


def begin(program: EquationSystem, found: Sequence[FilterOutput], begins: Sequence[float]) -> None:
    """Set the initial value of the input and of the output of each input filter, rad or m.

    The start value of the FMU input is set to this value. If the initial length of a two-point force
    element is a parameter, this parameter is set to the value as well.
    """
    values = dict(zip((followed.filter.name for followed in found), begins, strict=True))
    lengths = {f.length: values[f.filter.name] for f in found if f.length}
    program.inputs = [replace(x, start=values[x.name]) if x.name in values else x for x in program.inputs]
    program.parameters = [
        replace(x, value=np.array(lengths[x.name])) if x.name in lengths else x for x in program.parameters
    ]


def _followed(
    program: EquationSystem, mechanism: SymbolicMechanism, lower: Lowering, given: SymbolicFilter
) -> FilterOutput:
    name, unit = given.name, given.unit
    program.section("filter", name)
    about = f"filtered command of {_follower(mechanism, given)}"
    if given.command is None:
        program.inputs.append(Input(name, unit, about, 0.0))
    command = ir.symbol(name) if given.command is None else lower(given.command)
    offset, rate = (ir.symbol(given.signal(quantity).name) for quantity in ("offset", "offset_rate"))
    omega = program.define(
        f"omega_{name}", 2 * np.pi * given.cutoff, "rad/s", f"angular cutoff frequency of filter {name}"
    )
    length = _length(program, given)
    start = ir.symbol(length) if length else _start(mechanism, lower, given)
    value = program.define(f"y_{name}", start + offset, unit, f"output of filter {name}")
    second = omega * omega * (command - value) - 2.0 * omega * rate
    second = program.define(
        f"{name}_second", second, f"{unit}/s2", f"second time derivative of the output of filter {name}"
    )
    return FilterOutput(given, value, rate, second, length)


def _follower(mechanism: SymbolicMechanism, given: SymbolicFilter) -> str:
    if given.coordinate is not None:
        coordinate = mechanism.coordinates[given.coordinate]
        return f"{coordinate.name}, {coordinate.sense}"
    return next(f"the unstretched length of {line.name}" for line in mechanism.lines if line.filter is given)


def _start(mechanism: SymbolicMechanism, lower: Lowering, given: SymbolicFilter) -> Expr:
    """Return the initial output of a filter: the position of its joint, or the given initial length."""
    if given.coordinate is not None:
        return lower(ir.call("start", ir.symbol(mechanism.coordinates[given.coordinate].name)))
    # If the description contains no initial length, `_length` has declared a parameter for the length.
    assert given.start is not None
    return given.start


def _length(program: EquationSystem, given: SymbolicFilter) -> str:
    """Declare a parameter for an initial length that the description does not give, and return its name.

    The length is the rest length of a two-point force element that follows an input filter. The result
    is an empty text if the filter drives a joint, or if the description gives the initial length.
    """
    if given.coordinate is not None or given.start is not None:
        return ""
    name, text = program.fresh(f"{given.name}_start"), f"initial value of {given.name}"
    program.parameters.append(ModelParameter(name, np.array(0.0), given.unit, text, Origin("filter", given.name)))
    return name


def states(program: EquationSystem, found: Sequence[FilterOutput]) -> None:
    """Add the state variables of all input filters, and one output for each filter, to the program."""
    for followed in found:
        given = followed.filter
        _state(program, given, "offset", given.unit, followed.rate, "{} minus its initial value")
        _state(program, given, "offset_rate", f"{given.unit}/s", followed.second, "rate of {}")
        text = f"filtered value of {given.name}"
        program.outputs.append(Output(given.signal("value"), given.unit, text, followed.value))


def _state(
    program: EquationSystem, given: SymbolicFilter, quantity: str, unit: str, derivative: Expr, text: str
) -> None:
    signal, about = given.signal(quantity), text.format(f"the filtered value of {given.name}")
    name = f"{signal.name}_start"
    program.parameters.append(
        ModelParameter(name, np.array(0.0), unit, f"initial value of the {about}", START_VALUES)
    )
    program.integrate(StateVariable(signal, unit, about, ir.symbol(name), derivative, 1.0))
