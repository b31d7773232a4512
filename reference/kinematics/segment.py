"""Time segments: intervals between two events, in which all switching conditions are constant."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


class NotVectorisable(Exception):
    """Error if a condition is true in some states of a batch and false in others.

    The states must then be evaluated one by one.
    """


def holds_in_all(condition: Any) -> bool:
    """Return the truth value that a condition has in all states.

    The condition is a single value, or an array of shape (N,) with the values in N states.

    Raises
    ------
    NotVectorisable
        If the condition is true in some states and false in others.
    """
    if not isinstance(condition, np.ndarray):
        return bool(condition)
    if condition.any() != condition.all():
        raise NotVectorisable
    return bool(condition.all())


@dataclass(frozen=True)
class Segment:
    """Time segment from one event to the next.

    Attributes
    ----------
    begin : float
        Beginning of the segment, s. Conditions on time that change at or before `begin` have their
        new truth values. Conditions that change later keep their old truth values in the whole
        segment, even in trial steps beyond the time of the change.
    sides : mapping
        Truth value of each switching condition, by the key of the condition. A condition without an
        entry in `sides` is evaluated in each state.
    """

    begin: float
    sides: Mapping[Hashable, bool] = field(default_factory=dict)

    def holds(self, key: Hashable, margin: Any) -> bool:
        """Return the truth value of a switching condition in the time segment.

        Parameters
        ----------
        key : hashable
            Key of the condition.
        margin : float or ndarray, shape (N,)
            Event indicator of the condition in one state or in N states. If the segment contains no
            truth value for the condition, the condition is true for a positive indicator.

        Raises
        ------
        NotVectorisable
            If the segment contains no truth value for the condition, and the indicator is positive in
            some of the states only.
        """
        return self.sides[key] if key in self.sides else holds_in_all(margin > 0.0)
