"""Class of remarks on implausible values, and functions that sort and summarise remarks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

KINDS = (
    "tips",
    "support_lifted",
    "rope_slack",
    "start_beyond_stop",
    "angle_above_turn",
    "statics_far",
    "start_accelerates",
    "drive_without_motion",
    "force_far_above_weight",
    "inertia_unlikely",
    "length_unlikely",
    "table_overshoots",
    "singular_configuration",
    "sensitive_motion",
    "function_unresolved",
    "unused_name",
    "input_constant",
)
"""Values of `Remark.id`, the most urgent first."""


@dataclass(frozen=True)
class Remark:
    """Value or motion of a mechanism that is unusual and probably unintended.

    Parameters
    ----------
    id
        Kind of remark, one of `KINDS`.
    where
        Key of the description, such as `links[2] (boom)`.
    found
        Clause that states the fact, with value and unit.
    hint
        Probable cause or remedy.
    value
        Value that exceeds `limit`; None if the remark has no value.
    unit
        Unit of value and limit.
    limit
        Limit that usual mechanisms do not exceed; None if the remark has no limit.
    time
        Simulation time of the observation, s; None if the observation has no time.

    Examples
    --------
    >>> import gpmelica as gp
    >>> slow = gp.Remark("tips", "supports", "the crane tips at 1.5 s", "check the counterweight", time=1.5)
    >>> slow.text
    'supports: the crane tips at 1.5 s; check the counterweight'
    """

    id: str
    where: str
    found: str
    hint: str
    value: float | None = None
    unit: str = ""
    limit: float | None = None
    time: float | None = None

    @property
    def text(self) -> str:
        """Text of the remark in one line: description key, observation, and probable cause or remedy."""
        return f"{self.where}: {self.found}; {self.hint}"

    def data(self) -> dict[str, Any]:
        """Return this remark in the form in which `result.json` contains it.

        Returns
        -------
        dict
            Values that the module `json` accepts.
        """
        return {
            "id": self.id,
            "where": self.where,
            "value": self.value,
            "unit": self.unit,
            "limit": self.limit,
            "time": self.time,
            "hint": self.hint,
            "text": self.text,
        }


def ordered(remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    """Return one remark per kind and location, sorted by urgency of the kind, then by time."""
    first: dict[tuple[str, str], Remark] = {}
    for remark in remarks:
        first.setdefault((remark.id, remark.where), remark)
    return tuple(sorted(first.values(), key=lambda remark: (KINDS.index(remark.id), remark.time or 0.0)))


def word(remarks: Sequence[Remark]) -> str:
    """Return the result of the plausibility check: `plausible`, or `questionable` if there are remarks.

    The result is the fourth line of the verdict on a run.
    """
    return "questionable" if remarks else "plausible"


def sentence(remarks: Sequence[Remark]) -> str:
    """Return a sentence that states how many values are unusual, as a summary of all remarks."""
    if not remarks:
        return "No value of the description, its initial state or the motion is unusual."
    return "One value is unusual." if len(remarks) == 1 else f"{len(remarks)} values are unusual."
