"""Lookup tables in the Modelica source: functions that return the polynomial piece for an argument."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...description.types.origin import Origin
from ...language import ir
from ...language.ir import Expr
from ...language.piecewise import PIECE, Piecewise
from ..program.program import EquationSystem, Lookup
from . import text as mo
from .parts import fresh
from .writer import Declaration, Equation, Group

_COLUMNS = ("begin", "c0", "c1", "c2", "c3")
_TITLE = "tables"
# The search for a table's polynomial piece increases the argument by this fraction of the shortest piece.
_NEAR = 1e-2


@dataclass(frozen=True)
class Function:
    """Contents of the Modelica function of one lookup table.

    Attributes
    ----------
    columns
        Source text that declares each column of the table of polynomial pieces. The first column
        contains the left ends of the pieces, and the other columns contain their coefficients.
    count
        Number of polynomial pieces.
    halvings
        Number of bisection steps in the search for the piece that contains the argument.
    kinks
        Whether the slope or curvature jumps between pieces, so that the model needs the right end of
        the current piece.
    """

    name: str
    columns: tuple[str, ...]
    count: int
    halvings: int
    kinks: bool

    @property
    def result(self) -> str:
        """Return Modelica source of an array: the left end and the coefficients of a polynomial piece.

        The array is the result of the Modelica function. The function's variable `low` contains the
        index of the piece.
        """
        return "{" + ", ".join(f"{column}[low]" for column in _COLUMNS) + "}"


def functions(program: EquationSystem) -> list[Function]:
    """Return for each lookup table the contents of the Modelica function that evaluates it."""
    tables = {lookup.function: lookup.table for lookup in program.lookups}
    return [_function(name, table) for name, table in tables.items()]


def _function(name: str, table: Piecewise) -> Function:
    count = len(table.pieces)
    columns = tuple(
        mo.layout(f"constant Real {column}[{count}] = {mo.constant(numbers)}", 4)
        for column, numbers in zip(_COLUMNS, table.pieces.T, strict=True)
    )
    return Function(name, columns, count, (count - 1).bit_length(), table.kinks)


def declarations(program: EquationSystem) -> list[Group]:
    """Return the declarations of the variables that evaluate lookup tables.

    One variable per lookup contains the current polynomial piece. If the table has kinks, another
    variable contains the time of the next kink, s.
    """
    pieces = [
        Declaration(_origin(found), "", found.name, None, found.description, (PIECE,)) for found in program.lookups
    ]
    kinks = [
        Declaration(
            _origin(found),
            "discrete ",
            name,
            "s",
            f"time at which the current piece of table {found.function} ends with a kink",
        )
        for found, name in _kinks(program)
    ]
    return _group([*pieces, *kinks])


def equations(program: EquationSystem) -> list[Group]:
    """Return the equations for the current pieces of lookup tables.

    If the function has a kink at the end of a piece, this end triggers an event.
    """
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


def initial_equations(program: EquationSystem) -> list[Equation]:
    """Return the initial equations that set the time, s, of the first kink of each lookup table."""
    return [
        Equation(_origin(found), f"{name} = {_kink(found, ir.symbol('time'))}") for found, name in _kinks(program)
    ]


def _kinks(program: EquationSystem) -> Iterator[tuple[Lookup, str]]:
    """Yield each lookup whose next kink has a known time, and the name of the variable with this time.

    The time of the kink is known if the rate of the lookup's argument is a positive constant.
    """
    for lookup in program.lookups:
        if lookup.table.kinks and lookup.rate.op == "constant" and lookup.rate.data > 0.0:
            yield lookup, fresh(program, f"{lookup.name}_end")


def _kink(lookup: Lookup, now: Expr) -> str:
    """Return Modelica source text for the end time of the current piece of a lookup table, s.

    Rounding can trigger an event slightly before the piece ends. The current piece is therefore
    searched at a slightly later time.
    """
    argument = lookup.argument
    later = argument + ir.constant(_NEAR * float(np.diff(np.unique(lookup.table.pieces[:, 0])).min()))
    end = ir.call(f"{lookup.function}_end", later)
    return mo.text(now + (end - argument) / lookup.rate)


def digest(program: EquationSystem) -> Iterator[str]:
    """Yield the data of each lookup table as a text for the hash of the model."""
    for lookup in program.lookups:
        argument = ir.array([lookup.begin, lookup.rate])
        yield f"{lookup.name} {mo.text(argument)} {lookup.table.kinks} {lookup.table.pieces.tolist()}"


def _origin(lookup: Lookup) -> Origin:
    return Origin("table", lookup.function)


def _group(members: Sequence[Declaration | Equation]) -> list[Group]:
    return [Group(_TITLE, tuple(members))] if members else []
