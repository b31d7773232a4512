"""Content of a sweep's page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.trajectory import Array


@dataclass(frozen=True)
class Effects:
    """Sensitivity of an objective: `method`, measures by name with one number per key, and their spread."""

    method: str
    keys: tuple[str, ...]
    measures: Mapping[str, Array]
    spread: Mapping[str, Array]
    used: int


@dataclass(frozen=True)
class Content:
    """A sweep as its page shows it.

    Parameters:
        name, description  of the model
        keys        key → its value in each run, shape (runs,); numbers or texts
        objectives  name → its value in each run, shape (runs,); NaN of runs that failed
        texts       name → expression of the objective
        reasons     why a run failed, for each run; empty where it has not
        effects     objective → what it depends on, or why that is not known
        facts       more to know: name → text
        notes       what a reader must know
        command     line that repeats the sweep
    """

    name: str
    description: str
    keys: Mapping[str, Any]
    objectives: Mapping[str, Array]
    texts: Mapping[str, str]
    reasons: Sequence[str]
    effects: Mapping[str, Effects | str]
    facts: Mapping[str, str]
    notes: Sequence[str]
    command: str = ""

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.reasons)

    def worst(self, objective: str, count: int) -> NDArray[np.int64]:
        """Numbers of the runs with the largest values, the largest first; shape (at most count,)."""
        values = np.where(np.isnan(self.objectives[objective]), -np.inf, self.objectives[objective])
        order = np.argsort(-values, kind="stable")[:count]
        return order[np.isfinite(values[order]) | (values[order] > 0)]

    def numeric(self) -> dict[str, Array]:
        """Keys whose values are numbers and that vary."""
        return {
            key: np.asarray(values, dtype=float)
            for key, values in self.keys.items()
            if np.asarray(values).dtype.kind in "if" and np.ptp(np.asarray(values)) > 0
        }
