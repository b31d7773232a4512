"""Force laws of contacts, end stops and unilateral supports, which push but never pull."""

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
    """Compressive force at a penetration depth δ: k·δ + d·δ̇, or k·δⁿ·(1 + c·δ̇) by Hunt and Crossley (1975).

    Parameters
    ----------
    stiffness, damping : float
        Stiffness k, N/m (or N·m/rad), and damping d, N·s/m (or N·m·s/rad). In the law of Hunt and
        Crossley, k has the unit N/mⁿ and d is not used.
    exponent : float
        Exponent n of the depth.
    loss : float
        Damping coefficient c, s/m or s/rad.
    """

    stiffness: float
    damping: float
    exponent: float = 1.0
    loss: float = 0.0

    def elastic(self, depth: Number) -> Number:
        """Return the spring force at a penetration depth, N.

        The force is an odd function of the depth, so that it is also defined in trial steps beyond
        an event.
        """
        return self.stiffness * np.sign(depth) * np.abs(depth) ** self.exponent

    def force(self, depth: Number, rate: Number) -> Number:
        """Return the force of spring and damper at a penetration depth, N; negative if they would pull."""
        return self.elastic(depth) * (1.0 + self.loss * rate) + self.damping * rate

    def energy(self, depth: Number) -> Number:
        """Return the energy of the spring at a penetration depth, J."""
        return self.elastic(depth) * depth / (self.exponent + 1.0)


def pressing_law(stiffness: float, damping: float, smooth: HuntCrossley | None) -> NumericPressingLaw:
    """Return the force law of a contact or an end stop from its parameters.

    The parameters are stiffness, damping and, optionally, the parameters of the law of Hunt and
    Crossley.
    """
    if smooth is None:
        return NumericPressingLaw(stiffness, damping)
    return NumericPressingLaw(stiffness, damping, smooth.exponent, smooth.loss)


@dataclass(frozen=True)
class Overlap:
    """Penetration of a contact, an end stop or a unilateral support, and the resulting force.

    Parameters
    ----------
    key : str
        Name of the element in the keys of the switching conditions.
    label : str
        Name of the element in messages and events.
    depth : callable
        Penetration depth in a state, m or rad.
    held : callable
        Force of spring and damper in a state, N or N·m; the force is negative if spring and damper would
        pull.
    words : tuple of str
        Descriptions of the events at which the penetration begins and ends.
    """

    key: str
    label: str
    depth: Callable[[KinematicState], Number]
    held: Callable[[KinematicState], Number]
    words: tuple[str, str]

    def relations(self) -> list[Relation]:
        """Return two switching conditions: the penetration depth is positive, and the force is compressive."""
        return [
            Relation((self.key, "gap"), self.label, self.depth, self.words),
            Relation((self.key, "held"), self.label, self.held, _MARGINS),
        ]

    def acts(self, state: KinematicState) -> bool:
        """Whether the element exerts a force: its penetration depth is positive, and its force is compressive."""
        overlaps = state.segment.holds((self.key, "gap"), self.depth(state))
        return overlaps and state.segment.holds((self.key, "held"), self.held(state))
