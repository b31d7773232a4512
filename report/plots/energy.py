"""Energy, forces and inputs over time, of the reference run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...analysis import EnergyHistory, Input, input_value
from ...core.trajectory import Array, Trajectory
from . import style
from .time_series import Panel, draw, panel_grid, readable_factor, set_title, stay_near

_ROUNDING = 1e-9  # of the energy that goes back and forth


def energy(course: EnergyHistory) -> Figure:
    """Kinetic energy, potential energy since the start, and their sum, J."""
    potential = course.potential - course.potential[0]
    lines: dict[str, tuple[Array, dict[str, Any]]] = {
        "kinetic": (course.kinetic, {"color": style.BLUE}),
        "potential, since the start": (potential, {"color": "#e69f00"}),
        "sum": (course.kinetic + potential, {"color": style.INK, "linestyle": (0, (4, 2))}),
    }
    values = np.concatenate([values for values, _ in lines.values()])
    largest = float(np.abs(course.kinetic).max() + np.abs(course.potential).max())
    factor = readable_factor(float(np.abs(values).max()))
    figure, (axes,) = panel_grid(1, 1)
    for value, look in lines.values():
        axes.plot(course.time, value / factor, **look)
    stay_near(axes, values / factor, _ROUNDING * largest / factor)
    set_title(axes, Panel("energy", "J", ""), factor)
    style.legend_of(figure, [Line2D([], [], label=name, **look) for name, (_, look) in lines.items()])
    return figure


def power(course: EnergyHistory, reference: Trajectory) -> Figure | None:
    """Figure of the power that each force element gives to the mechanism, W; None without elements."""
    panels = [Panel(name, "W", name) for name in course.power]
    if not panels:
        return None
    own = replace(reference, time=course.time, signals=course.power, natural=())
    return draw(panels, 1 if len(panels) < 3 else 2 if len(panels) < 7 else 3, own, ())


def forces(course: EnergyHistory, reference: Trajectory) -> Figure | None:
    """Magnitudes of what the force elements do at their marks, supports apart, N or N·m; None without any."""
    shown = [(k, mark) for k, mark in enumerate(course.marks) if mark.kind != "support"]
    panels = [Panel(mark.name, "N.m" if mark.kind == "moment" else "N", f"{k}") for k, mark in shown]
    if not panels:
        return None
    found = {f"{k}": np.linalg.norm(course.acting[:, k], axis=1) for k, _ in shown}
    own = replace(reference, time=course.time, signals=found, natural=())
    return draw(panels, 1 if len(panels) < 3 else 2, own, ())


def inputs(given: Mapping[str, Input], units: Mapping[str, str], reference: Trajectory) -> Figure | None:
    """FMU inputs over time, each in its unit; None without any."""
    if not given:
        return None
    found = {
        name: np.array([input_value(value, t) for t in reference.time.tolist()]) for name, value in given.items()
    }
    panels = [Panel(name, units[name], name) for name in given]
    return draw(panels, 1 if len(panels) < 3 else 2, replace(reference, signals=found, natural=()), ())
