"""Figures in the HTML report of a coupled run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from ...core.trajectory import Array
from ...report.plots import Picture
from ...report.plots.gallery import Entry, drawn
from ...report.plots.logarithmic import positive_line, tolerance_line
from ...report.plots.style import (
    BLUE,
    COLOURS,
    MUTED,
    drawable,
    legend_of,
    log_axis,
    new_figure,
    reference_line,
)
from ...report.plots.time_series import Panel, panel_grid, readable_factor, set_title
from ..compared_run import ComparedRun
from ..verdict import Coupled
from .series import errors_by_finer_run, errors_by_whole, gaps, step_lengths

_MOST_PANELS = 12
_MOST_CURVES = 4
_MARKERS = "os^Dvx"


def error_pictures(run: Coupled) -> Iterator[Picture]:
    """Draw the errors of the signals, and the differences of rigidly connected positions, over time."""
    entries: list[Entry] = [
        (
            "errors",
            "Errors over time",
            f"The {_MOST_CURVES} outputs with the largest differences, relative to their ranges. The comparison"
            " with the finer run leaves out times near events.",
            partial(_errors, run),
        ),
        (
            "gaps",
            "Gaps of the pins",
            "Distances of the positions that must agree, at the communication points.",
            partial(_gaps, run),
        ),
    ]
    return drawn(entries)


def signal_pictures(run: Coupled) -> Iterator[Picture]:
    """Draw the connected signals and the lengths of the communication steps."""
    origin = "uncut mechanism where it has the signal, otherwise the finer run" if run.whole else "finer run"
    entries: list[Entry] = [
        (
            "signals",
            "Connected signals",
            f"Outputs that drive inputs or must agree at pins; at most the {_MOST_PANELS} with the largest errors."
            f" The thick grey line is the {origin}.",
            partial(_signals, run),
        ),
        (
            "steps",
            "Communication steps",
            f"Length of each communication step. {run.record.rejected} steps were rejected and repeated. Vertical"
            " lines are events.",
            partial(_steps, run),
        ),
    ]
    return drawn(entries)


def comparison_pictures(run: Coupled) -> Iterator[Picture]:
    """Plot the errors of the compared runs: against the step length, and against the computing time."""
    reference = next((compared.reference for compared in run.comparison), "")
    caption = (
        f"Errors against the {reference}, relative to the range of the worst signal. Runs with a fixed step have"
        " full lines; runs whose tolerance controls the step have dashed lines, at their mean step. The thin"
        " dashed line is the tolerance."
    )
    return drawn([("work_precision", "Work and precision", caption, partial(_comparison, run))])


def connected(run: Coupled) -> list[str]:
    """Return the names of the outputs that belong to a rigid connection or are connected to an input."""
    network = run.network
    rows = {int(row) for row in network.source[network.driven] if row < network.n_y}
    rows |= {int(row) for row in network.pairs[:, 0]}
    return [".".join(network.outputs[row]) for row in sorted(rows)]


def _signals(run: Coupled) -> Figure | None:
    names = _worst(errors_by_finer_run(run), connected(run))[:_MOST_PANELS]
    if not names:
        return None
    figure, grid = panel_grid(len(names), columns=min(1 + len(names) // 4, 3))
    for axes, name in zip(grid, names, strict=True):
        values, expected = run.signals[name], _expected(run, name)
        factor = readable_factor(float(np.max(np.abs(values))))
        if expected is not None:
            axes.plot(run.time, drawable(expected / factor), **reference_line())
        axes.plot(run.time, drawable(values / factor), color=BLUE, zorder=3)
        set_title(axes, Panel(name, run.units[name], name), factor)
    return figure


def _worst(errors: Mapping[str, Array], names: list[str]) -> list[str]:
    """Return those of the given signal names that a figure shows, in the given order.

    If there are too many signals for a figure, the figure shows only the signals with the largest
    errors.
    """
    largest = dict.fromkeys(names, 0.0) | {name: float(np.nanmax(values)) for name, values in errors.items()}
    kept = sorted(names, key=lambda name: -largest[name])[:_MOST_PANELS]
    return [name for name in names if name in kept]


def _expected(run: Coupled, name: str) -> Array | None:
    if run.whole is not None and name in run.whole.signals:
        return run.whole.signals[name]
    if run.finer is None:
        return None
    row = [".".join(port) for port in run.network.outputs].index(name)
    return np.asarray(run.finer.sample(run.time)[row])


def _errors(run: Coupled) -> Figure | None:
    panels = {
        "difference to the finer run": errors_by_finer_run(run),
        "difference to the uncut mechanism": errors_by_whole(run),
    }
    panels = {title: errors for title, errors in panels.items() if errors}
    if not panels:
        return None
    shown = {title: _largest(errors) for title, errors in panels.items()}
    names = list(dict.fromkeys(name for errors in shown.values() for name in errors))
    colours = dict(zip(names, cycle(COLOURS), strict=False))
    figure = new_figure(1.0 + 2.2 * len(shown))
    grid = figure.subplots(len(shown), 1, squeeze=False, sharex=True).flat
    for axes, (title, errors) in zip(grid, shown.items(), strict=True):
        for name, values in errors.items():
            positive_line(axes, run.time, values, {"color": colours[name], "linewidth": 1.1})
        tolerance_line(axes, run.tolerance)
        axes.set_title(f"{title}, relative to the range")
        log_axis(axes)
    axes.set_xlabel("time in s")
    legend_of(figure, [Line2D([], [], label=name, color=colour) for name, colour in colours.items()])
    return figure


def _largest(errors: Mapping[str, Array]) -> dict[str, Array]:
    names = sorted(errors, key=lambda name: -float(np.nanmax(errors[name])))[:_MOST_CURVES]
    return {name: errors[name] for name in names}


def _gaps(run: Coupled) -> Figure | None:
    found = gaps(run)
    if not found.size:
        return None
    figure = new_figure(2.6)
    axes = figure.subplots()
    unit = run.network.signals[run.network.pairs[0, 0]].unit
    for values, colour in zip(found.T, cycle(COLOURS), strict=False):
        positive_line(axes, np.array(run.record.times), values, {"color": colour, "linewidth": 1.0})
    axes.set_title(f"gap of each pin in {unit}")
    axes.set_xlabel("time in s")
    log_axis(axes)
    return figure


def _steps(run: Coupled) -> Figure:
    figure = new_figure(2.4)
    axes = figure.subplots()
    lengths = 1e3 * step_lengths(run)
    axes.stairs(lengths, run.record.times, baseline=None, color=BLUE, linewidth=1.2)
    for event in run.record.events[:200]:
        axes.axvline(event, color=MUTED, linewidth=0.6, zorder=1)
    axes.set_title("length of the communication step in ms")
    axes.set_xlabel("time in s")
    if lengths.max() > 5.0 * lengths.min():
        axes.set_yscale("log")
        _plain_ticks(axes.yaxis)
    else:
        axes.set_ylim(0.0, 1.15 * float(lengths.max()))
    return figure


def _comparison(run: Coupled) -> Figure | None:
    curves: dict[str, list[ComparedRun]] = {}
    for compared in run.comparison:
        if compared.error is not None and compared.error > 0.0:
            curves.setdefault(compared.label, []).append(compared)
    if not curves:
        return None
    figure = new_figure(3.9)
    left, right = figure.subplots(1, 2, sharey=True)
    handles = []
    for (label, points), colour, marker in zip(curves.items(), cycle(COLOURS), cycle(_MARKERS), strict=False):
        automatic = points[0].tolerance is not None
        line: dict[str, Any] = {
            "color": colour,
            "marker": marker,
            "markersize": 5,
            "linestyle": "--" if automatic else "-",
        }
        errors = np.array([p.error for p in points], dtype=float)
        left.plot([1e3 * (p.step or np.nan) for p in points], errors, **line)
        right.plot([p.wall_s or np.nan for p in points], errors, **line)
        handles.append(Line2D([], [], label=label, **line))
    for axes, title in ((left, "communication step in ms"), (right, "time of the run in s")):
        axes.set_xlabel(title)
        axes.set_xscale("log")
        axes.margins(x=0.06)
        _plain_ticks(axes.xaxis)
    for axes in (left, right):
        axes.axhline(run.tolerance, color=MUTED, linewidth=0.9, linestyle=(0, (5, 4)), zorder=1)
    log_axis(left)
    bottom, top = left.get_ylim()
    left.set_ylim(bottom, min(top, 1e2))
    left.set_title("error, relative to the range")
    legend_of(figure, handles)
    return figure


def _plain_ticks(axis: Axis) -> None:
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())
