"""Bode plots: amplitude and phase of outputs per input over frequency."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MultipleLocator
from numpy.typing import NDArray

from ..core.errors import DescriptionError
from ..core.trajectory import Array
from ..report.plots import style
from .modes import Mode

_MOST = 8  # A Bode plot shows at most this many curves.
_POINTS = 800  # A Bode plot has this many frequencies, in addition to the frequencies near eigenfrequencies.
# Additional points of a Bode plot have these distances from each eigenfrequency, relative to the eigenfrequency.
_BESIDE = np.array([-0.03, -0.01, -0.003, 0.003, 0.01, 0.03])


def refuse_too_many(inputs: int, outputs: int) -> None:
    """Raise DescriptionError if a Bode plot would have no curves or too many curves."""
    if not inputs:
        text = "expected a model with FMU inputs, got none; add a force with input = true"
    elif inputs * outputs > _MOST:
        most = _MOST // inputs
        text = f"expected at most {_MOST} curves, got {inputs * outputs}; choose at most {most} outputs"
    else:
        return
    raise DescriptionError("bode", text)


def frequencies(modes: Sequence[Mode]) -> Array:
    """Return increasing frequencies for a Bode plot, Hz.

    The range begins a decade below the lowest and ends a decade above the highest eigenfrequency of the
    oscillating modes. Additional frequencies are close to each eigenfrequency.
    """
    moving = [mode for mode in modes if mode.frequency]
    own = [mode.frequency for mode in [m for m in moving if m.damping < 1.0] or moving] or [1.0]
    peaks = np.outer(own, 1.0 + _BESIDE).ravel()
    return np.unique([*np.geomspace(0.1 * min(own), 10.0 * max(own), _POINTS), *peaks])


def draw(at: Array, response: NDArray[np.complex128], labels: Sequence[str]) -> Figure:
    """Draw amplitude and phase, in degrees, over frequency, with one curve per label.

    Parameters
    ----------
    at : ndarray, shape (N,)
        Frequencies, Hz.
    response : ndarray, shape (number of labels, N)
        Complex frequency response, in the units given in the labels.
    labels : sequence of str
        Labels of the curves.
    """
    with style.styled():
        figure = style.new_figure(5.4)
        amplitude, phase = figure.subplots(2, 1, sharex=True)
        for values, colour in zip(response, style.COLOURS, strict=False):
            seen = np.abs(values) > 0.0  # Zero has no logarithm and no phase.
            amplitude.plot(at, np.where(seen, np.abs(values), np.nan), color=colour)
            phase.plot(at, np.where(seen, np.degrees(np.unwrap(np.angle(values))), np.nan), color=colour)
        style.log_axis(amplitude)
        style.log_axis(phase, "x")
        phase.yaxis.set_major_locator(MultipleLocator(90))
        amplitude.set_ylabel("amplitude")
        phase.set_ylabel("phase in degrees")
        phase.set_xlabel("frequency in Hz")
        named = [
            label if values.any() else f"{label}: zero" for label, values in zip(labels, response, strict=True)
        ]
        lines = zip(named, style.COLOURS, strict=False)
        style.legend_of(figure, [Line2D([], [], color=colour, label=label) for label, colour in lines])
    return figure
