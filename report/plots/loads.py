"""Figures of joint reactions and joint friction over time, with the curves of all runs in the same axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from ...core.trajectory import Array, Trajectory
from ...description.types.origin import joint_load
from ...mechanism import Mechanism
from .overlay import Overlay
from .time_series import Panel, draw

_LETTERS = {"force": "f", "moment": "n"}
_FRICTION = "_friction"
FrictionOf = Callable[[Mechanism, Trajectory], Mapping[str, Array]]


def joint_loads(overlay: Overlay, parts: Sequence[str] = ("force", "moment")) -> Figure | None:
    """Draw magnitudes of joint forces, N, and joint moments, N·m (Jarzębowska et al. 2023, Fig. 10).

    The result is None if no reactions are known.

    Parameters
    ----------
    overlay
        Runs to draw. Titles mark the reactions that are not unique.
    parts
        Quantities to draw, side by side: `force`, `moment` or both.
    """
    links = shared_links(overlay)
    panels = [_panel(overlay, link, part) for link in links for part in parts]
    shown = overlay.with_signals(lambda curves: _magnitudes(curves.mechanism, curves.run, parts))
    columns = 2 if len(parts) > 1 or len(links) > 3 else 1
    return draw(panels, columns, shown, after_transient=True)


def friction(overlay: Overlay, efforts: FrictionOf) -> Figure | None:
    """Draw bristle deflections, rad or m, and friction efforts, N·m or N, with one row per joint.

    The result is None if no joint has friction.

    Parameters
    ----------
    overlay
        Runs to draw.
    efforts
        Function that returns the friction efforts of a mechanism in a run, shape (N,), by
        coordinate symbol. If the effort of a joint is unknown, only its deflection is drawn.
    """
    first = overlay.references[0]
    with_friction = [c for c in first.mechanism.coordinates if c.friction is not None]
    known = efforts(first.mechanism, first.run)
    panels = [Panel(f"{c.name}: deflection", c.unit, c.signal("bristle").name) for c in with_friction]
    if all(c.symbol in known for c in with_friction):
        forces = [Panel(f"{c.name}: friction", c.effort_unit, c.symbol + _FRICTION) for c in with_friction]
        panels = [panel for row in zip(panels, forces, strict=True) for panel in row]
    if not panels:
        return None
    shown = overlay.with_signals(
        lambda curves: {
            symbol + _FRICTION: values for symbol, values in efforts(curves.mechanism, curves.run).items()
        }
    )
    return draw(panels, len(panels) // len(with_friction), shown)


def shared_links(overlay: Overlay) -> list[str]:
    """Return links whose joint reactions are among the signals of all cases, in the order of the first case."""
    loaded = [loaded_links(curves.mechanism, curves.run) for curves in overlay.references]
    return [link for links in loaded[:1] for link in links if all(link in others for others in loaded)]


def loaded_links(mechanism: Mechanism, run: Trajectory) -> list[str]:
    """Return the links whose joint reactions are among the signals, in the order of the description."""
    links = dict.fromkeys(body.link for body in mechanism.bodies)
    return [link for link in links if joint_load(link, "fx").name in run.signals]


def magnitude(run: Trajectory, link: str, part: str) -> Array:
    """Return the magnitude of a joint's force (N) or moment (N·m) at each output time, shape (times,)."""
    components = run.columns(joint_load(link, _LETTERS[part] + axis).name for axis in "xyz")
    return np.asarray(np.linalg.norm(components, axis=1))


def is_doubtful(components: Sequence[str], part: str) -> bool:
    """Whether the force or the moment of a joint reaction has components that are not unique."""
    return any(f"{_LETTERS[part]}{axis}" in components for axis in "xyz")


def _magnitudes(mechanism: Mechanism, run: Trajectory, parts: Sequence[str]) -> dict[str, Array]:
    """Return the signals `<link>_load_force`, N, and `<link>_load_moment`, N·m, of a run."""
    links = loaded_links(mechanism, run)
    return {joint_load(link, part).name: magnitude(run, link, part) for link in links for part in parts}


def _panel(overlay: Overlay, link: str, part: str) -> Panel:
    doubtful = any(is_doubtful(curves.not_unique.get(link, ()), part) for curves in overlay.references)
    title = f"{link}: {part}{', not unique' if doubtful else ''}"
    return Panel(title, {"force": "N", "moment": "N.m"}[part], joint_load(link, part).name)
