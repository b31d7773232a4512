"""Generalised forces Q: supports, springs and dampers, applied forces (design 4.1; P0 (13)–(18))."""

from __future__ import annotations

from collections.abc import Sequence

from ...language import differentiate
from ...language.expressions import Tree
from ...mechanism import AppliedForce, Closure, Coordinate, Mechanism, Place, Support
from ...program import ir
from ...program.ir import Expr, Index
from ...program.program import Input, Program
from ..bodies import loops
from ..bodies.kinematics import Kinematics, Wrench
from ..bodies.lowering import Lowering
from ..bodies.points import Points
from .printed_forces import Printed


def derive(
    program: Program, mechanism: Mechanism, kinematics: Kinematics, points: Points, lower: Lowering
) -> tuple[Expr, dict[int, Wrench]]:
    """Define Q, shape (n,), N or N·m, without friction; returns its symbol, and `on_subtrees` of the wrenches."""
    efforts: dict[int, Expr] = {}
    wrenches: list[Wrench] = []
    printed = Printed(mechanism.velocity_forces == "as_printed")
    if mechanism.supports and not _linearized(mechanism):
        wrenches.append(_supports(program, mechanism, kinematics, printed))
    if mechanism.supports and _linearized(mechanism):
        efforts |= _linearized_supports(program, mechanism, printed)
    for closure in mechanism.closures:
        if closure.stiffness is not None:
            wrenches += _closure_springs(program, kinematics, closure, printed)
    for force in mechanism.forces:
        _apply(program, kinematics, points, lower, force, efforts, wrenches, printed)
    for k, coordinate in enumerate(mechanism.coordinates):
        printed.add(k, _damper_effort(coordinate))
    program.section("generalised forces")
    acting = on_subtrees(program, kinematics, wrenches, "acting")
    in_print = on_subtrees(program, kinematics, printed.wrenches, "printed")
    parts: list[tuple[Index, Expr]] = []
    for k, coordinate in enumerate(mechanism.coordinates):
        own = _spring_effort(coordinate) + _damper_effort(coordinate) + efforts.get(k, ir.constant(0.0))
        own = own + printed.efforts.get(k, ir.constant(0.0))
        parts.append(((k,), own + _of_wrenches(kinematics, k, acting) + _of_wrenches(kinematics, k, in_print)))
    return program.assemble("Q", (mechanism.n,), parts, None, "generalised forces; N or N.m"), acting


def _closure_springs(program: Program, kinematics: Kinematics, closure: Closure, printed: Printed) -> list[Wrench]:
    """Spring-dampers between the frames of a closure (P3 (13), (14)): a force for each deformation."""
    assert closure.stiffness is not None and closure.damping is not None
    program.section("closure", closure.name)
    loop, name = loops.Loop(program, kinematics, closure), closure.name
    relations = [loop.relation(condition) for condition in closure.conditions]
    springs, dampers = [], []
    for condition, stiffness, damping, relation in zip(
        closure.conditions, closure.stiffness, closure.damping, relations, strict=True
    ):
        unit = "N" if condition.unit == "m" else "N.m"
        dampers.append(-(ir.lift(damping) * relation.rate))
        force = -(ir.lift(stiffness) * relation.value + ir.lift(damping) * relation.rate)
        text = f"spring of {name}, {condition.name}"
        springs.append(program.define(f"spring_{name}_{condition.name}", force, unit, text))
    if printed.wanted:
        printed.wrenches += _on_frames(program, closure, relations, dampers, f"{name}_printed")
    return _on_frames(program, closure, relations, springs, name)


def _on_frames(
    program: Program, closure: Closure, relations: Sequence[loops.Relation], efforts: Sequence[Expr], name: str
) -> list[Wrench]:
    """Wrenches on the bodies of both frames from an effort for each relation."""
    F: Expr = ir.zeros(3)
    N_a: Expr = ir.zeros(3)
    N_b: Expr = ir.zeros(3)
    for effort, relation in zip(efforts, relations, strict=True):
        force = effort * relation.F
        F, N = F + force, effort * relation.N
        N_a, N_b = N_a + N + ir.cross(relation.at_a, force), N_b + N + ir.cross(relation.at_b, force)
    F = program.define(f"F_{name}", F, "N", f"force of closure {name} on its frame b")
    N_b = program.define(f"N_{name}_b", N_b, "N.m", "its moment about the origin of frame b's body, on it")
    N_a = program.define(f"N_{name}_a", N_a, "N.m", "the opposite of its moment about that of frame a's body")
    return [Wrench(closure.b.place.body, N_b, F), Wrench(closure.a.place.body, -N_a, -F)]


def _linearized(mechanism: Mechanism) -> bool:
    return mechanism.chain.base is not None and mechanism.chain.base.linearized


def _supports(program: Program, mechanism: Mechanism, kinematics: Kinematics, printed: Printed) -> Wrench:
    program.section("base supports")
    N, N_printed = ir.zeros(3), ir.zeros(3)
    F, F_printed = ir.zeros(3), ir.zeros(3)
    for i, support in enumerate(mechanism.supports, start=1):
        place = Place(0, support.position)
        lever = program.define(
            f"lever_support{i}", kinematics.lever(place), "m", f"support {i} from base's origin"
        )
        r = program.define(f"r_support{i}", kinematics.position(0, lever), "m", f"support {i}")
        rate = program.define(f"v_support{i}", kinematics.velocity(0, lever), "m/s", f"velocity of support {i}")
        deflection = program.define(f"d_support{i}", r - support.position, "m", f"deflection of support {i}")
        force = program.define(
            f"F_support{i}", _spring_force(support, deflection, rate), "N", f"force of support {i}"
        )
        N, F = N + ir.cross(lever, force), F + force
        damper = _damper_force(support, rate)
        N_printed, F_printed = N_printed + ir.cross(lever, damper), F_printed + damper
    if printed.wanted:
        printed.wrenches.append(Wrench(0, N_printed, F_printed))
    return Wrench(
        0,
        program.define("N_supports", N, "N.m", "moment of all supports about the base's origin"),
        program.define("F_supports", F, "N", "force of all supports"),
    )


def _spring_force(support: Support, deflection: Expr, rate: Expr) -> Expr:
    return ir.array([-(support.stiffness[i] * deflection[i] + support.damping[i] * rate[i]) for i in range(3)])


def _damper_force(support: Support, rate: Expr) -> Expr:
    return ir.array([-(support.damping[i] * rate[i]) for i in range(3)])


def _linearized_supports(program: Program, mechanism: Mechanism, printed: Printed) -> dict[int, Expr]:
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
        if printed.wanted:
            damping = U.T @ _damper_force(support, speed)
            damping = program.define(f"Q_damper{i}", damping, None, f"support {i}'s part of Delta Q; N or N.m")
            for j, k in enumerate(coordinates):
                printed.add(k, damping[j])
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
    points: Points,
    lower: Lowering,
    force: AppliedForce,
    efforts: dict[int, Expr],
    wrenches: list[Wrench],
    printed: Printed,
) -> None:
    program.section("applied force", force.name)
    trees = [differentiate.expand(tree) for tree in force.values or ()]
    values = _values(program, kinematics.mechanism, lower, force, trees)
    if force.coordinate is not None:
        printed.add_applied(kinematics, points, lower, force, trees, None)
        efforts[force.coordinate] = efforts.get(force.coordinate, ir.constant(0.0)) + values[0]
        return
    assert force.place is not None
    body, name = force.place.body, force.name
    lever = program.define(f"lever_{name}", kinematics.lever(force.place), "m", f"{name} from its body's origin")
    F: Expr = ir.array(values)
    if not force.in_world:
        F = kinematics.motion(body).R @ F
    F = program.define(f"F_{name}", F, "N", f"force {name}, world axes")
    N = program.define(f"N_{name}", ir.cross(lever, F), "N.m", f"moment of {name} about its body's origin")
    wrenches.append(Wrench(body, N, F))
    printed.add_applied(kinematics, points, lower, force, trees, lever)


def _values(
    program: Program, mechanism: Mechanism, lower: Lowering, force: AppliedForce, trees: Sequence[Tree]
) -> list[Expr]:
    unit = "N" if force.coordinate is None else mechanism.coordinates[force.coordinate].effort_unit
    if force.values is None:
        for symbol in force.symbols:
            program.inputs.append(Input(symbol, unit, f"applied force {force.name}"))
        return [ir.symbol(symbol) for symbol in force.symbols]
    for tree in trees:
        lower.add_breakpoints(tree)
    # a variable of its own even where the expression is just a number: the Modelica plant has an input for it
    return [
        program.assemble(symbol, (), [((), lower(tree))], unit, f"applied force {force.name}", replaceable=True)
        for symbol, tree in zip(force.symbols, trees, strict=True)
    ]


def on_subtrees(
    program: Program, kinematics: Kinematics, wrenches: Sequence[Wrench], suffix: str
) -> dict[int, Wrench]:
    """Body → sum of the wrenches on it and on all bodies behind it, about its origin; bodies without any: none."""
    bodies = kinematics.mechanism.bodies
    sums: dict[int, Wrench] = {}
    for b in reversed(range(len(bodies))):
        parts = [(w.N, w.F) for w in wrenches if w.body == b]
        for c, behind in sums.items():
            if bodies[c].parent == b:
                parts.append((behind.N + ir.cross(kinematics.motions[c].arm, behind.F), behind.F))
        if parts:
            N, F = (sum(column[1:], start=column[0]) for column in zip(*parts, strict=True))
            about = f"on {bodies[b].name} and all behind it"
            N = program.define(f"N_{bodies[b].name}_{suffix}", N, "N.m", f"moment {about}, about its origin")
            F = program.define(f"F_{bodies[b].name}_{suffix}", F, "N", f"force {about}")
            sums[b] = Wrench(b, N, F)
    return sums


def _of_wrenches(kinematics: Kinematics, k: int, acting: dict[int, Wrench]) -> Expr:
    """Effort of wrenches on bodies on a coordinate."""
    wrench = acting.get(kinematics.owners[k])
    return ir.constant(0.0) if wrench is None else kinematics.power(k, wrench.N, wrench.F)


def _spring_effort(coordinate: Coordinate) -> Expr:
    if coordinate.stiffness is None:
        return ir.constant(0.0)
    return -(ir.lift(coordinate.stiffness) * (ir.symbol(coordinate.symbol) - ir.lift(coordinate.rest)))


def _damper_effort(coordinate: Coordinate) -> Expr:
    if coordinate.damping is None:
        return ir.constant(0.0)
    return -(ir.lift(coordinate.damping) * ir.symbol(f"{coordinate.symbol}_dot"))
