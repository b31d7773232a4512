"""Functions that create three-dimensional axes with equal scales and place text labels in them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.text import Text
from matplotlib.ticker import MultipleLocator
from mpl_toolkits.mplot3d import proj3d  # type: ignore[import-untyped]
from mpl_toolkits.mplot3d.axes3d import Axes3D  # type: ignore[import-untyped]
from mpl_toolkits.mplot3d.axis3d import Axis  # type: ignore[import-untyped]

from ...core.trajectory import Array
from . import style

__all__ = ["AXES", "Axes3D", "axes_in_space", "face", "label_places", "viewpoint"]

_SMALLEST = 0.25  # Smallest range of a coordinate axis, as a fraction of the largest range of the three axes.
AXES = 0.08  # Drawn length of a frame's axes, as a fraction of the mechanism's size.
_ELEVATION = 30.0  # Elevation of the viewpoint above the horizontal plane, degrees.
_AZIMUTHS = (
    -60.0,
    -30.0,
    -120.0,
    -150.0,
    30.0,
    60.0,
    120.0,
    150.0,
)  # Azimuths of viewpoints in the order of preference, degrees.
# Possible offsets of a label from its place, points; the first is preferred.
_BESIDE = [
    (side * right, up) for up in (6, -8, 18, -20, 30, -32, 42, -44) for right in (9, 22) for side in (1, -1)
]
# Background of labels, which keeps them legible over lines.
_HALO = {"boxstyle": "round,pad=0.1", "facecolor": style.PAPER, "edgecolor": "none", "alpha": 0.75}
_ONE = 6.0  # Largest distance of two places that share a label, pixels.
_OBLIQUE = 0.45  # Below this |cosine| between line of sight and normal, a plane appears edge-on.


def axes_in_space(figure: Figure, place: SubplotSpec) -> Axes3D:
    """Return axes in space with parallel projection, faint planes and labels in m."""
    axes = figure.add_subplot(place, projection="3d", proj_type="ortho", computed_zorder=False)
    for axis, name in zip(_three(axes), "xyz", strict=True):
        axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
        axis.line.set_color(style.MUTED)
        axis.line.set_linewidth(0.6)
        axis.set_label_text(f"{name} in m")
        axis.labelpad = 15  # The padding reserves space for the numbers along the axis.
        axis.set_rotate_label(False)
        axis._axinfo["grid"] |= {"color": style.GRID, "linewidth": 0.7}
    return axes


def _three(axes: Axes3D) -> tuple[Axis, Axis, Axis]:
    return axes.xaxis, axes.yaxis, axes.zaxis


def viewpoint(points: Array, gravity: Array) -> tuple[float, int]:
    """Return a viewpoint from which points in a plane do not appear as a line.

    The viewpoint is an azimuth in degrees and the index of the vertical axis (0, 1 or 2).

    Parameters
    ----------
    points
        Shape (N, 3), m.
    gravity
        Shape (3,), m/s²; the vertical axis is the coordinate axis with the smallest angle to it.
    """
    vertical = int(np.argmax(np.abs(gravity))) if np.any(gravity) else 2
    normal = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2][-1]
    area = [abs(float(normal @ _line_of_sight(azimuth, vertical))) for azimuth in _AZIMUTHS]
    best = next((k for k, cosine in enumerate(area) if cosine >= _OBLIQUE), int(np.argmax(area)))
    return _AZIMUTHS[best], vertical


def face(axes: Axes3D, points: Array, gravity: Array, least: float = 1e-9) -> None:
    """Set the limits and the viewpoint of three-dimensional axes.

    From this viewpoint, points in a plane do not appear as a line.

    Parameters
    ----------
    axes
        Axes in space; all three get the same scale.
    points
        Points that the limits enclose, shape (N, 3), m.
    gravity
        Shape (3,), m/s²; its direction is downwards in the picture.
    least
        Smallest range of the axes, m.
    """
    azimuth, vertical = viewpoint(points, gravity)
    axes.view_init(elev=_ELEVATION, azim=azimuth, vertical_axis="xyz"[vertical])
    _equal_scale(axes, points, least)


def _line_of_sight(azimuth: float, vertical: int) -> Array:
    up, around = np.radians([_ELEVATION, azimuth])
    towards = np.array([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)])
    return np.roll(towards, vertical - 2)


def _equal_scale(axes: Axes3D, points: Array, least: float) -> None:
    low, high = points.min(axis=0), points.max(axis=0)
    extent = high - low
    size = max(float(extent.max()), least, 1e-9)
    half = (extent.clip(_SMALLEST * size) * 1.1) / 2
    half[np.argmax(half)] = max(half.max(), 0.55 * size)
    middle = (low + high) / 2
    axes.set(**{f"{name}lim": (c - h, c + h) for name, c, h in zip("xyz", middle, half, strict=True)})
    short = half < half.max() / 2
    axes.set_box_aspect(half.tolist(), zoom=0.78)
    step = _tick_step(2 * float(half.max()))
    for axis, is_short in zip(_three(axes), short, strict=True):
        axis.set_major_locator(MultipleLocator(step))
        if is_short:
            axis.labelpad = 8


def patch(near: Array, through: Array, normal: Array, size: float) -> Array:
    """Return the outline of a square part of a plane, shape (5, 3), m, world axes.

    Parameters
    ----------
    near
        Point whose projection onto the plane is the centre of the square, shape (3,), m.
    through
        Point of the plane, shape (3,), m.
    normal
        Unit normal of the plane, shape (3,).
    size
        Length of an edge, m.
    """
    foot = near + normal * (normal @ (through - near))
    across = np.linalg.svd(normal[None])[2][1:]
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]) * (size / 2)
    return np.asarray(foot + corners @ across)


def label_places(axes: Axes3D, places: Mapping[str, Array]) -> None:
    """Write names next to places in the axes, so that no label covers another label.

    The limits and the viewpoint of the axes must be final, because they determine the positions in the
    picture. Places at the same position in the picture share a label. A label without free space is
    left out.

    Parameters
    ----------
    axes
        Axes in space.
    places
        Positions by name, shape (3,), m.
    """
    figure = axes.figure
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()  # Labels are placed after matplotlib has computed the final layout.
    taken = [text.get_window_extent() for text in _numbers(axes)]
    for at, text in _shared(axes, places):
        for right, up in _BESIDE:
            label = axes.annotate(
                text,
                at,
                (right, up),
                textcoords="offset points",
                ha="left" if right > 0 else "right",
                va="center",
                fontsize=8.5,
                zorder=6,
                bbox=_HALO,
            )
            box = label.get_window_extent().padded(1.0)
            if not any(box.overlaps(other) for other in taken):
                break
            label.remove()
        else:
            continue
        label.set_in_layout(False)
        taken.append(box)


def _numbers(axes: Axes3D) -> list[Text]:
    """Return all axis labels and tick labels of three-dimensional axes.

    The method `get_ticklabels` is not used, because it would change the positions of the labels.
    """
    return [text for axis in _three(axes) for text in (axis.label, *(tick.label1 for tick in axis.majorTicks))]


def _shared(axes: Axes3D, places: Mapping[str, Array]) -> list[tuple[tuple[float, float], str]]:
    """Return the position in the picture plane and the text of each label.

    If several points coincide in the picture, one label names them all.
    """
    found: list[tuple[Array, Array, list[str]]] = []
    for name, place in places.items():
        flat = np.array(proj3d.proj_transform(*place, axes.get_proj())[:2], dtype=float)
        pixels = axes.transData.transform(flat)
        near = next((names for _, there, names in found if np.linalg.norm(there - pixels) < _ONE), None)
        if near is None:
            found.append((flat, pixels, [name]))
        elif name not in near:
            near.append(name)
    return [((float(flat[0]), float(flat[1])), ", ".join(names)) for flat, _, names in found]


def _tick_step(extent: float) -> float:
    """Return the distance between ticks: 1, 2 or 5 times a power of ten.

    The distance is at most a third of the range.
    """
    power = 10.0 ** np.floor(np.log10(extent / 3))
    return float(power * next(m for m in (5, 2, 1) if m * power <= extent / 3))
