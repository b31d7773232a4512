"""Mass, centre of mass and inertia tensor of a rigid body from its description table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.trajectory import Array


@dataclass(frozen=True)
class Inertia:
    """Inertia parameters of a rigid body in body axes.

    Parameters
    ----------
    mass : float
        Mass, kg.
    com : ndarray, shape (3,)
        Centre of mass, m.
    moments : ndarray, shape (3, 3)
        Inertia tensor about the centre of mass, kg·m².
    """

    mass: float
    com: Array
    moments: Array


def inertia(table: Mapping[str, Any]) -> Inertia:
    """Return the inertia parameters of a link or base from its table.

    If the table contains a pseudo-inertia matrix, all parameters follow from the matrix. Otherwise,
    parameters that are missing in the table are zero.
    """
    if table.get("pseudo_inertia") is not None:
        return _by_pseudo_inertia(np.array(table["pseudo_inertia"], dtype=float))
    moments = np.array(table.get("inertia") or (0.0, 0.0, 0.0), dtype=float)
    com = np.array(table.get("com") or (0.0, 0.0, 0.0), dtype=float)
    return Inertia(float(table.get("mass") or 0.0), com, np.diag(moments) if moments.ndim == 1 else moments)


def _by_pseudo_inertia(H: Array) -> Inertia:
    """Return the inertia parameters for the pseudo-inertia matrix H = ∫ r rᵀ dm, shape (4, 4).

    The vector r = (x, y, z, 1) is a homogeneous position relative to the body frame's origin, m.
    """
    mass = float(H[3, 3])
    com = H[:3, 3] / mass
    second = H[:3, :3] - mass * np.outer(com, com)
    return Inertia(mass, com, np.trace(second) * np.eye(3) - second)
