"""Where a point goes, against where the task wants it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...trajectory import Array, Trajectory
from . import style
from .space import Axes3D, axes_in_space, equal_scale, write_at

_PROGRAMMED: dict[str, Any] = {"color": style.INK, "linestyle": (0, (1.2, 1.6)), "linewidth": 1.3, "zorder": 4}


def point_path(
    point: str, reference: Trajectory, runs: Sequence[Trajectory], target: Array | None = None
) -> Figure | None:
    """Path of a point in space and its components over time; None if the reference has no such signals.

    Parameters:
        target  programmed positions at the reference's times, shape (N, 3), world frame, m; NaN where a component
                is free
    """
    if position(reference, point) is None:
        return None
    figure = style.new_figure(4.6)
    halves = figure.add_gridspec(1, 2, width_ratios=(1.2, 1.0))
    _in_space(axes_in_space(figure, halves[0]), point, reference, runs, target)
    axes = None
    rows = halves[1].subgridspec(3, 1)
    for k in range(3):
        axes = figure.add_subplot(rows[k], sharex=axes)
        axes.plot(reference.time, reference.signals[f"{point}_{'xyz'[k]}"], **style.reference_line())
        for run in _having(point, runs):
            axes.plot(run.time, run.signals[f"{point}_{'xyz'[k]}"], **style.run_lines(runs)[run.name])
        if target is not None and np.isfinite(target[:, k]).any():
            axes.plot(reference.time, target[:, k], **_PROGRAMMED)
        axes.set_title(f"{point}.{'xyz'[k]}  in m")
        axes.tick_params(labelbottom=k == 2)
    assert axes is not None
    axes.set_xlabel("time in s")
    style.legend(figure, runs, [] if target is None else [Line2D([], [], label="programmed", **_PROGRAMMED)])
    return figure


def position(run: Trajectory, point: str) -> Array | None:
    """Positions of a point, shape (N, 3), world frame, m; None if the run lacks a component."""
    names = [f"{point}_{axis}" for axis in "xyz"]
    return np.column_stack([run.signals[n] for n in names]) if all(n in run.signals for n in names) else None


def _having(point: str, runs: Sequence[Trajectory]) -> list[Trajectory]:
    return [run for run in runs if position(run, point) is not None]


def _in_space(
    axes: Axes3D, point: str, reference: Trajectory, runs: Sequence[Trajectory], target: Array | None
) -> None:
    there = position(reference, point)
    assert there is not None
    axes.plot(*there.T, **style.reference_line())
    for run in runs:
        positions = position(run, point)
        if positions is not None:
            axes.plot(*positions.T, **style.run_lines(runs)[run.name])
    if target is not None:
        axes.plot(*target.T, **_PROGRAMMED)
        there = np.vstack([there, target[np.isfinite(target).all(axis=1)]])
    axes.plot(*there[:1].T, "o", color=style.INK, markersize=5, zorder=5)
    write_at(axes, there[0], f"{point}, start")
    equal_scale(axes, there)
