"""Description → program: the whole derivation in order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from . import accelerations, constraints, dynamics, forces, friction, ir, kinematics, loads, projection, reduction
from .description import Chain
from .ir import Expr
from .lowering import Lowering
from .mechanism import Coordinate, Mechanism, build
from .points import Points
from .program import Output, Parameter, Program, State, Symbols

Array = NDArray[np.float64]


def derive(chain: Chain, start: tuple[Array, Array], dependent: Sequence[str]) -> Program:
    """Equations of a description.

    Parameters:
        start      q and q̇ at t = 0, shape (n,) each, rad or m and per second: defaults of the start parameters
        dependent  names of the dependent coordinates, one per constraint row
    """
    program = Program(chain.name, chain.description)
    mechanism = build(chain, Symbols(program))
    program.reserved |= _public_names(mechanism)
    motion = kinematics.derive(program, mechanism)
    inertia = dynamics.derive(program, mechanism, motion)
    program.section("points")
    points = Points(program, mechanism, motion)
    lower = Lowering(program, mechanism.parameters, points)
    bristles = friction.bristles(program, mechanism)
    Q, wrenches = forces.derive(program, mechanism, motion, lower)
    rows = constraints.derive(program, mechanism, motion, points, lower)
    if rows is None:
        system = reduction.free(program, mechanism, inertia, Q)
    else:
        indices = sorted(mechanism.coordinate_index(name) for name in dependent)
        system = reduction.gpme(program, mechanism, inertia, Q, rows, indices)
    known = loads.Loads(program, motion, inertia, wrenches, rows.reactions if rows else ())
    solution = accelerations.derive(program, motion, inertia, system, known, bristles)
    program.info |= _info(mechanism, dependent)
    _states(program, mechanism, start, solution.qdd)
    friction.states(program, mechanism, bristles)
    _outputs(program, mechanism, points, solution.qdd)
    if rows is not None:
        _constraint_outputs(program, mechanism, inertia, Q, rows, solution)
        if chain.constraints.projection:
            projection.derive(program, mechanism, inertia, rows)
    loads.outputs(program, motion, known, solution, _asked(mechanism))
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
    return names | {symbol for force in mechanism.forces for symbol in force.symbols if force.values is None}


def _info(mechanism: Mechanism, dependent: Sequence[str]) -> dict[str, str]:
    return {
        "formulation": "GPME, 2n states, Baumgarte stabilisation" if dependent else "no constraints",
        "coordinates": ", ".join(coordinate.name for coordinate in mechanism.coordinates),
        "dependent coordinates": ", ".join(dependent) or "none",
    }


def _states(program: Program, mechanism: Mechanism, start: tuple[Array, Array], qdd: Expr) -> None:
    for k, coordinate in enumerate(mechanism.coordinates):
        rate = ir.symbol(f"{coordinate.symbol}_dot")
        _state(program, coordinate, "", coordinate.unit, float(start[0][k]), rate)
    for k, coordinate in enumerate(mechanism.coordinates):
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
    solution: accelerations.Solution,
) -> None:
    program.section("constraint forces and violations")
    effort = inertia.M @ solution.qdd + inertia.h - Q
    if solution.friction is not None:
        effort = effort + solution.friction
    # what closures exert is no drive's business
    for reaction in rows.reactions:
        assert solution.multipliers is not None
        effort = effort - solution.multipliers[reaction.row] * rows.C[reaction.row, :]
    effort = program.define("effort", effort, None, "what drives and fixture exert; N or N.m")
    driven = {"joint": bool(mechanism.programmed), "base": mechanism.base_fixed}
    for k, coordinate in enumerate(mechanism.coordinates):
        if driven.get(coordinate.role):
            text = f"effort on {coordinate.name} that realises the programmed motion"
            program.outputs.append(Output(f"{coordinate.symbol}_effort", coordinate.effort_unit, text, effort[k]))
    for name, vector, text in (
        ("violation_position", rows.Phi, "norm of all constraints"),
        ("violation_velocity", rows.Phi_dot, "norm of all constraints' rates"),
    ):
        program.outputs.append(Output(name, "1", text, ir.call("sqrt", vector @ vector)))
