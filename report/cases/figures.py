"""All cases of a study in one figure each, as in Jarzębowska et al. 2020 and 2023."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...core.trajectory import Array
from ...mechanism import Coordinate
from ...runs.compare.compare import on_common_grid
from ..plots import style
from ..plots.gallery import Picture, drawn
from ..plots.number_text import decimal
from ..plots.path import position, space_and_components
from ..plots.space import Axes3D, face, label_places
from ..plots.time_series import (
    Panel,
    columns_for,
    of_role,
    panel_grid,
    panels_of,
    readable_factor,
    set_title,
    stay_near,
)
from .outcome import CaseRun

Runs = Sequence[CaseRun]
Targets = Mapping[str, Array]  # case → programmed positions of a point, shape (N, 3), m
Curve = tuple[Array, Array]  # times, s, and values, both of shape (N,)
CurveOf = Callable[[CaseRun, str], Curve]  # of a signal

# Where cases coincide, the later ones show the earlier ones through their gaps.
_DASHES: tuple[Any, ...] = ("solid", (0, (5, 1.6)), (0, (2.6, 1.6)), (0, (1.2, 1)), (0, (6, 1.5, 1.2, 1.5)))
_WIDTHS = (2.6, 1.8)  # of the first case, of all others
_ABOVE = 0.08  # of the decades that violations go through: how far the slope lies above them


def motion_pictures(runs: Runs, targets: Mapping[str, Targets]) -> Iterator[Picture]:
    """Joints, points, base and efforts of all cases; targets: point → case → programmed positions."""
    points = runs[0].mechanism.points if runs else ()
    paths = [_path_entry(point, runs, targets.get(point, {})) for point in points]
    joints = (
        "joint_coordinates",
        "Joint coordinates",
        "Those that all cases have.",
        partial(joint_coordinates, runs),
    )
    base = (
        "base_motion",
        "Motion of the base",
        "Displacement and angles since the start, of the cases whose base can move.",
        partial(base_motion, runs),
    )
    efforts = (
        "driving_efforts",
        "Driving efforts",
        "What the joints' drives must exert so that the task is fulfilled, on top of the applied forces. The jerk"
        " that puts the end effector on its way back to the path, right after the start, leaves the picture.",
        partial(driving_efforts, runs),
    )
    return drawn([joints, *paths, base, efforts])


def difference_pictures(runs: Runs) -> Iterator[Picture]:
    """Figure of the differences that the cases cause in the motion of the joints."""
    caption = f"Each case minus {runs[0].case}." if runs else ""
    entry = (
        "joint_differences",
        "Differences of the joint coordinates",
        caption,
        partial(joint_differences, runs),
    )
    return drawn([entry])


def violation_pictures(runs: Runs) -> Iterator[Picture]:
    """Figure of the decay of constraint violations."""
    caption = (
        "Euclidean norm over all constraint rows, logarithmic. Stabilised constraints fall along the dashed slope"
        " until rounding and the solver's tolerance stop them. Zeros leave gaps."
    )
    return drawn([("violations", "Constraint violation", caption, partial(violations, runs))])


def shared_coordinates(runs: Runs, role: str) -> list[Coordinate]:
    """Coordinates of a role, base, joint or elastic, that all cases have, in the order of the first one."""
    owned = [{(c.symbol, c.unit) for c in of_role(run.mechanism, role)} for run in runs]
    common = set.intersection(*owned) if owned else set()
    return [c for c in of_role(runs[0].mechanism, role) if (c.symbol, c.unit) in common] if common else []


def case_lines(runs: Runs) -> dict[str, dict[str, Any]]:
    """Line style of each case, the same in all figures: for eight cases a colour, for forty one with dashes."""
    return {
        run.case: {
            "color": style.COLOURS[k % len(style.COLOURS)],
            "linestyle": _DASHES[k % len(_DASHES)],
            "linewidth": _WIDTHS[min(k, 1)],
            "zorder": 3 + k / len(runs),
        }
        for k, run in enumerate(runs)
    }


def joint_coordinates(runs: Runs) -> Figure | None:
    """Joint coordinates of all cases, rad or m, over time in s (Jarzębowska et al. 2023, Fig. 9)."""
    coordinates = shared_coordinates(runs, "joint")
    return overlay(panels_of(coordinates), columns_for(coordinates), runs, case_lines(runs))


def joint_differences(runs: Runs) -> Figure | None:
    """Joint coordinates of each case minus those of the first case; None if there is only one case."""
    if len(runs) < 2:
        return None
    coordinates = shared_coordinates(runs, "joint")
    first, *others = runs

    def difference(run: CaseRun, signal: str) -> Curve:
        grid = on_common_grid(first.reference, run.reference)
        return grid.time, grid.run[signal] - grid.reference[signal]

    return overlay(panels_of(coordinates), columns_for(coordinates), others, case_lines(runs), difference)


def base_motion(runs: Runs) -> Figure | None:
    """Changes of translation, m, and rotation, rad, of the bases that can move; None if there are none."""
    moving = [run for run in runs if not run.mechanism.base_fixed]
    coordinates = shared_coordinates(moving, "base")
    beside = [c for pair in zip(coordinates[:3], coordinates[3:], strict=True) for c in pair]
    return overlay(panels_of(beside), 2, moving, case_lines(runs), _since_start)


def driving_efforts(runs: Runs) -> Figure | None:
    """Driving efforts that the constraints require, N·m or N; None without constraints in common."""
    driven = [
        c
        for c in shared_coordinates(runs, "joint")
        if all(c.signal("effort").name in run.reference.signals for run in runs)
    ]
    panels = [Panel(c.name, c.effort_unit, c.signal("effort").name) for c in driven]
    return overlay(panels, columns_for(driven), runs, case_lines(runs), matters=lambda run: run.settled)


def violations(runs: Runs) -> Figure | None:
    """‖Φ‖ of all cases, logarithmic, with slopes of the slow roots (Jarzębowska et al. 2023, Fig. 8), or None."""
    constrained = [run for run in runs if _violated(run).any()]
    if not constrained:
        return None
    figure, lines = style.new_figure(4.2), case_lines(runs)
    axes = figure.subplots()
    for run in constrained:
        values = _violated(run)
        axes.plot(run.reference.time, np.where(values > 0, values, np.nan), **lines[run.case])
    slopes = _slow_slopes(axes, constrained)
    axes.set_title("‖Φ‖")
    axes.set_xlabel("time in s")
    style.log_axis(axes)
    style.legend_of(figure, [*handles(constrained, lines), *slopes])
    return figure


def point_path(point: str, runs: Runs, targets: Targets) -> Figure | None:
    """Path of a point and its components over time (Jarzębowska et al. 2023, Fig. 7); None if a case lacks it.

    Parameters:
        targets  case → programmed positions at the times of its reference, shape (N, 3), world frame, m
    """
    paths = {run.case: path for run in runs if (path := position(run.reference, point)) is not None}
    if len(paths) < len(runs):
        return None
    (figure, space, components), lines = space_and_components(), case_lines(runs)
    _in_space(space, runs, paths, targets)
    for k, (axis, axes) in enumerate(zip("xyz", components, strict=True)):
        for run in runs:
            axes.plot(run.reference.time, paths[run.case][:, k], **lines[run.case])
            if run.case in targets:
                axes.plot(run.reference.time, targets[run.case][:, k], **style.reference_line())
        set_title(axes, Panel(f"{point}.{axis}", "m", f"{point}_{axis}"), 1.0)
    programmed = [Line2D([], [], label="programmed", **style.reference_line())] if targets else []
    style.legend_of(figure, [*programmed, *handles(runs, lines)])
    label_places(space, {point: next(iter(paths.values()))[0]})
    return figure


def _path_entry(point: str, runs: Runs, targets: Targets) -> tuple[str, str, str, Callable[[], Figure | None]]:
    caption = "In space, with equal scales, and by components; dots mark the start."
    draw = partial(point_path, point, runs, targets)
    return f"path_{point}", f"Path of point {point}", caption + (" Grey: programmed." if targets else ""), draw


def _of_signal(run: CaseRun, signal: str) -> Curve:
    return run.reference.time, run.reference.signals[signal]


def _since_start(run: CaseRun, signal: str) -> Curve:
    time, values = _of_signal(run, signal)
    return time, values - values[0]


def overlay(
    panels: Sequence[Panel],
    columns: int,
    runs: Runs,
    lines: Mapping[str, Mapping[str, Any]],
    curve: CurveOf = _of_signal,
    matters: Callable[[CaseRun], float] = lambda run: -np.inf,
) -> Figure | None:
    """A panel per signal with a curve per case; the scale fits what comes after the time that matters, s."""
    if not panels:
        return None
    figure, grid = panel_grid(len(panels), columns)
    for axes, panel in zip(grid, panels, strict=True):
        curves = {run.case: curve(run, panel.signal) for run in runs}
        wanted = np.concatenate([_after(*curves[run.case], matters(run)) for run in runs])
        factor = readable_factor(float(np.max(np.abs(wanted))))
        for case, (time, values) in curves.items():
            axes.plot(time, values / factor, **lines[case])
        stay_near(axes, wanted / factor, 0.0, margin=0.08)
        set_title(axes, panel, factor)
    style.legend_of(figure, handles(runs, lines))
    return figure


def _after(time: Array, values: Array, begin: float) -> Array:
    """Values from a time on, s; all of them if that is too late."""
    return values[time >= begin] if time[-1] >= begin else values


def handles(runs: Runs, lines: Mapping[str, Mapping[str, Any]]) -> list[Line2D]:
    """Legend entries of the cases."""
    return [Line2D([], [], label=run.case, **lines[run.case]) for run in runs]


def _violated(run: CaseRun) -> Array:
    return run.reference.signals.get("violation_position", np.zeros_like(run.reference.time))


def _slow_slopes(axes: Axes, runs: Runs) -> list[Line2D]:
    """Draw a line with the slope of each slow root above the decaying cases, and return the lines."""
    slopes: dict[str, Line2D] = {}
    for run in runs:
        decay, label = run.decay, f"slow root of Baumgarte, {decimal(run.slow_root, 3)} 1/s"
        if decay is None or label in slopes:
            continue
        time = run.reference.time - run.reference.time[0]
        top = max(other.decay.first for other in runs if other.decay is not None)
        above = (decay.first / decay.last) ** _ABOVE
        line: dict[str, Any] = {"color": style.INK, "linewidth": 1.0, "linestyle": (0, (6, 4))}
        (slopes[label],) = axes.plot(
            run.reference.time, above * top * np.exp(run.slow_root * time), label=label, **line
        )
    return list(slopes.values())


def _in_space(axes: Axes3D, runs: Runs, paths: Mapping[str, Array], targets: Targets) -> None:
    lines = case_lines(runs)
    for target in targets.values():
        axes.plot(*target.T, **style.reference_line())
    for case, path in paths.items():
        axes.plot(*path.T, **lines[case])
        axes.plot(*path[:1].T, "o", color=lines[case]["color"], markersize=4, zorder=5)
    reached = np.vstack([*paths.values(), *targets.values()])
    reached = reached[np.isfinite(reached).all(axis=1)]
    face(axes, reached, runs[0].mechanism.gravity)
