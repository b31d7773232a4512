"""Interface of force elements, and a class that collects the efforts and wrenches of all force elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from ....description.types.measures import Measure
from ....description.types.units import quotient
from ....language import ir
from ....language.ir import Expr
from ....mechanism.symbolic import SymbolicMechanism
from ...program.program import START_VALUES, EquationSystem, ModelParameter, Output, StateVariable
from ..bodies.filters import FilterOutput
from ..bodies.kinematics import SymbolicKinematics, Wrench
from ..bodies.lowering import Lowering
from ..bodies.points import Points

ZERO = ir.constant(0.0)
_SMALLEST = ir.constant(1e-24)  # A square root is differentiable at zero if this number is added to its argument.


class Forces:
    """Collection of the efforts, wrenches, outputs and states of all force elements.

    Attributes
    ----------
    efforts
        Mapping from the index of each coordinate to the sum of the efforts on it, N or N·m.
    wrenches
        Wrenches on bodies. They contribute to joint reactions, whereas efforts on coordinates do not.
    outputs
        Outputs that force elements publish.
    states
        States of force elements and controllers.
    stored
        One function for each spring, which returns the potential energy of the spring, J.
    followed
        Mapping from the name of each input filter to the output of the filter.
    """

    def __init__(
        self,
        program: EquationSystem,
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
        self.states: list[StateVariable] = []
        self.stored: list[Callable[[], Expr]] = []

    def publish(self, measure: Measure, expr: Expr) -> Expr:
        """Define an output of a force element as a named quantity, and return its symbol."""
        signal, about = measure.signal, (measure.unit, measure.description)
        self.program.give(signal.name, expr, *about)
        self.outputs.append(Output(signal, *about, ir.symbol(signal.name)))
        return ir.symbol(signal.name)

    def integrate(self, measure: Measure, start: Expr, rate: Expr) -> None:
        """Add a state with its initial value and time derivative; a constant initial value becomes a
        parameter.
        """
        signal, unit, text = measure.signal, measure.unit, measure.description
        if start.op == "constant":
            about = unit, f"initial value of the {text}", START_VALUES
            self.program.parameters.append(ModelParameter(f"{signal.name}_start", np.array(start.data), *about))
            start = ir.symbol(f"{signal.name}_start")
        per_second = quotient(unit, "s"), f"time derivative of the {text}"
        rate = self.program.define(f"{signal.name}_dot", rate, *per_second)
        self.states.append(StateVariable(signal, unit, text, start, rate, 1.0))

    def stores(self, energy: Callable[[], Expr]) -> None:
        """Register a function that returns the energy of a spring, J.

        The function is called only if the model has energy outputs.
        """
        self.stored.append(energy)

    def pressing(self, free: Expr, value: Expr) -> Expr:
        """Return `value` while the unrestricted force `free` is positive, otherwise 0.

        The unrestricted force is the force without the condition that it must be compressive. The value
        switches at a state event.
        """
        return self.lower.relation(">", free, ZERO, value, ZERO)

    def overlapping(self, depth: Expr, free: Expr, value: Expr) -> Expr:
        """Return `value` while the depth and the unrestricted force `free` are both positive, otherwise 0.

        The unrestricted force is the force without the condition that it must be compressive. The value
        switches at state events.
        """
        return self.lower.relation(">", depth, ZERO, self.pressing(free, value), ZERO)

    def effort(self, k: int, effort: Expr) -> None:
        """Add an effort on coordinate k, N or N·m."""
        self.efforts[k] = self.efforts.get(k, ir.constant(0.0)) + effort

    def one_way(self, free: Expr) -> Expr:
        """Return a force while it is positive, otherwise 0.

        The value switches at a state event.
        """
        return self.pressing(free, free)

    def wrench(self, body: int, N: Expr, F: Expr) -> None:
        """Add a wrench on a body: a force F, N, and a moment N about the body's origin, N·m.

        Both vectors have the shape (3,), world axes.
        """
        self.wrenches.append(Wrench(body, N, F))


class ForceElement(Protocol):
    """Force element in symbolic form, such as a spring, a damper or an applied force.

    Each kind of force element has a module in this package and a module in `reference.forces`. The
    table `FORCE_ELEMENTS` lists the modules.
    """

    def act(self, forces: Forces) -> None:
        """Define the efforts and wrenches of the force element, and add them to the argument `forces`.

        Each definition states that it originates from the force element's entry in the description.
        """
        ...


def size(square: Expr) -> Expr:
    """Return a norm from its square, with a small term that makes the norm differentiable at zero."""
    return ir.call("sqrt", _SMALLEST + square)


def on_subtrees(
    program: EquationSystem, kinematics: SymbolicKinematics, wrenches: Sequence[Wrench], suffix: str
) -> dict[int, Wrench]:
    """Return for each body the sum of all wrenches on the body and its descendants.

    The moments are about the origin of the body. Bodies whose subtrees have no wrenches are missing in
    the result.
    """
    bodies = kinematics.mechanism.bodies
    sums: dict[int, Wrench] = {}
    for b in reversed(range(len(bodies))):
        parts = [(w.N, w.F) for w in wrenches if w.body == b]
        for c, behind in sums.items():
            if bodies[c].parent == b:
                parts.append((behind.N + ir.cross(kinematics.motions[c].arm, behind.F), behind.F))
        if parts:
            N, F = (sum(column[1:], start=column[0]) for column in zip(*parts, strict=True))
            about = f"on the subtree of body {bodies[b].name}"
            N = program.define(
                f"N_{bodies[b].name}_{suffix}",
                N,
                "N.m",
                f"applied moment {about} about the origin of {bodies[b].name}",
            )
            F = program.define(f"F_{bodies[b].name}_{suffix}", F, "N", f"applied force {about}")
            sums[b] = Wrench(b, N, F)
    return sums
