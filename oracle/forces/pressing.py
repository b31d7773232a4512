"""Law of elements that press where they overlap, and never pull."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..expressions.sides import Condition, Sides


@dataclass(frozen=True)
class Pressing:
    """Force k·δⁿ·(1 + c·δ̇) + d·δ̇ at a depth δ > 0, at least 0 (Hunt and Crossley, 1975, with d = 0).

    Parameters
    ----------
    label : str
        Element in messages and events.
    words : tuple of str
        What happens where the overlap begins, and where it ends.
    stiffness, damping, exponent, loss : float
        k, d, n and c; SI units.
    """

    label: str
    words: tuple[str, str]
    stiffness: float
    damping: float
    exponent: float = 1.0
    loss: float = 0.0

    def elastic(self, depth: float) -> float:
        """Return the spring's force; odd in the depth, for stages beyond an event."""
        size: float = self.stiffness * abs(depth) ** self.exponent
        return size if depth >= 0.0 else -size

    def free(self, depth: float, rate: float) -> float:
        """Return the force that it would exert if it could pull, too."""
        return self.elastic(depth) * (1.0 + self.loss * rate) + self.damping * rate

    def acts(self, sides: Sides, depth: float, rate: float) -> bool:
        """Whether it overlaps and presses."""
        overlaps = Condition(self.label, self.words, depth, False)
        if not sides.decide((self.label, "overlaps"), overlaps):
            return False
        presses = Condition(self.label, ("would press", "would pull"), self.free(depth, rate), False)
        return sides.decide((self.label, "presses"), presses)

    def energy(self, depth: float) -> float:
        """Return the spring's energy, J."""
        return self.elastic(depth) * depth / (self.exponent + 1.0)


def pressing(label: str, words: tuple[str, str], stiffness: float, table: Mapping[str, Any]) -> Pressing:
    """Return the law of a table with `damping`, or with `law` in its place."""
    law = table["law"]
    if law is None:
        damping = table["damping"]
        return Pressing(label, words, stiffness, damping[2] if isinstance(damping, list) else damping)
    return Pressing(label, words, stiffness, 0.0, law["exponent"], law["loss"])
