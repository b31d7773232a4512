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
            changed = self._changed(t, y, segment)
            if not changed:
                return segment
            for relation in changed:
                self._change(relation, t, sides, last is not None)
        raise SolveError(f"the conditions of {changed[-1].label} contradict each other at t = {t:.9g} s")

    def first(
        self, segment: Segment, before: float, after: float, y: Array, interpolant: Callable[[], Interpolant]
    ) -> float | None:
        """When the first relation changes in a step from `before` to `after`, s, with the end y; None: never."""
        changed = self._changed(after, y, segment)
        if not changed:
            return None
        at = interpolant()
        return min(self._located(relation, segment, before, after, at) for relation in changed)

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

    def _changed(self, t: float, y: Array, segment: Segment) -> list[Relation]:
        if not self._relations:
            return []
        state, _ = self._motion.moment(t, y, segment)
        return [relation for relation in self._relations if _is_beyond(relation, relation.margin(state), segment)]

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
