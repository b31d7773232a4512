"""Solids, joints and forces of a scene at one time, in axes of matplotlib."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from matplotlib.artist import Artist
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from ...analysis import ForceArrow
from ...core.trajectory import Array
from ...scene import Scene, Solid, axes_in_world, in_world, reach_of
from . import style
from .primitives import Arrow, PointSymbols, Polygons, Polyline, Primitive, render_in, triad
from .space import AXES, Axes3D, axes_in_space, face, label_places, patch

_AROUND = 16  # Number of corners that approximate a circle.
_LIGHT = np.array([0.35, -0.5, 0.79])
_FORCE, _MOMENT, _CLOSURE = "#c2410c", "#7c3aed", "#e0a100"
_PATCH = 0.3  # A plane is drawn as a square with this edge length, as a fraction of the mechanism's size.
_ARROW = 0.24  # Length of the arrow of the largest force, relative to the mechanism's size.


def stage(scene: Scene, height: float = 5.6) -> tuple[Figure, Axes3D]:
    """Return a figure whose axes contain everything that the scene shows at any time."""
    figure = style.new_figure(height)
    axes = axes_in_space(figure, figure.add_gridspec(1, 1)[0])
    face(axes, reach_of(scene), np.asarray(scene.mechanism.gravity))
    return figure, axes


def drawing(scene: Scene) -> Figure:
    """Draw a scene at its initial time with the names of links, points and closures."""
    figure, axes = stage(scene)
    draw(axes, scene, 0)
    mechanism, frames = scene.mechanism, scene.motions[0].frames[0, 0]
    names = {body.link: frames[b + 1, :3, 3] for b, body in reversed(list(enumerate(mechanism.bodies)))}
    names |= {name: in_world(frames, place) for name, place in mechanism.points.items()}
    names |= {closure.name: in_world(frames, closure.b.place) for closure in mechanism.closures}
    names |= {mark.name: in_world(frames, mark.a) for mark in scene.marks if mark.kind in ("line", "plane")}
    label_places(axes, names)
    return figure


def draw(axes: Axes3D, scene: Scene, k: int, motion: int = 0) -> list[Artist]:
    """Draw one pose of a motion, and return the artists of matplotlib so that a film can remove them."""
    return render_in(axes, primitives(scene, k, motion))


def primitives(scene: Scene, k: int, motion: int = 0) -> Iterator[Primitive]:
    """Yield lines, polygons and symbols that draw a scene at one time.

    The primitives show solids, joints, force elements, frames, points and paths. The argument `k` is the index of
    the time in the scene.
    """
    frames = scene.motions[motion].frames[0, k]
    yield from _solids(scene, frames)
    for bar in scene.bars:
        ends = np.array([in_world(frames, bar.a), in_world(frames, bar.b)])
        slides = bar.kind == "slide"
        yield Polyline(ends, style.MUTED if slides else _CLOSURE, 2.2, 4, marker="" if slides else "o")
    yield from _marks(scene, frames, k)
    for place in scene.mechanism.points.values():
        yield PointSymbols(in_world(frames, place)[None], "D", style.BLUE, style.BLUE, 5.0, 5)
        yield Polyline(in_world(scene.motions[motion].frames[0, : k + 1], place), style.BLUE, 1.1, 4)
    for frame in scene.mechanism.frames.values():
        yield from triad(in_world(frames, frame.place), axes_in_world(frames, frame), AXES * scene.extent)


def _solids(scene: Scene, frames: Array) -> Iterator[Polygons]:
    if not scene.shapes:
        return
    polygons, colours = [], []
    for shape in scene.shapes:
        frame = frames[shape.body + 1] @ shape.frame
        world = faces_of(shape) @ frame[:3, :3].T + frame[:3, 3]
        polygons.append(world)
        colours.append(np.array(to_rgb(shape.colour)) * (0.72 + 0.28 * _facing(world))[:, None])
    shades = np.concatenate(colours)
    look = {"facecolors": shades, "edgecolors": 0.75 * shades, "linewidth": 0.4, "zorder": 3}
    yield Polygons(np.concatenate(polygons), look)


def _facing(faces: Array) -> Array:
    """Return the cosine of the angle between each face's normal and the direction of the light."""
    normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 1])
    return np.asarray(normals @ _LIGHT / np.maximum(np.linalg.norm(normals, axis=1), 1e-300))


def _marks(scene: Scene, frames: Array, k: int) -> Iterator[Primitive]:
    for mark, force in zip(scene.marks, scene.acting[k], strict=True):
        a = in_world(frames, mark.a)
        if mark.b is not None:
            yield _element(scene, mark, a, in_world(frames, mark.b))
        length = force * (_ARROW * scene.extent / scene.peak(mark.kind == "moment"))
        if np.linalg.norm(length) > 0.01 * _ARROW * scene.extent:
            tail = a - length if mark.kind in ("support", "plane") else a
            yield Arrow(tail, length, _MOMENT if mark.kind == "moment" else _FORCE, 1.4, 5)


def _element(scene: Scene, mark: ForceArrow, a: Array, b: Array) -> Primitive:
    if mark.kind == "support":
        return PointSymbols(b[None], "^", style.MUTED, style.MUTED, 6.0, 4)
    if mark.axis is not None:
        outline = patch(a, b, np.array(mark.axis), _PATCH * scene.extent)
        return Polygons(outline[None], {"facecolor": style.MUTED, "alpha": 0.3})
    return Polyline(np.array([a, b]), _CLOSURE, 2.6, 4)


def faces_of(shape: Solid) -> Array:
    """Return the faces of a solid in its own frame, shape (faces, 4, 3), m, counter-clockwise from outside."""
    if shape.mesh is not None:
        return np.asarray((shape.mesh.vertices * shape.size)[shape.mesh.faces[:, [0, 1, 2, 2]]])
    return _UNIT[shape.kind] * (shape.size / 2)


def _ring(z: float, radius: float = 1.0) -> Array:
    angles = 2 * np.pi * np.arange(_AROUND) / _AROUND
    return np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.full(_AROUND, z)])


def _between(low: Array, high: Array) -> Array:
    """Return quadrilaterals that connect a lower ring of points with an upper ring of equally many points."""
    return np.stack([low, np.roll(low, -1, axis=0), np.roll(high, -1, axis=0), high], axis=1)


def _cube() -> Array:
    square = np.array([[-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]], dtype=float)
    turned = [np.roll(square * [1, 1, side], k, axis=1)[:: int(side)] for k in range(3) for side in (1.0, -1.0)]
    return np.array(turned)


def _sphere() -> Array:
    rings = [_ring(float(np.sin(h)), float(np.cos(h))) for h in np.linspace(-np.pi / 2, np.pi / 2, _AROUND // 2)]
    return np.concatenate([_between(low, high) for low, high in pairwise(rings)])


_POINT = 0.0  # Radius of the inner ring of a cylinder's end face; with 0, the ring is a point.
_WALL = _between(_ring(-1.0), _ring(1.0))
_LIDS = (_between(_ring(1.0), _ring(1.0, _POINT)), _between(_ring(-1.0, _POINT), _ring(-1.0)))
_UNIT = {"box": _cube(), "cylinder": np.concatenate([_WALL, *_LIDS]), "sphere": _sphere()}
