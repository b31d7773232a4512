"""Outputs requested by the table `[outputs]`, such as accelerations of points and energies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ...description.tables.frame import product
from ...description.types import requested
from ...description.types.measures import Measure
from ...description.types.origin import Signal
from ...language import differentiate, ir
from ...language.ir import Expr
from ...mechanism import GROUND
from ...mechanism.symbolic import SymbolicMechanism
from ..program.program import EquationSystem, Output
from ..program.symbols import Expressions
from .bodies.dynamics import Dynamics
from .bodies.kinematics import SymbolicKinematics
from .bodies.lowering import Lowering
from .bodies.points import Points


def signals(mechanism: SymbolicMechanism) -> Iterator[Signal]:
    """Yield the signals of all outputs that the table `[outputs]` requests."""
    chain = mechanism.chain
    for point in chain.accelerated:
        yield from (measure.signal for measure in requested.accelerations(point))
    for link in chain.posed:
        for measures in (requested.origins, requested.quaternions, requested.omegas):
            yield from (measure.signal for measure in measures(link))
    if chain.outputs.energy:
        yield from (measure.signal for measure in requested.energies())
    yield from map(requested.value, chain.outputs.expressions)


def derive(
    program: EquationSystem,
    inertia: Dynamics,
    points: Points,
    lower: Lowering,
    stored: Sequence[Callable[[], Expr]],
) -> None:
    """Define the outputs that the table `[outputs]` requests.

    Parameters
    ----------
    points
        Expressions for positions, velocities and accelerations of points. The program must already
        define the accelerations q̈ of the coordinates.
    stored
        Functions, each of which returns the energy that one force element stores, J.
    """
    mechanism, kinematics = points.mechanism, points.kinematics
    chain = mechanism.chain
    program.section("outputs")
    for point in chain.accelerated:
        _publish(program, requested.accelerations(point), (points(f"{point}.a{x}") for x in requested.AXES))
    turns = _Turns(program, kinematics)
    for link in chain.posed:
        body = next(b for b, body in enumerate(mechanism.bodies) if body.link == link)
        origin, omega = kinematics.position(body, ir.zeros(3)), kinematics.motion(body).w
        origin = program.define(f"origin_{link}", origin, "m", f"position of the origin of {link}, world frame")
        omega = program.define(f"omega_{link}", omega, "rad/s", f"angular velocity of {link}")
        _publish(program, requested.origins(link), origin)
        _publish(program, requested.quaternions(link), turns(body))
        _publish(program, requested.omegas(link), omega)
    if chain.outputs.energy:
        kinetic, potential = _kinetic(mechanism, inertia), _potential(kinematics, inertia, stored)
        kinetic = program.define("E_kinetic", kinetic, "J", "kinetic energy")
        potential = program.define("E_potential", potential, "J", "potential energy of gravity and springs")
        _publish(program, requested.energies(), (kinetic, potential, kinetic + potential))
    for name, wanted in chain.outputs.expressions.items():
        tree = differentiate.expand(chain.expression(wanted.expression))
        text = wanted.description or f"{wanted.expression}"
        value = lower.without_events(tree)
        program.outputs.append(Output(requested.value(name), wanted.unit, text, value))


def _publish(program: EquationSystem, measures: Iterable[Measure], values: Iterable[Expr]) -> None:
    program.outputs += [
        Output(measure.signal, measure.unit, measure.description, value)
        for measure, value in zip(measures, values, strict=True)
    ]


def _kinetic(mechanism: SymbolicMechanism, inertia: Dynamics) -> Expr:
    rates = ir.array([ir.symbol(f"{coordinate.symbol}_dot") for coordinate in mechanism.coordinates])
    return 0.5 * (rates @ (inertia.M @ rates))


def _potential(kinematics: SymbolicKinematics, inertia: Dynamics, stored: Sequence[Callable[[], Expr]]) -> Expr:
    """Return the potential energy of gravity and springs, J.

    The energy of gravity is −g·Σ m r. The sum is over the first mass moments m r of the subtrees that
    begin at the ground.
    """
    mechanism = kinematics.mechanism
    total: Expr = ir.constant(0.0)
    for b, body in enumerate(mechanism.bodies):
        if body.parent == GROUND:
            subtree = inertia.subtrees[b]
            moment = subtree.m * kinematics.position(b, ir.zeros(3)) + subtree.s
            total = total - mechanism.gravity @ moment
    for energy in stored:
        total = total + energy()
    return total


class _Turns:
    """Orientations of the bodies as quaternions (w, x, y, z) relative to the world.

    Each quaternion is a product of quaternions of constant frames and of joint rotations. It is
    therefore a smooth function of the coordinates. A full turn of a joint reverses the sign of the
    quaternion, which then denotes an equal orientation.
    """

    def __init__(self, program: EquationSystem, kinematics: SymbolicKinematics) -> None:
        self._program, self._mechanism = program, kinematics.mechanism
        self._known: dict[int, Expr] = {GROUND: ir.constant([1.0, 0.0, 0.0, 0.0])}
        self._frames = {link.name: link.frame for link in self._mechanism.chain.links}

    def __call__(self, b: int) -> Expr:
        """Return the orientation of a body as a quaternion w, x, y, z, shape (4,)."""
        if b not in self._known:
            self._known[b] = self._define(b)
        return self._known[b]

    def _define(self, b: int) -> Expr:
        body = self._mechanism.bodies[b]
        total = list(self(body.parent))
        first = next(c for c, other in enumerate(self._mechanism.bodies) if other.link == body.link)
        if b == first and body.link in self._frames:
            total = product(total, self._frames[body.link].quaternion(Expressions()))
        for k in body.coordinates:
            coordinate = self._mechanism.coordinates[k]
            if coordinate.motion.kind == "rotation":
                half = 0.5 * ir.symbol(coordinate.symbol)
                turn = [ir.call("cos", half), *(e * ir.call("sin", half) for e in coordinate.axis)]
                total = product(total, turn)
        text = f"orientation of {body.name} in the world frame: quaternion w, x, y, z"
        return self._program.define(f"quaternion_{body.name}", ir.array(total), "1", text)
