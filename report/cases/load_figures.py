"""Figures of the joint reactions and flexible links' shapes, all cases (Jarzębowska et al. 2023, Figs. 10–20)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...core.trajectory import Array
from ..plots import style
from ..plots.gallery import Picture, drawn
from ..plots.loads import is_doubtful, loaded_links, magnitude
from ..plots.number_text import decimal
from ..plots.time_series import Panel, panel_grid, readable_factor, set_title
from .figures import Curve, Runs, case_lines, handles, overlay
from .load_rms import load_rms
from .outcome import CaseRun


@dataclass(frozen=True)
class Shapes:
    """A flexible link at some times, in the cases in which it is flexible.

    times    s, shape (T,)
    of_case  case → shape at each time, (nodes, 3), m, in the frame of the link's first element
    """

    link: str
    times: Array
    of_case: Mapping[str, Sequence[Array]]


def load_pictures(runs: Runs, shapes: Sequence[Shapes]) -> Iterator[Picture]:
    """Forces over time, their axial and normal components' root mean squares, shapes of flexible links."""
    forces = (
        "joint_forces",
        "Forces in the joints",
        "Magnitude of the force that each joint transmits. The jerk that puts the end effector on its way back to"
        " the path, right after the start, leaves the picture.",
        partial(joint_forces, runs),
    )
    bars = (
        "load_rms",
        "Axial and normal forces",
        "Root mean square over the run of the force along the joint's axis and of the force across it, without the"
        " jerk right after the start.",
        partial(load_bars, runs),
    )
    return drawn([forces, bars, *(_shape_entry(runs, shape) for shape in shapes)])


def shared_links(runs: Runs) -> list[str]:
    """Links whose joint loads are among the signals of all cases, in the order of the first one."""
    loaded = [loaded_links(run.mechanism, run.reference) for run in runs]
    return [link for link in loaded[0] if all(link in links for links in loaded)] if loaded else []


def joint_forces(runs: Runs) -> Figure | None:
    """Magnitudes of the joints' forces, N, over time, s (Jarzębowska et al. 2023, Fig. 10), or None."""
    links = shared_links(runs)
    panels = [Panel(_title(runs, link), "N", link) for link in links]

    def force(run: CaseRun, link: str) -> Curve:
        return run.reference.time, magnitude(run.reference, link, "force")

    return overlay(panels, 1 if len(links) <= 3 else 2, runs, case_lines(runs), force, lambda run: run.settled)


def _title(runs: Runs, link: str) -> str:
    doubtful = any(is_doubtful(run.not_unique.get(link, ()), "force") for run in runs)
    return f"{link}, not unique" if doubtful else link


def load_bars(runs: Runs) -> Figure | None:
    """RMS of axial and normal forces, N, bars per joint and case (Jarzębowska et al. 2023, Figs. 11, 20)."""
    found = {run.case: load_rms(run) for run in runs}
    joints = [link for link in shared_links(runs) if all(link in of_case for of_case in found.values())]
    if not joints:
        return None
    figure, grid = panel_grid(2, 1)
    for axes, part in zip(grid, ("axial", "normal"), strict=True):
        heights = {
            case: np.array([getattr(of_case[link], part) for link in joints]) for case, of_case in found.items()
        }
        doubtful = [link for link in joints if any(part in run.not_unique.get(link, ()) for run in runs)]
        _bars(axes, joints, heights, runs)
        remark = f"; not unique: {', '.join(doubtful)}" if doubtful else ""
        axes.set_title(f"{part}  in N{remark}")
    lines = case_lines(runs)
    style.legend_of(figure, [Line2D([], [], label=c, color=lines[c]["color"], linewidth=5) for c in found])
    return figure


def beam_shapes(runs: Runs, shapes: Shapes) -> Figure:
    """Deflections along y and z, m, over the link's length, by time (Jarzębowska et al. 2023, Fig. 19)."""
    figure, grid = panel_grid(2 * len(shapes.times), 2)
    flexible = [run for run in runs if run.case in shapes.of_case]
    lines = case_lines(runs)
    every = np.vstack([shape[:, 1:] for of_case in shapes.of_case.values() for shape in of_case])
    factor = readable_factor(float(np.abs(every).max()))
    for k, axes in enumerate(grid):
        sample, axis = divmod(k, 2)
        for run in flexible:
            x, *across = shapes.of_case[run.case][sample].T
            axes.plot(x, across[axis] / factor, marker="o", markersize=3, **lines[run.case])
        axes.axhline(0.0, **style.reference_line())
        set_title(axes, Panel(f"t = {decimal(shapes.times[sample], 3)} s: {'yz'[axis]}", "m", ""), factor)
        if axes.get_xlabel():
            axes.set_xlabel("x in m")
    undeformed = Line2D([], [], label="undeformed", **style.reference_line())
    style.legend_of(figure, [undeformed, *handles(flexible, lines)])
    return figure


def _shape_entry(runs: Runs, shapes: Shapes) -> tuple[str, str, str, partial[Figure]]:
    caption = "Deflections in the frame of its first element; dots lie between rigid finite elements."
    return f"shape_{shapes.link}", f"Deformed {shapes.link}", caption, partial(beam_shapes, runs, shapes)


def _bars(axes: Axes, joints: Sequence[str], heights: Mapping[str, Array], runs: Runs) -> None:
    places, width = np.arange(len(joints)), 0.8 / len(heights)
    for k, (case, values) in enumerate(heights.items()):
        colour = case_lines(runs)[case]["color"]
        axes.bar(places + (k - (len(heights) - 1) / 2) * width, values, 0.9 * width, color=colour, zorder=3)
    axes.set_xticks(places, joints)
    axes.tick_params(labelbottom=True)
    axes.set_xlabel("")
    axes.grid(visible=False, axis="x")
