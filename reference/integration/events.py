"""Events whose times are not known before: relations that change (design 9.4)."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from ...errors import SolveError
from ...trajectory import Event
from ..kinematics.quantities import Relation
from ..kinematics.segment import Segment
from .grazing import lowest, suspected
from .integrators import Interpolant
from .motion import Motion

Array = NDArray[np.float64]
_MOST = 1000  # changes within a second
_NEAR = 1e-13  # s, and relative to the time: how exactly events are located


class Events:
    """Of one run.

    found   in the order of time
    """

    def __init__(self, motion: Motion) -> None:
        self._motion, self._relations = motion, motion.model.relations()
        self._past: list[tuple[float, Array]] = []  # ends of the last two steps with the distances there
        self.found: list[Event] = []

    def segment(self, t: float, y: Array, begin: float, last: Segment | None = None) -> Segment:
        """The segment that begins with the state y, shape (size,), at t, s.

        begin   s, the switching time that has come last
        last    the segment that ends there; None: the run begins
        Raises SolveError where the conditions contradict each other, and where events do not end.
        """
        sides = {relation.key: last is not None and last.sides[relation.key] for relation in self._relations}
        for _ in range(len(sides) + 1):
            segment = Segment(begin, dict(sides))
            distances = self._distances(t, y, segment)
            changed = self._beyond(distances)
            if not changed:
                if last is None or last.sides != segment.sides:
                    self._past = [(t, distances)]
                return segment
            for relation in changed:
                self._change(relation, t, sides, last is not None)
        raise SolveError(f"the conditions of {changed[-1].label} contradict each other at t = {t:.9g} s")

    def first(
        self, segment: Segment, before: float, after: float, y: Array, interpolant: Callable[[], Interpolant]
    ) -> float | None:
        """When the first relation changes in a step from `before` to `after`, s, with the end y; None: never."""
        if not self._relations:
            return None
        event, end, distances = None, after, self._distances(after, y, segment)
        located: set[Hashable] = set()
        while True:
            # where one changes first, others may be beyond that are back at the step's end
            changed = [relation for relation in self._beyond(distances) if relation.key not in located]
            located |= {relation.key for relation in changed}
            if changed:
                at = interpolant()
                event = earlier = min(self._located(relation, segment, before, end, at) for relation in changed)
            else:
                earlier = self._grazed(segment, before, (end, distances), interpolant)
            if earlier is None:
                break
            end, distances = earlier, self._distances(earlier, interpolant()(earlier), segment)
        self._past = [self._past[-1], (end, distances)]
        return event

    def _grazed(
        self, segment: Segment, before: float, end: tuple[float, Array], interpolant: Callable[[], Interpolant]
    ) -> float | None:
        """A time before the end at which a relation is beyond that is not so there; None: there is none."""
        past = self._past
        if len(past) < 2:  # the first step after an event: its middle is the third place
            middle = 0.5 * (before + end[0])
            past = [past[-1], (middle, self._distances(middle, interpolant()(middle), segment))]
        for k in suspected([*past, end], before):
            time = lowest(self._along(k, segment, interpolant()), before, end[0])
            if time is not None:
                return time
        return None

    def _along(self, k: int, segment: Segment, at: Interpolant) -> Callable[[float], float]:
        """Distance of relation k from its change, as a function of time within a step."""
        return lambda t: float(self._distances(t, at(t), segment, [self._relations[k]])[0])

    def _change(self, relation: Relation, t: float, sides: dict[Hashable, bool], running: bool) -> None:
        sides[relation.key] = not sides[relation.key]
        if not running:
            return
        holds = sides[relation.key]
        self.found.append(Event(t, relation.label, holds, relation.words[not holds]))
        if len(self.found) > _MOST and t - self.found[-_MOST - 1].t < 1.0:
            raise SolveError(
                f"there are more than {_MOST} events within a second, up to t = {t:.9g} s; the last one:"
                f" {relation.label}; make it softer, give it damping, or write noevent(...) around it"
            )

    def _distances(self, t: float, y: Array, segment: Segment, relations: list[Relation] | None = None) -> Array:
        """Margins of relations, of all by default, above 0 on the sides of the segment."""
        relations = self._relations if relations is None else relations
        if not relations:
            return np.zeros(0)
        state, _ = self._motion.moment(t, y, segment)
        return np.array([r.margin(state) if segment.sides[r.key] else -r.margin(state) for r in relations])

    def _beyond(self, distances: Array) -> list[Relation]:
        return [self._relations[k] for k in np.flatnonzero(distances < 0.0)]

    def _located(
        self, relation: Relation, segment: Segment, before: float, after: float, at: Interpolant
    ) -> float:
        """The first instant, but for rounding, at which the relation has changed."""

        def margin(t: float) -> float:
            return relation.margin(self._motion.moment(t, at(t), segment)[0])

        if _is_beyond(relation, margin(before), segment):
            return before
        near = _NEAR * max(1.0, abs(after))
        t = float(brentq(margin, before, after, xtol=near))
        while t < after and not _is_beyond(relation, margin(t), segment):
            t, near = min(t + near, after), 2.0 * near
        return t


def _is_beyond(relation: Relation, margin: float, segment: Segment) -> bool:
    return margin < 0.0 if segment.sides[relation.key] else margin > 0.0
