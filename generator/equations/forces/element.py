"""What acts on bodies and coordinates: the interface of force elements, and the sum of what they do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ....description.types.measures import Measure
from ....language import ir
from ....language.ir import Expr
from ....mechanism import Mechanism
from ...program.program import Output, Program
from ..bodies.filters import Followed
from ..bodies.kinematics import Kinematics, Wrench
from ..bodies.lowering import Lowering
from ..bodies.points import Points

ZERO = ir.constant(0.0)
_SMALLEST = ir.constant(1e-24)  # of what has the magnitude 1 or more


class Forces:
    """Efforts and wrenches while they are being collected, with what elements need to define theirs.

    efforts   coordinate → effort, N or N·m
    wrenches  on bodies; joints bear them, unlike efforts on coordinates
    outputs   what elements publish of theirs
    stored    energies in springs, J, for who asks
    followed  where filters lead to, by their names
    """

    def __init__(
        self,
        program: Program,
        kinematics: Kinematics,
        points: Points,
        lower: Lowering,
        followed: Sequence[Followed],
    ) -> None:
        self.program, self.kinematics, self.points, self.lower = program, kinematics, points, lower
        self.mechanism: Mechanism = kinematics.mechanism
        self.followed = {each.filter.name: each for each in followed}
        self.efforts: dict[int, Expr] = {}
        self.wrenches: list[Wrench] = []
        self.outputs: list[Output] = []
        self.stored: list[Callable[[], Expr]] = []

    def publish(self, measure: Measure, expr: Expr) -> Expr:
        """A definition that is an output, too; returns its symbol."""
        signal, about = measure.signal, (measure.unit, measure.description)
        self.program.give(signal.name, expr, *about)
        self.outputs.append(Output(signal, *about, ir.symbol(signal.name)))
        return ir.symbol(signal.name)

    def stores(self, energy: Callable[[], Expr]) -> None:
        """Energy in a spring, J; asked for after all elements have acted, if at all."""
        self.stored.append(energy)

    def pressing(self, free: Expr, value: Expr) -> Expr:
        """A value where the force `free` is positive, else 0."""
        return self.lower.relation(">", free, ZERO, value, ZERO)

    def overlapping(self, depth: Expr, free: Expr, value: Expr) -> Expr:
        """A value where the depth and the force `free` are positive, else 0."""
        return self.lower.relation(">", depth, ZERO, self.pressing(free, value), ZERO)

    def effort(self, k: int, effort: Expr) -> None:
        """An effort on a coordinate, N or N·m."""
        self.efforts[k] = self.efforts.get(k, ir.constant(0.0)) + effort

    def one_way(self, free: Expr) -> Expr:
        """A force where it is positive, else 0, with an event between them."""
        return self.pressing(free, free)

    def wrench(self, body: int, N: Expr, F: Expr) -> None:
        """Force F, N, and its moment N about the body's origin, N·m, on a body; shape (3,), world axes."""
        self.wrenches.append(Wrench(body, N, F))


class ForceElement(Protocol):
    """A spring, a damper, an applied force, …: a file here, one in `reference.forces`, a row in the tables."""

    def act(self, forces: Forces) -> None:
        """Define what it exerts, under an origin of its own, and add it to the forces."""
        ...


def size(square: Expr) -> Expr:
    """Root of a square, but never 0, where the root has no derivative."""
    return ir.call("sqrt", _SMALLEST + square)


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
