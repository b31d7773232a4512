"""Figures that show an objective as a curve over one varied key, or as a contour map over two varied keys."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import AbstractPathEffect, withStroke
from matplotlib.tri import Triangulation
from numpy.typing import NDArray
from scipy.spatial import Delaunay, QhullError

from ...core.trajectory import Array
from ..plots.style import BLUE, INK, PAPER, new_figure
from .content import Content, ExtremeRuns

_MOST = 5000  # A map, i.e. a diagram of an objective over two varied keys, shows at most this number of runs.
_LEVELS = 12
_FLAT = 1e-9  # An objective counts as constant if its range is below this fraction of its magnitude.
ORANGE, GREEN = "#d55e00", "#009e73"
COLOURS = {"best": GREEN, "worst": ORANGE, "largest": ORANGE, "smallest": BLUE}


def curve(content: Content, name: str) -> Figure | None:
    """Draw an objective over the only varied key; failed runs are crosses at the bottom."""
    ((key, x),) = content.numeric().items()
    order, values = np.argsort(x, kind="stable"), np.where(np.isfinite(content.objectives[name]), 1.0, np.nan)
    values = values * content.objectives[name]
    if np.all(np.isnan(values)):
        return None
    figure = new_figure(3.2)
    axes = figure.subplots()
    axes.plot(x[order], values[order], "-", marker=".", color=BLUE, markersize=4, linewidth=1.2)
    failed = np.isnan(values)
    if failed.any():
        bottom = np.full(np.count_nonzero(failed), np.nanmin(values))
        axes.plot(x[failed], bottom, "x", color=INK, markersize=5, label="failed")
    _mark_ends(axes, content, name, x, values)
    axes.set(xlabel=key, ylabel=name)
    figure.legend(loc="outside upper left", ncols=4)
    return figure


def contour_map(content: Content, name: str) -> Figure | None:
    """Draw an objective over two varied keys as a coloured map with contours.

    The map interpolates linearly between neighbouring runs. It is empty next to failed runs.
    """
    (first, x), (second, y) = content.numeric().items()
    chosen = np.unique(np.linspace(0, len(x) - 1, _MOST).round().astype(int))
    x, y, values = x[chosen], y[chosen], content.objectives[name][chosen]
    ran = np.isfinite(values)
    surface = _triangulation(x, y, ran)
    if surface is None or np.ptp(values[ran]) <= _FLAT * np.abs(values[ran]).max():
        return None
    figure = new_figure(4.4)
    axes = figure.subplots()
    axes.grid(visible=False)
    shown = np.where(ran, values, np.mean(values[ran]))
    colours = axes.tricontourf(surface, shown, _LEVELS, cmap="cividis")
    lines = axes.tricontour(surface, shown, np.asarray(colours.levels), colors=INK, linewidths=0.6)
    edge: list[AbstractPathEffect] = [withStroke(linewidth=2.5, foreground=PAPER)]
    for text in axes.clabel(lines, fontsize=8, fmt="%.6g"):
        text.set_path_effects(edge)
    axes.plot(x[ran], y[ran], ".", color=INK, markersize=3, alpha=0.6, clip_on=False)
    if not ran.all():
        axes.plot(x[~ran], y[~ran], "x", color=ORANGE, markersize=5, label="failed", clip_on=False)
    _mark_ends(axes, content, name, *content.numeric().values())
    axes.set(xlabel=first, ylabel=second)
    axes.margins(0.03)
    figure.colorbar(colours, ax=axes, label=name, pad=0.02)
    figure.legend(loc="outside upper left", ncols=4)
    return figure


def _mark_ends(axes: Axes, content: Content, name: str, x: Array, y: Array) -> None:
    for end, marker in zip(content.ends(name), ("v", "*"), strict=False):
        (run,) = end.runs(name, 1)
        style: dict[str, Any] = {"markersize": 12, "markeredgecolor": PAPER, "clip_on": False, "zorder": 5}
        style |= {"color": COLOURS[end.word], "linestyle": "none", "label": _label(end, run)}
        axes.plot(x[run], y[run], marker, **style)


def _label(end: ExtremeRuns, run: int) -> str:
    return f"{end.word} run ({run})" if end.has_goal else f"{end.word} value (run {run})"


def _triangulation(x: Array, y: Array, ran: NDArray[np.bool_]) -> Triangulation | None:
    """Return a triangulation of the points that represent runs.

    The coordinates of a point are the values of two varied keys. Triangles with a failed
    run are hidden. The result is None if no triangle remains.
    """
    scaled = np.column_stack([(values - values.min()) / np.ptp(values) for values in (x, y)])
    try:
        triangles = Delaunay(scaled).simplices
    except QhullError:  # All points lie on one line, so there are no triangles.
        return None
    hidden = ~ran[triangles].all(axis=1)
    return None if hidden.all() else Triangulation(x, y, triangles, hidden)
