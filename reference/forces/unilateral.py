"""Laws of what presses where it overlaps, and never pulls: contacts, stops, one-sided supports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...mechanism import HuntCrossley
from ..kinematics.jet import Number
from ..kinematics.quantities import KinematicState, Relation

_MARGINS = ("would press", "would pull")


@dataclass(frozen=True)
class NumericPressingLaw:
    """Spring and damper, k·δ + d·δ̇, or by Hunt and Crossley (1975) k·δⁿ·(1 + c·δ̇), at a depth δ.

    Parameters
    ----------
    stiffness, damping : float
        N/m and N·s/m (or N·m/rad and N·m·s/rad); with a smooth law N/mⁿ and nothing.
    exponent : float
        Exponent n of the depth.
    loss : float
        Coefficient c, s/m or s/rad.
    """

    stiffness: float
    damping: float
    exponent: float = 1.0
    loss: float = 0.0

    def elastic(self, depth: Number) -> Number:
        """Spring force, N; odd in the depth, for trial steps beyond an event."""
        return self.stiffness * np.sign(depth) * np.abs(depth) ** self.exponent

    def force(self, depth: Number, rate: Number) -> Number:
        """Spring and damper if they pulled, too, N."""
        return self.elastic(depth) * (1.0 + self.loss * rate) + self.damping * rate

    def energy(self, depth: Number) -> Number:
        """Energy of the spring, J."""
        return self.elastic(depth) * depth / (self.exponent + 1.0)


def pressing_law(stiffness: float, damping: float, smooth: HuntCrossley | None) -> NumericPressingLaw:
    """The law of an element's numbers."""
    if smooth is None:
        return NumericPressingLaw(stiffness, damping)
    return NumericPressingLaw(stiffness, damping, smooth.exponent, smooth.loss)


@dataclass(frozen=True)
class Overlap:
    """Depth of an element and the force that it would exert if it could pull.

    Parameters
    ----------
    key : str
        Element's name among the relations.
    label : str
        Element in messages and events.
    depth, held : callable
        m (or rad) and N (or N·m) in a state.
    words : tuple of str
        What happens where the overlap begins, and where it ends.
    """

    key: str
    label: str
    depth: Callable[[KinematicState], Number]
    held: Callable[[KinematicState], Number]
    words: tuple[str, str]

    def relations(self) -> list[Relation]:
        """Whether it overlaps, and whether it would press."""
        return [
            Relation((self.key, "gap"), self.label, self.depth, self.words),
            Relation((self.key, "held"), self.label, self.held, _MARGINS),
        ]

    def acts(self, state: KinematicState) -> bool:
        """Whether it exerts a force."""
        overlaps = state.segment.holds((self.key, "gap"), self.depth(state))
        return overlaps and state.segment.holds((self.key, "held"), self.held(state))
