"""Figure of a point's path against its target path."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...core.trajectory import Array, Trajectory
from ...description.types.origin import of_point
from . import style
from .space import Axes3D, axes_in_space, face, label_places
from .time_series import Panel, draw_panel

_DOWN = np.array([0.0, 0.0, -1.0])


def point_path(
    point: str,
    reference: Trajectory,
    runs: Sequence[Trajectory],
    target: Array | None = None,
    gravity: Array = _DOWN,
    least: float = 0.0,
) -> Figure | None:
    """Path of a point in space and its components over time; None if the reference has no such signals.

    Parameters:
        target   programmed positions at the reference's times, shape (N, 3), world frame, m; NaN leaves a gap
        gravity  shape (3,), world frame: what is down in the picture
        least    m: what the axes in space show at least
    """
    if position(reference, point) is None:
        return None
    figure, space, components = space_and_components()
    start = _in_space(space, point, reference, runs, target, gravity, least)
    for k, (axis, axes) in enumerate(zip("xyz", components, strict=True)):
        panel = Panel(f"{point}.{axis}", "m", of_point(point, "position", axis).name)
        draw_panel(axes, panel, reference, runs, None if target is None else target[:, k])
    programmed = Line2D([], [], label="programmed", **style.programmed_line())
    style.legend(figure, runs, [] if target is None else [programmed])
    label_places(space, {f"{point}, start": start})
    return figure


def space_and_components() -> tuple[Figure, Axes3D, list[Axes]]:
    """A figure with axes in space, and beside them some for x, y and z over time."""
    figure = style.new_figure(4.6)
    # The middle column is for the labels of the axes in space, which the layout does not know of.
    columns = figure.add_gridspec(1, 3, width_ratios=(1.2, 0.16, 1.0))
    space, rows = axes_in_space(figure, columns[0]), columns[2].subgridspec(3, 1)
    components: list[Axes] = []
    for k in range(3):
        components.append(figure.add_subplot(rows[k], sharex=components[0] if k else None))
        components[k].tick_params(labelbottom=k == 2)
    components[2].set_xlabel("time in s")
    return figure, space, components


def position(run: Trajectory, point: str) -> Array | None:
    """Positions of a point, shape (N, 3), world frame, m; None if the run lacks a component."""
    names = [of_point(point, "position", axis).name for axis in "xyz"]
    return run.columns(names) if run.signals.keys() >= set(names) else None


def _in_space(
    axes: Axes3D,
    point: str,
    reference: Trajectory,
    runs: Sequence[Trajectory],
    target: Array | None,
    gravity: Array,
    least: float,
) -> Array:
    """Draw the paths in space, and return the point's initial position, shape (3,), m."""
    there = position(reference, point)
    assert there is not None
    axes.plot(*there.T, **style.reference_line())
    shown = there if target is None else np.vstack([there, target[np.isfinite(target).all(axis=1)]])
    face(axes, shown, gravity, least)
    for run in runs:
        positions = position(run, point)
        if positions is not None:
            axes.plot(*_within(axes, positions).T, **style.run_lines(runs)[run.name])
    if target is not None:
        axes.plot(*target.T, **style.programmed_line())
    axes.plot(*there[:1].T, "o", color=style.INK, markersize=5, zorder=5)
    return np.asarray(there[0])


def _within(axes: Axes3D, positions: Array) -> Array:
    """Positions, with gaps where a run leaves the box; lines in space are not cut off at its walls."""
    low, high = np.transpose([axes.get_xlim(), axes.get_ylim(), axes.get_zlim()])
    inside = np.all((positions >= low) & (positions <= high), axis=1, keepdims=True)
    return np.where(inside, positions, np.nan)
