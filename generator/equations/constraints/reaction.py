"""Reaction that the multiplier of a constraint exerts on bodies."""

from __future__ import annotations

from dataclasses import dataclass

from ..bodies.loops import ConstrainedPair


@dataclass(frozen=True)
class ConstraintReaction:
    """Reaction of a cut joint or knife edge on two bodies.

    The multiplier of the reaction is element `row` of the vector λ.
    """

    row: int
    contact: ConstrainedPair
