"""Functions that construct the programmed constraints and the driven joints of a mechanism."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.arithmetic import S
from ..description import Description
from ..description.tables.task import Motion, Path, Programmed
from ..description.types.bounds import POSITIVE, RAMP
from ..language import ir
from ..language.ir import Expr
from .algebra import Algebra, M, V
from .elements import Given
from .parts import Coordinate, Filter, ProgrammedTask


def programmed(given: Programmed, chain: Description) -> ProgrammedTask[S]:
    """Return the programmed constraint that the description defines."""
    expression = None if given.expression is None else chain.expression(given.expression)
    return ProgrammedTask(given.name, given.order, expression, given.path)


def motion(
    given: Motion, coordinates: Sequence[Coordinate[S]], k: int, parsed: Given, algebra: Algebra[S, V, M]
) -> ProgrammedTask[S]:
    """Return the constraint of a driven joint with coordinate k.

    The constraint is the coordinate minus its prescribed position, or minus the output of an input
    filter. The function `parsed` returns the expression of the position, or the output of a
    controller that drives the input. It returns None if the position is an FMU input.
    """
    coordinate, name = coordinates[k], given.name
    position = parsed(name, given.position)
    if given.input:
        assert given.cutoff is not None
        text = f"cutoff frequency of the filter of {name}"
        cutoff = algebra.scalar(f"{name}_cutoff", given.cutoff, "Hz", text, POSITIVE)
        return ProgrammedTask(name, 0, None, None, Filter(name, coordinate.unit, cutoff, k, None, position), k)
    assert position is not None
    difference = Expr("-", (), (ir.symbol(coordinate.name), position))
    return ProgrammedTask(name, 0, difference, None, None, k)


def keep_times(path: Path, name: str, algebra: Algebra[S, V, M]) -> None:
    """Require that the leg durations and blend times of a path are valid for all parameter values."""
    for number, (duration, shared) in enumerate(path.blended(algebra.value), start=1):
        text = f"duration of leg {number} of {name}"
        algebra.require(duration, f"{text}, s", POSITIVE)
        algebra.require(duration - shared, f"{text} less the blend times at its ends, s")
    for number, blend in enumerate(path.blends(algebra.value), start=1):
        algebra.require(blend, f"blend time at waypoints[{number}] of {name}, s")
    algebra.require(algebra.value(path.ramp_share), f"ramp of {name}", RAMP)
