"""What drives have to realise, by its description: programmed constraints and motions."""

from __future__ import annotations

from ..description import Chain
from ..description.tables.task import Motion, Path, Programmed
from ..language import ir
from ..language.ir import Expr
from ..types.bounds import POSITIVE, RAMP
from .algebra import Algebra
from .parts import Coordinate, ProgrammedTask


def programmed(given: Programmed, chain: Chain) -> ProgrammedTask:
    """A programmed constraint."""
    expression = None if given.expression is None else chain.expression(given.expression)
    return ProgrammedTask(given.name, given.order, expression, given.path)


def motion(given: Motion, coordinate: Coordinate, chain: Chain) -> ProgrammedTask:
    """The coordinate less what it has to be, as it is written."""
    difference = Expr("-", (), (ir.symbol(coordinate.name), chain.expression(given.position)))
    return ProgrammedTask(given.name, 0, difference, None)


def keep_times(path: Path, name: str, algebra: Algebra) -> None:
    """What the times of a path must keep where they follow from parameters."""
    for number, (duration, shared) in enumerate(path.blended(algebra.value), start=1):
        text = f"duration of leg {number} of {name}"
        algebra.require(duration, f"{text}, s", POSITIVE)
        algebra.require(duration - shared, f"{text} without what its ends blend, s")
    for number, blend in enumerate(path.blends(algebra.value), start=1):
        algebra.require(blend, f"blend time at waypoints[{number}] of {name}, s")
    algebra.require(algebra.value(path.ramp_share), f"ramp of {name}", RAMP)
