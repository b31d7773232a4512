"""What acts on a mechanism: the interface of force elements in the reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from ...core.trajectory import Array
from ...mechanism import Mechanism, Place
from ..kinematics.jet import Number
from ..kinematics.piecewise import PiecewiseLinear
from ..kinematics.quantities import Reader, Reading, Relation, State

Input: TypeAlias = Callable[[float], float] | float | PiecewiseLinear


def input_value(given: Input, t: float, since: float | None = None) -> float:
    """An input at t, s; of a table by the line that holds where the present time segment began, at `since`."""
    if isinstance(given, PiecewiseLinear):
        return given.at(t, t if since is None else since)
    return float(given(t)) if callable(given) else float(given)


def input_in(given: Input, state: State) -> Number:
    """An input in a state, or in each of many, shape (N,)."""
    since = state.segment.begin
    if not state.is_many:
        return input_value(given, state.t, since)
    return np.array([input_value(given, float(t), since) for t in state.t])


@dataclass(frozen=True)
class Reaction:
    """Generalised forces by origin, each of shape (…, n), N·m or N, and the energy in springs, J.

    driven  W, that springs take from what moves their lengths at rest
    """

    elastic: Array | float = 0.0
    dissipative: Array | float = 0.0
    applied: Array | float = 0.0
    energy: Number = 0.0
    driven: Number = 0.0


@dataclass(frozen=True)
class Given:
    """What an element is made from.

    first   index among the state's places of the first one that its module's `places` asks for; the named points
            come first of all, in the mechanism's order
    inputs  values of the FMU inputs by their symbols; those without one are zero
    """

    mechanism: Mechanism
    reader: Reader
    first: int
    inputs: Mapping[str, Input] = field(default_factory=dict)


@dataclass(frozen=True)
class Mark:
    """What a force looks like in a picture: an arrow where it acts, and what it comes from.

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


class ForceElement:
    """One kind of force, of all parts of a mechanism that have it.

    A module has `of`, what makes it of what is given; where it asks for the motion of places, `places`; and where
    expressions may name lengths of it, `lengths`.

    readings     of expressions
    takes_many   whether `reaction` takes many states along a leading axis, too; otherwise it is asked for each. It
                 may raise Apart where they differ in what holds, and is then asked for each
    """

    readings: tuple[Reading, ...] = ()
    takes_many = False

    def reaction(self, state: State) -> Reaction:
        """Its generalised forces and energy."""
        del state
        return Reaction()

    def wrenches(self, state: State) -> Array | float:
        """What joints bear of it, on each slot, shape (B, 6): force, then moment about the origin of positions."""
        del state
        return 0.0

    def relations(self) -> list[Relation]:
        """What of it changes at events, beside its expressions."""
        return []

    def forces(self) -> dict[str, Callable[[State], float]]:
        """Forces that expressions may name, `lift.force`, in a state, N."""
        return {}

    def signals(self, state: State) -> dict[str, float]:
        """Its outputs by their names."""
        del state
        return {}

    def powers(self, state: State) -> dict[str, float]:
        """What each part gives to the mechanism, W, negative where it takes; by what it is, `line rope`."""
        del state
        return {}

    def stops(self) -> list[float]:
        """Times at which it jumps or has a kink, s."""
        return []

    @property
    def marks(self) -> tuple[Mark, ...]:
        """How pictures show it: one mark for each force that `acting` gives."""
        return ()

    def acting(self, state: State) -> Array:
        """Force at each mark's place a, shape (marks, 3), world axes, N; of a moment N·m."""
        del state
        return np.zeros((0, 3))
