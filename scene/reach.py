"""Space that a mechanism occupies during its motion, for the axis limits of pictures."""

from __future__ import annotations

import numpy as np

from ..core.trajectory import Array
from ..mechanism import Place
from .scene import Scene
from .shapes import Solid
from .skeleton import held_places, in_world


def reach_of(scene: Scene) -> Array:
    """Return the world positions of points of a mechanism during the last motion of a scene, m.

    The points are attachment points of bodies, ends of bars, points of application of forces, and
    corners of the bounding boxes of solids. The result is an array of shape (N, 3), with one row for
    each point and instant.
    """
    mechanism, frames = scene.mechanism, scene.motions[-1].frames[0]
    places = held_places(mechanism)
    places += [place for bar in scene.bars for place in (bar.a, bar.b)]
    places += [mark.a for mark in scene.marks]
    places += [Place(shape.body, corner) for shape in scene.shapes for corner in _corners(shape)]
    return np.concatenate([np.zeros((0, 3)), *(in_world(frames, place) for place in places)])


def _corners(shape: Solid) -> Array:
    """Return the corners of the bounding box of a solid in its body's frame, shape (8, 3), m."""
    ends = np.array([[-0.5] * 3, [0.5] * 3])
    if shape.mesh is not None:
        ends = np.array([shape.mesh.vertices.min(axis=0), shape.mesh.vertices.max(axis=0)])
    grid = np.stack(np.meshgrid(*(ends * shape.size).T), axis=-1).reshape(-1, 3)
    return np.asarray(grid @ shape.frame[:3, :3].T + shape.frame[:3, 3])
