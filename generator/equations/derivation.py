"""Description → program: the whole derivation in order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..description import Chain
from ..mechanism import Coordinate, Mechanism, build
from ..program import ir
from ..program.ir import Expr
from ..program.program import Output, Parameter, Program, State, Symbols
from .bodies import dynamics, kinematics
from .bodies.lowering import Lowering
from .bodies.points import Points
from .constraints import constraints
from .forces import forces, friction
from .solution import accelerations, joint_loads, left_out, projection, reduced_state, system
from .solution.solution import Solution
from .solution.system import ActiveSystem, Partition

Array = NDArray[np.float64]


def derive(chain: Chain, start: tuple[Array, Array], partition: Partition) -> Program:
    """Equations of a description; it is left open how the constrained ones are solved, see `linear_solves`.

    start   q and q̇ at t = 0, shape (n,) each, rad or m and per second: defaults of the start parameters
    """
    program = Program(chain.name, chain.description)
    mechanism = build(chain, Symbols(program))
    program.reserved |= _public_names(mechanism)
    bodies = kinematics.derive(program, mechanism)
    inertia = dynamics.derive(program, mechanism, bodies)
    program.section("points")
    points = Points(program, mechanism, bodies)
    lower = Lowering(program, mechanism.parameters, points)
    bristles = friction.bristles(program, mechanism)
    Q, applied = forces.derive(program, mechanism, bodies, points, lower)
    rows = constraints.derive(program, mechanism, bodies, points, lower)
    active, ratios = system.active_system(mechanism, rows, partition), None
    if rows is not None and mechanism.formulation == "gpme_reduced":
        ratios = reduced_state.velocities(program, mechanism, rows, active)
    known = joint_loads.JointLoads(program, bodies, inertia, applied, rows.reactions if rows else ())
    solution = accelerations.derive(program, bodies, inertia, Q, rows, active, ratios, known, bristles)
    _states(program, mechanism, start, solution.qdd)
    friction.states(program, mechanism, bristles)
    _outputs(program, mechanism, points, solution.qdd)
    if rows is not None:
        _constraint_outputs(program, mechanism, inertia, Q, rows, solution)
        left_out.derive(program, rows, active.all_rows, chain.simulation.violation)
        if chain.constraints.projection:
            projection.derive(program, mechanism, inertia, rows, active)
    joint_loads.outputs(program, bodies, known, solution, _asked(mechanism))
    program.sort()
    _describe(program, mechanism, active, partition)
    return program


def _asked(mechanism: Mechanism) -> tuple[str, ...]:
    """Names of the links whose joint loads are outputs."""
    chosen = mechanism.chain.outputs.loads
    names = dict.fromkeys(body.link for body in mechanism.bodies if body.link != "base")
    return tuple(names) if chosen == "all" else tuple(name for name in names if name in chosen)


def _public_names(mechanism: Mechanism) -> set[str]:
    """Names of states, outputs and inputs, which definitions must leave to them."""
    suffixes = ("", "_dot", "_ddot", "_effort", "_start", "_dot_start", "_z", "_z_start")
    names = {f"{coordinate.symbol}{suffix}" for coordinate in mechanism.coordinates for suffix in suffixes}
    names |= {f"{point}_{key}" for point in mechanism.points for key in ("x", "y", "z", "vx", "vy", "vz")}
    names |= {f"{edge.name}_force" for edge in mechanism.nonholonomic}
    return names | {symbol for force in mechanism.forces for symbol in force.symbols if force.values is None}


_FORMS = {
    "gpme": "GPME, {states} states, Baumgarte stabilisation",
    "gpme_reduced": "reduced GPME, {states} states, position feedback",
    "lagrange": "Lagrange multipliers, {states} states, Baumgarte stabilisation",
}


def _describe(program: Program, mechanism: Mechanism, active: ActiveSystem, partition: Partition) -> None:
    n, bristles = mechanism.n, len(friction.with_friction(mechanism))
    rates = len(program.states) - n - bristles
    count = f"2n = {2 * n}" if rates == n else f"n + {rates} = {n + rates}"
    form = _FORMS[mechanism.formulation] if partition.rows else "no constraints, {states} states"
    program.formulation = form.format(states=count) + (f"; {bristles} friction states" if bristles else "")
    program.info = {
        "formulation": program.formulation,
        "coordinates": ", ".join(coordinate.name for coordinate in mechanism.coordinates),
        "dependent coordinates": ", ".join(partition.dependent) or "none",
    }
    left_out = [name for name in constraints.row_names(mechanism) if name not in partition.rows]
    if left_out:
        program.info["redundant constraint rows"] = ", ".join(left_out)


def _states(program: Program, mechanism: Mechanism, start: tuple[Array, Array], qdd: Expr) -> None:
    for k, coordinate in enumerate(mechanism.coordinates):
        rate = ir.symbol(f"{coordinate.symbol}_dot")
        _state(program, coordinate, "", coordinate.unit, float(start[0][k]), rate)
    following = program.published
    for k, coordinate in enumerate(mechanism.coordinates):
        if f"{coordinate.symbol}_dot" not in following:
            _state(program, coordinate, "_dot", f"{coordinate.unit}/s", float(start[1][k]), qdd[k])


def _state(
    program: Program, coordinate: Coordinate, suffix: str, unit: str, start: float, derivative: Expr
) -> None:
    name = f"{coordinate.symbol}{suffix}"
    text = f"{coordinate.name}{', rate' if suffix else ''}"
    program.parameters.append(Parameter(f"{name}_start", np.array(start), unit, f"{text} at the start"))
    nominal = 1.0 if coordinate.role == "joint" else 1e-3
    program.states.append(State(name, unit, text, ir.symbol(f"{name}_start"), derivative, nominal))


def _outputs(program: Program, mechanism: Mechanism, points: Points, qdd: Expr) -> None:
    for k, coordinate in enumerate(mechanism.coordinates):
        program.outputs.append(
            Output(
                f"{coordinate.symbol}_ddot",
                f"{coordinate.unit}/s2",
                f"{coordinate.name}, acceleration",
                qdd[k],
            )
        )
    program.section("points")
    for name in mechanism.points:
        for level, prefix, unit, text in ((0, "", "m", "position"), (1, "v", "m/s", "velocity")):
            vector = points.level(name, level)
            program.outputs += [
                Output(f"{name}_{prefix}{axis}", unit, f"{text} of {name}, world {axis}", vector[i])
                for i, axis in enumerate("xyz")
            ]


def _constraint_outputs(
    program: Program,
    mechanism: Mechanism,
    inertia: dynamics.Dynamics,
    Q: Expr,
    rows: constraints.Constraints,
    solution: Solution,
) -> None:
    program.section("constraint forces and violations")
    for k, effort in _efforts(program, mechanism, inertia, Q, rows, solution).items():
        coordinate = mechanism.coordinates[k]
        text = f"effort on {coordinate.name} that realises the programmed motion"
        program.outputs.append(Output(f"{coordinate.symbol}_effort", coordinate.effort_unit, text, effort))
    edges = {edge.name for edge in mechanism.nonholonomic}
    for i, row in enumerate(rows.rows):
        if row.name in edges:
            assert solution.multipliers is not None
            text = f"force of knife edge {row.name} along its normal"
            program.outputs.append(Output(f"{row.name}_force", "N", text, solution.multipliers[i]))
    for name, vector, text in (
        ("violation_position", rows.Phi, "norm of all constraints"),
        ("violation_velocity", rows.Phi_dot, "norm of all constraints' rates"),
    ):
        program.outputs.append(Output(name, "1", text, ir.call("sqrt", vector @ vector)))


def _efforts(
    program: Program,
    mechanism: Mechanism,
    inertia: dynamics.Dynamics,
    Q: Expr,
    rows: constraints.Constraints,
    solution: Solution,
) -> dict[int, Expr]:
    """Coordinate → what its drive, or a fixed base's fixture, exerts."""
    if mechanism.actuated is not None and solution.drives is not None:
        return {k: solution.drives[j] for j, k in enumerate(mechanism.actuated)}
    effort = inertia.M @ solution.qdd + inertia.h - Q
    if solution.friction is not None:
        effort = effort + solution.friction
    # what contacts exert is no drive's business
    for reaction in rows.reactions:
        assert solution.multipliers is not None
        effort = effort - solution.multipliers[reaction.row] * rows.C[reaction.row, :]
    effort = program.define("effort", effort, None, "what drives and fixture exert; N or N.m")
    driven = {"joint": bool(mechanism.programmed), "base": mechanism.base_fixed}
    return {k: effort[k] for k, coordinate in enumerate(mechanism.coordinates) if driven.get(coordinate.role)}
