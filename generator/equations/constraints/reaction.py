"""Reaction that the multiplier of a constraint exerts on bodies."""

from __future__ import annotations

from dataclasses import dataclass

from ..bodies.loops import ConstrainedPair


@dataclass(frozen=True)
class ConstraintReaction:
    """Reaction that a constraint of a cut joint or of a knife edge exerts on two bodies.

    The reaction is proportional to the element `row` of the vector λ of all multipliers.
    """

    row: int
    contact: ConstrainedPair
