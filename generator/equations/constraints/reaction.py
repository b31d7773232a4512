"""Reaction that the multiplier of a constraint exerts on bodies."""

from __future__ import annotations

from dataclasses import dataclass

from ..bodies.loops import ConstrainedPair


@dataclass(frozen=True)
class ConstraintReaction:
    """Reaction of a cut joint or knife edge on two bodies; its multiplier is element `row` of λ."""

    row: int
    contact: ConstrainedPair
