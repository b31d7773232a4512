"""Numerical evaluation of force elements whose force law consists of expressions.

The package `laws` contains these force laws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...core.trajectory import Array, coincide
from ...mechanism import LawElement
from ..kinematics.expression import stops
from ..kinematics.jet import Number
from ..kinematics.quantities import CompiledExpression, KinematicState, by_chain
from .arrows import effort_direction, effort_mark
from .element import ElementContext, ForceArrow, ForceContribution, ForceElements, input_in
from .internal_states import indices


@dataclass(frozen=True)
class _Part:
    """Force element with its compiled expressions.

    Each effort is paired with the index of its coordinate, and each point force with the index of its
    point.
    """

    element: LawElement
    observed: dict[str, CompiledExpression]
    efforts: tuple[tuple[int, CompiledExpression], ...]
    forces: tuple[tuple[int, tuple[CompiledExpression, ...]], ...]
    energy: CompiledExpression | None
    rates: dict[str, CompiledExpression]

    @property
    def is_sampled(self) -> bool:
        """Whether the force element is sampled: all quantities that it computes change at sample times only."""
        return self.element.period is not None

    def is_due(self, t: float) -> bool:
        """Whether the time t, s, is a sample time of this element."""
        period = self.element.period
        return period is not None and coincide(round(t / period) * period, t)

    def readings(self) -> Iterator[CompiledExpression]:
        """Yield the compiled expressions of a force element that are evaluated throughout a run.

        The expression of the energy is not included. A sampled element yields no expressions.
        """
        if self.is_sampled:
            return
        yield from self.observed.values()
        yield from (effort for _, effort in self.efforts)
        yield from (component for _, force in self.forces for component in force)
        yield from self.rates.values()


class LawForces(ForceElements):
    """All force elements whose force law consists of expressions."""

    takes_many = forces_take_many = True

    def __init__(self, given: ElementContext) -> None:
        self._mechanism, self._reader = given.mechanism, given.reader
        self._points = list(given.mechanism.points)
        for element in given.mechanism.elements:
            for entry in element.inputs:
                value = given.inputs.get(entry.name, 0.0)
                given.reader.forces[entry.own] = partial(input_in, value)
            for command in element.sampled:
                reading = given.reader.reading(element.name, command.expression, eventful=False)
                given.reader.forces[command.own] = reading.number
        self._indices = indices(given.mechanism)
        for name, index in self._indices.items():
            given.reader.forces[name] = partial(_internal, index)
        self._parts = [self._part(element) for element in given.mechanism.elements]
        self.readings = tuple(reading for part in self._parts for reading in part.readings())

    def _part(self, element: LawElement) -> _Part:
        label, eventful = f"{element.kind} {element.name}", element.period is None
        read = partial(self._reader.reading, label, eventful=eventful)
        return _Part(
            element,
            {f"{element.name}.{quantity}": read(tree) for quantity, tree in element.observed.items()},
            tuple((self._mechanism.coordinate_index(name), read(effort)) for name, effort in element.efforts),
            tuple((self._points.index(name), tuple(map(read, force))) for name, force in element.forces),
            None if element.energy is None else self._reader.reading(label, element.energy, eventful=False),
            {f"{element.name}.{key}": read(state.rate) for key, state in element.states.items()},
        )

    def forces(self) -> dict[str, Callable[[KinematicState], Number]]:
        """Return a function of the state for each quantity that expressions can refer to, such as `motor.force`.

        Quantities of sampled elements are internal states, and are not in the result.
        """
        acting = (part for part in self._parts if not part.is_sampled)
        return {name: reading.number for part in acting for name, reading in part.observed.items()}

    def signals(self, state: KinematicState) -> dict[str, float]:
        """Return the output values of the force elements by the names of the outputs."""
        known = self._reader.forces
        names = (name for part in self._parts for name in part.observed)
        return {name.replace(".", "_"): float(known[name](state)) for name in names}

    def rates(self, state: KinematicState) -> Array:
        """Return the time derivatives of the elements' internal state variables, shape (…, states).

        The derivatives are zero for a sampled element.
        """
        found = np.zeros((*state.q.shape[:-1], len(self._indices)))
        first = min(self._indices.values(), default=0)
        for part in self._parts:
            for name, reading in () if part.is_sampled else part.rates.items():
                found[..., self._indices[name] - first] = reading.number(state)
        return found

    def sample_times(self, end: float) -> list[float]:
        """Return all sample times of the sampled elements from 0 to `end`, s.

        A sample time that exceeds `end` only by a rounding error is included.
        """
        periods = {float(part.element.period) for part in self._parts if part.element.period is not None}
        times = [k * period for period in periods for k in range(int(end / period) + 2)]
        return [time for time in times if time <= end or coincide(time, end)]

    def held(self, state: KinematicState) -> Array:
        """Return the internal state variables after all samples that are due at this time.

        A sampled element, such as a discrete-time controller, computes its quantities at sample
        times only. These quantities are internal state variables. An element may use quantities of
        other elements that are sampled at the same time. The call must therefore be repeated until
        no quantity changes.
        """
        lag = state.lag.copy()
        for name, reading in (pair for part in self._due(state.t) for pair in part.observed.items()):
            lag[self._indices[name]] = reading.number(replace(state, lag=lag))
        return lag

    def advanced(self, state: KinematicState) -> Array:
        """Return the internal state variables after the update of all elements that are sampled at this time.

        Before this call, `held` must have computed the quantities of these elements.
        """
        after = state.lag.copy()
        for part in self._due(state.t):
            for name, reading in part.rates.items():
                after[self._indices[name]] += part.element.period * reading.number(state)
        return after

    def _due(self, t: float) -> list[_Part]:
        return [part for part in self._parts if part.is_due(t)]

    def stops(self) -> list[float]:
        """Return the times at which the expressions of the force elements have a jump or a kink, s."""
        return [time for reading in self.readings for time in stops(reading.node)]

    def reaction(self, state: KinematicState) -> ForceContribution:
        """Return the generalised forces of all elements.

        The elastic part is the negative gradient of the stored energy. All other forces are the applied
        part.
        """
        total, elastic, energy = np.zeros_like(state.q), np.zeros_like(state.q), np.zeros(state.q.shape[:-1])
        for part in self._parts:
            for k, effort in part.efforts:
                total[..., k] += effort.number(state)
            for column, force in part.forces:
                values = _vector(force, state)
                total += (state.places.jacobian[..., column] @ values[..., None])[..., 0]
            if part.energy is not None:
                energy += part.energy.number(state)
                elastic -= _gradient(part.energy, state)
        return ForceContribution(elastic=elastic, applied=total - elastic, energy=energy)

    def powers(self, state: KinematicState) -> dict[str, float]:
        """Return the power of each force element that exerts a force, W."""
        acting = (part for part in self._parts if part.element.exerts_force)
        return {f"{part.element.kind} {part.element.name}": _power(part, state) for part in acting}

    @property
    def marks(self) -> tuple[ForceArrow, ...]:
        """Arrows at the points and joints where the force elements act."""
        return tuple(mark for part in self._parts for mark in self._marks(part))

    def _marks(self, part: _Part) -> Iterator[ForceArrow]:
        table, name, places = part.element.key, part.element.name, [*self._mechanism.points.values()]
        yield from (effort_mark(self._mechanism, table, name, k) for k, _ in part.efforts)
        yield from (ForceArrow(table, name, "force", places[column]) for column, _ in part.forces)

    def acting(self, state: KinematicState) -> Array:
        """Return the vector of each arrow in world axes, shape (arrows, 3): force in N or moment in N·m."""
        found = [
            vector
            for part in self._parts
            for vector in (
                *(effort.number(state) * effort_direction(state, k) for k, effort in part.efforts),
                *(_vector(force, state) for _, force in part.forces),
            )
        ]
        return np.array(found).reshape(-1, 3)

    def wrenches(self, state: KinematicState) -> Array:
        """Return the wrench of all point forces on the ground and each body, shape (B, 6)."""
        total = np.zeros((len(self._mechanism.bodies) + 1, 6))
        places = [*self._mechanism.points.values()]
        for part in self._parts:
            for column, force in part.forces:
                values = _vector(force, state)
                moment = np.cross(state.places.position[:, column], values)
                total[places[column].body + 1] += np.concatenate([values, moment])
        return total


def _internal(index: int, state: KinematicState) -> Number:
    return state.lag[:, index] if state.is_many else float(state.lag[index])


def _vector(force: tuple[CompiledExpression, ...], state: KinematicState) -> Array:
    return np.stack([np.broadcast_to(part.number(state), state.q.shape[:-1]) for part in force], axis=-1)


def _gradient(energy: CompiledExpression, state: KinematicState) -> Array:
    slopes = energy.jet(state).gradient[..., 1 : 1 + len(energy.positions)]
    return by_chain(slopes, state.jacobian[..., energy.positions, :])


def _power(part: _Part, state: KinematicState) -> float:
    found = sum(float(effort.number(state)) * float(state.qd[k]) for k, effort in part.efforts)
    pushed = (_vector(force, state) @ state.places.velocity[:, column] for column, force in part.forces)
    return float(found + sum(map(float, pushed)))


of = LawForces
