"""Description → program: the whole derivation in order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...description import Chain
from ...description.types.following import Following
from ...mechanism import Mechanism, build
from ..program.program import Program
from ..program.symbols import Symbols
from . import outputs, requested
from . import start as followed
from .bodies import dynamics, filters, kinematics
from .bodies.lowering import Lowering
from .bodies.points import Points
from .constraints import constraints
from .forces import forces, friction
from .solution import accelerations, joint_loads, left_out, projection, reduced_state, system
from .solution.system import ActiveSystem, Partition

Array = NDArray[np.float64]
_MEETING = 1e-6  # of the mechanism's extent: ends of a line that come nearer meet


def derive(
    chain: Chain,
    start: tuple[Array, Array],
    partition: Partition,
    extent: float,
    following: Following | None = None,
    filter_begins: Sequence[float] = (),
) -> Program:
    """Equations of a description; it is left open how the constrained ones are solved, see `linear_solves`.

    start   q and q̇ at t = 0, shape (n,) each, rad or m and per second: defaults of the start parameters
    extent  of the mechanism, m: what absolute tolerances of lengths go by
    following  what of the start follows other numbers; None: nothing
    filter_begins  what each filter begins with, rad or m
    """
    program = Program(chain.name, chain.description, meeting=float(f"{_MEETING * extent:.2g}"))
    mechanism = build(chain, Symbols(program))
    program.reserved |= outputs.names(mechanism)
    bodies = kinematics.derive(program, mechanism)
    inertia = dynamics.derive(program, mechanism, bodies)
    program.section("points")
    points = Points(program, mechanism, bodies)
    lower = Lowering(program, mechanism.constants, points, chain.tables)
    bristles = friction.bristles(program, mechanism)
    commands = filters.derive(program, mechanism, lower, filter_begins)
    Q, applied, of_forces, stored = forces.derive(program, bodies, points, lower, commands)
    rows = constraints.derive(program, mechanism, bodies, points, lower, commands)
    active, ratios = system.active_system(mechanism, rows, partition), None
    if rows is not None and mechanism.formulation == "gpme_reduced":
        ratios = reduced_state.velocities(program, mechanism, rows, active)
    known = joint_loads.JointLoads(program, bodies, inertia, applied, rows.reactions if rows else ())
    solution = accelerations.derive(program, bodies, inertia, Q, rows, active, ratios, known, bristles)
    outputs.states(program, mechanism, start, extent, solution.qdd)
    friction.states(program, mechanism, bristles)
    filters.states(program, commands)
    outputs.motion(program, mechanism, points, solution.qdd)
    program.outputs += of_forces
    points.qdd = solution.qdd
    requested.derive(program, inertia, points, lower, stored)
    if rows is not None:
        program.rows = tuple(row.name for row in rows.rows)
        program.residuals = {"position": rows.Phi, "velocity": rows.Phi_dot}
        outputs.constraints(program, mechanism, inertia, rows, solution)
        left_out.derive(program, rows, active.all_rows, chain.simulation.violation)
        if chain.constraints.projection:
            projection.derive(program, mechanism, inertia, rows, active)
    joint_loads.outputs(program, bodies, known, solution, _asked(mechanism))
    if following is not None:
        followed.derive(program, mechanism, bodies, inertia, Q, rows, start, following)
    program.sort()
    _describe(program, mechanism, active, partition)
    return program


def _asked(mechanism: Mechanism) -> tuple[str, ...]:
    """Names of the links whose joint loads are outputs."""
    chosen = mechanism.chain.outputs.loads
    names = dict.fromkeys(body.link for body in mechanism.bodies if body.link != "base")
    return tuple(names) if chosen == "all" else tuple(name for name in names if name in chosen)


_FORMS = {
    "gpme": "GPME, {states} states, Baumgarte stabilisation",
    "gpme_reduced": "reduced GPME, {states} states, position feedback",
    "lagrange": "Lagrange multipliers, {states} states, Baumgarte stabilisation",
}


def _describe(program: Program, mechanism: Mechanism, active: ActiveSystem, partition: Partition) -> None:
    n, bristles = mechanism.n, len(friction.with_friction(mechanism))
    lags = 2 * len(mechanism.filters)
    rates = len(program.states) - n - bristles - lags
    count = f"2n = {2 * n}" if rates == n else f"n + {rates} = {n + rates}"
    form = _FORMS[mechanism.formulation] if partition.rows else "no constraints, {states} states"
    program.formulation = form.format(states=count) + "".join(
        f"; {size} {what} states" for what, size in (("friction", bristles), ("filter", lags)) if size
    )
    program.info = {
        "formulation": program.formulation,
        "coordinates": ", ".join(coordinate.name for coordinate in mechanism.coordinates),
        "dependent coordinates": ", ".join(partition.dependent) or "none",
    }
    dependent = [name for name in program.rows if name not in partition.rows]
    if dependent:
        program.info["redundant constraint rows"] = ", ".join(dependent)
