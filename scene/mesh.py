"""Meshes from STL and OBJ files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..core.errors import DescriptionError

_MOST = 100_000  # triangles: a page with more is several megabytes


@dataclass(frozen=True)
class Mesh:
    """Triangles.

    vertices  shape (V, 3), in the file's unit
    faces     shape (F, 3), indices of vertices
    """

    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]


def read_mesh(path: Path) -> Mesh:
    """Raises DescriptionError for a file that cannot be read or has too many triangles."""
    import trimesh  # takes most of a second

    try:
        found = trimesh.load_mesh(path)
    except Exception as error:  # the parsers of damaged files raise whatever they run into
        raise DescriptionError(str(path), f"cannot be read as a mesh: {error}") from None
    faces = np.asarray(getattr(found, "faces", ()), dtype=np.int64).reshape(-1, 3)
    vertices = np.asarray(getattr(found, "vertices", ()), dtype=np.float64).reshape(-1, 3)
    if not len(faces) or not np.isfinite(vertices).all():
        raise DescriptionError(str(path), "has no triangles, or corners that are no numbers")
    if len(faces) > _MOST:
        text = f"has {len(faces)} triangles, at most {_MOST} are drawn; reduce it in the program that it is from"
        raise DescriptionError(str(path), text)
    return Mesh(vertices, faces)
