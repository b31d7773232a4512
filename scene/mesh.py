"""Triangle meshes from STL and OBJ files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..core.errors import DescriptionError
from ..core.file_kinds import why

_MOST = 100_000  # Largest number of triangles, for pages of at most a few megabytes.


@dataclass(frozen=True)
class Mesh:
    """Triangle mesh.

    Attributes
    ----------
    vertices : ndarray, shape (V, 3)
        Corners in the unit of the file.
    faces : ndarray of int, shape (F, 3)
        Indices of the three corners of each triangle.
    """

    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]


def read_mesh(path: Path) -> Mesh:
    """Return the mesh of an STL or OBJ file; raises DescriptionError if it is unreadable or too
    large.
    """
    import trimesh  # Imported here because the import takes almost a second.

    try:
        found = trimesh.load_mesh(path)
    except Exception as error:  # Parsers raise errors of any type for damaged files.
        raise DescriptionError(str(path), f"cannot be read as a mesh: {why(error)}") from None
    faces = np.asarray(getattr(found, "faces", ()), dtype=np.int64).reshape(-1, 3)
    vertices = np.asarray(getattr(found, "vertices", ()), dtype=np.float64).reshape(-1, 3)
    if not len(faces) or not np.isfinite(vertices).all():
        text = "has no triangles, or a corner that is not a finite number; check the mesh file"
        raise DescriptionError(str(path), text)
    if len(faces) > _MOST:
        text = f"has {len(faces)} triangles; expected at most {_MOST}: reduce the mesh in a modelling program"
        raise DescriptionError(str(path), text)
    return Mesh(vertices, faces)
