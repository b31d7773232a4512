"""Wrench of a constraint's multiplier on bodies."""

from __future__ import annotations

from dataclasses import dataclass

from ..bodies.loops import ConstrainedPair


@dataclass(frozen=True)
class ConstraintReaction:
    """A contact whose multiplier is row `row` of λ."""

    row: int
    contact: ConstrainedPair
