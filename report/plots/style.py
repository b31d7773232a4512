"""Common style of all figures: one colour per run, a thick grey reference, thin axes."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from typing import Any, Literal

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from ...core.trajectory import Array, Trajectory

# A page replaces these colours by its own light or dark ones, so curves must not use them for other purposes.
INK, MUTED, GRID, PAPER, REFERENCE, BLUE = "#1f2733", "#667080", "#e3e6eb", "#fffffe", "#b4bac5", "#0072b2"
_LARGEST = 1e30
WIDTH = 8.6  # Width of every figure, inches.

# Line colours of Okabe and Ito, which colour-blind people can distinguish; the most different come first.
COLOURS = (BLUE, "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#7a9a01")
_RUNS = {
    "fmu-native-me": BLUE,
    "fmu-native-cs": "#e69f00",
    "fmu-openmodelica-me": "#009e73",
    "fmu-openmodelica-cs": "#cc79a7",
    "modelica-rumoca": "#d55e00",
}
_OTHERS = ("#56b4e9", "#8c6bb1", "#7a9a01")
_STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.facecolor": "none",
    "axes.formatter.useoffset": False,
    "axes.grid": True,
    "axes.labelcolor": MUTED,
    "axes.labelsize": 9,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlepad": 7,
    "axes.titlesize": 9.5,
    "axes.xmargin": 0.01,
    "figure.autolayout": False,
    "figure.constrained_layout.use": False,
    "figure.facecolor": PAPER,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Helvetica"],
    "font.size": 9,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "lines.dash_capstyle": "butt",
    "lines.linewidth": 1.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "gpmelica",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": MUTED,
    "xtick.labelsize": 8.5,
    "xtick.major.size": 0,
    "ytick.color": MUTED,
    "ytick.labelsize": 8.5,
    "ytick.major.size": 0,
    "ytick.minor.size": 0,
}
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@contextmanager
def styled() -> Iterator[None]:
    """Apply the common figure style to all figures that are drawn within this context manager."""
    with matplotlib.rc_context(_STYLE):
        yield


def new_figure(height: float) -> Figure:
    """Return an empty figure of the common width and a height in inches, with 150 dots per inch."""
    figure = Figure(figsize=(WIDTH, height), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def render(figure: Figure) -> tuple[bytes, str]:
    """Return a figure as PNG and as SVG; equal figures give equal bytes."""
    png, svg = io.BytesIO(), io.StringIO()
    if engine := figure.get_layout_engine():
        engine.execute(figure)
    figure.set_layout_engine(None)  # The layout of the figure is final; computing it again would take long.
    figure.savefig(png, format="png")
    figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    return png.getvalue(), svg.getvalue()


def colours(names: Sequence[str]) -> dict[str, str]:
    """Return a colour for each run, by the name of the run."""
    others = cycle(_OTHERS)
    return {name: _RUNS.get(name) or next(others) for name in names}


def reference_line() -> dict[str, Any]:
    """Return the line style of the reference run, which is drawn below all other runs."""
    return {"color": REFERENCE, "linewidth": 4.0, "solid_capstyle": "round", "zorder": 2}


def programmed_line() -> dict[str, Any]:
    """Return the line style of programmed positions, which are drawn on top of all runs."""
    return {"color": INK, "linestyle": (0, (1.2, 1.6)), "linewidth": 1.3, "zorder": 4}


def run_lines(runs: Sequence[Trajectory]) -> dict[str, dict[str, Any]]:
    """Return the line style of each run.

    If several runs agree, solid lines would cover each other. Several runs are therefore drawn
    with dashes that are shifted relative to each other, so that all colours are visible.
    """
    count, dash = len(runs), 5.0
    shared = {name: {"color": colour, "zorder": 3} for name, colour in colours([r.name for r in runs]).items()}
    if count > 1:
        for k, style in enumerate(shared.values()):
            style["linestyle"] = ((count - k) % count * dash, (dash, (count - 1) * dash))
    return shared


def legend_of(figure: Figure, handles: Sequence[Line2D]) -> None:
    """Draw a legend above all axes of a figure, on as few lines as its labels need."""
    characters = sum(len(str(handle.get_label())) + 8 for handle in handles)
    rows = -(-characters // 110)
    columns = -(-len(handles) // rows)
    figure.legend(handles=handles, loc="outside upper left", ncols=columns, handlelength=1.8, columnspacing=1.6)


def drawable(values: Array) -> Array:
    """Limit the values of a diverged run to a range that matplotlib can draw."""
    return np.clip(values, -_LARGEST, _LARGEST)


def log_axis(axes: Axes, letter: Literal["x", "y"] = "y") -> None:
    """Make one axis logarithmic, with tick labels such as 10⁻⁹.

    The argument `letter` selects the x axis or the y axis.
    """
    axes.set(**{f"{letter}scale": "log"})
    axis = axes.yaxis if letter == "y" else axes.xaxis
    axis.set_major_locator(LogLocator(numticks=8))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: power_of_ten(value)))


def power_of_ten(value: float) -> str:
    """Return a positive value rounded to a power of ten as text, such as `10⁻⁹`; empty for other values."""
    if value <= 0.0:
        return ""
    return "10" + str(round(math.log10(value))).translate(_SUPERSCRIPTS)
