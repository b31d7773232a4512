"""Key numbers at the top of a report: peak loads and efforts, frequencies, support forces,
constraint violation.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.trajectory import Array, Trajectory
from ..runs.compare.context import RunReport
from .plots.loads import is_doubtful, loaded_links, magnitude
from .plots.number_text import decimal, scientific, unit_text

_MODES = 3
Number = tuple[str, str]  # Label with the time, and value with the unit.


def headline(report: RunReport) -> list[Number]:
    """Return the key numbers of a report that are available, each with a label and a value."""
    return [
        *_loads(report),
        *_efforts(report),
        *_frequencies(report),
        *_supports(report),
        *_violation(report),
    ]


def _loads(report: RunReport) -> Iterator[Number]:
    """Yield the peak force and the peak moment of all joints whose reactions are unique."""
    run = report.loaded or report.reference
    for part, unit in (("force", "N"), ("moment", "N.m")):
        series = {
            link: magnitude(run, link, part)
            for link in loaded_links(report.mechanism, run)
            if not is_doubtful(report.not_unique.get(link, ()), part)
        }
        yield from _peak(f"largest {part} in a joint", series, run.time, unit)


def _efforts(report: RunReport) -> Iterator[Number]:
    run = report.reference
    for unit in ("N.m", "N"):
        names = {c.name: c.signal("effort").name for c in report.mechanism.coordinates if c.effort_unit == unit}
        series = {name: np.abs(run.signals[signal]) for name, signal in names.items() if signal in run.signals}
        yield from _peak("largest effort of a drive", series, run.time, unit)


def _frequencies(report: RunReport) -> Iterator[Number]:
    """Yield the lowest undamped eigenfrequencies without rigid-body modes and modes of the
    constraint stabilisation.
    """
    swinging = [m for m in report.modes if m.damped_frequency and not (m.violating or m.rigid_body)]
    for k, mode in enumerate(sorted(swinging, key=lambda mode: abs(mode.eigenvalue))[:_MODES]):
        ratio = -mode.eigenvalue.real / abs(mode.eigenvalue)
        which = "lowest undamped frequency at the initial state" if k == 0 else "next undamped frequency"
        yield (
            f"{which}, damping {decimal(100 * ratio, 2)} %: {mode.coordinate}",
            f"{decimal(mode.frequency, 3)} Hz",
        )


def _supports(report: RunReport) -> Iterator[Number]:
    """Yield the smallest support force against gravity; without supports, the smallest normal force
    of a contact.
    """
    gravity, course = np.asarray(report.mechanism.gravity, dtype=float), report.course
    up = -gravity / (np.linalg.norm(gravity) or 1.0)
    # Contacts count only if there are no supports, because an open contact exerts no force.
    pressed = "support" if any(mark.kind == "support" for mark in course.marks) else "plane"
    pressing = {
        mark.name: course.acting[:, k] @ (up if mark.axis is None else np.array(mark.axis))
        for k, mark in enumerate(course.marks)
        if mark.kind == pressed
    }
    if not pressing or not gravity.any():
        return
    name = min(pressing, key=lambda name: float(pressing[name].min()))
    value, time = float(pressing[name].min()), course.time[int(np.argmin(pressing[name]))]
    pulls = ", which pulls" if value < 0 else ""
    yield f"smallest force of a support{pulls}: {name}, t = {decimal(time, 3)} s", _with_unit(value, "N")


def _violation(report: RunReport) -> Iterator[Number]:
    found = [
        (float(np.nanmax(run.signals["violation_position"])), run)
        for run in (report.reference, *report.runs)
        if "violation_position" in run.signals and np.isfinite(run.signals["violation_position"]).any()
    ]
    if found:
        value, run = max(found, key=lambda pair: pair[0])
        time = _time_of(run, run.signals["violation_position"])
        yield f"largest violation ‖Φ‖: {run.name}, t = {decimal(time, 3)} s", scientific(value)


def _peak(what: str, series: dict[str, Array], time: Array, unit: str) -> Iterator[Number]:
    if not series:
        return
    name = max(series, key=lambda name: float(series[name].max()))
    value = float(series[name].max())
    when = time[int(np.argmax(series[name]))]
    yield f"{what}: {name}, t = {decimal(when, 3)} s", _with_unit(value, unit)


def _with_unit(value: float, unit: str) -> str:
    """Return a value with three digits and its unit, with the prefix k or M for large values."""
    prefix, size = next(((p, s) for p, s in (("M", 1e6), ("k", 1e3)) if abs(value) >= 0.9995 * s), ("", 1.0))
    return f"{decimal(value / size, 3)} {prefix}{unit_text(unit)}"


def _time_of(run: Trajectory, values: Array) -> float:
    return float(run.time[int(np.nanargmax(values))])
