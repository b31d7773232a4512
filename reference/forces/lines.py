"""Two-point force elements: spring-dampers, cylinders and ropes between two points.

An element with tension F and length L has the generalised force Q = −F ∂L/∂q.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...core.trajectory import Array
from ...description.types.measures import FORCE
from ...mechanism import Mechanism, Place, TwoPointForce
from ..kinematics.expression import stops
from ..kinematics.jet import Number
from ..kinematics.lengths import Distance
from ..kinematics.quantities import KinematicState, Relation
from .element import ElementContext, ForceArrow, ForceContribution, ForceElements, input_in


@dataclass(frozen=True)
class _Span:
    """Geometry of a two-point force element in one state or in many states.

    Attributes
    ----------
    length, rate : float or ndarray
        Length, m, and its time derivative, m/s.
    direction : ndarray, shape (…, 3)
        Unit vector from end a to end b.
    jacobian : ndarray, shape (…, n)
        Derivatives of the length with respect to the coordinates.
    """

    length: Number
    rate: Number
    direction: Array
    jacobian: Array


@dataclass(frozen=True)
class _Tension:
    """Tension of a two-point force element, separated by its cause, N.

    Attributes
    ----------
    elastic, dissipative, applied : float or ndarray
        Spring, damper and applied force, N.
    energy : float or ndarray
        Energy of the spring, J.
    driven : float or ndarray
        Power that is supplied to the spring by driven changes of its rest length, W.
    stretch : float or ndarray
        Length beyond the rest length, m.
    """

    elastic: Number = 0.0
    dissipative: Number = 0.0
    applied: Number = 0.0
    energy: Number = 0.0
    driven: Number = 0.0
    stretch: Number = 0.0

    @property
    def total(self) -> Number:
        """Total force of the element, N, positive in tension."""
        return self.elastic + self.dissipative + self.applied


class _Law:
    """Force law of a two-point force element. The law of a rope is valid only while the rope is taut."""

    def __init__(self, line: TwoPointForce, given: ElementContext) -> None:
        self._line, self._input = line, given.inputs.get(line.name, 0.0)
        self.label = f"line {line.name}"
        self._filter = given.mechanism.filters.index(line.filter) if line.filter is not None else -1
        self.reading = given.reader.reading(self.label, line.rest if line.force is None else line.force)

    def __call__(self, span: _Span, state: KinematicState) -> _Tension:
        line = self._line
        if line.filter is not None:
            rest, rate, _ = np.moveaxis(state.followed[..., self._filter, :], -1, 0)
            return self._spring(span, rest, rate)
        if line.given:
            return _Tension(applied=input_in(self._input, state))
        if line.force is not None:
            return _Tension(applied=self.reading.number(state))
        at_rest = self.reading.jet(state)
        return self._spring(span, at_rest.value, at_rest.rate)

    def _spring(self, span: _Span, rest: Number, rest_rate: Number) -> _Tension:
        stiffness, damping = float(self._line.stiffness or 0.0), float(self._line.damping or 0.0)
        stretch = span.length - rest
        elastic, applied = stiffness * stretch, -damping * rest_rate
        energy, driven = 0.5 * elastic * stretch, -elastic * rest_rate
        return _Tension(elastic, damping * span.rate, applied, energy, driven, stretch)


class Lines(ForceElements):
    """All two-point force elements of a mechanism."""

    takes_many = True

    def __init__(self, given: ElementContext) -> None:
        self._lines, self._first = given.mechanism.lines, given.first
        self._laws = [_Law(line, given) for line in self._lines]
        self._slots, quantities = len(given.mechanism.bodies) + 1, given.reader.quantities
        self._lengths = [quantities.position[f"{line.name}.length"] for line in self._lines]
        self.readings = tuple(law.reading for law in self._laws)

    def stops(self) -> list[float]:
        """Return the times at which an expression of a force element has a jump or a kink, s."""
        return [time for reading in self.readings for time in stops(reading.node)]

    def relations(self) -> list[Relation]:
        """Return the switching conditions of all ropes: taut or slack."""
        return [relation for i, line in enumerate(self._lines) if line.tension_only for relation in self._tight(i)]

    def _tight(self, i: int) -> list[Relation]:
        """Return the conditions under which a rope is taut.

        A rope without a spring is taut if its force pulls. A rope with a spring must also be longer
        than its rest length.
        """
        line, label, tight = self._lines[i], self._laws[i].label, ("is taut", "is slack")
        pulls = Relation(line.name, label, lambda state: self._free(i, state).total, tight)
        if line.stiffness is None:
            return [pulls]
        stretched = Relation((line.name, "stretch"), label, lambda state: self._free(i, state).stretch, tight)
        return [stretched, replace(pulls, words=("would pull", "would push"))]

    def _free(self, i: int, state: KinematicState) -> _Tension:
        return self._laws[i](self._span(i, state), state)

    def forces(self) -> dict[str, Callable[[KinematicState], Number]]:
        """Return a function for each two-point force element that computes the force, N, from the state."""
        return {f"{line.name}.{FORCE}": self._force_of(i) for i, line in enumerate(self._lines)}

    def _force_of(self, i: int) -> Callable[[KinematicState], float]:
        return lambda state: self._tension(i, self._span(i, state), state).total

    def reaction(self, state: KinematicState) -> ForceContribution:
        """Return the generalised forces of all two-point force elements.

        Springs, dampers and applied forces contribute to these forces.
        """
        parts, (energy, driven) = np.zeros((3, *state.q.shape)), np.zeros((2, *state.q.shape[:-1]))
        for span, tension in self._pulls(state):
            for i, force in enumerate((tension.elastic, tension.dissipative, tension.applied)):
                parts[i] -= np.asarray(force)[..., None] * span.jacobian
            energy += tension.energy
            driven += tension.driven
        elastic, dissipative, applied = parts
        return ForceContribution(elastic, dissipative, applied, energy, driven)

    def wrenches(self, state: KinematicState) -> Array:
        """Return the wrench of all two-point force elements on the ground and each body, shape (B, 6)."""
        total = np.zeros((self._slots, 6))
        for i, (line, (span, tension)) in enumerate(zip(self._lines, self._pulls(state), strict=True)):
            F = tension.total * span.direction
            for k, (place, sign) in enumerate(((line.a, 1.0), (line.b, -1.0))):
                arm = state.places.position[:, self._first + 2 * i + k]
                total[place.body + 1] += sign * np.concatenate([F, np.cross(arm, F)])
        return total

    def powers(self, state: KinematicState) -> dict[str, float]:
        """Return the power of each two-point force element, W.

        The power is positive if the element delivers energy to the mechanism. An example is an element in
        tension that becomes shorter.
        """
        pulls = zip(self._laws, self._pulls(state), strict=True)
        return {law.label: -tension.total * span.rate for law, (span, tension) in pulls}

    def signals(self, state: KinematicState) -> dict[str, float]:
        """Return outputs of all two-point force elements, by output name: length (m), rate (m/s) and force (N)."""
        found: dict[str, float] = {}
        for line, (span, tension) in zip(self._lines, self._pulls(state), strict=True):
            values = {"length": span.length, "rate": span.rate, "force": tension.total}
            found |= {line.signals[quantity].signal.name: value for quantity, value in values.items()}
        return found

    @property
    def marks(self) -> tuple[ForceArrow, ...]:
        """Rods that depict the two-point force elements."""
        return tuple(ForceArrow("lines", line.name, "line", line.a, line.b) for line in self._lines)

    def acting(self, state: KinematicState) -> Array:
        """Return the force of each two-point force element at its end a, shape (lines, 3), N.

        The force acts on the body that carries end a, and has components in world axes.
        """
        return np.array([tension.total * span.direction for span, tension in self._pulls(state)]).reshape(-1, 3)

    def _pulls(self, state: KinematicState) -> list[tuple[_Span, _Tension]]:
        spans = [self._span(i, state) for i in range(len(self._lines))]
        return [(span, self._tension(i, span, state)) for i, span in enumerate(spans)]

    def _span(self, i: int, state: KinematicState) -> _Span:
        k, a = self._lengths[i], self._first + 2 * i
        between = state.places.position[..., a + 1] - state.places.position[..., a]
        length = state.x[..., k]
        with np.errstate(invalid="ignore"):  # A zero length has no direction, so the result is nan.
            direction = between / length[..., None]
        return _Span(length, state.x_dot[..., k], direction, state.jacobian[..., k, :])

    def _tension(self, i: int, span: _Span, state: KinematicState) -> _Tension:
        free, line, holds = self._laws[i](span, state), self._lines[i], state.segment.holds
        if not line.tension_only:
            return free
        stretched = line.stiffness is None or holds((line.name, "stretch"), free.stretch)
        return free if stretched and holds(line.name, free.total) else _Tension()


def places(mechanism: Mechanism) -> list[Place]:
    """Return both ends a and b of each two-point force element."""
    return [place for line in mechanism.lines for place in (line.a, line.b)]


def lengths(mechanism: Mechanism, first: int) -> Iterator[Distance]:
    """Yield the length of each two-point force element for use in expressions."""
    for k, line in enumerate(mechanism.lines):
        columns, slots = (first + 2 * k, first + 2 * k + 1), (line.a.body + 1, line.b.body + 1)
        yield Distance(f"{line.name}.length", f"{line.name}.rate", columns, slots)


of = Lines
