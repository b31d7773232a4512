"""Modes of a mechanism near one state, with animation and tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import overload

import numpy as np

from .. import scene
from ..analysis.system import System
from ..core.errors import DescriptionError
from ..core.html_table import html_lines, html_table
from ..core.progress import Progress, renamed, silent
from ..report.animation import check_ending, write_animation
from ..report.plots.number_text import NOTHING, decimal
from ..report.tables import TextTable
from .modes import Mode
from .state_space import StateSpace
from .tables import mode_cells, shape_text

_LARGEST = 1e6  # The amplitude of an animated mode is at most this value, rad or m.


@dataclass(frozen=True, eq=False)
class Modes(Sequence[Mode]):
    """Modes of a mechanism about one state: a sequence of `Mode`, lowest frequency first.

    Parameters
    ----------
    linear
        Linear model whose modes these are.
    model
        Mechanism, for animations.
    case
        Name of the case (variant of the description), for titles.

    Examples
    --------
    >>> import gpmelica as gp
    >>> modes = gp.load("examples/four_bar_3d.toml").modes(equilibrium=True)
    >>> modes
    <Modes of FourBar3D: 1 at t = 0 s>
    >>> round(modes[0].frequency, 2)
    0.87
    >>> modes.linear.states
    ('coupler_angle', 'coupler_angle_dot')
    >>> modes.animate("modes.html").name
    'modes.html'
    """

    linear: StateSpace
    model: System
    case: str = ""

    @cached_property
    def _entries(self) -> tuple[Mode, ...]:
        return self.linear.modes()

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, index: int) -> Mode: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Mode, ...]: ...

    def __getitem__(self, index: int | slice) -> Mode | tuple[Mode, ...]:
        return self._entries[index]

    def __repr__(self) -> str:
        return f"<Modes of {self.model.name}: {len(self)} at t = {self.linear.time:g} s>"

    def _repr_html_(self) -> str:
        rows = [
            (
                float(number),
                mode.frequency,
                mode.damped_frequency,
                mode.damping,
                mode.state or max(mode.shape, key=lambda name: abs(mode.shape[name])),
            )
            for number, mode in enumerate(self, 1)
        ]
        header = ("mode", "undamped frequency, Hz", "damped frequency, Hz", "damping ratio", "largest coordinate")
        return html_lines(repr(self).strip("<>")) + html_table(header, rows)

    def animate(
        self,
        path: Path | str,
        chosen: int | Sequence[int] | None = None,
        *,
        amplitude: float | None = None,
        progress: Progress = silent,
    ) -> Path:
        """Write an animation of the mechanism oscillating in its modes.

        The animation repeats one cycle of q + amplitude·Re(shape·exp(iφ)), in which the phase φ runs from 0
        to 2π, without decay. A page shows all chosen modes; a film shows one mode.

        Parameters
        ----------
        path
            File to write. The suffix `.html` makes a page that plays in any browser; `.gif` and `.mp4` make
            films.
        chosen
            Indices of the modes in this sequence, from 0. Default: all modes.
        amplitude
            Amplitude of the coordinate with the largest motion, rad or m. By default, the amplitude makes
            the motion clearly visible.
        progress
            Function that is called with an activity and the completed fraction.

        Returns
        -------
        Path
            Path of the written file.

        Raises
        ------
        DescriptionError
            If the suffix is unknown, an index is out of range, or the amplitude is not positive.
        MissingToolError
            If ffmpeg is missing for an mp4 film.
        """
        target = Path(path)
        check_ending(target)
        indices = self._indices(chosen)
        check_swings(target.suffix, len(indices), amplitude)
        progress("drawing the modes", 0.0)
        swings = [self._swing(k, amplitude) for k in indices]
        found = scene.swinging(self.model.problem.model, self.linear.q, swings, self.linear.time)
        return write_animation(
            target,
            found,
            self.case,
            renamed(progress, "drawing the modes"),
            self.table(),
            self.linear.notes,
        )

    def table(self) -> TextTable:
        """Return a table with one row per mode: frequencies, damping ratio, time constant and shape.

        Returns
        -------
        TextTable
            Table for a report page.
        """
        frequencies = ("undamped frequency in Hz", "damped frequency in Hz")
        headers = ("mode", *frequencies, "damping ratio", "time constant in s", "shape: amplitude and phase")
        rows = [
            (str(k), *(cell or NOTHING for cell in mode_cells(mode, _decimal)), shape_text(mode))
            for k, mode in enumerate(self, start=1)
        ]
        return TextTable(headers, ("number", "number", "number", "number", "number", "text"), tuple(rows))

    def _indices(self, chosen: int | Sequence[int] | None) -> list[int]:
        if not len(self):
            raise DescriptionError("modes", "the mechanism has no modes, because it has no degrees of freedom")
        indices = range(len(self)) if chosen is None else [chosen] if isinstance(chosen, int) else chosen
        wrong = [k for k in indices if not -len(self) <= k < len(self)]
        if wrong or not indices:
            numbers = ", ".join(str(k + 1) for k in wrong)
            text = (
                f"expected numbers from 1 to {len(self)}, got {numbers}" if wrong else "expected a mode, got none"
            )
            raise DescriptionError("modes", text)
        return [k % len(self) for k in indices]

    def _swing(self, k: int, amplitude: float | None) -> scene.Swing:
        shape = np.array([self[k].shape[name] for name in self.linear.coordinates], dtype=np.complex128)
        factor = amplitude or scene.seen_well(self.model.mechanism, self.linear.q, shape)
        return scene.Swing(f"{k + 1}: {in_words(self[k])}", np.asarray(factor * shape, dtype=np.complex128))


def _decimal(value: float, digits: int) -> str:
    return decimal(value, digits) if math.isfinite(value) else NOTHING


def check_swings(ending: str, count: int | None, amplitude: float | None) -> None:
    """Raise DescriptionError if an animation of modes cannot be made as requested.

    The amplitude, rad or m, must be valid, and a film must show exactly one mode.
    """
    if amplitude is not None and not 0.0 < amplitude <= _LARGEST:
        text = f"expected an amplitude in rad or m, greater than 0 and at most {_LARGEST:g}, got {amplitude:g}"
        raise DescriptionError("amplitude", text)
    if ending != ".html" and count != 1:
        text = f"expected one mode for a film, got {count or 'all'}; choose one with --mode, or write .html"
        raise DescriptionError("modes", text)


def in_words(mode: Mode) -> str:
    """Return a mode in words, such as `0.53 Hz, damping 0.02`.

    For a mode without oscillation, the text contains the time constant, or calls the mode a rigid-body
    motion.
    """
    if mode.rigid_body:
        return "rigid-body motion"
    if mode.damped_frequency:
        damping = f"damping {decimal(mode.damping, 3)}" if mode.damping else "undamped"
        return f"{decimal(mode.frequency, 4)} Hz, {damping}"
    if math.isinf(mode.time_constant):
        return f"no oscillation, {mode.state or 'the amplitude'} stays constant"
    grows = "grows" if mode.grows else "decays"
    return f"no oscillation, {grows} in {decimal(mode.time_constant, 3)} s"
