"""Generalised forces Q: supports, springs and dampers, applied forces (design 4.1; P0 (13)–(18))."""

from __future__ import annotations

from dataclasses import dataclass

from . import differentiate, ir, loops
from .ir import Expr, Index
from .kinematics import Kinematics
from .lowering import Lowering
from .mechanism import AppliedForce, Closure, Coordinate, Mechanism, Place, Support
from .program import Input, Program


@dataclass(frozen=True)
class Wrench:
    """Force F and its moment N about the world's origin, world axes, on a body; shape (3,), N and N·m."""

    body: int
    N: Expr
    F: Expr


def derive(
    program: Program, mechanism: Mechanism, kinematics: Kinematics, lower: Lowering
) -> tuple[Expr, list[Wrench]]:
    """Define Q, shape (n,), N or N·m, without friction; returns its symbol, and the wrenches on bodies."""
    efforts: dict[int, Expr] = {}
    wrenches: list[Wrench] = []
    if mechanism.supports and not _linearized(mechanism):
        wrenches.append(_supports(program, mechanism, kinematics))
    if mechanism.supports and _linearized(mechanism):
        efforts |= _linearized_supports(program, mechanism)
    for closure in mechanism.closures:
        if closure.stiffness is not None:
            wrenches += _closure_springs(program, kinematics, closure)
    for force in mechanism.forces:
        _apply(program, kinematics, lower, force, efforts, wrenches)
    program.section("generalised forces")
    parts: list[tuple[Index, Expr]] = [
        ((k,), _on_coordinate(mechanism, kinematics, k, efforts, wrenches)) for k in range(mechanism.n)
    ]
    return program.assemble("Q", (mechanism.n,), parts, None, "generalised forces; N or N.m"), wrenches


def _closure_springs(program: Program, kinematics: Kinematics, closure: Closure) -> list[Wrench]:
    """Spring-dampers between the frames of a closure (P3 (13), (14)): a force for each deformation."""
    assert closure.stiffness is not None and closure.damping is not None
    program.section(f"closure {closure.name}")
    loop, name = loops.Loop(program, kinematics, closure), closure.name
    F: Expr = ir.zeros(3)
    N_a: Expr = ir.zeros(3)
    N_b: Expr = ir.zeros(3)
    for condition, stiffness, damping in zip(closure.conditions, closure.stiffness, closure.damping, strict=True):
        relation, unit = loop.relation(condition), "N" if condition.unit == "m" else "N.m"
        force = -(ir.lift(stiffness) * relation.value + ir.lift(damping) * relation.rate)
        effort = program.define(
            f"spring_{name}_{condition.name}", force, unit, f"spring of {name}, {condition.name}"
        )
        F, N_a, N_b = F + effort * relation.F, N_a + effort * relation.N_a, N_b + effort * relation.N_b
    F = program.define(f"F_{name}", F, "N", f"force of closure {name} on its frame b")
    N_b = program.define(f"N_{name}_b", N_b, "N.m", "its moment about the world's origin on frame b")
    N_a = program.define(f"N_{name}_a", N_a, "N.m", "the opposite of its moment on frame a")
    return [Wrench(closure.b.place.body, N_b, F), Wrench(closure.a.place.body, -N_a, -F)]


def _linearized(mechanism: Mechanism) -> bool:
    return mechanism.chain.base is not None and mechanism.chain.base.linearized


def _supports(program: Program, mechanism: Mechanism, kinematics: Kinematics) -> Wrench:
    program.section("base supports")
    N: Expr = ir.zeros(3)
    F: Expr = ir.zeros(3)
    for i, support in enumerate(mechanism.supports, start=1):
        place = Place(0, support.position)
        r = program.define(f"r_support{i}", kinematics.position(place), "m", f"support {i}")
        rate = program.define(f"v_support{i}", kinematics.velocity(place, r), "m/s", f"velocity of support {i}")
        deflection = program.define(f"d_support{i}", r - support.position, "m", f"deflection of support {i}")
        force = program.define(
            f"F_support{i}", _spring_force(support, deflection, rate), "N", f"force of support {i}"
        )
        N, F = N + ir.cross(r, force), F + force
    return Wrench(
        0,
        program.define("N_supports", N, "N.m", "moment of all supports about the world's origin"),
        program.define("F_supports", F, "N", "force of all supports"),
    )


def _spring_force(support: Support, deflection: Expr, rate: Expr) -> Expr:
    return ir.array([-(support.stiffness[i] * deflection[i] + support.damping[i] * rate[i]) for i in range(3)])


def _linearized_supports(program: Program, mechanism: Mechanism) -> dict[int, Expr]:
    """Deflection d = U q_base with the matrix U of P2; generalised force −Uᵀ(S d + D ḋ)."""
    program.section("base supports, small angles")
    coordinates = mechanism.bodies[0].coordinates
    q = ir.array([ir.symbol(mechanism.coordinates[k].symbol) for k in coordinates])
    rate = ir.array([ir.symbol(f"{mechanism.coordinates[k].symbol}_dot") for k in coordinates])
    total: Expr = ir.zeros(6)
    for i, support in enumerate(mechanism.supports, start=1):
        U = program.define(f"U_support{i}", _small_angle_matrix(support.position), None, f"U of support {i}")
        deflection = program.define(f"d_support{i}", U @ q, "m", f"deflection of support {i}")
        speed = program.define(f"v_support{i}", U @ rate, "m/s", f"rate of deflection of support {i}")
        force = program.define(
            f"F_support{i}", _spring_force(support, deflection, speed), "N", f"force of support {i}"
        )
        total = total + U.T @ force
    effort = program.define("Q_supports", total, None, "generalised forces of all supports; N or N.m")
    return {k: effort[i] for i, k in enumerate(coordinates)}


def _small_angle_matrix(position: Expr) -> Expr:
    x, y, z = position
    one, zero = ir.constant(1.0), ir.constant(0.0)
    return ir.array(
        [[one, zero, zero, -y, z, zero], [zero, one, zero, x, zero, -z], [zero, zero, one, zero, -x, y]]
    )


def _apply(
    program: Program,
    kinematics: Kinematics,
    lower: Lowering,
    force: AppliedForce,
    efforts: dict[int, Expr],
    wrenches: list[Wrench],
) -> None:
    program.section(f"applied force {force.name}")
    values = _values(program, kinematics.mechanism, lower, force)
    if force.coordinate is not None:
        efforts[force.coordinate] = efforts.get(force.coordinate, ir.constant(0.0)) + values[0]
        return
    assert force.place is not None
    r = program.define(f"r_{force.name}", kinematics.position(force.place), "m", f"where {force.name} acts")
    F: Expr = ir.array(values)
    if not force.in_world:
        F = kinematics.motion(force.place.body).R @ F
    F = program.define(f"F_{force.name}", F, "N", f"force {force.name}, world axes")
    about = f"moment of {force.name} about the world's origin"
    N = program.define(f"N_{force.name}", ir.cross(r, F), "N.m", about)
    wrenches.append(Wrench(force.place.body, N, F))


def _values(program: Program, mechanism: Mechanism, lower: Lowering, force: AppliedForce) -> list[Expr]:
    unit = "N" if force.coordinate is None else mechanism.coordinates[force.coordinate].effort_unit
    if force.values is None:
        for symbol in force.symbols:
            program.inputs.append(Input(symbol, unit, f"applied force {force.name}"))
        return [ir.symbol(symbol) for symbol in force.symbols]
    trees = [differentiate.expand(tree) for tree in force.values]
    for tree in trees:
        lower.add_breakpoints(tree)
    # a variable of its own even where the expression is just a number: the Modelica plant has an input for it
    return [
        program.assemble(symbol, (), [((), lower(tree))], unit, f"applied force {force.name}", variable=True)
        for symbol, tree in zip(force.symbols, trees, strict=True)
    ]


def _on_coordinate(
    mechanism: Mechanism, kinematics: Kinematics, k: int, efforts: dict[int, Expr], wrenches: list[Wrench]
) -> Expr:
    coordinate, axis = mechanism.coordinates[k], kinematics.axes[k]
    total = _spring_effort(coordinate) + efforts.get(k, ir.constant(0.0))
    for wrench in wrenches:
        if k in mechanism.ancestors(wrench.body):
            total = total + axis.e @ wrench.N + axis.u @ wrench.F
    return total


def _spring_effort(coordinate: Coordinate) -> Expr:
    q, rate = ir.symbol(coordinate.symbol), ir.symbol(f"{coordinate.symbol}_dot")
    effort: Expr = ir.constant(0.0)
    if coordinate.stiffness is not None:
        effort = effort - ir.lift(coordinate.stiffness) * (q - ir.lift(coordinate.rest))
    if coordinate.damping is not None:
        effort = effort - ir.lift(coordinate.damping) * rate
    return effort
