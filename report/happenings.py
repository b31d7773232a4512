"""Events of a run that readers have to know first: tipping, lifted supports, stops, slack ropes and contacts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..core.trajectory import Event
from ..runs.compare.context import RunReport
from .plots.number_text import decimal

_MOST = 4  # Largest number of elements with events that are shown.
_STABLE = 3  # Least number of pressed supports that keep a base from tipping.
_WORDS = ("lifts", "is met", "is slack", "touches")  # Words of the events that count, most serious first.
Happening = tuple[str, str]  # Sentence about an element, and time of the first event.


def happenings(report: RunReport) -> list[Happening]:
    """Return events of the reference run: tipping, then the first event of each element in the order of time.

    A support counts when it lifts, a stop when it is met, a rope when it becomes slack, and a contact when
    it touches.
    """
    found = [*_tipping(report), *_first_events(report.reference.events)]
    more = len(found) - _MOST
    return [*found[:_MOST], *([("further elements with events, see Verdict", str(more))] if more > 0 else [])]


def _first_events(events: Sequence[Event]) -> Iterator[Happening]:
    own: dict[tuple[str, str], list[float]] = {}
    for event in events:
        returns = event.word == "touches" and event.label.startswith("support ")
        if event.word in _WORDS and not returns:
            own.setdefault((event.label, event.word), []).append(event.t)
    for (label, word), times in own.items():
        often = f", {len(times)} times" if len(times) > 1 else ""
        yield f"{label} {word}{often}", _at(times[0])


def _tipping(report: RunReport) -> Iterator[Happening]:
    """Yield the first time at which fewer than three supports of at least three press on the ground."""
    course, events = report.course, report.reference.events
    first = {mark.name: course.acting[0, k] for k, mark in enumerate(course.marks) if mark.kind == "support"}
    if len(first) < _STABLE:
        return
    pressed = {name for name, force in first.items() if np.any(force)}
    for event in [Event(float(course.time[0]), "", holds=True), *events]:
        if event.word == "touches":
            pressed.add(event.label)
        elif event.word == "lifts":
            pressed.discard(event.label)
        if len(pressed) < _STABLE:
            left = f"{len(pressed)} of {len(first)} supports press on the ground"
            yield f"tips: {left}", _at(event.t)
            return


def _at(t: float) -> str:
    return f"{decimal(t, 3)} s"
