"""The mechanism as a stick figure, at the start and at later times."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ....generator.mechanism import GROUND, Mechanism, Place, signal_names
from ....trajectory import Array, Trajectory
from . import style
from .path import position
from .space import Axes3D, axes_in_space, face, write_at

_LATER = ("#8ec3e6", "#3d94d1", "#0b66b0")  # paler is earlier


def schematic(mechanism: Mechanism, reference: Trajectory, poses: Callable[[Array], Array]) -> Figure | None:
    """Stick figure at the start and at three later times, with the paths of the points; None without bodies.

    A line joins a body's origin to its parent's; circles are joints, dots between elements, triangles supports,
    diamonds points. A body that carries nothing ends at its centre of mass.

    Parameters:
        poses  q, shape (n,), in rad or m → frames of all bodies, shape (bodies, 4, 4), world frame, m
    """
    if not mechanism.bodies:
        return None
    figure = style.new_figure(5.6)
    axes = axes_in_space(figure, figure.add_gridspec(1, 1)[0])
    samples = np.linspace(0, len(reference.time) - 1, len(_LATER) + 1).astype(int)
    drawn = []
    for sample, colour in list(zip(samples, (style.INK, *_LATER), strict=True))[::-1]:
        q = reference.columns(signal_names(mechanism.coordinates, "position"))[sample]
        drawn.append(_draw_pose(axes, mechanism, poses(q), colour, named=sample == 0))
    for point in mechanism.points:
        path = position(reference, point)
        if path is not None:
            axes.plot(*path.T, color=style.MUTED, linewidth=0.9, linestyle=(0, (3, 3)), zorder=1)
            drawn.append(path)
    face(axes, np.vstack(drawn), np.asarray(mechanism.gravity))
    colours = zip(samples, (style.INK, *_LATER), strict=True)
    labels = [(f"t = {reference.time[sample]:.3g} s", colour) for sample, colour in colours]
    style.legend_of(figure, [Line2D([], [], color=c, linewidth=2.4, label=label) for label, c in labels])
    return figure


def start_pose(mechanism: Mechanism, frames: Array) -> Figure | None:
    """Stick figure in one pose, drawn as `schematic` does; None without bodies.

    Parameters:
        frames  of all bodies, shape (bodies, 4, 4), world frame, m
    """
    if not mechanism.bodies:
        return None
    figure = style.new_figure(5.6)
    axes = axes_in_space(figure, figure.add_gridspec(1, 1)[0])
    drawn = _draw_pose(axes, mechanism, frames, style.INK, named=True)
    face(axes, drawn, np.asarray(mechanism.gravity))
    return figure


def _draw_pose(axes: Axes3D, mechanism: Mechanism, frames: Array, colour: str, named: bool) -> Array:
    """Draw one pose; returns the points drawn, shape (N, 3), world frame, m."""
    order = 4 if named else 2
    origins = frames[:, :3, 3]
    ends = {name: _in_world(frames, place) for name, place in _ends(mechanism).items()}
    segments = [(origins[b.parent], origins[k]) for k, b in enumerate(mechanism.bodies) if b.parent != GROUND]
    segments += [(origins[place.body], ends[name]) for name, place in _ends(mechanism).items()]
    for start, end in segments:
        axes.plot(*np.array([start, end]).T, color=colour, linewidth=2.4, solid_capstyle="round", zorder=order)
    for body, origin in zip(mechanism.bodies, origins, strict=True):
        elastic = any(mechanism.coordinates[k].role == "elastic" for k in body.coordinates)
        size, face = (3.0, colour) if elastic else (5.5, style.PAPER)
        axes.plot(*origin[:, None], "o", color=face, markeredgecolor=colour, markersize=size, zorder=order)
    for name in mechanism.points.keys() & ends.keys():
        axes.plot(*ends[name][:, None], "D", color=colour, markersize=5, zorder=order)
    supports = _draw_supports(axes, mechanism, frames, colour, order)
    if named:
        _write_names(axes, mechanism, origins, ends)
    return np.vstack([origins, *ends.values(), supports])


def _ends(mechanism: Mechanism) -> dict[str, Place]:
    """Where the lines of bodies lead besides to other bodies: named points, or the com of a bare body."""
    points = {name: place for name, place in mechanism.points.items() if place.body != GROUND}
    busy = {body.parent for body in mechanism.bodies} | {place.body for place in points.values()}
    bare = [k for k in range(len(mechanism.bodies)) if k not in busy]
    return points | {f"com of body {k}": Place(k, mechanism.bodies[k].com) for k in bare}


def _in_world(frames: Array, place: Place) -> Array:
    local = np.asarray(place.position, dtype=float)
    return np.asarray(frames[place.body, :3, :3] @ local + frames[place.body, :3, 3])


def _draw_supports(axes: Axes3D, mechanism: Mechanism, frames: Array, colour: str, order: int) -> Array:
    """The base as the outline of its supports; returns their positions, shape (supports, 3), world frame, m."""
    if not mechanism.supports:
        return np.empty((0, 3))
    local = np.array([np.asarray(support.position, dtype=float) for support in mechanism.supports])
    centred = local - local.mean(axis=0)
    outline = np.argsort(np.arctan2(centred[:, 1], centred[:, 0]))
    base = next(k for k, body in enumerate(mechanism.bodies) if body.link == "base")
    world = local @ frames[base, :3, :3].T + frames[base, :3, 3]
    axes.plot(*world[np.append(outline, outline[0])].T, color=colour, linewidth=1.1, zorder=order)
    axes.plot(*world.T, "^", color=colour, markersize=5, zorder=order)
    return world


def _write_names(axes: Axes3D, mechanism: Mechanism, origins: Array, ends: Mapping[str, Array]) -> None:
    """Names of links at their joints, and of points."""
    places = {body.link: origins[k] for k, body in reversed(list(enumerate(mechanism.bodies)))}
    places |= {name: ends[name] for name in mechanism.points.keys() & ends.keys()}
    for name, place in places.items():
        write_at(axes, place, name)
