"""Important events of a run: tipping, lifted supports, reached end stops, slack ropes and contacts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..core.trajectory import Event
from ..runs.compare.context import RunReport
from .plots.number_text import decimal

_MOST = 4  # Largest number of elements with events that are shown.
_STABLE = 3  # A base does not tip if at least this number of supports is loaded.
_WORDS = ("lifts", "is met", "is slack", "touches")  # Kinds of events to report, the most serious first.
Happening = tuple[str, str]  # Description of all events of one element, and the time of its first event.


def happenings(report: RunReport) -> list[Happening]:
    """Return the most important events of the reference run, at most four.

    Tipping is listed first. The first event of each element follows in the order of time. Events are
    the lifting of a support, an impact on an end stop, a slack rope, or a closed contact. If there are
    more than four elements with events, the last entry is the number of omitted elements.
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
    """Yield the first time at which fewer than three supports press on the ground.

    Nothing is yielded for a mechanism with fewer than three supports.
    """
    course, supports = report.course, report.mechanism.supports
    if len(supports) < _STABLE:
        return
    arrows = [k for k, mark in enumerate(course.marks) if mark.kind == "support"]
    forces = {support.name: course.acting[0, k] for support, k in zip(supports, arrows, strict=True)}
    pressed = {name for name, force in forces.items() if np.any(force)}
    for event in [Event(float(course.time[0]), "", holds=True), *report.reference.events]:
        name = event.label.removeprefix("support ")
        if event.word == "touches" and name in forces:
            pressed.add(name)
        elif event.word == "lifts":
            pressed.discard(name)
        if len(pressed) < _STABLE:
            left = f"{len(pressed)} of {len(supports)} supports press on the ground"
            yield f"tips: {left}", _at(event.t)
            return


def _at(t: float) -> str:
    return f"{decimal(t, 3)} s"
