"""Primitives of pictures in space: lines, symbols, polygons and arrows in the world frame.

Stick figures and solids are lists of primitives, which one renderer draws. The player in a browser
uses no primitives. It receives the shapes of the bodies and the motion of the body frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, TypeAlias

import numpy as np
from matplotlib.artist import Artist
from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]
from mpl_toolkits.mplot3d.axes3d import Axes3D  # type: ignore[import-untyped]

from ...core.trajectory import Array

_TRIAD = ("#c0392b", "#1e8449", "#1f618d")  # Colours of the axes x, y and z of a frame.
_HEAD = 0.25  # Length of an arrow's head, as a fraction of the arrow's length.


@dataclass(frozen=True)
class Polyline:
    """Line through points.

    Parameters
    ----------
    points
        Shape (N, 3), m, world axes.
    colour, width
        Colour; width in points.
    order
        Drawing order; a primitive with a larger order covers one with a smaller order.
    marker
        Matplotlib's name of the symbol at each point; empty for no symbols.
    dashes
        Lengths of a dash and of a gap, in multiples of the line width; empty for a solid line.
    round_ends
        Whether the line ends in semicircles.
    """

    points: Array
    colour: str
    width: float
    order: int
    marker: str = ""
    dashes: tuple[float, ...] = ()
    round_ends: bool = False


@dataclass(frozen=True)
class PointSymbols:
    """Symbols at points, shape (N, 3), m, world axes.

    Parameters
    ----------
    form
        Matplotlib's name of the symbol.
    inside, edge
        Colours of the area and of the outline of each symbol.
    size
        Size in points.
    order
        Drawing order; a primitive with a larger order covers one with a smaller order.
    """

    points: Array
    form: str
    inside: str
    edge: str
    size: float
    order: int


@dataclass(frozen=True)
class Polygons:
    """Polygons with k corners each, such as the faces of solids.

    Parameters
    ----------
    corners
        Shape (polygons, k, 3), m, world axes.
    look
        Colours, line width and drawing order, as keyword arguments of matplotlib's collections.
    """

    corners: Array
    look: dict[str, Any]


@dataclass(frozen=True)
class Arrow:
    """Arrow from the point `tail` to the point `tail + vector`, m, world axes, arrays of shape (3,)."""

    tail: Array
    vector: Array
    colour: str
    width: float
    order: int


Primitive: TypeAlias = Polyline | PointSymbols | Polygons | Arrow


def triad(origin: Array, rotation: Array, length: float) -> Iterator[Polyline]:
    """Yield the axes x, y and z of a frame as lines.

    Parameters
    ----------
    origin
        Shape (3,), m, world axes.
    rotation
        Shape (3, 3); the columns are the axes of the frame.
    length
        Length of each line, m.
    """
    for axis, colour in zip(rotation.T, _TRIAD, strict=True):
        yield Polyline(np.array([origin, origin + length * axis]), colour, 1.6, 6)


def render_in(axes: Axes3D, primitives: Iterable[Primitive]) -> list[Artist]:
    """Draw graphic primitives, such as lines and polygons, in three-dimensional axes.

    A film can remove the returned artists of matplotlib before it draws the next picture.
    """
    return [artist for primitive in primitives for artist in _drawn(primitive, axes)]


@singledispatch
def _drawn(primitive: Primitive, axes: Axes3D) -> Iterable[Artist]:
    raise TypeError(f"expected a graphic primitive, such as Polyline, got {type(primitive).__name__}")


@_drawn.register
def _(line: Polyline, axes: Axes3D) -> Iterable[Artist]:
    look: dict[str, Any] = {"color": line.colour, "linewidth": line.width, "zorder": line.order}
    look |= {"linestyle": (0, line.dashes)} if line.dashes else {}
    look |= {"solid_capstyle": "round"} if line.round_ends else {}
    return list(axes.plot(*line.points.T, marker=line.marker, **look))


@_drawn.register
def _(symbols: PointSymbols, axes: Axes3D) -> Iterable[Artist]:
    look = {"markeredgecolor": symbols.edge, "markersize": symbols.size, "zorder": symbols.order}
    return list(axes.plot(*symbols.points.T, symbols.form, color=symbols.inside, **look))


@_drawn.register
def _(polygons: Polygons, axes: Axes3D) -> Iterable[Artist]:
    return [axes.add_collection3d(Poly3DCollection(polygons.corners, **polygons.look), autolim=False)]


@_drawn.register
def _(arrow: Arrow, axes: Axes3D) -> Iterable[Artist]:
    look = {"color": arrow.colour, "linewidth": arrow.width, "zorder": arrow.order}
    return [axes.quiver(*arrow.tail, *arrow.vector, arrow_length_ratio=_HEAD, **look)]
