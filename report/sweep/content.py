"""Content of the web page with the results of a parameter sweep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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
    measures
        Sensitivity measures by name, with one value for each key.
    spread
        Half-widths of the 95 % confidence intervals by name of the sensitivity measure, with one value for
        each key.
    used
        Number of runs that the method used.
    """

    method: str
    keys: tuple[str, ...]
    measures: Mapping[str, Array]
    spread: Mapping[str, Array]
    used: int


# Headings of the tables with the smallest and the largest values, by the goal of the optimisation.
_LOW = {"": "smallest", "maximize": "worst", "minimize": "best"}
_HIGH = {"": "largest", "maximize": "best", "minimize": "worst"}


@dataclass(frozen=True)
class ExtremeRuns:
    """Group of runs that have the largest values of an objective, or group that has the smallest values.

    Attributes
    ----------
    word
        `best` or `worst` for an objective with a goal, else `smallest` or `largest`.
    side
        `smallest` or `largest`.
    runs
        Function that returns the indices of the runs. The arguments are the name of an objective and
        the maximum number of runs.
    """

    word: str
    side: str
    runs: Callable[[str, int], NDArray[np.int64]]

    @property
    def has_goal(self) -> bool:
        """Whether the objective has the goal `maximize` or `minimize`."""
        return self.word != self.side

    def title(self, objective: str) -> str:
        """Return a phrase for the group of runs, such as `Worst runs: smallest margin`."""
        if self.has_goal:
            return f"{self.word.capitalize()} runs: {self.side} {objective}"
        return f"Runs with the {self.side} {objective}"


def _ordered(values: Array) -> NDArray[np.int64]:
    order = np.argsort(values, kind="stable")
    return order[~np.isnan(values[order])]


@dataclass(frozen=True)
class Content:
    """Results of a parameter sweep that its page shows.

    Attributes
    ----------
    name, description
        Name and description of the model.
    keys
        Values of each varied key in all runs, by the name of the key, shape (runs,). Values are
        numbers or texts.
    objectives
        Values of each objective in all runs, by its name, shape (runs,); NaN for failed runs.
    texts
        Expression of each objective by its name.
    goals
        Goal `maximize` or `minimize` of each objective, by its name. Objectives without a goal are
        omitted.
    reasons
        Reason of failure of each run; empty for a run that has not failed.
    effects
        Sensitivities of each objective by its name, or the reason why they are unknown.
    facts
        Further facts that the page shows, by name.
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
    goals: Mapping[str, str] = field(default_factory=dict)

    @property
    def ranking(self) -> str:
        """Objective by which runs are ranked, or an empty text without objectives.

        The first objective with a goal (`maximize` or `minimize`) is used. If no objective has a goal, the
        first objective is used.
        """
        return next((name for name in self.objectives if name in self.goals), next(iter(self.objectives), ""))

    @property
    def runs(self) -> int:
        """Number of runs in the sweep."""
        return len(self.reasons)

    def largest(self, objective: str, count: int) -> NDArray[np.int64]:
        """Return the indices of the runs with the largest values of an objective, the largest value first.

        At most `count` runs are returned.
        """
        return _ordered(-self.objectives[objective])[:count]

    def smallest(self, objective: str, count: int) -> NDArray[np.int64]:
        """Return the indices of the runs with the smallest values of an objective, the smallest value first.

        At most `count` runs are returned.
        """
        return _ordered(self.objectives[objective])[:count]

    def ends(self, objective: str) -> tuple[ExtremeRuns, ...]:
        """Return the runs with the smallest and with the largest values of an objective, as two groups.

        The more important group comes first: the worst runs for an objective with a goal, otherwise the
        runs with the largest values. No group is returned if fewer than two runs succeeded or
        all values are equal.
        """
        values = self.objectives[objective]
        if len(np.unique(values[~np.isnan(values)])) < 2:
            return ()
        goal = self.goals.get(objective, "")
        low, high = (
            ExtremeRuns(_LOW[goal], "smallest", self.smallest),
            ExtremeRuns(_HIGH[goal], "largest", self.largest),
        )
        return (low, high) if goal == "maximize" else (high, low)

    @property
    def varied(self) -> list[str]:
        """Keys that have different values in different runs."""
        return [key for key, values in self.keys.items() if len(set(np.asarray(values).tolist())) > 1]

    def numeric(self) -> dict[str, Array]:
        """Return the values of all runs for each key whose numerical values differ between runs.

        Keys with texts, or with one value in all runs, are omitted.
        """
        return {
            key: np.asarray(values, dtype=float)
            for key, values in self.keys.items()
            if np.asarray(values).dtype.kind in "if" and np.ptp(np.asarray(values)) > 0
        }
