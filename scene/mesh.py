"""Reading of triangle meshes in STL, OBJ, COLLADA and glTF files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..core.errors import DescriptionError
from ..core.file_kinds import why
from .collada import read_collada

_FINEST = 1000.0  # The finest grid for the coarsening of a mesh has this number of cells along the longest edge.
# In the coarsening of a mesh, each grid has this many times fewer cells per edge than the previous grid.
_RATIO = 1.3
# A drawn mesh has at most this number of triangles, so that an HTML page has at most a few megabytes.
_MOST = 5_000


@dataclass(frozen=True)
class Mesh:
    """Triangle mesh.

    Attributes
    ----------
    vertices : ndarray, shape (V, 3)
        Corners in the unit of the file; in m for COLLADA and glTF.
    faces : ndarray of int, shape (F, 3)
        Indices of the three corners of each triangle.
    """

    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]


def read_mesh(path: Path, most: int | None = _MOST) -> Mesh:
    """Return the mesh in a file; raise DescriptionError if the file is unreadable.

    A mesh of more than `most` triangles is coarsened. If `most` is None, the mesh remains unchanged.
    """
    try:
        vertices, faces = read_collada(path) if path.suffix.lower() == ".dae" else _by_trimesh(path)
    except Exception as error:  # Mesh parsers raise errors of any type for damaged files.
        raise DescriptionError(str(path), f"cannot be read as a mesh: {why(error)}") from None
    if not len(faces) or not np.isfinite(vertices).all():
        text = "has no triangles, or a corner that is not a finite number; check the mesh file"
        raise DescriptionError(str(path), text)
    mesh = Mesh(vertices, faces)
    return mesh if most is None else coarser(mesh, most)


def coarser(mesh: Mesh, most: int) -> Mesh:
    """Return a coarsened mesh of at most `most` triangles.

    Corners in the same cell of a grid are merged. A mesh that is small enough remains unchanged.
    """
    cells, found = _FINEST, mesh
    least, size = mesh.vertices.min(axis=0), float(np.ptp(mesh.vertices, axis=0).max())
    while len(found.faces) > most:
        cell = np.floor((mesh.vertices - least) / size * cells)
        _, first, index = np.unique(cell, axis=0, return_index=True, return_inverse=True)
        faces = index.reshape(-1)[mesh.faces]
        flat = (faces == np.roll(faces, 1, axis=1)).any(axis=1)
        _, kept = np.unique(np.sort(faces[~flat], axis=1), axis=0, return_index=True)
        found, cells = Mesh(mesh.vertices[first], faces[~flat][np.sort(kept)]), cells / _RATIO
    return found


def _by_trimesh(path: Path) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    import trimesh  # Only mesh files require trimesh, whose import takes almost a second.

    found = trimesh.load_mesh(path)
    faces = np.asarray(getattr(found, "faces", ()), dtype=np.int64).reshape(-1, 3)
    return np.asarray(getattr(found, "vertices", ()), dtype=np.float64).reshape(-1, 3), faces
