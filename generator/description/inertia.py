"""Mass, centre of mass and inertia of a rigid body, in any of the three accepted forms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from .types import Matrix3, Matrix4, Part, Positive, Vector3


class Inertial(Part):
    """mass (kg), com (m, link frame) and inertia about the com (kg·m², axes of the link frame).

    `inertia` is a diagonal or a full 3×3; `pseudo_inertia` (P0 (10)), 4×4 about the frame's origin, replaces all three.
    """

    mass: Positive | None = None
    com: Vector3 | None = None
    inertia: Vector3 | Matrix3 | None = None
    pseudo_inertia: Matrix4 | None = None

    @property
    def has_inertia(self) -> bool:
        return any(x is not None for x in (self.mass, self.com, self.inertia, self.pseudo_inertia))

    @model_validator(mode="after")
    def _consistent(self) -> Inertial:
        if self.pseudo_inertia is not None:
            if any(x is not None for x in (self.mass, self.com, self.inertia)):
                raise ValueError("give pseudo_inertia alone, or mass, com and inertia")
            check_pseudo_inertia(np.array(self.pseudo_inertia))
        elif self.has_inertia:
            _check_mass_and_inertia(self)
        return self

    def about_com(self) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Mass in kg, com of shape (3,) in m (link frame), inertia about it of shape (3, 3) in kg·m² (link axes)."""
        if self.pseudo_inertia is not None:
            return _from_pseudo_inertia(np.array(self.pseudo_inertia))
        inertia = np.array(self.inertia, dtype=float)
        com = np.array(self.com or (0.0, 0.0, 0.0))
        return float(self.mass or 0.0), com, np.diag(inertia) if inertia.ndim == 1 else inertia


def _check_mass_and_inertia(part: Inertial) -> None:
    if part.mass is None or part.inertia is None:
        raise ValueError("expected both mass and inertia (or a beam, or pseudo_inertia)")
    inertia = np.array(part.inertia, dtype=float)
    inertia = np.diag(inertia) if inertia.ndim == 1 else inertia
    if np.abs(inertia - inertia.T).max() > 1e-12 * np.abs(inertia).max():
        raise ValueError("inertia: expected a symmetric 3×3")
    principal = np.linalg.eigvalsh(inertia)
    if principal[0] <= 0:
        raise ValueError(f"inertia: expected positive principal moments, got {np.round(principal, 9).tolist()}")
    if principal[2] > principal[0] + principal[1] + 1e-9 * principal[2]:
        raise ValueError(
            f"inertia: no body has principal moments {np.round(principal, 9).tolist()};"
            " the largest may not exceed the sum of the other two"
        )


def check_pseudo_inertia(pseudo: NDArray[np.float64]) -> None:
    if np.abs(pseudo - pseudo.T).max() > 1e-12 * np.abs(pseudo).max():
        raise ValueError("pseudo_inertia: expected a symmetric 4×4")
    eigenvalues = np.linalg.eigvalsh(pseudo)
    if eigenvalues[0] <= 0:
        raise ValueError(
            f"pseudo_inertia: expected a positive definite 4×4, got smallest eigenvalue {eigenvalues[0]:.6g}"
        )


def _from_pseudo_inertia(
    pseudo: NDArray[np.float64],
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    mass = float(pseudo[3, 3])
    com = pseudo[:3, 3] / mass
    second = pseudo[:3, :3] - mass * np.outer(com, com)
    return mass, com, np.trace(second) * np.eye(3) - second
