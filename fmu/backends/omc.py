"""OpenModelica among the backends."""

from __future__ import annotations

from dataclasses import dataclass

from ..runs import simulate as runs
from .fmu import Fmu, Order
from .openmodelica import TIMEOUT, Omc, build


@dataclass(frozen=True)
class OpenModelica:
    """FMUs of the generated Modelica by an omc, which may take so long, s.

    Its CVODE restarts at every communication step, has no step control across them, and gives up after 1000 steps
    in one of them; at a switching time omc may report what was before it or what is after.
    """

    omc: Omc
    timeout: float = TIMEOUT
    name: str = "openmodelica"
    compiler: str = "omc"
    tolerance: float = 1e-4
    communication_step: float | None = 1e-3
    sure_of_events: bool = False
    projects: bool = False
    cross: bool = False

    def build(self, order: Order) -> Fmu:
        """Write `Name.fmu`, `Name.mo`, `Name.mos` and a log."""
        made = build(
            order.model, order.out, fmi=order.fmi, omc=self.omc, timeout=self.timeout, progress=order.progress
        )
        solver = f"{made.solver}; {made.equations} equations, {made.unknowns} unknowns"
        return Fmu(self, made.fmu, made.version, made.seconds, solver, tuple(runs.validate(made.fmu)))
