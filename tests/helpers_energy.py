"""Balance of energy along a run of the reference: what is stored, given and taken away, through all events."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from helpers_problem import start_state
from helpers_reference import mechanism_of
from numpy.typing import NDArray

from gpmelica.analysis import ReferenceModel, formulation
from gpmelica.reference.integration.events import Events
from gpmelica.reference.integration.integrators import Integrator, Interpolant
from gpmelica.reference.integration.motion import FormulatedModel
from gpmelica.reference.kinematics.segment import Segment

Array = NDArray[np.float64]


class Balance:
    """Energy balance of a motion up to `stop`, s; powers are integrated with the states by one method.

    events  events of the motion
    given   work of all forces without potential and of changed natural lengths of springs, J
    taken   energy dissipated by dampers and bristle friction, J
    lost    energy of springs that disengage at events, J
    error   largest residual of the balance at an event or the end, relative to the exchanged energy
    """

    def __init__(self, data: dict[str, Any], stop: float, tolerance: float) -> None:
        mechanism = mechanism_of(data)
        start = start_state(mechanism)
        self._model = ReferenceModel(mechanism, start=start)
        self._motion = FormulatedModel(self._model, formulation(self._model, self._model.state(0.0, *start)))
        self._events, self._begin = Events(self._motion), 0.0
        self._integrator = Integrator("DOP853", tolerance, stop)
        self.lost = self.error = 0.0
        y = self._march(np.append(self._motion.states(*start), [0.0, 0.0]), stop)
        self.given, self.taken = y[-2:].tolist()
        self.error /= abs(self.given) + self.taken
        self.events = self._events.found

    def _march(self, y: Array, stop: float) -> Array:
        t, segment = 0.0, self._segment(0.0, y, None)
        first = self._stored(t, y, segment)
        for end in [*(x for x in self._model.stops(stop) if 0.0 < x < stop), stop]:
            while t < end:
                record = partial(self._record, segment)
                t, y = self._integrator.integrate(self._rate(segment), (t, end), y, record)
                before = self._stored(t, y, segment)
                self.error = max(self.error, abs(before + self.lost - first - y[-2] + y[-1]))
                self._begin = t if t == end else self._begin
                segment = self._segment(t, y, segment)
                self.lost += before - self._stored(t, y, segment)
        return y

    def _segment(self, t: float, y: Array, last: Segment | None) -> Segment:
        return self._events.segment(t, y[:-2], self._begin, last)

    def _stored(self, t: float, y: Array, segment: Segment) -> float:
        """Kinetic energy, and potential energy of weights and springs, J."""
        state, _ = self._motion.moment(t, y[:-2], segment)
        kinetic = 0.5 * state.qd @ self._model.mass(state.posture)[0] @ state.qd
        return float(kinetic) + self._model.forces.potential(state)

    def _rate(self, segment: Segment) -> Callable[[float, Array], Array]:
        def rate(t: float, y: Array) -> Array:
            state, z = self._motion.moment(t, y[:-2], segment)
            forces, found = self._model.forces(state), self._model.evaluate(state, self._motion.form, z)
            powers = [forces.applied @ state.qd + forces.driven, -(forces.dissipative + found.friction) @ state.qd]
            return np.concatenate([state.qd, found.qdd[self._motion.rates], found.z_dot, powers])

        return rate

    def _record(
        self, segment: Segment, before: float, after: float, y: Array, interpolant: Callable[[], Interpolant]
    ) -> float | None:
        def motion() -> Interpolant:
            at = interpolant()
            return lambda t: at(t)[:-2]

        return self._events.first(segment, before, after, motion)
