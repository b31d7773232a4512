"""Time events at short pulses of time-dependent expressions, for variable-step solvers.

The events change no variable of the mechanism. They only prevent solvers from stepping over the pulses.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...description import Description
from ...description.types.origin import Origin
from ...language import ir
from ...language.ir import Expr
from ...language.timely import timed_pace
from ..program.program import EquationSystem, Lookup
from . import text as mo
from .parts import fresh
from .writer import Declaration, Group

_TITLE = "events without effect on the model, so that solvers do not step over short pulses"


def declarations(program: EquationSystem, chain: Description) -> list[Group]:
    """Return the declarations of Boolean vectors, each element of which changes when a short pulse begins.

    All expressions of time share one vector. Each lookup of a table with short pulses has a vector of
    its own.
    """
    members = [
        *_of_expressions(program, chain),
        *(d for lookup in program.lookups for d in _of_table(program, lookup)),
    ]
    return [Group(_TITLE, tuple(members))] if members else []


def _of_expressions(program: EquationSystem, chain: Description) -> Iterator[Declaration]:
    numbers = {name: float(parameter.value) for name, parameter in chain.parameters.items()}
    pace = timed_pace(program.timed, numbers, program.initial, chain.simulation.stop).pace
    times = [ir.constant(time) for time in pace.begins[pace.marks].tolist()]
    if times:
        text = "true after the beginning of each short pulse in expressions of time, for the default parameters"
        yield _vector(Origin("time"), fresh(program, "timed_begins"), times, text)


def _of_table(program: EquationSystem, lookup: Lookup) -> Iterator[Declaration]:
    pace = lookup.table.pace
    rises = lookup.rate.op == "constant" and lookup.rate.data > 0.0
    arguments = pace.begins[pace.marks].tolist() if rises else []
    times = [(ir.constant(x) - lookup.begin) / lookup.rate for x in arguments]
    if times:
        text = f"true after the beginning of each short pulse in the lookup table {lookup.function}"
        yield _vector(Origin("table", lookup.function), fresh(program, f"{lookup.name}_begins"), times, text)


def _vector(origin: Origin, name: str, times: list[Expr], text: str) -> Declaration:
    conditions = ", ".join(f"time >= {mo.text(time)}" for time in times)
    about = (name, None, text, (len(times),), (), f"{{{conditions}}}")
    return Declaration(origin, "", *about, type="Boolean")
