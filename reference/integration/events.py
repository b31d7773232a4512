"""State events: switching conditions that change at times which are not known in advance."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.optimize import brentq

from ...core.errors import SolveError
from ...core.trajectory import Array, Event
from ..kinematics.jet import Number
from ..kinematics.quantities import KinematicState, Relation
from ..kinematics.segment import Segment
from .grazing import instants, is_resolved, lowest, suspected
from .integrators import Interpolant
from .motion import FormulatedModel

_MOST = 1000  # A run fails if more than this many events occur within one second of simulated time.
_NEAR = 1e-13  # The error of an event time t is at most this value times max(|t|, 1 s).
# These values limit the number of samples of event indicators in an integration step.
_INSTANTS, _MOST_INSTANTS = 16, 256


class Events:
    """State events of one run.

    Parameters
    ----------
    motion : FormulatedModel
        Equations of motion.
    longest : float
        Longest time between two evaluations of the switching conditions, s.

    Attributes
    ----------
    found : list of Event
        Events so far, in the order of time.
    """

    def __init__(self, motion: FormulatedModel, longest: float = np.inf) -> None:
        self._motion, self._relations, self._longest = motion, motion.model.relations(), longest
        # Largest magnitude that each event indicator has reached in the run so far.
        self._greatest = np.zeros(len(self._relations))
        self.found: list[Event] = []

    def segment(self, t: float, y: Array, begin: float, last: Segment | None = None) -> Segment:
        """Return the time segment that begins with state y, shape (size,), at time t, s.

        Parameters
        ----------
        t, y : float and ndarray
            Time, s, and state.
        begin : float
            Time of the last time event, s.
        last : Segment or None
            Preceding segment; None at the initial time.

        Raises
        ------
        SolveError
            If the switching conditions contradict each other, or if too many events occur within a second.
        """
        sides = {r.key: r.closed if last is None else last.sides[r.key] for r in self._relations}
        for _ in range(len(sides) + 1):
            segment = Segment(begin, dict(sides))
            changed = self._changed(t, y, segment)
            if not changed:
                return segment
            for relation in changed:
                self._change(relation, t, sides, last is not None)
        raise SolveError(
            f"the switching conditions of {changed[-1].label} contradict each other at t = {t:.9g} s, because"
            " each change of a condition reverses another condition; change the parameters of this element"
        )

    def settled(self, t: float, y: Array, segment: Segment) -> Segment:
        """Return a time segment that stores the truth values of all switching conditions at time t, s.

        The conditions are evaluated in the state y, shape (size,). Changed conditions are not recorded as
        events. If the conditions contradict each other, the given segment is returned.
        """
        found = segment
        for _ in range(len(self._relations) + 1):
            changed = self._changed(t, y, found)
            if not changed:
                return found
            found = replace(found, sides={**found.sides, **{r.key: not found.sides[r.key] for r in changed}})
        return segment

    def first(
        self, segment: Segment, before: float, after: float, interpolant: Callable[[], Interpolant]
    ) -> float | None:
        """Return the time of the first state event between `before` and `after`, s, or None without an event."""
        if not self._relations:
            return None
        at = interpolant()
        times, distances = self._course(segment, before, after, at)
        event, last = None, len(times) - 1
        beyond = np.flatnonzero((distances < 0.0).any(axis=1))
        if len(beyond):
            last = int(beyond[0])
            span = (float(times[max(last - 1, 0)]), float(times[last]))
            event = min(
                self._located(k, segment, span, at) for k in np.flatnonzero(distances[last] < 0.0).tolist()
            )
        for i, k in suspected(times[: last + 1], distances[: last + 1]):
            near = slice(i - 1, i + 2)
            along = partial(self._distance, k, segment, at)
            time = lowest(along, times[near].tolist(), distances[near, k].tolist())
            if time is not None:
                begins = [t for t in times[near].tolist() if t < time]
                grazed = self._located(k, segment, (begins[-1], time), at)
                event = grazed if event is None else min(event, grazed)
        return event

    def _course(self, segment: Segment, before: float, after: float, at: Interpolant) -> tuple[Array, Array]:
        """Return sample times in a step, shape (N,), and the signed event indicators at these times, shape (N, m).

        The number of samples is doubled until a polynomial through them resolves the indicators.
        """
        count = max(_INSTANTS, int(np.ceil(0.5 * np.pi * (after - before) / self._longest)))
        while True:
            times = instants(before, after, count)
            distances = self._distances(times, np.array([at(t) for t in times.tolist()]), segment)
            with np.errstate(invalid="ignore"):
                self._greatest = np.fmax(self._greatest, np.abs(distances).max(axis=0))
            if count >= _MOST_INSTANTS or is_resolved(distances, self._greatest):
                return times, distances
            count *= 2

    def _change(self, relation: Relation, t: float, sides: dict[Hashable, bool], running: bool) -> None:
        sides[relation.key] = not sides[relation.key]
        if not running:
            return
        holds = sides[relation.key]
        self.found.append(Event(t, relation.label, holds, relation.words[not holds]))
        if len(self.found) > _MOST and t - self.found[-_MOST - 1].t < 1.0:
            raise SolveError(
                f"there are more than {_MOST} events within a second, up to t = {t:.9g} s; the last one:"
                f" {relation.label}; reduce the stiffness of the element, add damping, or write noevent(...)"
                " around the expression"
            )

    def _changed(self, t: float, y: Array, segment: Segment) -> list[Relation]:
        if not self._relations:
            return []
        state, _ = self._motion.moment(t, y, segment)
        distances = [(relation, self._signed(relation, state)) for relation in self._relations]
        return [
            relation
            for relation, distance in distances
            # If an event indicator is exactly zero, the comparison operator decides whether the condition is true.
            if distance < 0.0 or (distance == 0.0 and segment.sides[relation.key] != relation.closed)
        ]

    def _distances(self, times: Array, states: Array, segment: Segment) -> Array:
        """Return the signed event indicators of all m conditions in N states, shape (N, m).

        The states have shape (N, size).

        An indicator is positive while its condition has the truth value that the segment prescribes.
        """
        state, _ = self._motion.moment(times, states, segment)
        return np.stack([self._signed(relation, state) for relation in self._relations], axis=-1)

    def _distance(self, k: int, segment: Segment, at: Interpolant, t: float) -> float:
        return float(self._signed(self._relations[k], self._motion.moment(t, at(t), segment)[0]))

    def _signed(self, relation: Relation, state: KinematicState) -> Number:
        margin = relation.margin(state)
        return margin if state.segment.sides[relation.key] else -margin

    def _located(self, k: int, segment: Segment, span: tuple[float, float], at: Interpolant) -> float:
        """Return the first time in a span, s, at which condition k has changed.

        Only rounding errors limit the accuracy of this time.
        """
        before, after = span
        distance = partial(self._distance, k, segment, at)
        if before == after or distance(before) < 0.0:
            return before
        near = _NEAR * max(1.0, abs(after))
        t = float(brentq(distance, before, after, xtol=near))
        while t < after and distance(t) >= 0.0:
            t, near = min(t + near, after), 2.0 * near
        return t
