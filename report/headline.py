"""Most important results at the top of a report, such as events, peak loads and frequencies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ..analysis import EnergyHistory, ForceArrow, LinearisedMode
from ..core.trajectory import Array, Trajectory
from ..mechanism import Mechanism
from ..runs.compare.context import RunReport
from .happenings import happenings
from .plots.loads import is_doubtful, loaded_links, magnitude
from .plots.number_text import decimal, scientific, unit_text

_MODES = 3
_ZERO = 1e-9  # Forces, moments, lengths and eigenvalues count as zero below this fraction of their scales.
# Internal name, displayed name, quantity and unit of each kind of force.
_ELEMENTS = (
    ("line", "two-point element", "force", "N"),
    ("plane", "contact", "force", "N"),
    ("force", "force element", "force", "N"),
    ("moment", "force element", "moment", "N.m"),
)
Number = tuple[str, str]  # a main result of a report consists of a label with the time and a value with its unit


def headline(report: RunReport) -> list[Number]:
    """Return the most important results of a report, each with a label and a value.

    Peak values that are zero apart from rounding errors are omitted.
    """
    sizes = _sizes(report)
    return [
        *happenings(report),
        *_loads(report, sizes),
        *_efforts(report, sizes),
        *_elements(report, sizes),
        *_supports(report, sizes),
        *_frequencies(report.modes),
        *_violation(report),
    ]


@dataclass(frozen=True)
class _Peak:
    """Largest value of several signals: name of the signal, time in s, and value."""

    name: str
    time: float
    value: float


def _sizes(report: RunReport) -> Mapping[str, float]:
    """Return a scale for forces, N, and a scale for moments, N·m.

    The scale of forces is the largest force in the mechanism, or the weight if the weight is larger.
    The scale of moments is the scale of forces times the size of the mechanism. Values that are much
    smaller than the scales are rounding errors.
    """
    mechanism, course = report.mechanism, report.course
    weight = sum(float(body.mass) for body in mechanism.bodies) * float(np.linalg.norm(_gravity(mechanism)))
    acting = np.linalg.norm(course.acting, axis=2).max(initial=0.0)
    run = report.loaded or report.reference
    inner = (float(magnitude(run, link, "force").max()) for link in loaded_links(mechanism, run))
    force = max(weight, float(acting), *inner, 0.0)
    return {"N": force, "N.m": max(force, 1e-300) * report.scene.extent}


def _loads(report: RunReport, sizes: Mapping[str, float]) -> Iterator[Number]:
    run = report.loaded or report.reference
    for part, unit in (("force", "N"), ("moment", "N.m")):
        series = {
            link: magnitude(run, link, part)
            for link in loaded_links(report.mechanism, run)
            if not is_doubtful(report.not_unique.get(link, ()), part)
        }
        yield from _numbers(f"largest {part} in a joint", _peak(series, run.time), unit, sizes)


def _efforts(report: RunReport, sizes: Mapping[str, float]) -> Iterator[Number]:
    run = report.reference
    for unit in ("N.m", "N"):
        driven = (c for c in report.mechanism.coordinates if c.role == "joint" and c.effort_unit == unit)
        names = {c.name: c.signal("effort").name for c in driven}
        series = {name: np.abs(run.signals[signal]) for name, signal in names.items() if signal in run.signals}
        yield from _numbers("largest effort of a drive", _peak(series, run.time), unit, sizes)


def _elements(report: RunReport, sizes: Mapping[str, float]) -> Iterator[Number]:
    for kind, what, quantity, unit in _ELEMENTS:
        peak = _peak(_magnitudes(report.course, kind), report.course.time)
        yield from _numbers(f"largest {quantity} of a {what}", peak, unit, sizes)


def _frequencies(modes: tuple[LinearisedMode, ...]) -> Iterator[Number]:
    """Yield the lowest undamped eigenfrequency, with the next eigenfrequencies in the label.

    Rigid-body modes and modes of the constraint stabilisation are left out.
    """
    largest = max((abs(mode.eigenvalue) for mode in modes), default=0.0)
    swinging = [
        m
        for m in modes
        if m.damped_frequency and not (m.violating or m.rigid_body) and abs(m.eigenvalue) > _ZERO * largest
    ]
    found = sorted(swinging, key=lambda mode: abs(mode.eigenvalue))[:_MODES]
    if not found:
        return
    first, *others = found
    ratio = -first.eigenvalue.real / abs(first.eigenvalue)
    label = (
        f"lowest undamped frequency at the initial state, damping {decimal(100 * ratio, 2)} %: {first.coordinate}"
    )
    further = ", ".join(f"{_hertz(mode)} ({mode.coordinate})" for mode in others)
    yield f"{label}{'; next: ' if further else ''}{further}", _hertz(first)


def _hertz(mode: LinearisedMode) -> str:
    return f"{decimal(mode.frequency, 3)} Hz"


def _supports(report: RunReport, sizes: Mapping[str, float]) -> Iterator[Number]:
    gravity, course = _gravity(report.mechanism), report.course
    up = -gravity / (np.linalg.norm(gravity) or 1.0)
    pressing = {
        mark.name: course.acting[:, k] @ up for k, mark in enumerate(course.marks) if mark.kind == "support"
    }
    if not pressing or not gravity.any():
        return
    name = min(pressing, key=lambda name: float(pressing[name].min()))
    value, time = float(pressing[name].min()), course.time[int(np.argmin(pressing[name]))]
    pulls = ", which pulls" if value < -_ZERO * sizes["N"] else ""
    yield (
        f"smallest force of a support{pulls}: {name}, t = {decimal(time, 3)} s",
        _with_unit(value, "N", sizes["N"]),
    )


def _violation(report: RunReport) -> Iterator[Number]:
    """Yield the largest constraint violation, unless it is a rounding error."""
    found = [
        (float(np.nanmax(run.signals["violation_position"])), run)
        for run in (report.reference, *report.runs)
        if "violation_position" in run.signals and np.isfinite(run.signals["violation_position"]).any()
    ]
    value, run = max(found, key=lambda pair: pair[0], default=(0.0, report.reference))
    if value > _ZERO * max(1.0, report.scene.extent):
        time = _time_of(run, run.signals["violation_position"])
        yield f"largest violation ‖Φ‖: {run.name}, t = {decimal(time, 3)} s", scientific(value)


def _gravity(mechanism: Mechanism) -> Array:
    return np.asarray(mechanism.gravity, dtype=float)


def _magnitudes(course: EnergyHistory, kind: str) -> dict[str, Array]:
    marks: list[tuple[int, ForceArrow]] = [(k, mark) for k, mark in enumerate(course.marks) if mark.kind == kind]
    return {mark.name: np.linalg.norm(course.acting[:, k], axis=1) for k, mark in marks}


def _peak(series: Mapping[str, Array], time: Array) -> _Peak | None:
    if not series:
        return None
    name = max(series, key=lambda name: float(series[name].max()))
    return _Peak(name, float(time[int(np.argmax(series[name]))]), float(series[name].max()))


def _numbers(what: str, peak: _Peak | None, unit: str, sizes: Mapping[str, float]) -> Iterator[Number]:
    if peak is not None and peak.value > _ZERO * sizes[unit]:
        yield f"{what}: {peak.name}, t = {decimal(peak.time, 3)} s", _with_unit(peak.value, unit, sizes[unit])


def _with_unit(value: float, unit: str, size: float) -> str:
    """Return a value with three significant digits and its unit.

    The unit of a large value has the prefix k or M. The argument `size` is the scale of forces or of
    moments in the mechanism. Values below 1e-9 times this scale are written as 0.
    """
    shown = 0.0 if abs(value) <= _ZERO * size else value
    prefix, factor = next(((p, s) for p, s in (("M", 1e6), ("k", 1e3)) if abs(shown) >= 0.9995 * s), ("", 1.0))
    return f"{decimal(shown / factor, 3)} {prefix}{unit_text(unit)}"


def _time_of(run: Trajectory, values: Array) -> float:
    return float(run.time[int(np.nanargmax(values))])
