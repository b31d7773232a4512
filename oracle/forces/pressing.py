"""Force law of unilateral contacts, which push overlapping bodies apart and never pull."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..expressions.sides import Condition, Sides


@dataclass(frozen=True)
class Pressing:
    """Contact force max(k·δⁿ·(1 + c·δ̇) + d·δ̇, 0) at a penetration depth δ > 0.

    With d = 0, this is the law of Hunt and Crossley (1975).

    Parameters
    ----------
    label : str
        Name of the element in messages and events.
    words : tuple of str
        Phrases that describe the beginning and the end of the overlap.
    stiffness, damping, exponent, loss : float
        Parameters k, d, n and c, SI units.
    """

    label: str
    words: tuple[str, str]
    stiffness: float
    damping: float
    exponent: float = 1.0
    loss: float = 0.0

    def elastic(self, depth: float) -> float:
        """Return the spring force at a penetration depth, N.

        The force is an odd function of the depth. It is thus also defined for negative depths, which
        occur in trial steps after separation.
        """
        size: float = self.stiffness * abs(depth) ** self.exponent
        return size if depth >= 0.0 else -size

    def free(self, depth: float, rate: float) -> float:
        """Return the force of the contact law, N, which is negative in tension."""
        return self.elastic(depth) * (1.0 + self.loss * rate) + self.damping * rate

    def acts(self, sides: Sides, depth: float, rate: float) -> bool:
        """Whether the bodies overlap and the contact force is compressive."""
        overlaps = Condition(self.label, self.words, depth, False)
        if not sides.decide((self.label, "overlaps"), overlaps):
            return False
        presses = Condition(self.label, ("would press", "would pull"), self.free(depth, rate), False)
        return sides.decide((self.label, "presses"), presses)

    def energy(self, depth: float) -> float:
        """Return the potential energy of the contact spring, J."""
        return self.elastic(depth) * depth / (self.exponent + 1.0)


def pressing(label: str, words: tuple[str, str], stiffness: float, table: Mapping[str, Any]) -> Pressing:
    """Return the contact law that a description table defines by linear `damping` or a Hunt-Crossley `law`."""
    law = table["law"]
    if law is None:
        damping = table["damping"]
        return Pressing(label, words, stiffness, damping[2] if isinstance(damping, list) else damping)
    return Pressing(label, words, stiffness, 0.0, law["exponent"], law["loss"])
