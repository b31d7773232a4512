"""Tables of the description in the text: functions that give the piece that an argument is in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...description.types.origin import Origin
from ...language import ir
from ...language.ir import Expr
from ...language.piecewise import PIECE, Piecewise
from ..program.program import Lookup, Program
from . import text as mo
from .parts import fresh
from .writer import Declaration, Equation, Group

_COLUMNS = ("begin", "c0", "c1", "c2", "c3")
_TITLE = "tables"
_NEAR = 1e-2  # of the shortest piece


@dataclass(frozen=True)
class Function:
    """What the template makes a function of.

    columns  declarations of the table's numbers, laid out: of the pieces' begins first
    count    of pieces; halvings: after which bisection has found one
    kinks    whether something asks where the next piece begins
    """

    name: str
    columns: tuple[str, ...]
    count: int
    halvings: int
    kinks: bool

    @property
    def result(self) -> str:
        """The piece that has been found."""
        return "{" + ", ".join(f"{column}[low]" for column in _COLUMNS) + "}"


def functions(program: Program) -> list[Function]:
    """One for each table."""
    tables = {lookup.function: lookup.table for lookup in program.lookups}
    return [_function(name, table) for name, table in tables.items()]


def _function(name: str, table: Piecewise) -> Function:
    count = len(table.pieces)
    columns = tuple(
        mo.layout(f"constant Real {column}[{count}] = {mo.constant(numbers)}", 4)
        for column, numbers in zip(_COLUMNS, table.pieces.T, strict=True)
    )
    return Function(name, columns, count, (count - 1).bit_length(), table.kinks)


def declarations(program: Program) -> list[Group]:
    """Of the pieces that hold now, and of when the next kinks come."""
    pieces = [
        Declaration(_origin(found), "", found.name, None, found.description, (PIECE,)) for found in program.lookups
    ]
    kinks = [
        Declaration(_origin(found), "discrete ", name, "s", f"when {found.name} ends")
        for found, name in _kinks(program)
    ]
    return _group([*pieces, *kinks])


def equations(program: Program) -> list[Group]:
    """What gives them; kinks are events."""
    pieces = [
        Equation(_origin(found), f"{found.name} = {found.function}({mo.text(found.argument)})")
        for found in program.lookups
    ]
    kinks = [
        Equation(
            _origin(found), f"when time >= pre({name}) then {name} = {_kink(found, ir.symbol('time'))}; end when"
        )
        for found, name in _kinks(program)
    ]
    return _group([*pieces, *kinks])


def initial_equations(program: Program) -> list[Equation]:
    """When the first kinks come."""
    return [
        Equation(_origin(found), f"{name} = {_kink(found, ir.symbol('time'))}") for found, name in _kinks(program)
    ]


def _kinks(program: Program) -> Iterator[tuple[Lookup, str]]:
    """Lookups whose next piece begins at an event, and the name of its time."""
    for lookup in program.lookups:
        if lookup.table.kinks and lookup.rate.op == "constant" and lookup.rate.data > 0.0:
            yield lookup, fresh(program, f"{lookup.name}_end")


def _kink(lookup: Lookup, now: Expr) -> str:
    """When the piece ends that holds from now on: a bit later, for an event may come a bit early."""
    argument = lookup.argument
    later = argument + ir.constant(_NEAR * float(np.diff(lookup.table.pieces[1:, 0]).min()))
    end = ir.call(f"{lookup.function}_end", later)
    return mo.text(now + (end - argument) / lookup.rate)


def digest(program: Program) -> Iterator[str]:
    """What decides what they compute."""
    for lookup in program.lookups:
        argument = ir.array([lookup.begin, lookup.rate])
        yield f"{lookup.name} {mo.text(argument)} {lookup.table.kinks} {lookup.table.pieces.tolist()}"


def _origin(lookup: Lookup) -> Origin:
    return Origin("table", lookup.function)


def _group(members: Sequence[Declaration | Equation]) -> list[Group]:
    return [Group(_TITLE, tuple(members))] if members else []
