"""States and outputs of a mechanism's program."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..mechanism import Coordinate, Mechanism
from ..program import ir
from ..program.ir import Expr
from ..program.program import START_VALUES, Output, Parameter, Program, State
from ..types.origin import Origin, Quantity, Signal
from .bodies.dynamics import Dynamics
from .bodies.points import Points
from .constraints.constraints import Constraints
from .solution.solution import Solution

Array = NDArray[np.float64]
_LEVELS: tuple[tuple[int, str, str, Quantity], ...] = ((0, "", "m", "position"), (1, "v", "m/s", "velocity"))


def states(program: Program, mechanism: Mechanism, start: tuple[Array, Array], qdd: Expr) -> None:
    """Coordinates, and their rates as far as these are no outputs."""
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
    at_start = f"{text} at the start"
    program.parameters.append(Parameter(f"{name}_start", np.array(start), unit, at_start, START_VALUES))
    signal = coordinate.signal("velocity" if suffix else "position")
    nominal = 1.0 if coordinate.role == "joint" else 1e-3
    text = text if suffix else f"{text}, {coordinate.sense}"
    program.states.append(State(name, unit, text, ir.symbol(f"{name}_start"), derivative, nominal, signal))


def motion(program: Program, mechanism: Mechanism, points: Points, qdd: Expr) -> None:
    """Accelerations; positions and velocities of points."""
    for k, coordinate in enumerate(mechanism.coordinates):
        program.outputs.append(
            Output(
                f"{coordinate.symbol}_ddot",
                f"{coordinate.unit}/s2",
                f"{coordinate.name}, acceleration",
                qdd[k],
                coordinate.signal("acceleration"),
            )
        )
    program.section("points")
    for name in mechanism.points:
        origin = Origin("point", name)
        for level, prefix, unit, text in _LEVELS:
            vector = points.level(name, level)
            for i, x in enumerate("xyz"):
                about, signal = f"{text} of {name}, world {x}", Signal(text, origin, x)
                program.outputs.append(Output(f"{name}_{prefix}{x}", unit, about, vector[i], signal))


def constraints(
    program: Program,
    mechanism: Mechanism,
    inertia: Dynamics,
    Q: Expr,
    rows: Constraints,
    solution: Solution,
) -> None:
    """Efforts of drives, forces of knife edges, violations."""
    program.section("constraint forces and violations")
    for k, effort in _efforts(program, mechanism, inertia, Q, rows, solution).items():
        coordinate = mechanism.coordinates[k]
        text = f"effort on {coordinate.name} that realises the programmed motion, positive where it drives it up"
        name, signal = f"{coordinate.symbol}_effort", coordinate.signal("effort")
        program.outputs.append(Output(name, coordinate.effort_unit, text, effort, signal))
    edges = {edge.name for edge in mechanism.nonholonomic}
    for i, row in enumerate(rows.rows):
        if row.name in edges:
            assert solution.multipliers is not None
            text = f"force of knife edge {row.name} on its link, along its normal"
            signal = Signal("force", Origin("knife edge", row.name))
            program.outputs.append(Output(f"{row.name}_force", "N", text, solution.multipliers[i], signal))
    for level, vector, text in (
        ("position", rows.Phi, "norm of all constraints"),
        ("velocity", rows.Phi_dot, "norm of all constraints' rates"),
    ):
        norm, signal = ir.call("sqrt", vector @ vector), Signal("violation", Origin("constraints"), level)
        program.outputs.append(Output(f"violation_{level}", "1", text, norm, signal))


def _efforts(
    program: Program,
    mechanism: Mechanism,
    inertia: Dynamics,
    Q: Expr,
    rows: Constraints,
    solution: Solution,
) -> dict[int, Expr]:
    """Coordinate → what its drive, or a fixed base's fixture, exerts."""
    if mechanism.driven == mechanism.actuated and solution.drives is not None:
        return {k: solution.drives[j] for j, k in enumerate(mechanism.driven)}
    effort = inertia.M @ solution.qdd + inertia.h - Q
    if solution.friction is not None:
        effort = effort + solution.friction
    # what contacts exert is no drive's business
    for reaction in rows.reactions:
        assert solution.multipliers is not None
        effort = effort - solution.multipliers[reaction.row] * rows.C[reaction.row, :]
    effort = program.define("effort", effort, None, "what drives and fixture exert; N or N.m")
    return {k: effort[k] for k in mechanism.driven}
