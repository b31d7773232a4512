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
    """Sensitivity of one objective to the keys of a sweep.

    Attributes
    ----------
    method
        Name of the method.
    keys
        Keys that vary.
    measures, spread
        Name of a measure → one value per key, and its confidence interval.
    used
        Number of runs that the method used.
    """

    method: str
    keys: tuple[str, ...]
    measures: Mapping[str, Array]
    spread: Mapping[str, Array]
    used: int


@dataclass(frozen=True)
class Content:
    """Results of a sweep for its page.

    Attributes
    ----------
    name, description
        Name and description of the model.
    keys
        Key → value in each run, shape (runs,), numbers or texts.
    objectives
        Name → value in each run, shape (runs,); NaN for runs that failed.
    texts
        Name → expression of the objective.
    reasons
        Reason of failure of each run; empty for a run that has not failed.
    effects
        Objective → sensitivities, or the reason why these are unknown.
    facts
        Further facts by name.
    notes
        Remarks that readers need for the interpretation.
    command
        Command line that repeats the sweep.
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
        """Return the numbers of the runs with the largest values of an objective, the largest
        first; at most count.
        """
        values = np.where(np.isnan(self.objectives[objective]), -np.inf, self.objectives[objective])
        order = np.argsort(-values, kind="stable")[:count]
        return order[np.isfinite(values[order]) | (values[order] > 0)]

    def numeric(self) -> dict[str, Array]:
        """Return the keys whose values are numbers and differ between runs, with these values."""
        return {
            key: np.asarray(values, dtype=float)
            for key, values in self.keys.items()
            if np.asarray(values).dtype.kind in "if" and np.ptp(np.asarray(values)) > 0
        }
