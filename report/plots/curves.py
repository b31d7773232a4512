"""Functions that pack curves over time into compact data, from which a page draws interactive plots."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...core.trajectory import Array
from .inline_svg import PAGE_COLOURS

_BUCKETS = 300  # Number of parts of a long curve, each of which keeps its smallest and largest value.
# Values on the vertical axis of a diagram are encoded as integers from 0 to this number.
_LEVELS = 65532
_BELOW, _ABOVE, _GAP = 65533, 65534, 65535


@dataclass(frozen=True)
class PlottedCurve:
    """One line of a plot.

    Attributes
    ----------
    label, colour
        Text in the legend, and colour in CSS notation.
    width, dashed
        Width of the line in points, and whether the line is dashed.
    time, values
        Two arrays of shape (N,): times in s, and values in the unit that the title contains.
    """

    label: str
    colour: str
    width: float
    dashed: bool
    time: Array
    values: Array


@dataclass(frozen=True)
class CurvePanel:
    """Diagram with a horizontal time axis.

    Attributes
    ----------
    title
        Name of the signal with its unit.
    low, high
        Limits of the vertical axis.
    logarithmic
        Whether the vertical axis is logarithmic.
    curves
        Curves in the order of drawing.
    """

    title: str
    low: float
    high: float
    logarithmic: bool
    curves: tuple[PlottedCurve, ...]


def panels_over_time(figure: Figure) -> tuple[CurvePanel, ...]:
    """Return the diagrams of a two-dimensional figure over time.

    The result is empty for any other figure.
    """
    drawn = [axes for axes in figure.axes if axes.axison]
    is_plane = all(axes.name != "3d" for axes in figure.axes)
    if not is_plane or not any(axes.get_xlabel() == "time in s" for axes in drawn):
        return ()
    return tuple(_panel(axes) for axes in drawn)


def packed(figures: Mapping[str, Iterable[CurvePanel]]) -> dict[str, Any]:
    """Return the diagrams of each figure as JSON-ready data.

    Each value is stored as a 16-bit integer. The integer is proportional to the distance from the lower
    limit of the axis. Special integers represent gaps and values outside of the axis. Equal arrays are
    stored only once.
    """
    pool: dict[str, int] = {}

    def stored(values: Array, low: float, high: float) -> int:
        share = (values - low) / ((high - low) or 1.0)
        place = np.rint(_LEVELS * share)
        levels = np.select([~np.isfinite(share), place < 0, place > _LEVELS], [_GAP, _BELOW, _ABOVE], place)
        text = base64.b64encode(levels.astype("<u2").tobytes()).decode()
        return pool.setdefault(text, len(pool))

    def panel(one: CurvePanel) -> dict[str, Any]:
        transform = np.log10 if one.logarithmic else np.asarray
        low, high = float(transform(one.low)), float(transform(one.high))
        begin = min(float(curve.time[0]) for curve in one.curves)
        end = max(float(curve.time[-1]) for curve in one.curves)
        lines = [
            {
                "label": curve.label,
                "colour": curve.colour,
                "width": curve.width,
                "dashed": curve.dashed,
                "time": stored(curve.time, begin, end),
                "values": stored(transform(curve.values), low, high),
            }
            for curve in one.curves
        ]
        limits = {"low": low, "high": high, "begin": begin, "end": end, "logarithmic": one.logarithmic}
        return {"title": one.title, **limits, "lines": lines}

    found = {name: [panel(one) for one in panels if one.curves] for name, panels in figures.items()}
    return {"figures": found, "arrays": list(pool)}


def _panel(axes: Axes) -> CurvePanel:
    low, high = axes.get_ylim()
    # Labels that matplotlib generates itself begin with an underscore; such lines are not curves.
    curves = tuple(_curve(line) for line in axes.lines if not str(line.get_label()).startswith("_"))
    title = " ".join(axes.get_title(loc="left").split())
    return CurvePanel(title, low, high, axes.get_yscale() == "log", curves)


def _curve(line: Line2D) -> PlottedCurve:
    time, values = _thinned(*(np.asarray(part, dtype=float) for part in line.get_data()))
    look = _colour(line.get_color()), float(line.get_linewidth()), bool(line.is_dashed())
    return PlottedCurve(str(line.get_label()), *look, time, values)


def _colour(colour: Any) -> str:
    plain = to_hex(colour)
    return PAGE_COLOURS.get(plain, plain)


def _thinned(time: Array, values: Array) -> tuple[Array, Array]:
    """Return a curve with fewer points.

    A long curve is divided into parts, and only the smallest and the largest value of each part are
    kept.
    """
    if len(time) <= 2 * _BUCKETS:
        return time, values
    ends = np.linspace(0, len(time), _BUCKETS + 1).astype(int)
    kept = {0, len(time) - 1}
    for a, b in pairwise(ends.tolist()):
        part = np.nan_to_num(values[a:b])
        kept |= {a + int(np.argmin(part)), a + int(np.argmax(part))}
    chosen = sorted(kept)
    return time[chosen], values[chosen]
