"""Campbell diagrams: frequencies and damping ratios of modes over a parameter or time."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from ..core.trajectory import Array
from ..report.plots import style

# The frequency axis is logarithmic if the ratio of largest to smallest frequency exceeds this value.
_WIDE = 100.0
_APART = 0.035  # Neighbouring labels in a Campbell diagram are at least this fraction of the axes' height apart.


def draw(label: str, values: Array, eigenvalues: NDArray[np.complex128]) -> Figure:
    """Draw a panel of frequencies, and below it a panel of damping ratios, with one curve per mode.

    A curve is solid where the mode oscillates, and dotted elsewhere. Numbers identify the modes.

    Parameters
    ----------
    label : str
        Name of the varied quantity with its unit.
    values : ndarray, shape (K,)
        Values of the varied quantity.
    eigenvalues : ndarray, shape (K, L)
        Eigenvalues of L modes, 1/s; NaN where a mode does not exist.
    """
    frequencies = np.abs(eigenvalues) / (2 * np.pi)
    ratios = -eigenvalues.real / np.where(frequencies > 0.0, np.abs(eigenvalues), 1.0)
    # Rigid-body modes have zero frequency, which the diagram does not show.
    moving = np.where(frequencies > 0.0, frequencies, np.nan)
    with style.styled():
        figure = style.new_figure(6.2)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
        for axes, numbers in ((above, moving), (below, ratios)):
            for k in range(eigenvalues.shape[1]):
                colour = style.COLOURS[k % len(style.COLOURS)]
                _line(axes, values, numbers[:, k], eigenvalues[:, k].imag > 0.0, colour)
        present = moving[np.isfinite(moving)]
        if present.size and present.max() > _WIDE * present.min():
            style.log_axis(above)
        else:
            above.set_ylim(bottom=0.0)
        above.set_ylabel("undamped frequency in Hz")
        below.set_ylabel("damping ratio")
        below.set_xlabel(label)
        below.set_ylim(min(-0.02, np.nanmin(ratios, initial=0.0) - 0.05), min(1.05, _top(ratios)))
        _number(above, values, moving)
        full, dotted = Line2D([], [], color=style.MUTED), Line2D([], [], color=style.MUTED, linestyle=":")
        full.set_label("mode (numbered)")
        dotted.set_label("mode without oscillation")
        style.legend_of(figure, [full, dotted])
    return figure


def _top(ratios: Array) -> float:
    return 1.15 * max(float(np.nanmax(ratios, initial=0.0)), 0.02)


def _line(axes: Axes, values: Array, numbers: Array, swings: NDArray[np.bool_], colour: str) -> None:
    look: dict[str, Any] = {"color": colour, "marker": "o", "markersize": 2.0 if len(values) > 25 else 3.0}
    for kind, shown in (("-", swings), (":", ~swings)):
        reached = shown | np.append(False, shown[:-1])
        if shown.any():
            axes.plot(values, np.where(reached, numbers, np.nan), kind, **look)


def _number(axes: Axes, values: Array, numbers: Array) -> None:
    axes.margins(x=0.03)
    taken: list[tuple[float, float]] = []
    wide = float(np.ptp(values)) or 1.0
    for k in range(numbers.shape[1]):
        there = np.flatnonzero(np.isfinite(numbers[:, k]))
        if not len(there):
            continue
        x, y = values[there[-1]], numbers[there[-1], k]
        height = float(axes.transAxes.inverted().transform(axes.transData.transform((x, y)))[1])
        if all(abs(height - other) > _APART or abs(x - at) > 0.05 * wide for at, other in taken):
            taken.append((x, height))
            axes.annotate(str(k + 1), (x, y), (5, 0), textcoords="offset points", va="center", color=style.INK)
