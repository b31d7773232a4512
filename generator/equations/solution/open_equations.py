"""Open equations: the equations of a mechanism that do not depend on the solution method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ....language.ir import Expr
from ....mechanism.symbolic import SymbolicMechanism
from ...program.program import EquationSystem, Output, StateVariable
from ..bodies.dynamics import Dynamics
from ..bodies.filters import FilterOutput
from ..bodies.kinematics import SymbolicKinematics, Wrench
from ..bodies.lowering import Lowering
from ..bodies.points import Points
from ..constraints.constraints import ConstraintEquations
from ..forces.friction import Bristle


@dataclass(frozen=True)
class OpenEquations:
    """Equations of motion M q̈ + h = Q + Cᵀ λ and constraints, before a solution method is chosen.

    At this stage, neither an initial state nor a partition of the coordinates is required.

    Attributes
    ----------
    program : EquationSystem
        Definitions of all quantities. The function `close` can complete this program only once.
    mechanism : SymbolicMechanism
        Bodies, force elements and tasks as expressions of the program's parameters.
    bodies, inertia : SymbolicKinematics, Dynamics
        Motions of all bodies; M, shape (n, n), and h, shape (n,), with gravity in h.
    Q : Expr
        Generalised forces without friction, shape (n,), N or N·m.
    constraints : ConstraintEquations or None
        Constraint equations Φ, Φ̇, γ, shape (m,), and C, shape (m, n); None without constraints.
    points, lower : Points, Lowering
        Quantities of points by name, and the translator of the description's expressions.
    bristles, commands : sequences
        Friction states of the coordinates, and filters of FMU inputs.
    wrenches : dict
        For each body the applied wrench on its subtree.
    measured, states, stored : sequences
        Outputs and states of the force elements, and functions that return the energies of springs, J.
    """

    program: EquationSystem
    mechanism: SymbolicMechanism
    bodies: SymbolicKinematics
    inertia: Dynamics
    Q: Expr
    constraints: ConstraintEquations | None
    points: Points
    lower: Lowering
    bristles: tuple[Bristle, ...]
    commands: tuple[FilterOutput, ...]
    wrenches: dict[int, Wrench]
    measured: tuple[Output, ...]
    states: tuple[StateVariable, ...]
    stored: tuple[Callable[[], Expr], ...]
