"""What drives have to realise, by its description: programmed constraints and motions."""

from __future__ import annotations

from ..description.tables.task import Motion, Programmed
from ..language import expressions, ir
from ..language.ir import Expr
from .parts import Coordinate, ProgrammedTask


def programmed(given: Programmed) -> ProgrammedTask:
    """A programmed constraint."""
    expression = None if given.expression is None else expressions.parse(given.expression)
    return ProgrammedTask(given.name, given.order, expression, given.path)


def motion(given: Motion, coordinate: Coordinate) -> ProgrammedTask:
    """The coordinate less what it has to be, as it is written."""
    difference = Expr("-", (), (ir.symbol(coordinate.name), expressions.parse(given.position)))
    return ProgrammedTask(given.name, 0, difference, None)
