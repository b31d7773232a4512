"""Unknowns of the equations of motion."""

from __future__ import annotations

from dataclasses import dataclass

from ....language.ir import Expr


@dataclass(frozen=True)
class Solution:
    """Solution of the equations of motion, as symbols.

    qdd          shape (n,), m/s² or rad/s²
    forces       applied minus inertia forces, shape (n,), N or N·m
    friction     shape (n,): friction efforts against each coordinate's motion, N or N·m, or None
    multipliers  by constraint row, as far as there are contacts; None without any
    drives       efforts of the chosen drives, N or N·m; None if all joints have one
    """

    qdd: Expr
    forces: Expr
    friction: Expr | None = None
    multipliers: Expr | None = None
    drives: Expr | None = None
