"""OpenModelica among the backends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..archive.validation import validate
from .fmu import Fmu, Order
from .openmodelica import TIMEOUT, Omc, build, solver

_REFUSED = (
    f"not run, for its numbers are wrong: its co-simulation is {solver.EULER}, as omc has it in FMI 3.0;"
    " take FMI 2.0, model exchange or the native FMU"
)
_LATE = (
    "sees conditions on the motion (contact, lift-off, kinks) at communication points, up to a step late;"
    " model exchange and the native FMU locate them"
)


@dataclass(frozen=True)
class OpenModelica:
    """FMUs of the generated Modelica by an omc, which may take so long, s.

    Its CVODE restarts at every communication step, has no step control across them, and gives up after 1000 steps
    in one of them.
    """

    omc: Omc
    timeout: float = TIMEOUT
    name: ClassVar[str] = "openmodelica"
    compiler: ClassVar[str] = "omc"
    tolerance: ClassVar[float] = 1e-4
    communication_step: ClassVar[float | None] = 1e-3
    projects: ClassVar[bool] = False
    foreign: ClassVar[bool] = True
    cross: ClassVar[bool] = False

    def build(self, order: Order) -> Fmu:
        """Write `Name.fmu`, `Name.mo`, `Name.mos` and a log."""
        made = build(
            order.model, order.out, fmi=order.fmi, omc=self.omc, timeout=self.timeout, progress=order.progress
        )
        facts = f"{made.solver}; {made.equations} equations, {made.unknowns} unknowns"
        problems = tuple(validate(made.fmu))
        refused = _REFUSED if made.solver == solver.EULER else ""
        caveat = _LATE if order.model.program.relations else ""
        return Fmu(self, made.fmu, made.version, made.seconds, facts, problems, refused, caveat, made.log)
