"""Constraint equations in a state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...core.trajectory import Array
from ..bodies.motion import Motion
from ..expressions.jets import Jet, slope
from ..expressions.state import State


@dataclass(frozen=True)
class Wrench:
    """Force, N, and moment, N·m, about a body's origin, that a multiplier of one exerts on the body."""

    body: int
    force: Array
    moment: Array


@dataclass(frozen=True)
class Equation:
    """One constraint equation C q̈ = γ with the levels below it.

    Parameters
    ----------
    value : float
        Φ; 0 for an equation of velocities or accelerations.
    rate : float
        Φ̇, or Ψ for an equation of velocities; 0 for one of accelerations.
    C : ndarray, shape (n,)
        ∂Φ/∂q, ∂Ψ/∂q̇, or the derivative by q̈.
    gamma : float
        Right-hand side of C q̈ = γ.
    wrenches : sequence of Wrench
        Effect on the bodies, of closures and knife edges.
    """

    value: float
    rate: float
    C: Array
    gamma: float
    wrenches: Sequence[Wrench] = ()


class Group(Protocol):
    """Constraint equations that belong together.

    Parameters
    ----------
    names : tuple of str
        Names of the equations.
    order : int
        0 for equations of positions, 1 of velocities, 2 of accelerations.
    """

    names: tuple[str, ...]
    order: int

    def equations(self, state: State) -> list[Equation]:
        """Return the equations in a state."""
        ...


def of_positions(x: Jet, n: int) -> Equation:
    """Return the equation x = 0 of positions."""
    return Equation(x.value, x.rate, slope(x, n), -x.bias)


def by_wrenches(motion: Motion, x: Jet, wrenches: Sequence[Wrench], order: int = 0) -> Equation:
    """Return an equation by its effect on the bodies; x holds its value, rate and bias."""
    C = sum(
        (motion.moving[:, w.body] @ w.force + motion.turning[:, w.body] @ w.moment for w in wrenches),
        np.zeros(len(motion.q)),
    )
    if order == 1:
        return Equation(0.0, x.value, C, -x.rate, wrenches)
    return Equation(x.value, x.rate, C, -x.bias, wrenches)
