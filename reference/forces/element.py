"""Common interface of all force elements of the reference solver."""

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
    """Return the value of an FMU input at time t, s.

    The argument `since`, s, is the beginning of the current time segment. If the input is a table, its
    linear piece after this time is used, even for times t beyond the piece.
    """
    if isinstance(given, PiecewiseLinear):
        return given.at(t, t if since is None else since)
    return float(given(t)) if callable(given) else float(given)


def input_in(given: Input, state: KinematicState) -> Number:
    """Return the value of an FMU input in a state, or in each of many states, shape (N,)."""
    since = state.segment.begin
    if not state.is_many:
        return input_value(given, state.t, since)
    return np.array([input_value(given, float(t), since) for t in state.t])


@dataclass(frozen=True)
class ForceContribution:
    """Generalised forces of a force element, separated by their cause, each of shape (…, n), N·m or N.

    Attributes
    ----------
    elastic, dissipative, applied : ndarray
        Forces of springs, forces of dampers, and all other forces.
    energy : float or ndarray
        Energy that is stored in the springs, J.
    driven : float or ndarray
        Power that is supplied to the springs by driven changes of their rest lengths, W.
    """

    elastic: Array | float = 0.0
    dissipative: Array | float = 0.0
    applied: Array | float = 0.0
    energy: Number = 0.0
    driven: Number = 0.0


@dataclass(frozen=True)
class ElementContext:
    """Data from which a force element is constructed.

    Attributes
    ----------
    mechanism : Mechanism
        Mechanism that contains the element.
    reader : ExpressionCompiler
        Compiler of the description's expressions.
    first : int
        Index of the first point of this kind of element among all points whose motion is computed. The
        named points of the mechanism precede the points of force elements.
    inputs : mapping of str to input
        Values of the FMU inputs by their symbols; missing inputs are zero.
    """

    mechanism: Mechanism
    reader: ExpressionCompiler
    first: int
    inputs: Mapping[str, Input] = field(default_factory=dict)


@dataclass(frozen=True)
class ForceArrow:
    """Drawing of a force: its shape, its point of application, and the element that exerts it.

    Attributes
    ----------
    table : str
        Key of the element's table in the description, such as `lines` or `base.supports`.
    name : str
        Name of the element in the description.
    kind : str
        Shape: an arrow for `force` or `moment`, a foot on the ground for `support`, a rod from a to b for
        `line`, or a part of the plane through b for `plane`.
    a : Place
        Point of application.
    b : Place or None
        Point of application of the opposite force, if there is one.
    axis : tuple of float or None
        Normal of a plane in the body axes of b, shape (3,).
    """

    table: str
    name: str
    kind: Literal["force", "moment", "support", "line", "plane"]
    a: Place
    b: Place | None = None
    axis: tuple[float, float, float] | None = None


class ForceElements:
    """All force elements of one kind in a mechanism.

    Each kind has a module, in which the variable `of` is the class of this kind. The module can also
    define two functions. The function `places` returns the points whose motion the elements need. The
    function `lengths` returns the lengths that expressions can refer to.

    Attributes
    ----------
    readings : tuple of CompiledExpression
        Compiled expressions of the elements.
    takes_many : bool
        Whether `reaction` accepts many states along a leading axis. If the states differ in a switching
        condition, `reaction` may raise NotVectorisable. The method `reaction` is then called for each state.
    forces_take_many : bool
        Whether the functions that `forces` returns accept many states.
    """

    readings: tuple[CompiledExpression, ...] = ()
    takes_many = False
    forces_take_many = False

    def reaction(self, state: KinematicState) -> ForceContribution:
        """Return the generalised forces and the stored energy of all force elements of this kind."""
        del state
        return ForceContribution()

    def wrenches(self, state: KinematicState) -> Array | float:
        """Return the wrench of the elements on the ground and each body, shape (B, 6).

        A wrench is a force followed by a moment, in world axes. Moments refer to the posture's
        datum, a reference point near the mechanism.
        """
        del state
        return 0.0

    def relations(self) -> list[Relation]:
        """Return the switching conditions that the elements define themselves.

        Conditions inside of the elements' expressions are not included.
        """
        return []

    def forces(self) -> dict[str, Callable[[KinematicState], Number]]:
        """Return a function of the state for each force that expressions can refer to, such as
        `lift.force`, N.
        """
        return {}

    def signals(self, state: KinematicState) -> dict[str, float]:
        """Return the output values of the elements by name."""
        del state
        return {}

    def powers(self, state: KinematicState) -> dict[str, float]:
        """Return the power of each element, W, by a label such as `line rope`.

        The power is negative if the element absorbs energy.
        """
        del state
        return {}

    def stops(self) -> list[float]:
        """Return the times at which a force has a jump or a kink, s."""
        return []

    @property
    def marks(self) -> tuple[ForceArrow, ...]:
        """Drawings of the force elements, one for each force that `acting` returns."""
        return ()

    def acting(self, state: KinematicState) -> Array:
        """Return the force, N, or moment, N·m, that each drawing in `marks` represents, shape (drawings, 3).

        The force or moment acts at the point a of the drawing. The components are in world axes.
        """
        del state
        return np.zeros((0, 3))
