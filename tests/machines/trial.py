"""One random mechanism through reference and generated equations, held against Pinocchio."""

from __future__ import annotations

import time
from dataclasses import dataclass

import helpers_problem as solving
import numpy as np
from helpers_stages import StagedModel
from helpers_time import alarm

from gpmelica.analysis.system import System, assemble_system
from gpmelica.description.load import from_data
from machines.families import FAMILIES, Machine, machine

TOLERANCE = 1e-8  # of q̈ in the mass matrix's metric, where a state's condition is not above 1e6
_LONGEST = 60.0  # s


@dataclass(frozen=True)
class Trial:
    """Result of the random mechanism of one seed.

    rank, found  rank of the constraints by construction, and the rank that the package determines
    reference, generated  largest relative errors of q̈ over all states, in the metric of the mass matrix
    crash        exception, or empty
    """

    seed: int
    family: str
    formulation: str
    n: int
    rank: int
    found: int
    reference: float
    generated: float
    crash: str
    seconds: float

    @property
    def faults(self) -> list[str]:
        """Return sentences on the faults of a trial."""
        if self.crash:
            return [self.crash]
        worst = max(self.reference, self.generated)
        return [f"rank {self.found} instead of {self.rank}"] * (self.rank != self.found) + [
            f"q̈ of the reference is off by {self.reference:.1e}, of the equations by {self.generated:.1e}"
        ] * (not worst <= TOLERANCE)

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.family}, {self.formulation}, n = {self.n}: {'; '.join(self.faults)}"


def trial(seed: int, largest: int = 40) -> Trial:
    """The seed's mechanism of at most so many coordinates; whatever is raised is in the answer."""
    begin = time.perf_counter()
    drawn = machine(seed, largest)
    rank, errors, crash = -1, (np.nan, np.nan), ""
    try:
        with alarm(_LONGEST):
            model = assemble_system(from_data(drawn.data))
            rank, errors = model.solvability.rank, _errors(drawn, model)
    except Exception as error:
        crash = f"{type(error).__name__}: {error}"
    form = drawn.data["constraints"]["formulation"]
    seconds = time.perf_counter() - begin
    return Trial(seed, drawn.family, form, drawn.oracle.tree.n, drawn.rank, rank, *errors, crash, seconds)


def _errors(drawn: Machine, model: System) -> tuple[float, float]:
    """Largest error of q̈ over the states, of the reference and of the generated equations."""
    staged, errors = StagedModel(model), []
    for t, q, qd in drawn.states:
        truth = drawn.oracle(t, q, qd)
        found = solving.evaluate(model.mechanism, t, q, qd, start=model.start, dependent=model.dependent)
        errors.append([truth.error(found.qdd), truth.error(staged(t, q, qd).qdd)])
    first, second = np.max(errors, axis=0)
    return float(first), float(second)


__all__ = ["FAMILIES", "TOLERANCE", "Trial", "trial"]
