"""Coordinates and efforts over time: panels in which the runs lie on the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...core.trajectory import Array, Trajectory
from ...mechanism import Coordinate, Mechanism
from ...runs.compare.scales import scales
from . import style
from .number_text import unit_text

_MOST_ELEMENTS = 6  # per beam


@dataclass(frozen=True)
class Panel:
    """One pair of axes: what it shows, in which unit, and the signal."""

    title: str
    unit: str
    signal: str


def joint_coordinates(mechanism: Mechanism, reference: Trajectory, runs: Sequence[Trajectory]) -> Figure | None:
    """Coordinates of the joints, rad or m, over time in s; None if there are none."""
    coordinates = of_role(mechanism, "joint")
    return draw(panels_of(coordinates), columns_for(coordinates), reference, runs) if coordinates else None


def elastic_coordinates(mechanism: Mechanism, reference: Trajectory, runs: Sequence[Trajectory]) -> Figure | None:
    """Angles between rigid finite elements, rad, a row per element; None if no link bends.

    Of a beam of many elements some are drawn, the first and the last one among them.
    """
    beams: dict[str, list[Coordinate]] = {}
    for coordinate in of_role(mechanism, "elastic"):
        beams.setdefault(coordinate.owner, []).append(coordinate)
    chosen = [coordinate for beam in beams.values() for coordinate in _some_elements(beam)]
    return draw(panels_of(chosen), 3, reference, runs) if chosen else None


def base_motion(mechanism: Mechanism, reference: Trajectory, runs: Sequence[Trajectory]) -> Figure | None:
    """Translations, m, and rotations, rad, of the base; None if there is no base or it cannot move."""
    coordinates = [] if mechanism.base_fixed else of_role(mechanism, "base")
    translations = [c for c in coordinates if c.unit == "m"]
    rotations = [c for c in coordinates if c.unit == "rad"]
    beside = [c for pair in zip(translations, rotations, strict=True) for c in pair]
    return draw(panels_of(beside), 2, reference, runs) if beside else None


def driving_efforts(mechanism: Mechanism, reference: Trajectory, runs: Sequence[Trajectory]) -> Figure | None:
    """Figure of driving efforts that the constraints require, N·m or N, over time; None without constraints."""
    driven = [c for c in of_role(mechanism, "joint") if c.signal("effort").name in reference.signals]
    panels = [Panel(c.name, c.effort_unit, c.signal("effort").name) for c in driven]
    return draw(panels, columns_for(driven), reference, runs) if panels else None


def expressions(mechanism: Mechanism, reference: Trajectory, runs: Sequence[Trajectory]) -> Figure | None:
    """The description's own outputs; None without any."""
    wanted = mechanism.chain.outputs.expressions
    panels = [Panel(name, quantity.unit or "", name) for name, quantity in wanted.items()]
    return draw(panels, 1 if len(panels) < 4 else 2, reference, runs) if panels else None


def draw(panels: Sequence[Panel], columns: int, reference: Trajectory, runs: Sequence[Trajectory]) -> Figure:
    """Panels row by row, with common time axis and legend."""
    figure, grid = panel_grid(len(panels), columns)
    for axes, panel in zip(grid, panels, strict=True):
        draw_panel(axes, panel, reference, runs)
    style.legend(figure, runs)
    return figure


def panel_grid(count: int, columns: int) -> tuple[Figure, list[Axes]]:
    """A figure with so many axes, row by row, that share the time axis."""
    rows = -(-count // columns)
    figure = style.new_figure(0.7 + 1.65 * rows)
    cells = list(figure.subplots(rows, columns, squeeze=False, sharex=True).flat)
    for axes in cells[count:]:
        axes.set_axis_off()
    for axes in cells[:count][-columns:]:
        axes.set_xlabel("time in s")
        axes.tick_params(labelbottom=True)
    return figure, cells[:count]


def draw_panel(
    axes: Axes,
    panel: Panel,
    reference: Trajectory,
    runs: Sequence[Trajectory],
    programmed: Array | None = None,
) -> None:
    """Reference, runs on it, and programmed values at the reference's times, shape (N,), in the signal's unit."""
    wanted = reference.signals[panel.signal]
    height, lines = natural_height(panel, reference), style.run_lines(runs)
    factor = readable_factor(max(float(np.nanmax(np.abs(wanted))), height))
    axes.plot(reference.time, wanted / factor, **style.reference_line())
    for run in runs:
        if panel.signal in run.signals:
            axes.plot(run.time, style.drawable(run.signals[panel.signal] / factor), **lines[run.name])
    if programmed is not None:
        axes.plot(reference.time, programmed / factor, **style.programmed_line())
        wanted = np.append(wanted, programmed)
    stay_near(axes, wanted / factor, height / factor)
    set_title(axes, panel, factor)


def set_title(axes: Axes, panel: Panel, factor: float) -> None:
    """Set the panel's title with its unit, times the factor that its values were divided by."""
    power = "" if factor == 1.0 else style.power_of_ten(factor) + " "
    unit = f"{power}{unit_text(panel.unit)}".strip()
    axes.set_title(f"{panel.title}  in {unit}" if unit else panel.title)


def natural_height(panel: Panel, reference: Trajectory) -> float:
    """Least range of the vertical axis, in the signal's unit, which hides rounding (see `scales`)."""
    signal = panel.signal
    found = scales({signal: reference.signals[signal]}, {signal: panel.unit}, reference.natural)
    return found.get(signal, 0.0)


def stay_near(axes: Axes, wanted: Array, height: float, margin: float = 1.0) -> None:
    """Limits of the vertical axis.

    No farther from the wanted values than so many of their ranges: what has diverged must not flatten the rest;
    and no less than a height in all.
    """
    low, high = float(np.nanmin(wanted)), float(np.nanmax(wanted))
    bottom, top = axes.get_ylim()
    room = margin * max(high - low, height)
    if not room:
        return
    bottom, top = max(bottom, low - room), min(top, high + room)
    lacking = max(height - (top - bottom), 0.0) / 2
    axes.set_ylim(bottom - lacking, top + lacking)


def of_role(mechanism: Mechanism, role: str) -> list[Coordinate]:
    """Coordinates of the base, of the joints or of the elastic elements, in order."""
    return [coordinate for coordinate in mechanism.coordinates if coordinate.role == role]


def panels_of(coordinates: Sequence[Coordinate]) -> list[Panel]:
    """A panel for each coordinate."""
    return [Panel(c.name, c.unit, c.symbol) for c in coordinates]


def columns_for(coordinates: Sequence[Coordinate]) -> int:
    """Number of panels side by side."""
    return 1 if len(coordinates) <= 3 else 2 if len(coordinates) <= 10 else 3


def _some_elements(beam: Sequence[Coordinate]) -> list[Coordinate]:
    elements = list(dict.fromkeys(c.element for c in beam))
    spread = np.linspace(0, len(elements) - 1, min(len(elements), _MOST_ELEMENTS)).round().astype(int)
    kept = {elements[k] for k in spread}
    return [c for c in beam if c.element in kept]


def readable_factor(largest: float) -> float:
    """Power of 1000 that brings small and large values near 1."""
    return 1.0 if largest == 0 or 0.1 <= largest < 1e4 else float(10.0 ** (3 * np.floor(np.log10(largest) / 3)))
