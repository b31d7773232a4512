"""The mechanism as a stick figure, at the start and at later times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...analysis import ForceArrow, poses
from ...core.trajectory import Array, Trajectory
from ...mechanism import GROUND, Mechanism, Place, signal_names
from ...scene import axes_in_world, bars_of, held_at, in_world
from . import style
from .path import position
from .primitives import PointSymbols, Polyline, Primitive, render_in, triad
from .space import AXES, axes_in_space, face, label_places

_LATER = ("#8ec3e6", "#3d94d1", "#0b66b0")  # paler is earlier


def schematic(
    mechanism: Mechanism,
    reference: Trajectory,
    marks: Sequence[ForceArrow] = (),
) -> Figure | None:
    """Stick figure at the start and at three later times, with the paths of the points; None without bodies.

    Lines join a body's origin to all that it holds; circles are joints, dots between elements, squares closures,
    triangles supports, diamonds points. A body that holds nothing ends at its centre of mass.

    Parameters:
        marks  how force elements are shown: those between two places as thin lines
    """
    if not mechanism.bodies:
        return None
    figure = style.new_figure(5.6)
    axes = axes_in_space(figure, figure.add_gridspec(1, 1)[0])
    samples = np.linspace(0, len(reference.time) - 1, len(_LATER) + 1).astype(int)
    drawn: list[Array] = []
    names: Mapping[str, Array] = {}
    for sample, colour in list(zip(samples, (style.INK, *_LATER), strict=True))[::-1]:
        q = reference.columns(signal_names(mechanism.coordinates, "position"))[sample]
        stick = _Stick(mechanism, poses(mechanism, q), marks)
        render_in(axes, stick.primitives(colour, front=sample == 0))
        drawn.append(stick.points())
        names = stick.names()
    for point in mechanism.points:
        path = position(reference, point)
        if path is not None:
            axes.plot(*path.T, color=style.MUTED, linewidth=0.9, linestyle=(0, (3, 3)), zorder=1)
            drawn.append(path)
    face(axes, np.vstack(drawn), np.asarray(mechanism.gravity))
    colours = zip(samples, (style.INK, *_LATER), strict=True)
    labels = [(f"t = {reference.time[sample]:.3g} s", colour) for sample, colour in colours]
    style.legend_of(figure, [Line2D([], [], color=c, linewidth=2.4, label=label) for label, c in labels])
    label_places(axes, names)
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
    stick = _Stick(mechanism, frames)
    render_in(axes, stick.primitives(style.INK, front=True))
    face(axes, stick.points(), np.asarray(mechanism.gravity))
    label_places(axes, stick.names())
    return figure


class _Stick:
    """The figure in one pose; frames of all bodies, shape (bodies, 4, 4), world frame, m."""

    def __init__(self, mechanism: Mechanism, frames: Array, marks: Sequence[ForceArrow] = ()) -> None:
        self._mechanism, self._marks = mechanism, marks
        self._frames = np.concatenate([np.eye(4)[None], frames])

    def _at(self, place: Place) -> Array:
        return in_world(self._frames, place)

    def _extent(self) -> float:
        """Diagonal of the box around the segments, m."""
        ends = np.array([end for segment in self.segments() for end in segment])
        return float(np.linalg.norm(np.ptp(ends, axis=0)))

    def segments(self) -> Iterator[tuple[Array, Array]]:
        """Ends of lines, from each body's origin to what it holds and along sliding joints, world frame, m."""
        for b, held in enumerate(held_at(self._mechanism)):
            for local in held:
                yield self._at(Place(b, np.zeros(3))), self._at(Place(b, local))
        for bar in bars_of(self._mechanism):
            yield self._at(bar.a), self._at(bar.b)

    def names(self) -> Mapping[str, Array]:
        """Names of links at their joints, of points and of closures, and where they are, world frame, m."""
        mechanism = self._mechanism
        places = {body.link: Place(b, np.zeros(3)) for b, body in reversed(list(enumerate(mechanism.bodies)))}
        places |= {name: place for name, place in mechanism.points.items() if place.body != GROUND}
        places |= {closure.name: closure.b.place for closure in mechanism.closures}
        places |= {mark.name: mark.a for mark in self._marks if mark.kind in ("line", "plane")}
        return {name: self._at(place) for name, place in places.items()}

    def points(self) -> Array:
        """Return what limits the picture: ends of lines, joints, supports; shape (N, 3), world frame, m."""
        lines = [end for segment in (*self.segments(), *self._lines()) for end in segment]
        joints = [self._at(Place(b, np.zeros(3))) for b in range(len(self._mechanism.bodies))]
        return np.vstack([np.reshape([*lines, *joints], (-1, 3)), self._supports()])

    def primitives(self, colour: str, front: bool) -> Iterator[Primitive]:
        """Yield the figure in one colour, in front of other figures or behind them."""
        order = 4 if front else 2
        for segment in self.segments():
            yield Polyline(np.array(segment), colour, 2.4, order, round_ends=True)
        yield from self._symbols(colour, order)
        for frame in self._mechanism.frames.values():
            turned = axes_in_world(self._frames, frame)
            yield from triad(self._at(frame.place), turned, AXES * self._extent())
        for line in self._lines():
            yield Polyline(np.array(line), colour, 1.1, order, dashes=(1, 1))
        supports = self._supports()
        if len(supports):
            yield Polyline(np.vstack([supports, supports[:1]]), colour, 1.1, order)
            yield PointSymbols(supports, "^", colour, colour, 5.0, order)

    def _symbols(self, colour: str, order: int) -> Iterator[PointSymbols]:
        """Yield joints, closures and points."""
        mechanism = self._mechanism
        for b, body in enumerate(mechanism.bodies):
            elastic = any(mechanism.coordinates[k].role == "elastic" for k in body.coordinates)
            size, inside = (3.0, colour) if elastic else (5.5, style.PAPER)
            yield PointSymbols(self._at(Place(b, np.zeros(3)))[None], "o", inside, colour, size, order)
        for closure in mechanism.closures:
            for frame in (closure.a, closure.b):
                yield PointSymbols(self._at(frame.place)[None], "s", style.PAPER, colour, 4.5, order)
        for place in mechanism.points.values():
            yield PointSymbols(self._at(place)[None], "D", colour, colour, 5.0, order)

    def _lines(self) -> Iterator[tuple[Array, Array]]:
        """Yield the ends of force elements between two places, world frame, m."""
        for mark in self._marks:
            if mark.kind == "line" and mark.b is not None:
                yield self._at(mark.a), self._at(mark.b)

    def _supports(self) -> Array:
        """Return the supports in order round the base, shape (supports, 3), world frame, m."""
        supports = self._mechanism.supports
        if not supports:
            return np.empty((0, 3))
        local = np.array([np.asarray(support.position, dtype=float) for support in supports])
        centred = local - local.mean(axis=0)
        outline = np.argsort(np.arctan2(centred[:, 1], centred[:, 0]))
        base = next(b for b, body in enumerate(self._mechanism.bodies) if body.link == "base")
        return np.array([self._at(Place(base, at)) for at in local[outline]])
