"""Quantities that expressions can refer to, with their derivatives along a motion.

The quantities x are coordinates of named points, direction cosines of frames at named
points, generalised coordinates, and lengths of force elements. With the Jacobian J = ∂x/∂q, the time
derivatives are ẋ = J q̇ and ẍ = J q̈ + bias.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...core.trajectory import Array
from ...language.ir import Expr
from ...mechanism import Mechanism, Place
from .curve import Curve
from .expression import Instant, Node, Related, compile_tree, ends, evaluate, named_errors, names, related
from .jet import Jet, Number, Value, constant, plain, variables
from .kinematics import Places, Posture, VectorMotion, Vectors
from .lengths import Length
from .magnitude import magnitude
from .segment import NotVectorisable, Segment

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class KinematicState:
    """State of the mechanism with its kinematics, or many states of one time segment.

    Many states lie along a leading axis, written as … in shapes.

    Attributes
    ----------
    t : float or ndarray, shape (N,)
        Time, s.
    segment : Segment
        Current time segment with the truth values of all switching conditions.
    q, qd : ndarray, shape (…, n)
        Coordinates and velocities.
    posture : Posture
        Transforms of the bodies.
    places : VectorMotion
        Motion of the named points, the supports and the points of application of forces, in this order.
        Positions are relative to the posture's datum, a reference point near the mechanism.
    x, x_dot, bias : ndarray, shape (…, m)
        Kinematic quantities that expressions can refer to, their time derivatives, and their second
        time derivatives for q̈ = 0.
    jacobian : ndarray, shape (…, m, n)
        Partial derivatives of the quantities with respect to the coordinates.
    lag : ndarray, shape (…, s)
        Internal state variables of filters and elements, see `InternalStates`.
    followed : ndarray, shape (…, k, 3)
        Output of each input filter with its first and second time derivatives.
    """

    t: Any  # Time, s, is a float for one state, or an array of shape (N,) for N states.
    segment: Segment
    q: Array
    qd: Array
    posture: Posture
    places: VectorMotion
    x: Array
    x_dot: Array
    bias: Array
    jacobian: Array
    lag: Array = field(default_factory=lambda: np.zeros(0))
    followed: Array = field(default_factory=lambda: np.zeros((0, 3)))

    @property
    def is_many(self) -> bool:
        """Whether the object contains many states instead of one."""
        return self.q.ndim > 1

    def each(self) -> list[KinematicState]:
        """Return the states in this object as a list of single states."""
        return [self[k] for k in range(len(self.q))]

    def __getitem__(self, k: int) -> KinematicState:
        """Return the k-th of many states."""
        lag, followed = (x[k] if x.ndim > own else x for x, own in ((self.lag, 1), (self.followed, 2)))
        return replace(
            self,
            t=float(self.t[k]),
            q=self.q[k],
            qd=self.qd[k],
            posture=self.posture[k],
            places=self.places[k],
            x=self.x[k],
            x_dot=self.x_dot[k],
            bias=self.bias[k],
            jacobian=self.jacobian[k],
            lag=lag,
            followed=followed,
        )


@dataclass(frozen=True)
class Relation:
    """Switching condition that keeps its truth value between two events.

    Attributes
    ----------
    key : hashable
        Key of the condition in the time segment.
    label : str
        Description of the element that the condition belongs to, for messages.
    margin : callable
        Event indicator of one state or, with shape (N,), of many: positive if the condition is true,
        negative if it is false, and nan if it has no value.
    words : tuple of str
        Descriptions of the events at which the condition becomes true and false.
    closed : bool
        Whether the condition is true if the margin is zero at the initial state or after an event.
    """

    key: Hashable
    label: str
    margin: Callable[[KinematicState], Number]
    words: tuple[str, str] = ("meets its condition", "leaves its condition")
    closed: bool = False


Forces: TypeAlias = dict[str, Callable[[KinematicState], Number]]


class Quantities:
    """Index of each name that expressions can use, in the vectors x, ẋ and ẍ of kinematic quantities.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism whose points, frames and coordinates have names.
    places : sequence of Place
        All points whose motion is computed, the named points first.
    lengths : sequence of Length
        Lengths of force elements, which expressions can also refer to.
    """

    def __init__(self, mechanism: Mechanism, places: Sequence[Place], lengths: Sequence[Length]) -> None:
        self.n, self.points = mechanism.n, len(mechanism.points)
        cosines = [f"{name}.R{i}{j}" for i in "123" for name in mechanism.frames for j in "123"]
        named = cosines + [c.name for c in mechanism.coordinates]

        def indices(letter: str, suffix: str, level: str) -> dict[str, int]:
            points = [f"{name}.{letter}{axis}" for axis in "xyz" for name in mechanism.points]
            others = (getattr(length, level) for length in lengths)
            names = [*points, *(f"{name}{suffix}" for name in named), *others]
            return {name: k for k, name in enumerate(names)}

        self.position, self.velocity, self.acceleration = (
            indices(*level) for level in (("", "", "name"), ("v", "_dot", "rate"), ("a", "_ddot", "second_rate"))
        )
        self.lengths, self._measured = lengths, slice(3 * self.points + len(named), None)
        self._jacobian = np.zeros((len(self.position), self.n))
        self._own = slice(self._measured.start - self.n, self._measured.start)
        self._jacobian[self._own] = np.eye(self.n)
        slots = len(mechanism.bodies) + 1
        self._places = Places(places, slots)
        self._axes = _axes(mechanism, slots) if mechanism.frames else None
        self._turned = slice(3 * self.points, 3 * self.points + len(cosines))

    def state(
        self, t: float, segment: Segment, q: Array, qd: Array, posture: Posture, places: VectorMotion
    ) -> KinematicState:
        """Return the kinematic state with the values of all quantities that expressions can refer to."""
        many, points = q.shape[:-1], slice(0, 3 * self.points)
        x, x_dot, bias = np.zeros((3, *many, len(self.position)))
        jacobian = np.zeros((*many, *self._jacobian.shape))
        jacobian[:] = self._jacobian
        own = (part[..., : self.points] for part in (places.position, places.velocity, places.bias))
        for of_points, values in zip(own, (x, x_dot, bias), strict=True):
            values[..., points] = of_points.reshape(*many, -1)
        x[..., points] += np.repeat(posture.datum, self.points, axis=-1)
        jacobian[..., points, :] = _by_coordinates(places.jacobian[..., : self.points])
        if self._axes is not None:
            axes = self._axes.motion(posture)
            jacobian[..., self._turned, :] = _by_coordinates(axes.jacobian)
            for values, turned in zip((x, x_dot, bias), (axes.position, axes.velocity, axes.bias), strict=True):
                values[..., self._turned] = turned.reshape(*many, -1)
        x[..., self._own], x_dot[..., self._own] = q, qd
        for k, length in enumerate(self.lengths, start=self._measured.start):
            found = length.motion(q, qd, posture, places)
            x[..., k], x_dot[..., k], bias[..., k] = found.value, found.rate, found.bias
            jacobian[..., k, :] = found.jacobian
        return KinematicState(t, segment, q, qd, posture, places, x, x_dot, bias, jacobian)

    def jacobian_sizes(self, state: KinematicState) -> Array:
        """Return bounds of the summands in each element of the Jacobian ∂x/∂q of all quantities x, shape (m, n).

        Rounding errors are estimated as fractions of these bounds.
        """
        sizes = np.abs(state.jacobian)
        of_places = self._places.sizes(state.posture)[1]
        sizes[: 3 * self.points] = np.tile(of_places[:, : self.points].T, (3, 1))
        if self._axes is not None:
            sizes[self._turned] = np.tile(self._axes.sizes(state.posture)[1].T, (3, 1))
        for k, length in enumerate(self.lengths, start=self._measured.start):
            sizes[k] = length.sizes(of_places)
        return sizes

    def named(self, state: KinematicState) -> dict[str, float]:
        """Return all positions and velocities by their names in expressions, in SI units."""
        values = ((self.position, state.x), (self.velocity, state.x_dot))
        return {name: float(of[k]) for indices, of in values for name, k in indices.items()}

    def point(self, name: str) -> Indices:
        """Return the indices of a named point's coordinates x, y, z among the kinematic quantities."""
        return np.array([self.position[f"{name}.{axis}"] for axis in "xyz"], dtype=np.intp)

    def axes(self, name: str) -> Indices:
        """Return the indices of a frame's direction cosines among the kinematic quantities, shape (3, 3).

        Column j of the result belongs to axis j.
        """
        return np.array([[self.position[f"{name}.R{i}{j}"] for j in "123"] for i in "123"], dtype=np.intp)


def _by_coordinates(jacobian: Array) -> Array:
    """Return the Jacobian of P stacked vectors, shape (…, 3P, n).

    The argument contains the Jacobian of P single vectors, shape (…, n, 3, P).
    """
    flat = jacobian.reshape(*jacobian.shape[:-2], -1)
    return flat.swapaxes(-2, -1)


def _axes(mechanism: Mechanism, slots: int) -> Vectors:
    homogeneous = np.zeros((slots, 4, 3 * len(mechanism.frames)))
    for k, frame in enumerate(mechanism.frames.values()):
        homogeneous[frame.place.body + 1, :3, 3 * k : 3 * k + 3] = frame.rotation
    return Vectors(homogeneous)


class CompiledExpression:
    """Compiled expression with the indices of all names that it uses.

    Accelerations in the expression are evaluated for q̈ = 0.

    Attributes
    ----------
    positions, velocities, accelerations : ndarray of int
        Indices of the used names in the vectors of quantities x, ẋ and ẍ.
    forces : list of str
        Names of the used forces and inputs.
    """

    def __init__(self, label: str, node: Node, quantities: Quantities, forces: Forces) -> None:
        self.label, self.node, self._forces = label, node, forces
        used = list(dict.fromkeys(name for name in names(node) if name != "t"))
        kinematic = quantities.position.keys() | quantities.velocity.keys() | quantities.acceleration.keys()
        self.forces = [name for name in used if name not in kinematic]
        moving = [name for name in used if name in quantities.position]
        rates = [name for name in used if name in quantities.velocity]
        second_rates = [name for name in used if name in quantities.acceleration]
        self.names = ["t", *moving, *rates, *second_rates, *self.forces]
        self.positions = np.array([quantities.position[name] for name in moving], dtype=int)
        self.velocities = np.array([quantities.velocity[name] for name in rates], dtype=int)
        self.accelerations = np.array([quantities.acceleration[name] for name in second_rates], dtype=int)

    def number(self, state: KinematicState) -> Number:
        """Return the value of the expression, shape (…)."""
        return self._numbers(state, lambda one: plain(self._value(one, self._values(one))))

    def _numbers(self, state: KinematicState, of: Callable[[KinematicState], Number]) -> Number:
        if not state.is_many:
            return of(state)
        try:
            with np.errstate(divide="raise", over="raise", invalid="raise"):
                return np.broadcast_to(of(state), state.t.shape)
        except (NotVectorisable, FloatingPointError):
            return np.array([of(one) for one in state.each()])

    def jet(self, state: KinematicState) -> Jet:
        """Return the expression's value with its gradient and its derivatives along the motion.

        The gradient, shape (…, k), refers to t, positions, velocities, accelerations and forces, in this
        order. Derivatives along the motion assume q̈ = 0 and constant forces. The second derivative along
        the motion is correct only for expressions of t and positions.
        """
        if not state.is_many:
            return constant(self._value(state, self._variables(state)), len(self.names))
        moving = self._variables(state)
        try:
            with np.errstate(divide="raise", over="raise", invalid="raise"):
                found = constant(self._value(state, moving), len(self.names))
            gradient = found.gradient.reshape(len(self.names), -1).T
        except (NotVectorisable, FloatingPointError):
            jets = [self.jet(one) for one in state.each()]
            found = Jet(*(np.array([getattr(jet, part) for jet in jets]) for part in Jet.__slots__))
            gradient = found.gradient
        value, rate, second = (np.broadcast_to(x, state.t.shape) for x in (found.value, found.rate, found.second))
        return Jet(value, np.broadcast_to(gradient, (len(state.t), len(self.names))), rate, second)

    def ends(self, state: KinematicState) -> list[tuple[float, str]]:
        """Return the functions in an expression that are evaluated close to an end of their domain.

        A singularity of the derivative also counts as an end. Each item contains two values. The first value
        is the distance of the function's argument from the end, in the unit of the argument. The second value
        is a text with the names of the function and the expression.
        """
        at = self._instant(state)
        return [(distance, f"{function} in {self.label}") for distance, function in ends(self.node, at)]

    def sizes(self, state: KinematicState) -> tuple[float, Array]:
        """Return two magnitudes for estimates of rounding errors: one for the value, one for the gradient.

        A magnitude is the size of the summed terms before cancellation. The magnitude for the value is a
        number. The magnitude for the gradient has one element per derivative, shape (k,), in the order of
        the gradient that `jet` returns.
        """
        at = self._instant(state)
        found = named_errors(self.label, at, lambda: magnitude(self.node, at, self.names))
        return found.size, found.gradient_size

    def relations(self) -> list[Relation]:
        """Return the switching conditions of the expression."""
        return [
            Relation(node, self.label, self._margin_of(node), closed=node.closed)
            for node in dict.fromkeys(related(self.node))
        ]

    def _margin_of(self, node: Related) -> Callable[[KinematicState], Number]:
        return lambda state: self._numbers(state, lambda one: node.margin(self._instant(one)))

    def atoms(self, state: KinematicState) -> dict[str, Number]:
        """Return the values of all names that the expression uses, including `t`, in a state."""
        return dict(zip(self.names, self._values(state), strict=True))

    def _instant(self, state: KinematicState) -> Instant:
        return Instant(self.atoms(state), state.segment)

    def _values(self, state: KinematicState) -> list[Number]:
        return [
            state.t,
            *_listed(state.x, self.positions),
            *_listed(state.x_dot, self.velocities),
            *_listed(state.bias, self.accelerations),
            *(self._forces[name](state) for name in self.forces),
        ]

    def _variables(self, state: KinematicState) -> list[Jet]:
        rates = [1.0, *_listed(state.x_dot, self.positions), *_listed(state.bias, self.velocities)]
        seconds = [0.0, *_listed(state.bias, self.positions)]
        missing = [[0.0] * (len(self.names) - len(known)) for known in (rates, seconds)]
        return variables(self._values(state), rates + missing[0], seconds + missing[1])

    def _value(self, state: KinematicState, values: Sequence[Value]) -> Value:
        atoms: Mapping[str, Value] = dict(zip(self.names, values, strict=True))
        return evaluate(self.node, Instant(atoms, state.segment), self.label)


def _listed(values: Array, own: Indices) -> list[Number]:
    """Return selected columns of an array of shape (…, m) as a list.

    For a single state, the items are Python numbers, which are faster than NumPy scalars.
    """
    return values[own].tolist() if values.ndim == 1 else list(values[..., own].T)


def one_by_one(of: Callable[[KinematicState], Number], state: KinematicState) -> Number:
    """Evaluate a function that accepts a single state; for many states, evaluate each state separately."""
    return np.array([of(one) for one in state.each()]) if state.is_many else of(state)


def by_chain(gradient: Array, jacobian: Array) -> Array:
    """Return the derivatives of a function with respect to q by the chain rule, shape (…, n).

    The function depends on k quantities x. The gradient of the function has shape (…, k), and the
    Jacobian ∂x/∂q has shape (…, k, n).
    """
    return np.asarray((gradient[..., None, :] @ jacobian)[..., 0, :])


class ExpressionCompiler:
    """Compiler of the mechanism's expressions.

    Attributes
    ----------
    start : KinematicState or None
        Initial state that `start(x)` refers to. With None, the currently evaluated state is used.
    forces : dict
        Function of one or many states for each force or input that expressions can use, by name. The force
        model fills in this dictionary while it creates the force elements.
    """

    def __init__(self, mechanism: Mechanism, quantities: Quantities, start: KinematicState | None) -> None:
        self._constants, self.quantities, self.start = mechanism.constants, quantities, start
        self.forces: Forces = {}
        self.mechanism = mechanism
        self._tables = {name: Curve(table) for name, table in mechanism.chain.tables.items()}

    def reading(self, label: str, tree: Expr, *, eventful: bool = True) -> CompiledExpression:
        """Return the compiled expression of a parsed tree.

        Parameters
        ----------
        label : str
            Name of the expression in error messages.
        tree : Expr
            Parsed expression.
        eventful : bool
            Whether the conditions and kinks of the expression are events.
        """
        node = compile_tree(tree, self._constants, self._start_value(label), self._tables, eventful)
        return CompiledExpression(label, node, self.quantities, self.forces)

    def _start_value(self, label: str) -> Callable[[Node], float] | None:
        start = self.start
        return (
            None
            if start is None
            else lambda node: CompiledExpression(label, node, self.quantities, self.forces).number(start)
        )
