"""Derivation of the equations of a model from a description, in two steps.

The first step derives all equations that do not depend on the initial state. The second step adds
the initial state. It then solves the equations for the accelerations, with the coordinates
partitioned into independent and dependent ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...description import Description
from ...description.types.following import StartDependence
from ...mechanism import MEETING, build
from ...mechanism.symbolic import SymbolicMechanism
from ..program.program import EquationSystem
from ..program.symbols import Symbols
from . import outputs, requested
from . import start as followed
from .bodies import dynamics, filters, kinematics
from .bodies.lowering import Lowering
from .bodies.points import Points
from .constraints import constraints, turns
from .constraints.constraints import ConstraintEquations
from .forces import forces, friction
from .solution import accelerations, joint_loads, left_out, projection, reduced_state, system
from .solution.open_equations import OpenEquations
from .solution.solution import Solution
from .solution.system import ActiveSystem, Partition

Array = NDArray[np.float64]


@dataclass(frozen=True)
class InitialValues:
    """Initial state of a mechanism, which the function `close` adds to the equations of motion.

    Attributes
    ----------
    start : tuple of arrays
        Coordinates q and rates q̇ at t = 0, shape (n,) each, in rad or m, and in rad/s or m/s.
    extent : float
        Largest distance between two points of the mechanism, m. Absolute tolerances of lengths are
        proportional to this distance.
    following : StartDependence or None
        Dependence of the initial state on changed parameters; None if the initial state is fixed.
    filters : sequence of float
        Initial output of each input filter, rad or m.
    quantities : mapping of str to float
        Values at t = 0, in SI units, of quantities such as `E.x` to which expressions refer by name.
    """

    start: tuple[Array, Array]
    extent: float
    following: StartDependence | None = None
    filters: tuple[float, ...] = ()
    quantities: Mapping[str, float] = field(default_factory=dict)


def derive(chain: Description, initial: InitialValues, partition: Partition) -> EquationSystem:
    """Derive the complete equations of a description.

    In the returned program, one item contains the constrained equations of motion. Functions of the
    module `linear_solves` replace this item by linear systems.
    """
    return close(open_equations(chain), initial, partition)


def open_equations(chain: Description) -> OpenEquations:
    """Derive the equations of a description that do not depend on the initial state.

    They contain the mass matrix M, the inertia forces h, the applied forces Q and the constraints.
    """
    program = EquationSystem(chain.name, chain.description)
    mechanism = build(chain, Symbols(program))
    program.reserved |= outputs.names(mechanism)
    bodies = kinematics.derive(program, mechanism)
    inertia = dynamics.derive(program, mechanism, bodies)
    program.section("points")
    points = Points(program, mechanism, bodies)
    lower = Lowering(program, mechanism.constants, points, chain.tables)
    bristles = friction.bristles(program, mechanism)
    commands = filters.derive(program, mechanism, lower)
    Q, wrenches, acting = forces.derive(program, bodies, points, lower, commands)
    rows = constraints.derive(program, mechanism, bodies, points, lower, commands)
    return OpenEquations(
        program,
        mechanism,
        bodies,
        inertia,
        Q,
        rows,
        points,
        lower,
        tuple(bristles),
        tuple(commands),
        wrenches,
        tuple(acting.outputs),
        tuple(acting.states),
        tuple(acting.stored),
    )


def close(equations: OpenEquations, initial: InitialValues, partition: Partition) -> EquationSystem:
    """Add accelerations, joint reactions, projections, states and outputs to incomplete equations.

    Raises
    ------
    RuntimeError
        If the equations have been completed already.
    """
    program, mechanism, rows = equations.program, equations.mechanism, equations.constraints
    if program.states:
        raise RuntimeError("the equations are already complete; call open_equations() to derive new equations")
    # The smallest admissible length of a force element is rounded, so that generated sources are reproducible.
    program.meeting = float(f"{MEETING * initial.extent:.2g}")
    program.initial = dict(initial.quantities)
    filters.begin(program, equations.commands, initial.filters)
    active = system.active_system(mechanism, rows, partition)
    ratios = None
    if rows is not None and mechanism.formulation == "gpme_reduced":
        ratios = reduced_state.velocities(program, mechanism, rows, active)
    loads = joint_loads.JointLoads(
        program, equations.bodies, equations.inertia, equations.wrenches, rows.reactions if rows else ()
    )
    solution = accelerations.derive(equations, active, ratios, loads)
    outputs.states(program, mechanism, initial.start, initial.extent, solution.qdd)
    friction.states(program, mechanism, equations.bristles)
    filters.states(program, equations.commands)
    for state in equations.states:
        program.integrate(state)
    _add_outputs(equations, solution)
    if rows is not None:
        _add_constraints(equations, rows, active, solution)
    joint_loads.outputs(program, equations.bodies, loads, solution, _links_with_reactions(mechanism))
    program.start_checks += turns.start_checks(program, equations.bodies)
    if initial.following is not None:
        followed.derive(equations, initial.start, initial.following)
    program.sort()
    _describe(program, mechanism, active, partition)
    return program


def _add_outputs(equations: OpenEquations, solution: Solution) -> None:
    program, points = equations.program, equations.points
    outputs.motion(program, equations.mechanism, points, solution.qdd)
    program.outputs += equations.measured
    points.qdd = solution.qdd
    requested.derive(program, equations.inertia, points, equations.lower, equations.stored)


def _add_constraints(
    equations: OpenEquations, rows: ConstraintEquations, active: ActiveSystem, solution: Solution
) -> None:
    program, mechanism, settings = equations.program, equations.mechanism, equations.mechanism.chain
    program.rows = tuple(row.name for row in rows.rows)
    program.residuals = {"position": rows.Phi, "velocity": rows.Phi_dot}
    outputs.constraints(program, mechanism, equations.inertia, rows, solution)
    left_out.derive(program, rows, active.all_rows, settings.simulation.violation)
    if settings.constraints.projection:
        projection.derive(program, mechanism, equations.inertia, rows, active)


def _links_with_reactions(mechanism: SymbolicMechanism) -> tuple[str, ...]:
    chosen = mechanism.chain.outputs.loads
    names = dict.fromkeys(body.link for body in mechanism.bodies if body.link != "base")
    return tuple(names) if chosen == "all" else tuple(name for name in names if name in chosen)


_FORMS = {
    "gpme": "GPME, {states} states, Baumgarte stabilisation",
    "gpme_reduced": "reduced GPME, {states} states, position feedback",
    "lagrange": "Lagrange multipliers, {states} states, Baumgarte stabilisation",
}


def _describe(
    program: EquationSystem, mechanism: SymbolicMechanism, active: ActiveSystem, partition: Partition
) -> None:
    n, bristles = mechanism.n, len(friction.with_friction(mechanism))
    filter_states = 2 * len(mechanism.filters)
    controller_states = sum(len(element.states) for element in mechanism.elements if element.period is None)
    rates = len(program.states) - n - bristles - filter_states - controller_states
    further = (("friction", bristles), ("filter", filter_states), ("controller", controller_states))
    count = f"2n = {2 * n}" if rates == n else f"n + {rates} = {n + rates}"
    form = _FORMS[mechanism.formulation] if partition.rows else "no constraints, {states} states"
    program.formulation = form.format(states=count) + "".join(
        f"; {size} {what} state{'s' if size > 1 else ''}" for what, size in further if size
    )
    program.info = {
        "formulation": program.formulation,
        "coordinates": ", ".join(coordinate.name for coordinate in mechanism.coordinates),
        "dependent coordinates": ", ".join(partition.dependent) or "none",
    }
    dependent = [name for name in program.rows if name not in partition.rows]
    if dependent:
        program.info["redundant constraints"] = ", ".join(dependent)
