"""Time segments: what changes at events alone, and is constant between them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


class NotVectorisable(Exception):
    """Many states that are not on one side of a condition: they have to be evaluated one by one."""


def holds_in_all(condition: Any) -> bool:
    """Whether a condition holds, of one state or of many, shape (N,); raises Apart where it depends on which."""
    if not isinstance(condition, np.ndarray):
        return bool(condition)
    if condition.any() != condition.all():
        raise NotVectorisable
    return bool(condition.all())


@dataclass(frozen=True)
class Segment:
    """From one event to the next.

    begin   s: switches up to then have happened, later ones have not, even where a trial step reaches beyond them
    sides   relation's key → whether it holds; those that are not in it are what they are in each state
    """

    begin: float
    sides: Mapping[Hashable, bool] = field(default_factory=dict)

    def holds(self, key: Hashable, margin: Any) -> bool:
        """Whether a relation holds, whose margin in the present state is positive where it does by itself.

        margin   a number, or of many states shape (N,)
        Raises Apart where these differ.
        """
        return self.sides[key] if key in self.sides else holds_in_all(margin > 0.0)
