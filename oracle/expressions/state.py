"""State of a mechanism at one instant, and the variables that expressions may use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from ...core.trajectory import Array
from ..bodies.motion import Motion, PointMotion, cross
from .jets import Jet, Scalar
from .sides import Sides


@dataclass
class State:
    """Kinematics, switching conditions and inputs at one instant.

    Parameters
    ----------
    t : float
        Time, s.
    motion : Motion
        Kinematics of the bodies.
    points : PointMotion
        Kinematics of all points that elements and expressions use.
    sides : Sides
        Switching conditions.
    followed : ndarray, shape (k, 3)
        Outputs of the input filters, rad or m, with their first and second time derivatives.
    inputs : mapping
        Values of inputs by name.
    memory : ndarray, shape (s,)
        States of controllers.
    driven : mapping
        Functions that compute the inputs that controllers drive, by name of the input.
    pending : list
        Samples that are due at this instant, and have not been taken yet. Each is a function that changes
        `memory`.
    forces : dict
        Forces of force elements that have already been computed at this instant, by name, N.
    """

    t: float
    motion: Motion
    points: PointMotion
    sides: Sides
    followed: Array
    inputs: Mapping[str, float]
    memory: Array = field(default_factory=lambda: np.zeros(0))
    driven: Mapping[str, Callable[[State], float]] = field(default_factory=dict)
    pending: list[Callable[[State], None]] = field(default_factory=list)
    forces: dict[str, float] = field(default_factory=dict)

    def input(self, name: str, otherwise: float = 0.0) -> float:
        """Return the value of an input.

        If a controller drives the input, its value is the output of this controller. Otherwise, the
        value is the number given for the input, or `otherwise` if no number is given.
        """
        return self.driven[name](self) if name in self.driven else self.inputs.get(name, otherwise)

    def take(self, sample: Callable[[State], None]) -> None:
        """Take a sample of a controller if this sample is due and has not been taken yet.

        Forces are then computed again, because they may depend on the sampled values.
        """
        if sample in self.pending:
            self.pending.remove(sample)
            sample(self)
            self.forces.clear()

    def along(self, k: int, direction: Array) -> Jet:
        """Return the coordinate of point k along a constant direction, m.

        `direction` is a unit vector in world axes, shape (3,).
        """
        p = self.points
        return Jet(
            p.position[k] @ direction,
            p.by_rates[:, k] @ direction,
            p.velocity[k] @ direction,
            p.bias[k] @ direction,
        )

    def distance(self, a: int, b: int) -> Jet:
        """Return the distance between points a and b, m."""
        p = self.points
        way, velocity, bias = (x[b] - x[a] for x in (p.position, p.velocity, p.bias))
        length = float(np.sqrt(way @ way))
        direction = way / length
        rate = float(direction @ velocity)
        across = (velocity @ velocity + way @ bias - rate**2) / length
        return Jet(length, (p.by_rates[:, b] - p.by_rates[:, a]) @ direction, rate, across)


Finder = Callable[[State], Jet]
Extent: TypeAlias = Literal["none", "one", "size"]
_AXES = {"x": 0, "y": 1, "z": 2}


class Names:
    """Variables that expressions may use, with the functions that compute them.

    Attributes
    ----------
    quantities : dict
        Functions that compute a kinematic quantity and its time derivatives from a state. The keys are
        names of quantities, such as `E.x`, but not names of derivatives.
    forces : dict
        Functions that compute element forces from a state, by name, such as `lift.force`.
    """

    def __init__(self) -> None:
        self.quantities: dict[str, Finder] = {}
        self.forces: dict[str, Callable[[State], float]] = {}
        self._rates: dict[str, tuple[str, int]] = {}
        self._extents: dict[str, Extent] = {"t": "none"}

    def add(self, name: str, finder: Finder, rate: str = "", second: str = "", extent: Extent = "size") -> None:
        """Add a kinematic quantity and the names of its time derivatives.

        Parameters
        ----------
        name : str
            Name of the quantity.
        finder : callable
            Function that computes the quantity from a state.
        rate, second : str
            Names of the first and second time derivatives.
        extent : str
            Typical magnitude of the summands of the quantity: `size` (size of the mechanism, m), `one`
            (for direction cosines), or `none` (for a coordinate, which is not a sum).
        """
        self.quantities[name] = finder
        self._extents |= dict.fromkeys((name, rate, second), extent)
        self._rates |= {name: (name, 0), rate: (name, 1), second: (name, 2)}

    def force(self, name: str, state: State) -> float:
        """Return a signal of a force element or controller at one state, such as `lift.force`.

        The state stores the value, so that repeated calls do not compute it again.
        """
        if name not in state.forces:
            state.forces[name] = self.forces[name](state)
        return state.forces[name]

    def extent(self, name: str) -> Extent:
        """Return the magnitude of the terms that add up to a quantity; `none` if the quantity is not a sum."""
        return self._extents[name]

    def level(self, name: str) -> tuple[Finder, int]:
        """Return the function of a kinematic quantity, and the order of the time derivative, for a name.

        The name denotes the quantity itself (order 0), or its first or second time derivative.
        """
        base, level = self._rates[name]
        return self.quantities[base], level


@dataclass
class Numbers:
    """Context for the evaluation of an expression with numerical values of its variables.

    Parameters
    ----------
    state : State
        Kinematics and inputs.
    names : Names
        Known names.
    qdd : ndarray, shape (n,), or None
        Accelerations of the coordinates, required by output expressions that use accelerations.
    """

    state: State
    names: Names
    qdd: Array | None = None

    @property
    def sides(self) -> Sides:
        """Truth values of the switching conditions."""
        return self.state.sides

    def number(self, name: str) -> Scalar:
        if name == "t":
            return self.state.t
        if name in self.names.forces:
            return self._force(name)
        finder, level = self.names.level(name)
        found = finder(self.state)
        if level == 2:
            assert self.qdd is not None
            return found.bias + float(found.slope @ self.qdd)
        return found.rate if level else found.value

    def _force(self, name: str) -> float:
        return self.names.force(name, self.state)


@dataclass
class Derivatives:
    """Context for the evaluation of a constraint's expression with derivatives of its variables.

    The gradient is with respect to coordinates for order 0, rates for order 1 and accelerations for
    order 2.
    """

    state: State
    names: Names
    order: int

    @property
    def sides(self) -> Sides:
        """Truth values of the switching conditions."""
        return self.state.sides

    def number(self, name: str) -> Scalar:
        """Return the value of a variable with its gradient and time derivatives."""
        if name == "t":
            return Jet(self.state.t, 0.0, 1.0, 0.0)
        finder, level = self.names.level(name)
        x = finder(self.state)
        derivatives = (x.value, x.rate, x.bias, 0.0, 0.0)
        slope = x.slope if level == self.order else 0.0
        return Jet(derivatives[level], slope, derivatives[level + 1], derivatives[level + 2])


def add_coordinates(names: Names, coordinates: list[str]) -> None:
    """Register coordinates as variables of expressions, such as `column.angle`.

    The rates and accelerations of the coordinates are registered as well.
    """
    unit = np.eye(len(coordinates))

    def finder(k: int) -> Finder:
        return lambda state: Jet(state.motion.q[k], unit[k], state.motion.qd[k])

    for k, name in enumerate(coordinates):
        names.add(name, finder(k), f"{name}_dot", f"{name}_ddot", "none")


def add_point(names: Names, name: str, k: int) -> None:
    """Register the world coordinates of point k as variables of expressions.

    The velocities and accelerations of the point are registered as well.
    """

    def finder(axis: int) -> Finder:
        def found(state: State) -> Jet:
            p = state.points
            slope = p.by_rates[:, k, axis]
            return Jet(p.position[k, axis], slope, p.velocity[k, axis], p.bias[k, axis])

        return found

    for x, axis in _AXES.items():
        names.add(f"{name}.{x}", finder(axis), f"{name}.v{x}", f"{name}.a{x}")


def add_cosines(names: Names, name: str, body: int, axes: Array) -> None:
    """Register the direction cosines of body-fixed axes, such as `E.R12`, as variables of expressions.

    Parameters
    ----------
    names : Names
        Names to extend.
    name : str
        Name of the point.
    body : int
        Index of the body.
    axes : ndarray, shape (3, 3)
        Axes as columns in the body frame.
    """

    def finder(i: int, j: int) -> Finder:
        def found(state: State) -> Jet:
            m = state.motion
            u = m.R[body] @ axes[:, j]
            spin = cross(m.omega[body], u)
            bias = cross(m.alpha[body], u) + cross(m.omega[body], spin)
            return Jet(u[i], cross(m.turning[:, body], u)[:, i], spin[i], bias[i])

        return found

    for i in range(3):
        for j in range(3):
            cosine = f"{name}.R{i + 1}{j + 1}"
            names.add(cosine, finder(i, j), f"{cosine}_dot", f"{cosine}_ddot", "one")
