"""Figures of joint reactions and joint friction over time, with all runs drawn over the reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from ...core.trajectory import Array, Trajectory
from ...description.types.origin import joint_load
from ...mechanism import Mechanism
from .time_series import Panel, draw

_LETTERS = {"force": "f", "moment": "n"}
_FRICTION = "_friction"
FrictionOf = Callable[[Trajectory], Mapping[str, Array]]


def joint_loads(
    mechanism: Mechanism,
    reference: Trajectory,
    runs: Sequence[Trajectory],
    not_unique: Mapping[str, Sequence[str]],
) -> Figure | None:
    """Magnitudes of joint forces, N, and moments, N·m, by joint (Jarzębowska et al. 2023, Fig. 10), or None.

    not_unique   link → parts of its load that are not unique, which titles say
    """
    panels = [
        _panel(link, part, is_doubtful(not_unique.get(link, ()), part))
        for link in loaded_links(mechanism, reference)
        for part in _LETTERS
    ]
    if not panels:
        return None
    shown, *others = (_with_magnitudes(mechanism, run) for run in (reference, *runs))
    return draw(panels, 2, shown, others)


def friction(
    mechanism: Mechanism, reference: Trajectory, runs: Sequence[Trajectory], efforts: FrictionOf
) -> Figure | None:
    """Bristle deflections, rad or m, and friction efforts, N·m or N, a row per joint; None without friction.

    efforts   run → coordinate's symbol → effort, shape (N,); where one is missing, deflections stand alone
    """
    with_friction = [c for c in mechanism.coordinates if c.friction is not None]
    known = efforts(reference)
    panels = [Panel(f"{c.name}: deflection", c.unit, c.signal("bristle").name) for c in with_friction]
    if all(c.symbol in known for c in with_friction):
        beside = [Panel(f"{c.name}: friction", c.effort_unit, c.symbol + _FRICTION) for c in with_friction]
        panels = [panel for row in zip(panels, beside, strict=True) for panel in row]
    if not panels:
        return None
    shown, *others = (_with_friction(run, efforts) for run in (reference, *runs))
    return draw(panels, len(panels) // len(with_friction), shown, others)


def loaded_links(mechanism: Mechanism, run: Trajectory) -> list[str]:
    """Links whose joint loads are among the signals, in the order of the description."""
    links = dict.fromkeys(body.link for body in mechanism.bodies)
    return [link for link in links if joint_load(link, "fx").name in run.signals]


def magnitude(run: Trajectory, link: str, part: str) -> Array:
    """Length of a joint's force, N, or moment, N·m, shape (N,)."""
    components = run.columns(joint_load(link, _LETTERS[part] + axis).name for axis in "xyz")
    return np.asarray(np.linalg.norm(components, axis=1))


def _with_magnitudes(mechanism: Mechanism, run: Trajectory) -> Trajectory:
    """Return the run with the signals `<link>_load_force`, N, and `<link>_load_moment`, N·m."""
    found = {
        _panel(link, part).signal: magnitude(run, link, part)
        for link in loaded_links(mechanism, run)
        for part in _LETTERS
    }
    return replace(run, signals={**run.signals, **found})


def _with_friction(run: Trajectory, efforts: FrictionOf) -> Trajectory:
    found = {symbol + _FRICTION: values for symbol, values in efforts(run).items()}
    return replace(run, signals={**run.signals, **found})


def is_doubtful(parts: Sequence[str], part: str) -> bool:
    """Whether a component of the `force` or `moment` is among the parts of a load that are not unique."""
    return any(f"{_LETTERS[part]}{axis}" in parts for axis in "xyz")


def _panel(link: str, part: str, doubtful: bool = False) -> Panel:
    title = f"{link}: {part}{', not unique' if doubtful else ''}"
    return Panel(title, {"force": "N", "moment": "N.m"}[part], joint_load(link, part).name)
