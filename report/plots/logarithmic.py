"""Figures with logarithmic axes: constraint violations, and errors against the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...core.trajectory import Array, Trajectory
from ...runs.compare.compare import Comparison, error_over_time
from . import style
from .number_text import scientific

_VIOLATIONS = {"violation_position": "position:  ‖Φ‖", "violation_velocity": "velocity:  ‖dΦ/dt‖"}


def violations(reference: Trajectory, runs: Sequence[Trajectory]) -> Figure | None:
    """Norms of the constraints and of their rates, all runs, over time in s; None without such signals."""
    titles = {signal: title for signal, title in _VIOLATIONS.items() if signal in reference.signals}
    if not titles:
        return None
    figure = style.new_figure(0.8 + 2.1 * len(titles))
    lines = style.run_lines(runs)
    grid = figure.subplots(len(titles), 1, squeeze=False, sharex=True)
    for axes, (signal, title) in zip(grid.flat, titles.items(), strict=True):
        _positive(axes, reference.time, reference.signals[signal], style.reference_line())
        for run in runs:
            if signal in run.signals:
                _positive(axes, run.time, run.signals[signal], lines[run.name])
        axes.set_title(title)
        style.log_axis(axes)
    grid.flat[-1].set_xlabel("time in s")
    style.legend(figure, runs)
    return figure


def errors(
    reference: Trajectory,
    runs: Sequence[Trajectory],
    comparisons: Sequence[Comparison],
    units: Mapping[str, str],
) -> Figure | None:
    """Largest relative error over all signals, per run, over time in s, with the tolerances; None without runs."""
    if not runs:
        return None
    figure = style.new_figure(3.4)
    axes = figure.subplots()
    colours = style.colours([run.name for run in runs])
    for run in runs:
        _positive(axes, *error_over_time(reference, run, units), {"color": colours[run.name]})
    for tolerance in sorted({comparison.tolerance for comparison in comparisons}):
        _tolerance_line(axes, tolerance)
    axes.set_title("largest |difference| / scale over all signals")
    axes.set_xlabel("time in s")
    style.log_axis(axes)
    style.legend_of(figure, [Line2D([], [], label=name, color=colour) for name, colour in colours.items()])
    return figure


def _tolerance_line(axes: Axes, tolerance: float) -> None:
    axes.axhline(tolerance, color=style.INK, linewidth=0.9, linestyle=(0, (5, 4)))
    axes.annotate(
        f"tolerance {scientific(tolerance)}",
        (1.0, tolerance),
        xycoords=("axes fraction", "data"),
        xytext=(0, 3),
        textcoords="offset points",
        ha="right",
        fontsize=8.5,
    )


def _positive(axes: Axes, time: Array, values: Array, line: Mapping[str, Any]) -> None:
    """A line with gaps where the value is zero, which has no logarithm."""
    axes.plot(time, style.drawable(np.where(np.abs(values) > 0, np.abs(values), np.nan)), **line)
