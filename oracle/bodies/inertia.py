"""Mass, centre of mass and inertia of a rigid body by its table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.trajectory import Array


@dataclass(frozen=True)
class Inertia:
    """Mass in kg, centre of mass, shape (3,), m, and moments about it, shape (3, 3), kg·m², in body axes."""

    mass: float
    com: Array
    moments: Array


def inertia(table: Mapping[str, Any]) -> Inertia:
    """Return the inertia of a link or base; zero for a frame without mass."""
    if table.get("pseudo_inertia") is not None:
        return _by_pseudo_inertia(np.array(table["pseudo_inertia"], dtype=float))
    moments = np.array(table.get("inertia") or (0.0, 0.0, 0.0), dtype=float)
    com = np.array(table.get("com") or (0.0, 0.0, 0.0), dtype=float)
    return Inertia(float(table.get("mass") or 0.0), com, np.diag(moments) if moments.ndim == 1 else moments)


def _by_pseudo_inertia(H: Array) -> Inertia:
    """Return the inertia for H = ∫ r rᵀ dm with r = (x, y, z, 1) from the frame's origin."""
    mass = float(H[3, 3])
    com = H[:3, 3] / mass
    second = H[:3, :3] - mass * np.outer(com, com)
    return Inertia(mass, com, np.trace(second) * np.eye(3) - second)
