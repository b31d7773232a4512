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
    """Equations of motion M q̈ + h = Q + Cᵀ λ and constraint equations, for any solution method.

    Neither an initial state nor a coordinate partition is required for these equations.

    Attributes
    ----------
    program : EquationSystem
        Definitions of all quantities. The function `close` can complete this program only once.
    mechanism : SymbolicMechanism
        Bodies, force elements and tasks as expressions of the program's parameters.
    bodies, inertia : SymbolicKinematics, Dynamics
        The attribute `bodies` contains the motions of all bodies. The attribute `inertia` contains the
        mass matrix M, shape (n, n), and the inertia and gravity forces h, shape (n,).
    Q : Expr
        Generalised forces without friction, shape (n,), N or N·m.
    constraints : ConstraintEquations or None
        Values Φ, rates Φ̇ and right-hand sides γ of the constraints, shape (m,) each, and Jacobian C,
        shape (m, n). None if the mechanism has no constraints.
    points, lower : Points, Lowering
        The attribute `points` returns quantities of points by name. The attribute `lower` translates
        the description's expressions into expressions of the program.
    bristles, commands : sequences
        The attribute `bristles` contains the friction states of the coordinates. The attribute
        `commands` contains the filters of FMU inputs.
    wrenches : dict
        Mapping from each body to the sum of the wrenches applied to its subtree.
    measured, states, stored : sequences
        The attribute `measured` contains the outputs of the force elements, and `states` contains their
        state variables. Each function in `stored` returns the energy of one spring, J.
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
