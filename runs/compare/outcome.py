"""Outcome of a case of a description: its verified run, or the reason of its failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...core.trajectory import Array, Trajectory
from ...mechanism import Mechanism
from .context import RunReport
from .result import result
from .stabilisation import Stabilisation


@dataclass(frozen=True)
class CaseRun:
    """Data of a verified run of one case that are needed for the comparison of cases.

    Attributes
    ----------
    case
        Name of the case.
    result
        Contents of the `result.json` of the case.
    reference
        Run of the reference solver.
    mechanism
        Mechanism of the case, with numerical values of all parameters.
    targets
        Programmed positions of each point at the N output times, by name of the point, in world axes,
        m. Each array has shape (N, 3).
    """

    case: str
    result: dict[str, Any]
    reference: Trajectory
    mechanism: Mechanism
    targets: Mapping[str, Array]

    @property
    def not_unique(self) -> dict[str, list[str]]:
        """Names of the non-unique components of joint reactions, by joint or loop closure."""
        return dict(self.result.get("not_unique", {}))

    @cached_property
    def stabilisation(self) -> Stabilisation:
        """Decay of the constraint violation in the reference solver's run."""
        return Stabilisation(self.mechanism, self.reference)


@dataclass(frozen=True)
class CaseFailure:
    """Case that could not be built or run, with the text of the error."""

    case: str
    message: str

    @property
    def result(self) -> dict[str, Any]:
        """Entry of a failed case in `cases.json`.

        For any other case, the entry is the contents of the file `result.json`.
        """
        return {"case": self.case, "runs": [], "ok": False, "error": self.message}


Outcome = CaseRun | CaseFailure


def case_run(report: RunReport, name: str) -> CaseRun:
    """Return the data of a verified run that a comparison of cases needs; `name` is the name of the case."""
    return CaseRun(name, result(report), report.reference, report.mechanism, report.targets)
