"""Figures with logarithmic axes: constraint violations, and errors relative to the reference solver."""

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
from .number_text import decimal, scientific
from .overlay import Overlay, RunCurves

_VIOLATIONS = {"violation_position": "position:  ‖Φ‖", "violation_velocity": "velocity:  ‖dΦ/dt‖"}
# The decay line is drawn at this distance above the curve, as a fraction of the total decay in decades.
_ABOVE = 0.08


def violations(overlay: Overlay) -> Figure | None:
    """Draw the norms of the constraint violations and of their time derivatives over time, s.

    Dashed lines show the decay that the constraint stabilisation predicts (Jarzębowska et al. 2023,
    Fig. 8). The slope of a dashed line is the slow characteristic root of the stabilisation. The
    result is None if all norms are zero.
    """
    titles = {signal: title for signal, title in _VIOLATIONS.items() if _is_violated(overlay, signal)}
    if not titles:
        return None
    figure = style.new_figure(0.8 + 2.1 * len(titles))
    grid = figure.subplots(len(titles), 1, squeeze=False, sharex=True)
    slopes: list[Line2D] = []
    for axes, (signal, title) in zip(grid.flat, titles.items(), strict=True):
        for curves in overlay.curves:
            if signal in curves.run.signals:
                positive_line(
                    axes, curves.run.time, curves.run.signals[signal], {**curves.line, "label": curves.label}
                )
        if signal == "violation_position":
            slopes = _slow_slopes(axes, overlay.references)
        axes.set_title(title)
        style.log_axis(axes)
    grid.flat[-1].set_xlabel("time in s")
    overlay.legend(figure, slopes)
    return figure


def _is_violated(overlay: Overlay, signal: str) -> bool:
    return any(signal in c.run.signals and c.run.signals[signal].any() for c in overlay.references)


def _slow_slopes(axes: Axes, references: Sequence[RunCurves]) -> list[Line2D]:
    """Draw the predicted decay of each reference run's violations, and return the drawn lines.

    An exponential decay is a straight line, because the vertical axis is logarithmic. The decay rate is
    the slow characteristic root of the constraint stabilisation. The lines are shifted upwards to values
    above the violations.
    """
    slopes: dict[str, Line2D] = {}
    decays = [(curves, curves.stabilisation, curves.stabilisation.decay) for curves in references]
    top = max((decay.first for _, _, decay in decays if decay is not None), default=0.0)
    for curves, stabilisation, decay in decays:
        label = f"{stabilisation.name}, {decimal(stabilisation.slow_root, 3)} 1/s"
        if decay is None or label in slopes:
            continue
        time = curves.run.time - curves.run.time[0]
        above = (decay.first / decay.last) ** _ABOVE
        look: dict[str, Any] = {"color": style.INK, "linewidth": 1.0, "linestyle": (0, (6, 4))}
        values = above * top * np.exp(stabilisation.slow_root * time)
        (slopes[label],) = axes.plot(curves.run.time, values, label=label, **look)
    return list(slopes.values())


def errors(
    reference: Trajectory,
    runs: Sequence[Trajectory],
    comparisons: Sequence[Comparison],
    units: Mapping[str, str],
) -> Figure | None:
    """Draw the largest relative error of each run over time, s, and the tolerances.

    The result is None if there are no runs.
    """
    if not runs:
        return None
    figure = style.new_figure(3.4)
    axes = figure.subplots()
    colours = style.colours([run.name for run in runs])
    for run in runs:
        look = {"color": colours[run.name], "label": run.name}
        positive_line(axes, *error_over_time(reference, run, units), look)
    for tolerance in sorted({comparison.tolerance for comparison in comparisons}):
        tolerance_line(axes, tolerance)
    axes.set_title("largest |difference| / scale over all signals")
    axes.set_xlabel("time in s")
    style.log_axis(axes)
    style.legend_of(figure, [Line2D([], [], label=name, color=colour) for name, colour in colours.items()])
    return figure


def tolerance_line(axes: Axes, tolerance: float) -> None:
    """Draw a dashed horizontal line at the tolerance, with the number above it."""
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


def positive_line(axes: Axes, time: Array, values: Array, line: Mapping[str, Any]) -> None:
    """Draw a line with gaps at zero values, which have no logarithm."""
    axes.plot(time, style.drawable(np.where(np.abs(values) > 0, np.abs(values), np.nan)), **line)
