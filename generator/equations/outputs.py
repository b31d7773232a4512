"""State variables and outputs of the generated model.

The outputs are coordinates, accelerations, points, drive efforts and constraint violations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...description.types.origin import Signal, of_point, row_force, violation
from ...language import ir
from ...language.ir import Expr, Index
from ...mechanism.symbolic import SymbolicCoordinate, SymbolicMechanism
from ..program.items import Traits
from ..program.program import HELD, START_VALUES, STATE, EquationSystem, ModelParameter, Output, StateVariable
from ..program.tree import InertiaForces
from . import requested
from .bodies.dynamics import Dynamics
from .bodies.points import Points
from .constraints.constraints import ConstraintEquations
from .solution.solution import Solution

Array = NDArray[np.float64]
_LEVELS: tuple[tuple[int, str, str], ...] = ((0, "m", "position"), (1, "m/s", "velocity"))


def names(mechanism: SymbolicMechanism) -> set[str]:
    """Return the names of states, start values, outputs and inputs.

    These names are reserved: no definition may have one of them.
    """
    started = [signal for level in ("position", "velocity", "bristle") for signal in _of_all(mechanism, level)]
    found = {name for signal in started for name in (signal.name, f"{signal.name}_start", f"{signal.name}{STATE}")}
    others = [signal for level in ("acceleration", "effort") for signal in _of_all(mechanism, level)]
    others += [
        of_point(point, quantity, axis)
        for point in mechanism.points
        for _, _, quantity in _LEVELS
        for axis in "xyz"
    ]
    others += [row_force(edge.name) for edge in mechanism.nonholonomic]
    others += [measure.signal for part in mechanism.measured for measure in part.signals.values()]
    others += requested.signals(mechanism)
    further = {f.signal(quantity).name for f in mechanism.filters for quantity in ("offset", "offset_rate")}
    further |= {element.signals[key].signal.name for element in mechanism.elements for key in element.states}
    found |= {f"{name}{suffix}" for name in further for suffix in ("", "_start", STATE)}
    for element in mechanism.elements:
        held = () if element.period is None else element.signals.values()
        found |= {f"{measure.signal.name}{HELD}" for measure in held} | {x.name for x in element.sampled}
    found |= {f.signal("value").name for f in mechanism.filters} | {f"{f.name}_cutoff" for f in mechanism.filters}
    return found | {signal.name for signal in others} | {*mechanism.inputs}


def _of_all(mechanism: SymbolicMechanism, quantity: str) -> list[Signal]:
    return [coordinate.signal(quantity) for coordinate in mechanism.coordinates]


def states(
    program: EquationSystem, mechanism: SymbolicMechanism, start: tuple[Array, Array], extent: float, qdd: Expr
) -> None:
    """Add the coordinates and their rates as state variables.

    In the reduced form, the dependent velocities are not state variables, because they follow from the
    independent velocities. The argument `extent` is the largest distance in the mechanism, m.
    """
    for k, coordinate in enumerate(mechanism.coordinates):
        rate = coordinate.signal("velocity")
        here, nominal = coordinate.signal("position"), _nominal(coordinate, extent)
        _state(program, coordinate, here, float(start[0][k]), ir.symbol(rate.name), nominal)
    following = program.published
    for k, coordinate in enumerate(mechanism.coordinates):
        rate = coordinate.signal("velocity")
        if rate.name not in following:
            _state(program, coordinate, rate, float(start[1][k]), qdd[k], _nominal(coordinate, extent))


def _nominal(coordinate: SymbolicCoordinate, extent: float) -> float:
    """Return a typical magnitude of a coordinate, rad or m, for the Modelica attribute `nominal`.

    The magnitude of a length is reduced if the largest distance in the mechanism is below 1 m.
    """
    size = 1.0 if coordinate.role == "joint" else 1e-3
    return size if coordinate.unit == "rad" else size * min(1.0, 10.0 ** math.floor(math.log10(extent)))


def _state(
    program: EquationSystem,
    coordinate: SymbolicCoordinate,
    signal: Signal,
    start: float,
    derivative: Expr,
    nominal: float,
) -> None:
    is_rate, name = signal.quantity == "velocity", f"{signal.name}_start"
    unit = f"{coordinate.unit}/s" if is_rate else coordinate.unit
    text = f"{'rate of ' if is_rate else ''}coordinate {coordinate.name}"
    program.parameters.append(
        ModelParameter(
            name, np.array(start), unit, f"initial {'' if is_rate else 'value of '}{text}", START_VALUES
        )
    )
    text = text if is_rate else f"{text}, {coordinate.sense}"
    program.integrate(StateVariable(signal, unit, text, ir.symbol(name), derivative, nominal))


def motion(program: EquationSystem, mechanism: SymbolicMechanism, points: Points, qdd: Expr) -> None:
    """Add accelerations of coordinates, and positions and velocities of points, as outputs."""
    for k, coordinate in enumerate(mechanism.coordinates):
        program.outputs.append(
            Output(
                coordinate.signal("acceleration"),
                f"{coordinate.unit}/s2",
                f"acceleration of coordinate {coordinate.name}",
                qdd[k],
            )
        )
    program.section("points")
    for name in mechanism.points:
        for level, unit, quantity in _LEVELS:
            vector = points.level(name, level)
            for i, x in enumerate("xyz"):
                text = f"{quantity} of point {name}, {x} component in the world frame"
                program.outputs.append(Output(of_point(name, quantity, x), unit, text, vector[i]))


def constraints(
    program: EquationSystem,
    mechanism: SymbolicMechanism,
    inertia: Dynamics,
    rows: ConstraintEquations,
    solution: Solution,
) -> None:
    """Add drive efforts, contact forces of knife edges and norms of constraint violations as outputs."""
    program.section("constraint forces and violations")
    for k, effort in _efforts(program, mechanism, inertia, rows, solution).items():
        coordinate = mechanism.coordinates[k]
        text = f"drive effort on {coordinate.name} that enforces the programmed constraints"
        program.outputs.append(Output(coordinate.signal("effort"), coordinate.effort_unit, text, effort))
    edges = {edge.name for edge in mechanism.nonholonomic}
    for i, row in enumerate(rows.rows):
        if row.name in edges:
            assert solution.multipliers is not None
            text = f"contact force on the link of knife edge {row.name}, along the normal of the knife edge"
            signal = row_force(row.name, "knife edge")
            program.outputs.append(Output(signal, "N", text, solution.multipliers[i]))
    for level, vector, text in (
        ("position", rows.Phi, "Euclidean norm of the violations of all constraints"),
        ("velocity", rows.Phi_dot, "Euclidean norm of the time derivatives of all constraint functions"),
    ):
        norm = ir.call("sqrt", vector @ vector)
        # With the nominal value 1, simulation masters neglect violations far below their tolerance.
        program.outputs.append(Output(violation(level), "1", text, norm, nominal=1.0))


def _efforts(
    program: EquationSystem,
    mechanism: SymbolicMechanism,
    inertia: Dynamics,
    rows: ConstraintEquations,
    solution: Solution,
) -> dict[int, Expr]:
    """Return the drive efforts, N or N·m, by coordinate.

    For a fixed base, the reaction of its fixture is included.
    """
    if mechanism.driven == mechanism.actuated and solution.drives is not None:
        return {k: solution.drives[j] for j, k in enumerate(mechanism.driven)}
    efforts = {}
    for k, inertia_force in zip(
        mechanism.driven, _inertia_forces(program, mechanism, inertia, solution.qdd), strict=True
    ):
        # With separate variables for applied and inertia forces, OpenModelica would solve a larger linear system.
        effort = inertia_force - solution.forces[k]
        if solution.friction is not None:
            effort = effort + solution.friction[k]
        # Drives do not exert the reactions of loop closures and knife edges, so these reactions are subtracted.
        for reaction in rows.reactions:
            assert solution.multipliers is not None
            effort = effort - solution.multipliers[reaction.row] * rows.C[reaction.row, k]
        efforts[k] = effort
    return efforts


def _inertia_forces(
    program: EquationSystem, mechanism: SymbolicMechanism, inertia: Dynamics, qdd: Expr
) -> Sequence[Expr]:
    driven = mechanism.driven
    if not driven:
        return ()
    rows: list[tuple[Index, Expr]] = [((i,), inertia.M[k, :] @ qdd) for i, k in enumerate(driven)]
    text = "elements of M*qdd for the coordinates with a drive effort; N or N.m"
    inertial = InertiaForces(inertia.tree, driven, qdd)
    return tuple(program.assemble("inertial", (len(driven),), rows, None, text, Traits(inertial=inertial)))
