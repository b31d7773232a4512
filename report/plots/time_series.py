"""Figures of coordinates and efforts over time, with the curves of all runs in the same axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...core.trajectory import Array, Magnitude
from ...mechanism import Coordinate
from ...runs.compare.compare import on_common_grid
from ...runs.compare.scales import scales
from . import style
from .number_text import decimal, unit_text
from .overlay import Overlay, RunCurves

_MOST_ELEMENTS = 6  # Largest number of rigid finite elements of one beam that a figure shows.
# Margin of the vertical axis on each side, as a fraction of the range of the reference runs.
# With this margin, the reference runs fill at least 1/(1 + 2 · 0.3) = 62 % of the axis.
ROOM = 0.3
_FLAT = 1e-6  # A signal counts as constant if its range, relative to its natural magnitude, is below this value.
_ZERO = 1e-9  # A constant signal counts as zero below this fraction of the signal's natural magnitude.
_TRANSIENT_ROOM = 0.08  # Axis margin as a fraction of the range, if the initial transient is left out.


@dataclass(frozen=True)
class Panel:
    """Title, unit and signal name of a diagram that shows one signal over time."""

    title: str
    unit: str
    signal: str


def joint_coordinates(overlay: Overlay) -> Figure | None:
    """Draw the joint coordinates that all cases have, rad or m, over time, s.

    The result is None if there are no such coordinates.
    """
    coordinates = overlay.shared_coordinates("joint")
    return draw(panels_of(coordinates), columns_for(coordinates), overlay)


def joint_differences(overlay: Overlay) -> Figure | None:
    """Draw the differences of the joint coordinates between each case and the first case.

    The result is None for a single case.
    """
    if not overlay.compares_cases:
        return None
    first, *others = overlay.references
    coordinates = overlay.shared_coordinates("joint")
    differences = Overlay(tuple(_difference(first, curves, coordinates) for curves in others))
    return draw(panels_of(coordinates), columns_for(coordinates), differences)


def elastic_coordinates(overlay: Overlay) -> Figure | None:
    """Draw the angles between rigid finite elements, rad, with one row per element.

    The result is None if no link is flexible. For a beam of many elements, the figure shows only some
    elements, among them the first and the last.
    """
    beams: dict[str, list[Coordinate]] = {}
    for coordinate in overlay.shared_coordinates("elastic"):
        beams.setdefault(coordinate.owner, []).append(coordinate)
    chosen = [coordinate for beam in beams.values() for coordinate in _some_elements(beam)]
    return draw(panels_of(chosen), 3, overlay)


def base_motion(overlay: Overlay) -> Figure | None:
    """Draw translations, m, and rotations, rad, of all movable bases; return None if there are none.

    If several cases are compared, the initial values are subtracted, because they depend on the
    supports of each case.
    """
    moving = overlay.where(lambda curves: not curves.mechanism.base_fixed)
    coordinates = moving.shared_coordinates("base")
    if overlay.compares_cases:
        moving = moving.with_signals(
            lambda curves: {c.symbol: _since_start(curves.run.signals[c.symbol]) for c in coordinates}
        )
    translations = [c for c in coordinates if c.unit == "m"]
    rotations = [c for c in coordinates if c.unit == "rad"]
    side_by_side = [c for pair in zip(translations, rotations, strict=True) for c in pair]
    return draw(panels_of(side_by_side), 2, moving)


def driving_efforts(overlay: Overlay) -> Figure | None:
    """Draw the driving efforts that the constraints require, N·m or N, over time.

    The result is None without constraints.
    """
    efforts = {c.name: c.signal("effort").name for c in overlay.shared_coordinates("joint")}
    driven = [c for c in overlay.shared_coordinates("joint") if overlay.all_have(efforts[c.name])]
    panels = [Panel(c.name, c.effort_unit, efforts[c.name]) for c in driven]
    return draw(panels, columns_for(driven), overlay, after_transient=True)


def expressions(overlay: Overlay) -> Figure | None:
    """Draw outputs that are defined by expressions and exist in all cases; return None without outputs."""
    requested = {
        name: quantity.unit or ""
        for curves in overlay.references[:1]
        for name, quantity in curves.mechanism.chain.outputs.expressions.items()
    }
    return _draw_shared(requested, overlay)


def controllers(overlay: Overlay) -> Figure | None:
    """Draw outputs, terms and states of the controllers that all cases have.

    Terms are the proportional, integral and derivative parts of an output. The result is None
    without controllers.
    """
    published = {
        measure.signal.name: measure.unit
        for curves in overlay.references[:1]
        for element in curves.mechanism.elements
        if not element.exerts_force
        for measure in element.signals.values()
    }
    return _draw_shared(published, overlay)


def _draw_shared(units: Mapping[str, str], overlay: Overlay) -> Figure | None:
    """Draw signals that exist in all cases, each in its unit; return None if there are none."""
    panels = [Panel(name, unit, name) for name, unit in units.items() if overlay.all_have(name)]
    return draw(panels, 1 if len(panels) < 4 else 2, overlay)


def draw(
    panels: Sequence[Panel], columns: int, overlay: Overlay, *, after_transient: bool = False
) -> Figure | None:
    """Draw diagrams row by row with a common time axis and one legend; return None without diagrams.

    Parameters
    ----------
    panels
        Diagrams with the signals to draw; every reference run must contain all of them.
    columns
        Number of diagrams side by side.
    overlay
        Runs with a curve in each diagram.
    after_transient
        Whether the axes are scaled for the values after the initial transient of the constraint
        stabilisation.
    """
    if not panels:
        return None
    figure, grid = panel_grid(len(panels), columns)
    for axes, panel in zip(grid, panels, strict=True):
        draw_panel(axes, panel, overlay, after_transient=after_transient)
    overlay.legend(figure)
    return figure


def panel_grid(count: int, columns: int) -> tuple[Figure, list[Axes]]:
    """Return a figure and the given number of axes in it, row by row, with a common time axis."""
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
    overlay: Overlay,
    programmed: Sequence[tuple[Array, Array]] = (),
    *,
    after_transient: bool = False,
) -> None:
    """Draw one signal of all runs, and its programmed values.

    Programmed values are given as pairs of two arrays of shape (N,): times in s, and values at these
    times.
    """
    references = [
        (curves.run, _shown_values(curves, panel.signal, after_transient=after_transient))
        for curves in overlay.references
    ]
    fitted = np.concatenate([values for _, values in references])
    trusted = np.concatenate([fitted, *(values for _, values in programmed)])
    height = max(natural_height(panel, values, run.natural) for run, values in references)
    is_flat = float(np.nanmax(trusted) - np.nanmin(trusted)) <= _FLAT * height
    factor = 1.0 if is_flat else readable_factor(float(np.nanmax(np.abs(trusted))))
    for curves in overlay.curves:
        if panel.signal in curves.run.signals:
            values = style.drawable(curves.run.signals[panel.signal] / factor)
            axes.plot(curves.run.time, values, label=curves.label, **curves.line)
    for time, values in programmed:
        axes.plot(time, values / factor, label="programmed", **style.programmed_line())
    if is_flat:
        constant = float(np.nanmean(trusted))
        drawn = (np.asarray(line.get_ydata(), dtype=float) for line in axes.lines)
        everywhere = all(np.abs(values - constant).max() <= _FLAT * height for values in drawn)
        show_constant(axes, panel, constant, height, "constant" if everywhere else "reference constant")
        return
    stay_near(axes, trusted / factor, _TRANSIENT_ROOM if after_transient else ROOM)
    set_title(axes, panel, factor)


def show_constant(axes: Axes, panel: Panel, value: float, height: float, statement: str = "constant") -> None:
    """Write the value of a constant signal into the title of a diagram.

    The text `statement`, such as `reference constant`, precedes the value. The range `height` of the
    vertical axis is so large that rounding errors are invisible.
    """
    shown = 0.0 if abs(value) <= _ZERO * height else value
    axes.set_ylim(shown - height / 2, shown + height / 2)
    axes.set_title(f"{panel.title}  {statement}: {decimal(shown, 4)} {unit_text(panel.unit)}".rstrip())


def set_title(axes: Axes, panel: Panel, factor: float) -> None:
    """Set the title of a diagram to its name and unit.

    If the values are scaled, the title has a power of ten.
    """
    power = "" if factor == 1.0 else style.power_of_ten(factor) + " "
    unit = f"{power}{unit_text(panel.unit)}".strip()
    axes.set_title(f"{panel.title}  in {unit}" if unit else panel.title)


def natural_height(panel: Panel, values: Array, natural: Sequence[Magnitude]) -> float:
    """Return the range of the vertical axis of a constant signal, in the signal's unit.

    Parameters
    ----------
    panel
        Diagram that shows the signal: title, unit and name of the signal.
    values
        Values of the signal, shape (N,).
    natural
        Natural magnitudes of the run's signals, if they are known. They are scales for comparisons.
    """
    return scales({panel.signal: values}, {panel.signal: panel.unit}, natural).get(panel.signal, 0.0)


def stay_near(axes: Axes, trusted: Array, room: float = ROOM) -> None:
    """Limit the vertical axis, so that curves of diverged runs do not flatten the other curves.

    Parameters
    ----------
    axes
        Axes with all their curves.
    trusted
        Values that have to be visible, in the unit of the axis. At least two values must differ.
    room
        Largest margin of the axis beyond the trusted values on each side, as a multiple of the
        range of these values.
    """
    low, high = float(np.nanmin(trusted)), float(np.nanmax(trusted))
    bottom, top = axes.get_ylim()
    beyond = room * (high - low)
    axes.set_ylim(max(bottom, low - beyond), min(top, high + beyond))


def panels_of(coordinates: Sequence[Coordinate]) -> list[Panel]:
    """Return a diagram with title, unit and signal name for each coordinate."""
    return [Panel(c.name, c.unit, c.symbol) for c in coordinates]


def columns_for(coordinates: Sequence[Coordinate]) -> int:
    """Return the number of columns into which the diagrams of the given coordinates are arranged."""
    return 1 if len(coordinates) <= 3 else 2 if len(coordinates) <= 10 else 3


def readable_factor(largest: float) -> float:
    """Return the power of 1000 by which values are divided so that the numbers along an axis are readable."""
    return 1.0 if largest == 0 or 0.1 <= largest < 1e4 else float(10.0 ** (3 * np.floor(np.log10(largest) / 3)))


def _shown_values(curves: RunCurves, signal: str, *, after_transient: bool) -> Array:
    """Return the values of a signal from which the limits of the vertical axis are computed.

    If `after_transient` is true, values in the initial transient are omitted. If a run ends before
    the end of the transient, all its values are returned.
    """
    time, values = curves.run.time, curves.run.signals[signal]
    settled = curves.stabilisation.settled
    return values[time >= settled] if after_transient and time[-1] >= settled else values


def _since_start(values: Array) -> Array:
    return np.asarray(values - values[0])


def _difference(first: RunCurves, curves: RunCurves, coordinates: Sequence[Coordinate]) -> RunCurves:
    grid = on_common_grid(first.run, curves.run)
    signals = {c.symbol: grid.run[c.symbol] - grid.reference[c.symbol] for c in coordinates}
    return replace(curves, run=replace(curves.run, time=grid.time, signals=signals, natural=()))


def _some_elements(beam: Sequence[Coordinate]) -> list[Coordinate]:
    elements = list(dict.fromkeys(c.element for c in beam))
    spread = np.linspace(0, len(elements) - 1, min(len(elements), _MOST_ELEMENTS)).round().astype(int)
    shown = {elements[k] for k in spread}
    return [c for c in beam if c.element in shown]
