"""Interface of force elements, and the sum of their efforts and wrenches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ....description.types.measures import Measure
from ....language import ir
from ....language.ir import Expr
from ....mechanism.symbolic import SymbolicMechanism
from ...program.program import Output, Program
from ..bodies.filters import FilterOutput
from ..bodies.kinematics import SymbolicKinematics, Wrench
from ..bodies.lowering import Lowering
from ..bodies.points import Points

ZERO = ir.constant(0.0)
_SMALLEST = ir.constant(1e-24)  # of what has the magnitude 1 or more


class Forces:
    """Collector of efforts and wrenches, with everything that force elements need to define them.

    efforts   coordinate → effort, N or N·m
    wrenches  on bodies; joints carry them, unlike efforts on coordinates
    outputs   outputs that elements publish
    stored    functions that return energies in springs, J
    followed  outputs of filters, by their names
    """

    def __init__(
        self,
        program: Program,
        kinematics: SymbolicKinematics,
        points: Points,
        lower: Lowering,
        followed: Sequence[FilterOutput],
    ) -> None:
        self.program, self.kinematics, self.points, self.lower = program, kinematics, points, lower
        self.mechanism: SymbolicMechanism = kinematics.mechanism
        self.followed = {each.filter.name: each for each in followed}
        self.efforts: dict[int, Expr] = {}
        self.wrenches: list[Wrench] = []
        self.outputs: list[Output] = []
        self.stored: list[Callable[[], Expr]] = []

    def publish(self, measure: Measure, expr: Expr) -> Expr:
        """Define a quantity that is also an output; returns its symbol."""
        signal, about = measure.signal, (measure.unit, measure.description)
        self.program.give(signal.name, expr, *about)
        self.outputs.append(Output(signal, *about, ir.symbol(signal.name)))
        return ir.symbol(signal.name)

    def stores(self, energy: Callable[[], Expr]) -> None:
        """Add the energy of a spring, J, evaluated only if the model has energy outputs."""
        self.stored.append(energy)

    def pressing(self, free: Expr, value: Expr) -> Expr:
        """Return a value if the force `free` is positive, else 0, with an event between."""
        return self.lower.relation(">", free, ZERO, value, ZERO)

    def overlapping(self, depth: Expr, free: Expr, value: Expr) -> Expr:
        """Return a value if the depth and the force `free` are positive, else 0, with events between."""
        return self.lower.relation(">", depth, ZERO, self.pressing(free, value), ZERO)

    def effort(self, k: int, effort: Expr) -> None:
        """Add an effort on a coordinate, N or N·m."""
        self.efforts[k] = self.efforts.get(k, ir.constant(0.0)) + effort

    def one_way(self, free: Expr) -> Expr:
        """Return a force if it is positive, else 0, with an event between."""
        return self.pressing(free, free)

    def wrench(self, body: int, N: Expr, F: Expr) -> None:
        """Add a force F, N, and its moment N about the body's origin, N·m, on a body; shape (3,), world axes."""
        self.wrenches.append(Wrench(body, N, F))


class ForceElement(Protocol):
    """A spring, a damper, an applied force, …: a file here, one in `reference.forces`, a row in the tables."""

    def act(self, forces: Forces) -> None:
        """Define the element's efforts and wrenches, under an origin of its own, and add them to the forces."""
        ...


def size(square: Expr) -> Expr:
    """Square root of a square, kept above 0, at which the root has no derivative."""
    return ir.call("sqrt", _SMALLEST + square)


def on_subtrees(
    program: Program, kinematics: SymbolicKinematics, wrenches: Sequence[Wrench], suffix: str
) -> dict[int, Wrench]:
    """Body → sum of wrenches on it and its descendants, about its origin; bodies without wrenches are missing."""
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
