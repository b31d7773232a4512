"""Remarks on functions of time that vary too fast to be resolved by the solvers."""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.system import System
from ..language.pace import CELLS
from .remark import Remark


def unresolved_functions(model: System) -> Iterator[Remark]:
    """Yield remarks on expressions that vary so fast that solvers may step over the variation.

    Before a run, each expression is sampled to detect fast variations. Solvers take shorter steps near
    the detected variations. Variations that are shorter than the sampling interval, or whose time
    depends on the motion, may remain undetected.
    """
    stop = model.chain.simulation.stop
    for label in model.problem.model.unresolved(stop):
        yield Remark(
            "function_unresolved",
            label,
            f"the expression changes within less than {stop / CELLS:.2g} s, which runs of {stop:.6g} s may"
            " step over",
            "choose a shorter simulation.stop, or a slower function",
            unit="s",
            limit=stop / CELLS,
        )
    for label in model.problem.model.wandering(stop):
        yield Remark(
            "function_unresolved",
            label,
            f"the expression has a short pulse at a time that depends on the motion; runs of {stop:.6g} s may"
            " step over it",
            "let the pulse depend on t alone, or replace it by a condition",
        )
