"""What drives have to realise, by its description: programmed constraints and motions."""

from __future__ import annotations

from ..description import Chain
from ..description.tables.task import Motion, Programmed
from ..language import ir
from ..language.ir import Expr
from .parts import Coordinate, ProgrammedTask


def programmed(given: Programmed, chain: Chain) -> ProgrammedTask:
    """A programmed constraint."""
    expression = None if given.expression is None else chain.expression(given.expression)
    return ProgrammedTask(given.name, given.order, expression, given.path)


def motion(given: Motion, coordinate: Coordinate, chain: Chain) -> ProgrammedTask:
    """The coordinate less what it has to be, as it is written."""
    difference = Expr("-", (), (ir.symbol(coordinate.name), chain.expression(given.position)))
    return ProgrammedTask(given.name, 0, difference, None)
