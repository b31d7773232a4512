"""Forces along the lines between two places; Q = −F ∂L/∂q of a tension F and the length L."""

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
    """L, m, its rate, m/s, the direction from a to b, shape (…, 3), and ∂L/∂q, shape (…, n)."""

    length: Number
    rate: Number
    direction: Array
    jacobian: Array


@dataclass(frozen=True)
class _Tension:
    """Tension of a line by spring, damper and applied force, N; spring energy, J; power of the rest length, W.

    stretch  m, beyond the length at rest
    """

    elastic: Number = 0.0
    dissipative: Number = 0.0
    applied: Number = 0.0
    energy: Number = 0.0
    driven: Number = 0.0
    stretch: Number = 0.0

    @property
    def total(self) -> Number:
        """The line's force, N."""
        return self.elastic + self.dissipative + self.applied


class _Law:
    """Law of a line's force without the condition that a rope cannot push."""

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
        """Spring and damper about a length at rest, m, of this rate, m/s."""
        stiffness, damping = float(self._line.stiffness or 0.0), float(self._line.damping or 0.0)
        stretch = span.length - rest
        elastic, applied = stiffness * stretch, -damping * rest_rate
        energy, driven = 0.5 * elastic * stretch, -elastic * rest_rate
        return _Tension(elastic, damping * span.rate, applied, energy, driven, stretch)


class Lines(ForceElements):
    """All of them."""

    takes_many = True

    def __init__(self, given: ElementContext) -> None:
        self._lines, self._first = given.mechanism.lines, given.first
        self._laws = [_Law(line, given) for line in self._lines]
        self._slots, quantities = len(given.mechanism.bodies) + 1, given.reader.quantities
        self._lengths = [quantities.position[f"{line.name}.length"] for line in self._lines]
        self.readings = tuple(law.reading for law in self._laws)

    def stops(self) -> list[float]:
        """Times at which expressions of the lines switch, s."""
        return [time for reading in self.readings for time in stops(reading.node)]

    def relations(self) -> list[Relation]:
        """Whether ropes are tight."""
        return [relation for i, line in enumerate(self._lines) if line.tension_only for relation in self._tight(i)]

    def _tight(self, i: int) -> list[Relation]:
        """Return the conditions under which a rope is taut; a spring rope below its rest length is slack."""
        line, label, tight = self._lines[i], self._laws[i].label, ("is taut", "is slack")
        pulls = Relation(line.name, label, lambda state: self._free(i, state).total, tight)
        if line.stiffness is None:
            return [pulls]
        stretched = Relation((line.name, "stretch"), label, lambda state: self._free(i, state).stretch, tight)
        return [stretched, replace(pulls, words=("would pull", "would push"))]

    def _free(self, i: int, state: KinematicState) -> _Tension:
        return self._laws[i](self._span(i, state), state)

    def forces(self) -> dict[str, Callable[[KinematicState], float]]:
        """Return functions of the state for the force of each line, N."""
        return {f"{line.name}.{FORCE}": self._force_of(i) for i, line in enumerate(self._lines)}

    def _force_of(self, i: int) -> Callable[[KinematicState], float]:
        return lambda state: self._tension(i, self._span(i, state), state).total

    def reaction(self, state: KinematicState) -> ForceContribution:
        """Return the generalised forces of the springs, dampers and applied forces of all lines."""
        parts, (energy, driven) = np.zeros((3, *state.q.shape)), np.zeros((2, *state.q.shape[:-1]))
        for span, tension in self._pulls(state):
            for i, force in enumerate((tension.elastic, tension.dissipative, tension.applied)):
                parts[i] -= np.asarray(force)[..., None] * span.jacobian
            energy += tension.energy
            driven += tension.driven
        elastic, dissipative, applied = parts
        return ForceContribution(elastic, dissipative, applied, energy, driven)

    def wrenches(self, state: KinematicState) -> Array:
        """On the slots of both ends, shape (B, 6)."""
        total = np.zeros((self._slots, 6))
        for i, (line, (span, tension)) in enumerate(zip(self._lines, self._pulls(state), strict=True)):
            F = tension.total * span.direction
            for k, (place, sign) in enumerate(((line.a, 1.0), (line.b, -1.0))):
                arm = state.places.position[:, self._first + 2 * i + k]
                total[place.body + 1] += sign * np.concatenate([F, np.cross(arm, F)])
        return total

    def powers(self, state: KinematicState) -> dict[str, float]:
        """Return the power of each line, W; positive if it gives energy while its ends approach each other."""
        pulls = zip(self._laws, self._pulls(state), strict=True)
        return {law.label: -tension.total * span.rate for law, (span, tension) in pulls}

    def signals(self, state: KinematicState) -> dict[str, float]:
        """Length, rate and force of each."""
        found: dict[str, float] = {}
        for line, (span, tension) in zip(self._lines, self._pulls(state), strict=True):
            values = {"length": span.length, "rate": span.rate, "force": tension.total}
            found |= {line.signals[quantity].signal.name: value for quantity, value in values.items()}
        return found

    @property
    def marks(self) -> tuple[ForceArrow, ...]:
        """Rods."""
        return tuple(ForceArrow("lines", line.name, "line", line.a, line.b) for line in self._lines)

    def acting(self, state: KinematicState) -> Array:
        """On the bodies of ends a."""
        return np.array([tension.total * span.direction for span, tension in self._pulls(state)]).reshape(-1, 3)

    def _pulls(self, state: KinematicState) -> list[tuple[_Span, _Tension]]:
        spans = [self._span(i, state) for i in range(len(self._lines))]
        return [(span, self._tension(i, span, state)) for i, span in enumerate(spans)]

    def _span(self, i: int, state: KinematicState) -> _Span:
        k, a = self._lengths[i], self._first + 2 * i
        between = state.places.position[..., a + 1] - state.places.position[..., a]
        length = state.x[..., k]
        with np.errstate(invalid="ignore"):  # what has no length has no direction
            direction = between / length[..., None]
        return _Span(length, state.x_dot[..., k], direction, state.jacobian[..., k, :])

    def _tension(self, i: int, span: _Span, state: KinematicState) -> _Tension:
        free, line, holds = self._laws[i](span, state), self._lines[i], state.segment.holds
        if not line.tension_only:
            return free
        stretched = line.stiffness is None or holds((line.name, "stretch"), free.stretch)
        return free if stretched and holds(line.name, free.total) else _Tension()


def places(mechanism: Mechanism) -> list[Place]:
    """Ends a and b of each."""
    return [place for line in mechanism.lines for place in (line.a, line.b)]


def lengths(mechanism: Mechanism, first: int) -> Iterator[Distance]:
    """Between their ends."""
    for k, line in enumerate(mechanism.lines):
        columns, slots = (first + 2 * k, first + 2 * k + 1), (line.a.body + 1, line.b.body + 1)
        yield Distance(f"{line.name}.length", f"{line.name}.rate", columns, slots)


of = Lines
