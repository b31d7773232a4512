"""Outcome of each case of a study: its run, or the reason of its failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...core.trajectory import Array, Trajectory
from ...mechanism import Mechanism
from ...runs.compare.decay import Decay, baumgarte_roots, straight_part

_SETTLED = 10.0  # time constants of Baumgarte's fast root


@dataclass(frozen=True)
class CaseRun:
    """A case that ran.

    Parameters:
        case       its name
        result     contents of its `result.json`
        reference  the reference solver's run
        mechanism  of plain numbers, the case applied
        targets    point → programmed positions at the run's times, shape (N, 3), world frame, m
    """

    case: str
    result: dict[str, Any]
    reference: Trajectory
    mechanism: Mechanism
    targets: Mapping[str, Array]

    @property
    def not_unique(self) -> dict[str, list[str]]:
        """Joint or closure → parts of its load that are not unique, see `reactions.not_unique`."""
        return dict(self.result.get("not_unique", {}))

    @property
    def slow_root(self) -> float:
        """Real part of the slow root of Baumgarte's stabilisation, 1/s."""
        return self._roots[0]

    @property
    def settled(self) -> float:
        """Time, s, from which only the slow root is left of the stabilisation."""
        fast = self._roots[1]
        return float(self.reference.time[0]) + (_SETTLED / -fast if fast else 0.0)

    @property
    def decay(self) -> Decay | None:
        """Straight part of ln ‖Φ‖ after the fast root has decayed; None if there is none."""
        values = self.reference.signals.get("violation_position")
        return None if values is None else straight_part(self.reference.time, values, self.settled)

    @property
    def _roots(self) -> tuple[float, float]:
        return baumgarte_roots(float(self.mechanism.alpha), float(self.mechanism.beta))


@dataclass(frozen=True)
class CaseFailure:
    """A case that could not be built or run, and the error's text."""

    case: str
    message: str

    @property
    def result(self) -> dict[str, Any]:
        """Return a result for the failed case, in place of its `result.json`."""
        return {"case": self.case, "runs": [], "ok": False, "error": self.message}


Outcome = CaseRun | CaseFailure
