"""Unknowns of the equations of motion, as symbols of the program."""

from __future__ import annotations

from dataclasses import dataclass

from ....language.ir import Expr


@dataclass(frozen=True)
class Solution:
    """Solution of the equations of motion, as symbols.

    Attributes
    ----------
    qdd
        Accelerations of the coordinates, shape (n,), m/s² or rad/s².
    forces
        Applied minus inertia forces, shape (n,), N or N·m.
    friction
        Friction efforts that oppose the motion of the coordinates, shape (n,), N or N·m. None if no
        coordinate has friction.
    multipliers
        Constraint multipliers in the order of the constraints. The last element belongs to the last
        constraint of a loop closure or knife edge. None if the mechanism has no such constraint.
    drives
        Efforts of the drives that realise programmed constraints, N or N·m; None if every joint has a
        drive.
    """

    qdd: Expr
    forces: Expr
    friction: Expr | None = None
    multipliers: Expr | None = None
    drives: Expr | None = None
