"""Stick figure of a mechanism in one pose or at several times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...analysis import ForceArrow
from ...core.trajectory import Array, Trajectory
from ...mechanism import GROUND, Mechanism, Place, signal_names
from ...scene import Scene, axes_in_world, held_at, in_world, poses_of
from . import style
from .path import position
from .primitives import PointSymbols, Polyline, Primitive, render_in, triad
from .space import AXES, axes_in_space, face, label_places

_LATER = ("#8ec3e6", "#3d94d1", "#0b66b0")  # Colours of the stick figure at three times after the initial time.


def schematic(mechanism: Mechanism, reference: Trajectory, marks: Sequence[ForceArrow] = ()) -> Figure | None:
    """Draw the stick figure at the initial and three later times, and the paths of points.

    The result is None if there are no bodies.

    Parameters
    ----------
    mechanism
        Mechanism whose parameters have numerical values.
    reference
        Run of the reference solver, with the values of all coordinates.
    marks
        Symbols of the force elements, such as arrows. The symbol of a two-point force element is a thin
        line.
    """
    if not mechanism.bodies:
        return None
    samples = np.linspace(0, len(reference.time) - 1, len(_LATER) + 1).astype(int)
    q = reference.columns(signal_names(mechanism.coordinates, "position"))[samples]
    colours = (style.INK, *_LATER)
    sticks = [_Stick(poses_of(mechanism, q, tuple(marks)), k) for k in range(len(samples))]
    figure = style.new_figure(5.6)
    axes = axes_in_space(figure, figure.add_gridspec(1, 1)[0])
    for k, stick in reversed(list(enumerate(sticks))):
        render_in(axes, stick.primitives(colours[k], front=k == 0))
    shown = [stick.points() for stick in sticks]
    for point in mechanism.points:
        path = position(reference, point)
        if path is not None:
            axes.plot(*path.T, color=style.MUTED, linewidth=0.9, linestyle=(0, (3, 3)), zorder=1)
            shown.append(path)
    face(axes, np.vstack(shown), np.asarray(mechanism.gravity))
    labels = [f"t = {reference.time[sample]:.3g} s" for sample in samples]
    handles = [Line2D([], [], color=c, linewidth=2.4, label=text) for text, c in zip(labels, colours, strict=True)]
    style.legend_of(figure, handles)
    label_places(axes, sticks[0].names())
    return figure


def pose(scene: Scene) -> Figure | None:
    """Draw the stick figure of a scene at its initial time; return None if there are no bodies."""
    if not scene.mechanism.bodies:
        return None
    figure = style.new_figure(5.6)
    axes = axes_in_space(figure, figure.add_gridspec(1, 1)[0])
    stick = _Stick(scene, 0)
    render_in(axes, stick.primitives(style.INK, front=True))
    face(axes, stick.points(), np.asarray(scene.mechanism.gravity))
    label_places(axes, stick.names())
    return figure


class _Stick:
    """Stick figure of a scene at one time.

    Lines connect the origin of each body with its joints and points. A body without joints and
    points has a line to its centre of mass. Circles are joints, dots connect rigid finite elements,
    squares are loop closures, triangles are supports, diamonds are points.
    """

    def __init__(self, scene: Scene, instant: int) -> None:
        self._scene, self._mechanism, self._marks = scene, scene.mechanism, scene.marks
        self._frames = scene.motions[0].frames[0, instant]

    def _at(self, place: Place) -> Array:
        return in_world(self._frames, place)

    def _extent(self) -> float:
        ends = np.array([end for segment in self.segments() for end in segment])
        return float(np.linalg.norm(np.ptp(ends, axis=0)))

    def segments(self) -> Iterator[tuple[Array, Array]]:
        for b, held in enumerate(held_at(self._mechanism)):
            for local in held:
                yield self._at(Place(b, np.zeros(3))), self._at(Place(b, local))
        for bar in self._scene.bars:
            yield self._at(bar.a), self._at(bar.b)

    def names(self) -> Mapping[str, Array]:
        mechanism = self._mechanism
        places = {body.link: Place(b, np.zeros(3)) for b, body in reversed(list(enumerate(mechanism.bodies)))}
        places |= {name: place for name, place in mechanism.points.items() if place.body != GROUND}
        places |= {closure.name: closure.b.place for closure in mechanism.closures}
        places |= {mark.name: mark.a for mark in self._marks if mark.kind in ("line", "plane")}
        return {name: self._at(place) for name, place in places.items()}

    def points(self) -> Array:
        lines = [end for segment in (*self.segments(), *self._lines()) for end in segment]
        joints = [self._at(Place(b, np.zeros(3))) for b in range(len(self._mechanism.bodies))]
        return np.vstack([np.reshape([*lines, *joints], (-1, 3)), self._supports()])

    def primitives(self, colour: str, front: bool) -> Iterator[Primitive]:
        """Yield the lines and symbols of the stick figure in one colour.

        If `front` is true, this stick figure covers other stick figures.
        """
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
        for mark in self._marks:
            if mark.kind == "line" and mark.b is not None:
                yield self._at(mark.a), self._at(mark.b)

    def _supports(self) -> Array:
        """Return the corners of the polygon of the supports, shape (supports, 3), world frame, m.

        The corners are in the order around the polygon.
        """
        supports = self._mechanism.supports
        if not supports:
            return np.empty((0, 3))
        local = np.array([np.asarray(support.position, dtype=float) for support in supports])
        centred = local - local.mean(axis=0)
        outline = np.argsort(np.arctan2(centred[:, 1], centred[:, 0]))
        base = next(b for b, body in enumerate(self._mechanism.bodies) if body.link == "base")
        return np.array([self._at(Place(base, at)) for at in local[outline]])
