"""Figures that compare joint forces and flexible links of cases (Jarzębowska et al. 2023, Figs. 11, 19, 20)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...analysis import poses
from ...core.trajectory import Array
from ...mechanism import signal_names
from . import style
from .beam_shape import beam_shape, flexible_links
from .load_rms import load_rms
from .loads import shared_links
from .number_text import decimal
from .overlay import Overlay, RunCurves
from .time_series import Panel, panel_grid, readable_factor, set_title

_TIMES = 4  # Flexible links are drawn at this number of equidistant times of the run.


@dataclass(frozen=True)
class BeamShapes:
    """Shapes of one flexible link at several times, in all cases in which the link is flexible.

    Attributes
    ----------
    link
        Name of the link.
    times
        Times of the shapes, s, shape (T,).
    of_case
        End positions of the rigid finite elements in the frame of the first element, m. Each case
        has one array of shape (nodes, 3) per time.
    """

    link: str
    times: Array
    of_case: Mapping[str, Sequence[Array]]


def load_bars(overlay: Overlay) -> Figure | None:
    """Draw root mean squares of axial and normal joint forces, N, as one bar per joint and case.

    The result is None if no force is known.
    """
    found = {c.label: load_rms(c.mechanism, c.run, c.stabilisation.settled) for c in overlay.references}
    joints = [link for link in shared_links(overlay) if all(link in of_case for of_case in found.values())]
    if not joints:
        return None
    colours = {curves.label: curves.line["color"] for curves in overlay.references}
    figure, grid = panel_grid(2, 1)
    for axes, part in zip(grid, ("axial", "normal"), strict=True):
        heights = {
            case: np.array([getattr(of_case[link], part) for link in joints]) for case, of_case in found.items()
        }
        doubtful = [link for link in joints if any(part in c.not_unique.get(link, ()) for c in overlay.references)]
        _bars(axes, joints, heights, colours)
        remark = f"; not unique: {', '.join(doubtful)}" if doubtful else ""
        axes.set_title(f"{part}  in N{remark}")
    style.legend_of(figure, [Line2D([], [], label=c, color=colours[c], linewidth=5) for c in found])
    return figure


def shapes_of(overlay: Overlay) -> list[BeamShapes]:
    """Return the shapes of each link that is flexible in at least one case.

    The shapes are given at evenly spaced times of the run with the fewest output times.
    """
    references = overlay.references
    links = dict.fromkeys(link for curves in references for link in flexible_links(curves.mechanism))
    shortest = min((curves.run.time for curves in references), key=len, default=np.zeros(1))
    times = shortest[np.linspace(0, len(shortest) - 1, _TIMES + 1).round().astype(int)[1:]]
    return [
        BeamShapes(
            link,
            times,
            {
                c.label: _shapes_over_time(c, link, times)
                for c in references
                if link in flexible_links(c.mechanism)
            },
        )
        for link in links
    ]


def beam_shapes(overlay: Overlay, shapes: BeamShapes) -> Figure:
    """Draw deflections along y and z, m, over the link's length, at several times."""
    figure, grid = panel_grid(2 * len(shapes.times), 2)
    flexible = overlay.where(lambda curves: curves.label in shapes.of_case)
    across_all = np.vstack([shape[:, 1:] for of_case in shapes.of_case.values() for shape in of_case])
    factor = readable_factor(float(np.abs(across_all).max()))
    for k, axes in enumerate(grid):
        sample, axis = divmod(k, 2)
        for curves in flexible.curves:
            x, *across = shapes.of_case[curves.label][sample].T
            axes.plot(x, across[axis] / factor, marker="o", markersize=3, **curves.line)
        axes.axhline(0.0, **style.reference_line())
        set_title(axes, Panel(f"t = {decimal(shapes.times[sample], 3)} s: {'yz'[axis]}", "m", ""), factor)
        if axes.get_xlabel():
            axes.set_xlabel("x in m")
    flexible.legend(figure, [Line2D([], [], label="undeformed", **style.reference_line())])
    return figure


def _shapes_over_time(curves: RunCurves, link: str, times: Array) -> list[Array]:
    samples = np.searchsorted(curves.run.time, times - 1e-9 * times[-1])
    q = curves.run.columns(signal_names(curves.mechanism.coordinates, "position"))
    return [beam_shape(curves.mechanism, poses(curves.mechanism, at), link) for at in q[samples]]


def _bars(axes: Axes, joints: Sequence[str], heights: Mapping[str, Array], colours: Mapping[str, str]) -> None:
    places, width = np.arange(len(joints)), 0.8 / len(heights)
    for k, (case, values) in enumerate(heights.items()):
        shift = (k - (len(heights) - 1) / 2) * width
        axes.bar(places + shift, values, 0.9 * width, color=colours[case], zorder=3)
    axes.set_xticks(places, joints)
    axes.tick_params(labelbottom=True)
    axes.set_xlabel("")
    axes.grid(visible=False, axis="x")
