"""Figures of energies, forces and inputs over time for the run of the reference solver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...analysis import EnergyHistory, Input, input_value
from ...core.trajectory import Array
from . import style
from .overlay import Overlay
from .time_series import Panel, draw, panel_grid, readable_factor, set_title, show_constant

_ROUNDING = 1e-9  # Relative changes of the energy sum below this value are rounding errors.


def energy(course: EnergyHistory) -> Figure:
    """Draw the kinetic energy, the change of the potential energy since the initial time, and their sum, J."""
    potential = course.potential - course.potential[0]
    lines: dict[str, tuple[Array, dict[str, Any]]] = {
        "kinetic": (course.kinetic, {"color": style.BLUE}),
        "potential, since the start": (potential, {"color": "#e69f00"}),
        "sum": (course.kinetic + potential, {"color": style.INK, "linestyle": (0, (4, 2))}),
    }
    values = np.concatenate([values for values, _ in lines.values()])
    largest = float(np.abs(course.kinetic).max() + np.abs(course.potential).max())
    is_flat = float(np.ptp(values)) <= _ROUNDING * largest
    factor = 1.0 if is_flat else readable_factor(float(np.abs(values).max()))
    figure, (axes,) = panel_grid(1, 1)
    for name, (value, look) in lines.items():
        axes.plot(course.time, value / factor, label=name, **look)
    panel = Panel("energy", "J", "")
    if is_flat:
        show_constant(axes, panel, 0.0, largest or 1.0)
    else:
        set_title(axes, panel, factor)
    style.legend_of(figure, [Line2D([], [], label=name, **look) for name, (_, look) in lines.items()])
    return figure


def _columns(panels: int) -> int:
    if panels < 3:
        return 1
    return 2 if panels < 7 else 3


def power(course: EnergyHistory, overlay: Overlay) -> Figure | None:
    """Draw the power that each force element supplies to the mechanism, W, over time.

    The result is None if there are no force elements.
    """
    panels = [Panel(name, "W", name) for name in course.power]
    return draw(panels, _columns(len(panels)), overlay.alone(course.time, course.power))


def forces(course: EnergyHistory, overlay: Overlay) -> Figure | None:
    """Draw the magnitudes of all applied loads except support forces, N or N·m.

    The result is None if there are no such loads.
    """
    shown = [(k, mark) for k, mark in enumerate(course.marks) if mark.kind != "support"]
    panels = [Panel(mark.name, "N.m" if mark.kind == "moment" else "N", f"{k}") for k, mark in shown]
    found = {f"{k}": np.linalg.norm(course.acting[:, k], axis=1) for k, _ in shown}
    return draw(panels, 1 if len(panels) < 3 else 2, overlay.alone(course.time, found))


def inputs(values: Mapping[str, Input], units: Mapping[str, str], overlay: Overlay) -> Figure | None:
    """Draw the FMU inputs over time, each in its unit; return None if the FMU has no inputs."""
    time = overlay.references[0].run.time
    found = {name: np.array([input_value(value, t) for t in time.tolist()]) for name, value in values.items()}
    panels = [Panel(name, units[name], name) for name in values]
    return draw(panels, 1 if len(panels) < 3 else 2, overlay.alone(time, found))
