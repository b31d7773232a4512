"""Margins of switching conditions, i.e. values of event functions, at the ends of recent steps."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping

from ..expressions.sides import Condition

# The margin of a switching condition is the value of its event function.
# A switching condition whose margin varies slowly cannot switch twice within one step.
# A margin varies slowly if its value exceeds this multiple of the margin's variation over the last two steps.
_AWAY = 4.0


class Margins:
    """Margins of all switching conditions at the ends of the last three integration steps.

    A margin is the value of a condition's event function. The margins show whether a condition may
    change and change back within one step. Such a double change is not visible at the end of the step.
    """

    def __init__(self) -> None:
        self._recent: list[dict[Hashable, float]] = []

    def are_clear(self, seen: Mapping[Hashable, Condition]) -> bool:
        """Return whether double changes of conditions within the last step can be excluded.

        In a double change, a condition changes and then changes back. Double changes are excluded if the
        margin of each condition is large compared with the changes of the margin in the last two steps.

        Parameters
        ----------
        seen : mapping
            Conditions at the end of the step, by key.
        """
        self._recent = [*self._recent[-2:], {key: found.margin for key, found in seen.items()}]
        return len(self._recent) == 3 and all(self._is_clear(key) for key in seen)

    def _is_clear(self, key: Hashable) -> bool:
        a, b, c = (margins.get(key, math.nan) for margins in self._recent)
        return min(abs(b), abs(c)) > _AWAY * (abs(b - a) + abs(c - b))
