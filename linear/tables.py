"""Terminal tables of linear models and their modes."""

from __future__ import annotations

import cmath
from collections.abc import Callable, Sequence

import numpy as np
from rich.markup import escape
from rich.table import Table

from .modes import Mode
from .state_space import StateSpace
from .tracks import ModeTracks

_LEAST = 0.05  # Amplitudes of a mode shape below this fraction of the largest amplitude are not listed.
_MOST = 4  # A table lists at most this many amplitudes of a mode shape.
_COLUMNS = 8  # A table of tracked modes shows at most this many modes.


def of_model(found: StateSpace) -> list[Table | str]:
    """Return terminal tables of the states and inputs of a linear model, followed by the model's notes as text."""
    states = Table("state", "value", "unit", "drift per s", title=f"states at t = {found.time:g} s")
    for name, value, drift in zip(found.states, found.x, found.drift, strict=True):
        states.add_row(name, f"{value + 0.0:.6g}", found.units[name], f"{drift + 0.0:.3g}")
    inputs = Table("input", "value", "unit", title="inputs")
    for name, value in zip(found.inputs, found.u, strict=True):
        inputs.add_row(name, f"{value + 0.0:.6g}", found.units[name])
    counts = (
        f"{len(found.states)} states, {len(found.outputs)} outputs, inputs: {', '.join(found.inputs) or 'none'}"
    )
    return [states, *([inputs] if found.inputs else []), counts, *_notes(found)]


def of_modes(model: StateSpace, found: Sequence[Mode]) -> list[Table | str]:
    """Return a terminal table with one mode per row, including the largest amplitudes of the mode shape."""
    table = Table(
        *("mode", "undamped Hz", "damped Hz", "damping", "time constant s", "shape: amplitude and phase"),
        title=f"t = {model.time:g} s",
    )
    for k, mode in enumerate(found, start=1):
        table.add_row(str(k), *mode_cells(mode, lambda value, digits: f"{value:.{digits}g}"), shape_text(mode))
    return [table, *_notes(model)]


def mode_cells(mode: Mode, number: Callable[[float, int], str]) -> tuple[str, str, str, str]:
    """Return undamped and damped frequency, Hz, damping ratio and time constant, s, of a mode as texts.

    A rigid-body mode has no frequency. A real pole that grows has neither frequency nor damping ratio.

    Parameters
    ----------
    mode : Mode
        Mode of a linear model.
    number : callable
        Function that converts a number to text with a given number of significant digits.
    """
    constant = number(mode.time_constant, 4) + (", grows" if mode.grows else "")
    if mode.rigid_body:
        return "rigid body", "", number(mode.damping, 4), constant
    if mode.grows and not mode.damped_frequency:
        return "unstable", "", "", constant
    return number(mode.frequency, 6), number(mode.damped_frequency, 6), number(mode.damping, 4), constant


def of_tracks(found: ModeTracks) -> list[Table | str]:
    """Return a terminal table of the frequencies and damping ratios of the slowest modes.

    Each row of the table belongs to one value of the varied quantity.
    """
    shown = min(found.eigenvalues.shape[1], _COLUMNS)
    title = f"undamped Hz, and damping ratio; the first {shown} of {found.eigenvalues.shape[1]} modes"
    table = Table(found.label, *(f"mode {k + 1}" for k in range(shown)), title=title)
    for value, frequencies, ratios in zip(found.values, found.frequency, found.damping, strict=True):
        cells = [_swing(f, r) for f, r in zip(frequencies[:shown], ratios[:shown], strict=True)]
        table.add_row(f"{value:.6g}", *cells)
    return [table, *(f"note: {escape(note)}" for note in found.notes)]


def _swing(frequency: float, ratio: float) -> str:
    if np.isnan(frequency):
        return ""
    return f"{frequency:.6g}" + (f", {ratio:.3g}" if ratio else "")


def _notes(found: StateSpace) -> list[str]:
    return [f"note: {escape(note)}" for note in found.notes]


def shape_text(mode: Mode) -> str:
    """Return the largest amplitudes of a mode shape as text.

    The text contains the phase of an amplitude unless the phase is 0° or 180°. If no coordinate moves,
    the text names the state that changes.
    """
    if mode.state:
        return f"no coordinate moves; {mode.state} changes"
    largest = sorted(mode.shape.items(), key=lambda item: -abs(item[1]))[:_MOST]
    return ", ".join(f"{name} {_polar(part)}" for name, part in largest if abs(part) >= _LEAST)


def _polar(part: complex) -> str:
    """Return a complex amplitude as text: `0.38`, `−0.38` or `0.38∠30°`."""
    angle = round(cmath.phase(part) * 180 / cmath.pi)
    if angle % 180 == 0:
        return f"{'−' if angle else ''}{abs(part):.3g}"
    return f"{abs(part):.3g}∠{angle}°".replace("-", "−")
