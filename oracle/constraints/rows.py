"""Constraint equations at one state: residuals, Jacobian rows and right-hand sides."""

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
    """Wrench on a body for a unit Lagrange multiplier.

    The wrench consists of a force, N, and a moment about the body's origin, N·m.
    """

    body: int
    force: Array
    moment: Array


@dataclass(frozen=True)
class Equation:
    """Constraint equation C q̈ = γ at one state, with its residuals at position and velocity level.

    Parameters
    ----------
    value : float
        Position residual Φ; 0 for constraints at velocity or acceleration level.
    rate : float
        Velocity residual: Φ̇, or Ψ for a velocity-level constraint; 0 for constraints at
        acceleration level.
    C : ndarray, shape (n,)
        Jacobian row: ∂Φ/∂q, ∂Ψ/∂q̇, or the derivative with respect to q̈.
    gamma : float
        Right-hand side γ of C q̈ = γ.
    wrenches : sequence of Wrench
        Wrenches that a unit multiplier exerts on the bodies, for loop closures and knife edges;
        otherwise empty.
    """

    value: float
    rate: float
    C: Array
    gamma: float
    wrenches: Sequence[Wrench] = ()


class Group(Protocol):
    """Constraint equations of one element of the description, such as a loop closure or a path.

    Parameters
    ----------
    names : tuple of str
        Names of the constraint equations.
    order : int
        Level of the constraint: 0 for positions, 1 for velocities, 2 for accelerations.
    """

    names: tuple[str, ...]
    order: int

    def equations(self, state: State) -> list[Equation]:
        """Return the constraint equations of one element of the description at one state."""
        ...

    def magnitudes(self, state: State, size: float, units: Array) -> list[float]:
        """Return, for each Jacobian row, the magnitude of the terms that add up to the row.

        The magnitude is 0 if the terms of a row cannot cancel. It is also 0 for equations with wrenches,
        because the rank check computes their magnitudes from the wrenches.

        Parameters
        ----------
        state : State
            Kinematics at one state.
        size : float
            Mechanism's size, m.
        units : ndarray, shape (n,)
            Scales of the coordinates, rad or m, by which the columns of the Jacobian are multiplied.
        """
        return [0.0] * len(self.names)


def of_positions(x: Jet, n: int) -> Equation:
    """Return the position-level constraint equation with the residual x, for n coordinates."""
    return Equation(x.value, x.rate, slope(x, n), -x.bias)


def by_wrenches(motion: Motion, x: Jet, wrenches: Sequence[Wrench], order: int = 0) -> Equation:
    """Return a constraint equation whose Jacobian row follows from wrenches on the bodies.

    Parameters
    ----------
    motion : Motion
        Kinematics of the bodies.
    x : Jet
        Residual of the constraint, its first time derivative, and its second time derivative for q̈ =
        0.
    wrenches : sequence of Wrench
        Wrenches that a unit multiplier exerts on the bodies.
    order : int
        0 for a position-level constraint, 1 for a velocity-level constraint.
    """
    C = sum(
        (motion.moving[:, w.body] @ w.force + motion.turning[:, w.body] @ w.moment for w in wrenches),
        np.zeros(len(motion.q)),
    )
    if order == 1:
        return Equation(0.0, x.value, C, -x.rate, wrenches)
    return Equation(x.value, x.rate, C, -x.bias, wrenches)
