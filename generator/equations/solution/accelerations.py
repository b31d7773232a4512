"""Accelerations, drive efforts, and multipliers of closures and knife edges.

The effect of friction that depends on joint reactions is included.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....language import ir
from ....language.ir import Expr, Index
from ...program.program import EquationSystem
from ..bodies.kinematics import SymbolicKinematics
from ..forces import friction
from ..forces.friction import Response
from . import multipliers, system
from .joint_loads import JointLoads
from .open_equations import OpenEquations
from .solution import Solution
from .system import ActiveSystem


@dataclass(frozen=True)
class Answers:
    """Accelerations X, constraint multipliers and drive efforts as affine functions of friction efforts.

    If there are f friction efforts, each of the three arrays has 1 + f columns. The first column is the
    solution without friction. The following columns are the changes per unit friction effort, one
    column for each coordinate with friction. The unit effort acts in the positive direction of the
    coordinate.
    """

    X: Expr
    Lambda: Expr | None
    drives: Expr | None


def derive(
    equations: OpenEquations,
    active: ActiveSystem,
    ratios: tuple[Expr, Expr | None] | None,
    loads: JointLoads,
) -> Solution:
    """Define the accelerations q̈, the friction efforts and, for some mechanisms, constraint multipliers.

    Constraint multipliers are defined only if the mechanism has knife edges or closes loops by
    constraints.

    Parameters
    ----------
    ratios
        Pair of matrices: the Jacobian C_d of the dependent coordinates, and D = ∂q̇_d/∂q̇_i. D contains
        the derivatives of the dependent with respect to the independent velocities. The argument is
        None if the program does not define this pair yet.
    """
    program, mechanism, bristles = equations.program, equations.mechanism, equations.bristles
    coordinates = [bristle.coordinate for bristle in bristles]
    f, F = system.forces(program, equations.inertia, equations.Q, coordinates)
    answers = _answers(equations, F, active, ratios)
    if not bristles:
        return Solution(answers.X, f, None, answers.Lambda, answers.drives)
    loaded = [k for k in coordinates if mechanism.coordinates[k].friction.normal_force is None]  # type: ignore[union-attr]
    responses = {k: _response(program, equations.bodies, loads, k, answers.X, answers.Lambda) for k in loaded}
    tau = friction.efforts(program, mechanism, bristles, responses)
    program.section("accelerations")
    places = {k: tau[i] for i, k in enumerate(coordinates)}
    on_coordinates = ir.array([places.get(k, ir.constant(0.0)) for k in range(mechanism.n)])

    def total(name: str, columns: Expr | None, text: str) -> Expr | None:
        if columns is None:
            return None
        return program.define(name, columns[:, 0] - columns[:, 1 : 1 + len(coordinates)] @ tau, None, text)

    qdd = total("qdd", answers.X, "accelerations of the coordinates; m/s2 or rad/s2")
    assert qdd is not None
    return Solution(
        qdd,
        f,
        on_coordinates,
        total("lambda", answers.Lambda, "multipliers of the constraints"),
        total("drive_efforts", answers.drives, "drive efforts; N or N.m"),
    )


def _answers(
    open_: OpenEquations, F: Expr, active: ActiveSystem, ratios: tuple[Expr, Expr | None] | None
) -> Answers:
    program, mechanism, dynamics, constraints = open_.program, open_.mechanism, open_.inertia, open_.constraints
    if constraints is None:
        free = system.EquationsOfMotion(dynamics.M, F, dynamics.tree)
        return Answers(system.solve(program, mechanism, free, active, None)[0], None, None)
    equations = system.equations_of_motion(program, mechanism, dynamics, constraints, active, F)
    needs_multipliers = bool(constraints.reactions) and mechanism.actuated is None
    X, Lambda = system.solve(program, mechanism, equations, active, ratios, multipliers=needs_multipliers)
    if mechanism.actuated is not None:
        rows = active.without_drive
        return Answers(X, *multipliers.drive_efforts(program, mechanism, dynamics, constraints, rows, X, F))
    if needs_multipliers:
        Lambda = multipliers.contact_multipliers(program, mechanism, constraints, active.rows, Lambda, X.shape[1:])
    return Answers(X, Lambda, None)


def _response(
    program: EquationSystem,
    kinematics: SymbolicKinematics,
    loads: JointLoads,
    k: int,
    X: Expr,
    Lambda: Expr | None,
) -> Response:
    """Define the component of a joint force that is perpendicular to the joint axis.

    The joint is that of coordinate k. The component is an affine function of the friction efforts.
    """
    mechanism = kinematics.mechanism
    body = next(b for b, other in enumerate(mechanism.bodies) if k in other.coordinates)
    load, f, name = loads(body), X.shape[1] - 1, mechanism.coordinates[k].symbol
    G = loads.force_per_acceleration(body)
    F0, F1 = load.F + G @ X[:, 0], G @ X[:, 1 : 1 + f]
    if Lambda is not None and load.reactions:
        rows = sorted(load.reactions)
        acting = program.assemble(
            f"reactions_{name}",
            (3, len(rows)),
            [((slice(0, 3), i), load.reactions[row][1]) for i, row in enumerate(rows)],
            None,
            f"force on the joint of {name} per multiplier of a contact",
        )
        chosen = program.assemble(
            f"Lambda_{name}",
            (len(rows), 1 + f),
            [((i, slice(0, 1 + f)), Lambda[row, :]) for i, row in enumerate(rows)],
            None,
            f"multipliers of contacts that act on the joint of {name}: without friction, and per friction effort",
        )
        F0, F1 = F0 + acting @ chosen[:, 0], F1 + acting @ chosen[:, 1 : 1 + f]
    e = friction.axis(kinematics, k)
    F0 = program.define(f"F0_{name}", F0, "N", f"force through the joint of {name} without friction")
    F1 = program.define(
        f"F1_{name}", F1, None, f"change of the force through the joint of {name} per friction effort; 1 or 1/m"
    )
    columns: list[tuple[Index, Expr]] = [((slice(0, 3), j), friction.across(F1[:, j], e)) for j in range(f)]
    N0 = program.define(
        f"N0_{name}",
        friction.across(F0, e),
        "N",
        f"force perpendicular to the joint axis of {name} without friction",
    )
    N1 = program.assemble(
        f"N1_{name}",
        (3, f),
        columns,
        None,
        f"change of the force perpendicular to the joint axis of {name} per friction effort; 1 or 1/m",
    )
    return Response(N0, N1)
