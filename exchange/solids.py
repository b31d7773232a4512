"""Computation of mass, centre of mass and inertia of homogeneous shapes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..core.trajectory import Array
from ..description.tables.frame import Frame
from ..scene.mesh import read_mesh

Table = dict[str, Any]


def inertia_of(shape: Table, density: float) -> tuple[Table, bool]:
    """Return mass, centre of mass and inertia of a homogeneous shape in the frame of its link.

    Parameters
    ----------
    shape
        Table `shape` of a link, lengths in m.
    density
        Density, kg/m³.

    Returns
    -------
    dict
        Keys `mass`, kg, `com`, m, and `inertia`, kg·m², about the centre of mass.
    bool
        Whether the surface is closed. For an open surface, the values belong to its convex hull.

    Raises
    ------
    DescriptionError
        If a mesh file cannot be read.
    """
    volume, centre, second, is_closed = _solid(shape)
    frame = Frame.model_validate(shape.get("frame", {}))
    mass, turn = density * volume, frame.rotation
    inertia = density * turn @ second @ turn.T
    com = turn @ centre + frame.offset
    return {"mass": mass, "com": com.tolist(), "inertia": ((inertia + inertia.T) / 2).tolist()}, is_closed


def _solid(shape: Table) -> tuple[float, Array, Array, bool]:
    """Return volume, m³, centroid, m, and inertia for a density of 1, m⁵, in the frame of the shape."""
    kind, at_centre = shape["type"], np.zeros(3)
    if kind == "mesh":
        return _of_mesh(shape)
    if kind == "box":
        size = np.array(shape["size"])
        volume, squares = float(np.prod(size)), size**2 / 12.0
    elif kind == "sphere":
        volume = 4.0 / 3.0 * np.pi * shape["radius"] ** 3
        squares = np.full(3, shape["radius"] ** 2 / 5.0)
    else:
        volume = np.pi * shape["radius"] ** 2 * shape["length"]
        squares = np.array([shape["radius"] ** 2 / 4.0] * 2 + [shape["length"] ** 2 / 12.0])
    return volume, at_centre, volume * np.diag(squares.sum() - squares), True


def _of_mesh(shape: Table) -> tuple[float, Array, Array, bool]:
    # Only mesh shapes require trimesh, whose import takes almost a second.
    import trimesh

    found = read_mesh(Path(shape["file"]), most=None)
    mesh = trimesh.Trimesh(found.vertices * shape.get("scale", 1.0), found.faces, process=True)
    is_closed = bool(mesh.is_watertight and mesh.is_winding_consistent and mesh.volume > 0.0)
    solid = mesh if is_closed else mesh.convex_hull
    solid.density = 1.0
    return float(solid.volume), np.array(solid.center_mass), np.array(solid.moment_inertia), is_closed
