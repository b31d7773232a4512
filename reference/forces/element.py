"""Interface of the reference's force elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from ...core.trajectory import Array
from ...mechanism import Mechanism, Place
from ..kinematics.jet import Number
from ..kinematics.piecewise import PiecewiseLinear
from ..kinematics.quantities import CompiledExpression, ExpressionCompiler, KinematicState, Relation

Input: TypeAlias = Callable[[float], float] | float | PiecewiseLinear


def input_value(given: Input, t: float, since: float | None = None) -> float:
    """An input at t, s; of a table by the line that holds where the present time segment began, at `since`."""
    if isinstance(given, PiecewiseLinear):
        return given.at(t, t if since is None else since)
    return float(given(t)) if callable(given) else float(given)


def input_in(given: Input, state: KinematicState) -> Number:
    """An input in a state, or in each of many, shape (N,)."""
    since = state.segment.begin
    if not state.is_many:
        return input_value(given, state.t, since)
    return np.array([input_value(given, float(t), since) for t in state.t])


@dataclass(frozen=True)
class ForceContribution:
    """Generalised forces by origin, each of shape (…, n), N·m or N, and the energy in springs, J.

    driven  W, that springs take from what moves their lengths at rest
    """

    elastic: Array | float = 0.0
    dissipative: Array | float = 0.0
    applied: Array | float = 0.0
    energy: Number = 0.0
    driven: Number = 0.0


@dataclass(frozen=True)
class ElementContext:
    """Data from which a force element is constructed.

    first   index among the state's places of the first one that its module's `places` asks for; the named points
            come first of all, in the mechanism's order
    inputs  values of the FMU inputs by their symbols; those without one are zero
    """

    mechanism: Mechanism
    reader: ExpressionCompiler
    first: int
    inputs: Mapping[str, Input] = field(default_factory=dict)


@dataclass(frozen=True)
class ForceArrow:
    """Picture of a force: an arrow at its point of application, and the element that exerts it.

    table   key of its table in the description, such as `lines` or `base.supports`
    name    of its part of the description
    kind    force | moment: nothing but the arrow; support: a foot on the ground; line: a rod from a to b;
            plane: a part of the plane through b across `axis`
    a       where it acts
    b       its other end, on which the opposite acts; None where there is none
    axis    shape (3,), normal of a plane, in the axes of b's body
    """

    table: str
    name: str
    kind: Literal["force", "moment", "support", "line", "plane"]
    a: Place
    b: Place | None = None
    axis: tuple[float, float, float] | None = None


class ForceElements:
    """One kind of force, of all parts of a mechanism that have it.

    A module has `of`, what makes it of what is given; where it asks for the motion of places, `places`; and where
    expressions may name lengths of it, `lengths`.

    readings     of expressions
    takes_many   whether `reaction` takes many states along a leading axis, too; otherwise it is asked for each. It
                 may raise Apart where they differ in what holds, and is then asked for each
    """

    readings: tuple[CompiledExpression, ...] = ()
    takes_many = False

    def reaction(self, state: KinematicState) -> ForceContribution:
        """Return the element's generalised forces and potential energy."""
        del state
        return ForceContribution()

    def wrenches(self, state: KinematicState) -> Array | float:
        """Return the wrench on each slot, shape (B, 6): force, then moment about the positions' origin."""
        del state
        return 0.0

    def relations(self) -> list[Relation]:
        """Return the switching conditions of the element, apart from those of its expressions."""
        return []

    def forces(self) -> dict[str, Callable[[KinematicState], float]]:
        """Forces that expressions may name, `lift.force`, in a state, N."""
        return {}

    def signals(self, state: KinematicState) -> dict[str, float]:
        """Return the element's outputs by name."""
        del state
        return {}

    def powers(self, state: KinematicState) -> dict[str, float]:
        """Return the power of each part, W, by a label such as `line rope`; negative if absorbed."""
        del state
        return {}

    def stops(self) -> list[float]:
        """Times at which it jumps or has a kink, s."""
        return []

    @property
    def marks(self) -> tuple[ForceArrow, ...]:
        """Return the pictures of the element, one for each force of `acting`."""
        return ()

    def acting(self, state: KinematicState) -> Array:
        """Force at each mark's place a, shape (marks, 3), world axes, N; of a moment N·m."""
        del state
        return np.zeros((0, 3))
