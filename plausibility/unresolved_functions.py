"""Expressions of time that change faster than any solver was made to resolve."""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.prepared import Prepared
from ..language.pace import CELLS
from .remark import Remark


def unresolved_functions(model: Prepared) -> Iterator[Remark]:
    """Expressions whose changes with time are too fast for the search that bounds the solvers' steps."""
    stop = model.chain.simulation.stop
    for label in model.problem.model.unresolved(stop):
        yield Remark(
            "function_unresolved",
            label,
            f"changes with time within less than {stop / CELLS:.2g} s, which runs of {stop:.6g} s may step over",
            "a shorter simulation.stop, or a slower function",
            unit="s",
            limit=stop / CELLS,
        )
    for label in model.problem.model.wandering(stop):
        yield Remark(
            "function_unresolved",
            label,
            f"has a short pulse at times that depend on the motion, which runs of {stop:.6g} s may step over",
            "a pulse whose time depends on t alone, or a condition in place of the pulse",
        )
