"""OpenModelica backend, as an implementation of the backend interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..archive.validation import validate
from .fmu import Fmu, Order
from .openmodelica import TIMEOUT, Omc, build, solver

_REFUSED = (
    f"not run, because the results would be wrong: in FMI 3.0, omc's co-simulation solver is {solver.EULER};"
    " use FMI 2.0, model exchange or the native FMU"
)
_LATE = (
    "state events (contact, lift-off, discontinuities) are detected at communication points, up to one step late;"
    " model exchange and the native FMU locate the events"
)


@dataclass(frozen=True)
class OpenModelica:
    """Backend that compiles the generated Modelica model to an FMU with the OpenModelica compiler omc.

    `timeout` is the maximum duration of a build, s. CVODE, the co-simulation solver of the FMU,
    restarts at every communication step with a new step size. CVODE fails if one communication step
    takes more than 1,000 solver steps.
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
        """Build `Name.fmu`, and write `Name.mo`, `Name.mos` and a log."""
        made = build(
            order.model, order.out, fmi=order.fmi, omc=self.omc, timeout=self.timeout, progress=order.progress
        )
        facts = f"{made.solver}; {made.equations} equations, {made.unknowns} unknowns"
        problems = tuple(validate(made.fmu))
        refused = _REFUSED if made.solver == solver.EULER else ""
        caveat = _LATE if order.model.program.relations else ""
        return Fmu(self, made.fmu, made.version, made.seconds, facts, problems, refused, caveat, made.log)
