"""Accelerations, with the loop between friction and joint loads, and the closures' multipliers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import friction, ir, reduction
from .dynamics import Dynamics
from .friction import Bristle, Response
from .ir import Expr, Index
from .kinematics import Kinematics
from .loads import Loads
from .mechanism import Mechanism
from .program import Program
from .reduction import System


@dataclass(frozen=True)
class Solution:
    """What the equations give; symbols.

    qdd          shape (n,), m/s² or rad/s²
    friction     shape (n,): friction efforts against each coordinate's motion, N or N·m, or None
    multipliers  of all rows but those that hold a coordinate; None without closures that have rows
    """

    qdd: Expr
    friction: Expr | None = None
    multipliers: Expr | None = None


def derive(
    program: Program,
    kinematics: Kinematics,
    dynamics: Dynamics,
    system: System,
    loads: Loads,
    bristles: Sequence[Bristle],
) -> Solution:
    """Define q̈, friction efforts and, where closures have them, multipliers."""
    mechanism = kinematics.mechanism
    if not bristles:
        qdd = reduction.solve(program, mechanism, system)
        return Solution(qdd, None, _multipliers(program, mechanism, dynamics, system, qdd, loads))
    rubbing = [bristle.coordinate for bristle in bristles]
    X = reduction.responses(program, mechanism, system, rubbing)
    loaded = [k for k in rubbing if mechanism.coordinates[k].friction.normal_force is None]  # type: ignore[union-attr]
    Lambda = reduction.multipliers(program, mechanism, dynamics, system, X, rubbing) if loads.reactions else None
    answers = {k: _response(program, kinematics, loads, k, X, Lambda) for k in loaded}
    tau = friction.efforts(program, mechanism, bristles, answers)
    program.section("accelerations")
    f = len(rubbing)
    qdd = program.define("qdd", X[:, 0] - X[:, 1 : 1 + f] @ tau, None, "accelerations; m/s2 or rad/s2")
    places = {k: tau[i] for i, k in enumerate(rubbing)}
    on_coordinates = ir.array([places.get(k, ir.constant(0.0)) for k in range(mechanism.n)])
    multipliers = None
    if Lambda is not None:
        total = Lambda[:, 0] - Lambda[:, 1 : 1 + f] @ tau
        multipliers = program.define("lambda", total, None, "multipliers of the constraints")
    return Solution(qdd, on_coordinates, multipliers)


def _multipliers(
    program: Program, mechanism: Mechanism, dynamics: Dynamics, system: System, qdd: Expr, loads: Loads
) -> Expr | None:
    if not loads.reactions:
        return None
    X = program.assemble(
        "X", (qdd.shape[0], 1), [((slice(0, qdd.shape[0]), 0), qdd)], None, "accelerations, as a column"
    )
    return reduction.multipliers(program, mechanism, dynamics, system, X, ())[:, 0]


def _response(
    program: Program, kinematics: Kinematics, loads: Loads, k: int, X: Expr, Lambda: Expr | None
) -> Response:
    """Force through the joint of coordinate k, affine in the friction efforts."""
    mechanism = kinematics.mechanism
    body = next(b for b, other in enumerate(mechanism.bodies) if k in other.coordinates)
    load, f, name = loads(body), X.shape[1] - 1, mechanism.coordinates[k].symbol
    F0, F1 = load.F + load.G @ X[:, 0], load.G @ X[:, 1 : 1 + f]
    if Lambda is not None and load.reactions:
        rows = sorted(load.reactions)
        acting = program.assemble(
            f"reactions_{name}",
            (3, len(rows)),
            [((slice(0, 3), i), load.reactions[row][1]) for i, row in enumerate(rows)],
            None,
            f"force on the joint of {name} per multiplier",
        )
        chosen = program.assemble(
            f"Lambda_{name}",
            (len(rows), 1 + f),
            [((i, slice(0, 1 + f)), Lambda[row, :]) for i, row in enumerate(rows)],
            None,
            f"multipliers that load the joint of {name}, per column of X",
        )
        F0, F1 = F0 + acting @ chosen[:, 0], F1 + acting @ chosen[:, 1 : 1 + f]
    e = friction.axis(kinematics, k)
    F0 = program.define(f"F0_{name}", F0, "N", f"force through the joint of {name} without friction")
    F1 = program.define(f"F1_{name}", F1, None, "its change per friction effort; 1 or 1/m")
    columns: list[tuple[Index, Expr]] = [((slice(0, 3), j), friction.across(F1[:, j], e)) for j in range(f)]
    N0 = program.define(f"N0_{name}", friction.across(F0, e), "N", "its part across the axis")
    N1 = program.assemble(
        f"N1_{name}", (3, f), columns, None, "the change of that part per friction effort; 1 or 1/m"
    )
    return Response(N0, N1)
