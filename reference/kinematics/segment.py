"""Time segments: what changes at events alone, and is constant between them (design 9.4)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Segment:
    """From one event to the next.

    begin   s: switches up to then have happened, later ones have not, even where a trial step reaches beyond them
    sides   relation's key → whether it holds; those that are not in it are what they are in each state
    """

    begin: float
    sides: Mapping[Hashable, bool] = field(default_factory=dict)

    def holds(self, key: Hashable, margin: float) -> bool:
        """Whether a relation holds, whose margin in the present state is positive where it does by itself."""
        return self.sides.get(key, margin > 0.0)
