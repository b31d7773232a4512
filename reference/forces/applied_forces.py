"""Applied forces on points and efforts on joints, from expressions of the description or FMU inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from ...core.errors import SolveError
from ...core.trajectory import Array
from ...language.ir import Expr
from ...mechanism import AppliedForce, Mechanism, Place
from ..kinematics.expression import stops
from ..kinematics.jet import Number
from ..kinematics.piecewise import PiecewiseLinear
from ..kinematics.quantities import CompiledExpression, ExpressionCompiler, KinematicState
from .arrows import effort_direction, effort_mark
from .element import ElementContext, ForceArrow, ForceContribution, ForceElements, Input, input_in


class Component(Protocol):
    """Component of an applied force or effort, as a function of the state."""

    def number(self, state: KinematicState) -> Number:
        """Return the value of the force component, N or N·m."""
        ...


class AppliedForces(ForceElements):
    """All applied forces and efforts of a mechanism."""

    takes_many = True

    def __init__(self, given: ElementContext) -> None:
        mechanism, inputs, column = given.mechanism, given.inputs, given.first
        _check_inputs(mechanism, inputs)
        self._inputs = [value for value in inputs.values() if isinstance(value, PiecewiseLinear)]
        self._mechanism, self._slots = mechanism, len(mechanism.bodies) + 1
        self._forces: list[tuple[AppliedForce, tuple[Component, ...], int]] = []
        for force in mechanism.forces:
            self._forces.append((force, self._components(force, given.reader, inputs), column))
            column += force.place is not None

    def _components(
        self, force: AppliedForce, reader: ExpressionCompiler, inputs: Mapping[str, Input]
    ) -> tuple[Component, ...]:
        return tuple(
            _Given(inputs.get(symbol, 0.0)) if tree is None else self._reading(reader, force.name, tree)
            for symbol, tree in zip(force.symbols, force.values, strict=True)
        )

    def _reading(self, reader: ExpressionCompiler, name: str, tree: Expr) -> CompiledExpression:
        reading = reader.reading(f"force {name}", tree)
        self.readings = (*self.readings, reading)
        return reading

    def stops(self) -> list[float]:
        """Return the times at which an input or an expression of time has a jump or a kink, s."""
        times = [time for table in self._inputs for time in table.stops()]
        return times + [time for reading in self.readings for time in stops(reading.node)]

    def reaction(self, state: KinematicState) -> ForceContribution:
        effort = np.zeros_like(state.q)
        for force, components, column in self._forces:
            values = _values(force, components, state)
            if force.coordinate is not None:
                effort[..., force.coordinate] += values[..., 0]
            else:
                effort += (state.places.jacobian[..., column] @ values[..., None])[..., 0]
        return ForceContribution(applied=effort)

    def powers(self, state: KinematicState) -> dict[str, float]:
        """Return the power of each applied force and of each applied joint effort, W.

        The power of a joint effort is the effort times the rate of the coordinate.
        """
        found = {}
        for force, components, column in self._forces:
            values = _values(force, components, state)
            at = state.places.velocity[:, column] if force.coordinate is None else state.qd[[force.coordinate]]
            found[f"force {force.name}"] = float(values @ at)
        return found

    @property
    def marks(self) -> tuple[ForceArrow, ...]:
        """Arrows of all applied forces; an effort is drawn at the joint on which it acts."""
        return tuple(self._mark(force) for force, *_ in self._forces)

    def acting(self, state: KinematicState) -> Array:
        """Return the vector of each applied force in world axes, shape (arrows, 3), N or N·m.

        The vector of an effort has the direction of the coordinate's axis. The vector is a moment if the
        coordinate is an angle.
        """
        return np.array(
            [_values(force, components, state) * _direction(force, state) for force, components, _ in self._forces]
        ).reshape(-1, 3)

    def _mark(self, force: AppliedForce) -> ForceArrow:
        if force.place is not None:
            return ForceArrow("forces", force.name, "force", force.place)
        assert force.coordinate is not None
        return effort_mark(self._mechanism, "forces", force.name, force.coordinate)

    def wrenches(self, state: KinematicState) -> Array:
        """Return the wrench of the point forces on the ground and each body, shape (B, 6)."""
        total = np.zeros((self._slots, 6))
        for force, components, column in self._forces:
            if force.place is not None:
                values = _values(force, components, state)
                moment = np.cross(state.places.position[:, column], values)
                total[force.place.body + 1] += np.concatenate([values, moment])
        return total


def _values(force: AppliedForce, components: Sequence[Component], state: KinematicState) -> Array:
    """Return the value of an effort, shape (…, 1), or of a force in world axes, shape (…, 3)."""
    return _in_world(force, np.array([component.number(state) for component in components]).T, state)


def _in_world(force: AppliedForce, values: Array, state: KinematicState) -> Array:
    if force.place is None or force.in_world:
        return values
    R = state.posture.T[..., :3, force.place.body + 1, :3]
    return np.asarray((values[..., None, :] @ R.swapaxes(-2, -1))[..., 0, :])


def _direction(force: AppliedForce, state: KinematicState) -> Array:
    """Return the factors that convert the values of an applied force to world axes, shape (3,).

    An effort has a single value, and the factors are the components of the coordinate's axis. All
    factors of a force are 1, because a force is given by components in world axes.
    """
    if force.coordinate is None:
        return np.ones(3)
    return effort_direction(state, force.coordinate)


def _check_inputs(mechanism: Mechanism, inputs: Mapping[str, Input]) -> None:
    known = mechanism.inputs
    unknown = [symbol for symbol in inputs if symbol not in known]
    if unknown:
        raise SolveError(f"no input is called {', '.join(unknown)}; known are: {', '.join(known) or 'none'}")


class _Given:
    """Component of an applied force or effort; an FMU input determines the value of the component."""

    def __init__(self, value: Input) -> None:
        self._value = value

    def number(self, state: KinematicState) -> Number:
        return input_in(self._value, state)


def places(mechanism: Mechanism) -> list[Place]:
    """Return the points of application of all applied forces; an effort on a joint has no such point."""
    return [force.place for force in mechanism.forces if force.place is not None]


of = AppliedForces
