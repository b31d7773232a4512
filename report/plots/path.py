"""Figure of a point's path in space, with the programmed path."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...core.trajectory import Array, Trajectory
from ...description.types.origin import of_point
from . import style
from .overlay import Overlay
from .space import Axes3D, axes_in_space, face, label_places
from .time_series import Panel, draw_panel

_DOWN = np.array([0.0, 0.0, -1.0])


def point_path(point: str, overlay: Overlay, gravity: Array = _DOWN, least: float = 0.0) -> Figure | None:
    """Draw a point's path in space and its components over time; None if a case lacks the point.

    Parameters
    ----------
    point
        Name of the point.
    overlay
        Runs to draw, and the programmed positions of the point; a position of NaN leaves a gap.
    gravity
        Direction that points downwards in the picture, shape (3,), world frame.
    least
        Smallest range of the axes in space, m.
    """
    paths = [path for curves in overlay.references if (path := position(curves.run, point)) is not None]
    if not paths or len(paths) < len(overlay.references):
        return None
    programmed = overlay.targets.get(point, [])
    figure, space, components = space_and_components()
    shown = np.vstack([*paths, *(path for _, path in programmed)])
    face(space, shown[np.isfinite(shown).all(axis=1)], gravity, least)
    _draw_in_space(space, point, overlay)
    for k, (axis, axes) in enumerate(zip("xyz", components, strict=True)):
        panel = Panel(f"{point}.{axis}", "m", of_point(point, "position", axis).name)
        draw_panel(axes, panel, overlay, [(time, path[:, k]) for time, path in programmed])
    handle = Line2D([], [], label="programmed", **style.programmed_line())
    overlay.legend(figure, [handle] if programmed else [])
    label_places(space, {f"{point}, start": paths[0][0]})
    return figure


def space_and_components() -> tuple[Figure, Axes3D, list[Axes]]:
    """Return a figure with three-dimensional axes and, next to these, three axes for x, y and z over time."""
    figure = style.new_figure(4.6)
    # The layout engine ignores the labels of three-dimensional axes; the middle column reserves space for them.
    columns = figure.add_gridspec(1, 3, width_ratios=(1.2, 0.16, 1.0))
    space, rows = axes_in_space(figure, columns[0]), columns[2].subgridspec(3, 1)
    components: list[Axes] = []
    for k in range(3):
        components.append(figure.add_subplot(rows[k], sharex=components[0] if k else None))
        components[k].tick_params(labelbottom=k == 2)
    components[2].set_xlabel("time in s")
    return figure, space, components


def position(run: Trajectory, point: str) -> Array | None:
    """Return the positions of a point, shape (N, 3), world frame, m; None if the run lacks x, y or z."""
    names = [of_point(point, "position", axis).name for axis in "xyz"]
    return run.columns(names) if run.signals.keys() >= set(names) else None


def _draw_in_space(axes: Axes3D, point: str, overlay: Overlay) -> None:
    for curves in overlay.curves:
        path = position(curves.run, point)
        if path is not None:
            axes.plot(*_within(axes, path).T, **curves.line)
    for _, path in overlay.targets.get(point, []):
        axes.plot(*path.T, **style.programmed_line())
    for curves in overlay.references:
        path = position(curves.run, point)
        assert path is not None
        axes.plot(*path[:1].T, "o", color=style.INK, markersize=5, zorder=5)


def _within(axes: Axes3D, positions: Array) -> Array:
    """Return the positions with NaN in place of points outside of the axes' limits.

    The gaps are necessary, because matplotlib does not clip lines in three-dimensional axes.
    """
    low, high = np.transpose([axes.get_xlim(), axes.get_ylim(), axes.get_zlim()])
    inside = np.all((positions >= low) & (positions <= high), axis=1, keepdims=True)
    return np.where(inside, positions, np.nan)
