"""Mass, centre of mass and inertia of a rigid body, in one of three forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from pydantic import Field, ValidationInfo, field_validator, model_validator

from ...core.arithmetic import S
from ...core.trajectory import Array
from ..fields.numbers import AnyNumber, Matrix4, NonNegative, Vector3, value_of, values_of
from ..fields.types import KeyProblem, Moments, Part
from ..types.bounds import FARTHEST

_ROUNDING = 1e-9  # rounding error of principal moments; for a flat body, two moments sum exactly to the third
_SIX = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


class Inertial(Part):
    """Mass, centre of mass and inertia of a rigid body."""

    # The validator of `mass` reads this field, so the field must precede `mass`.
    physical: bool = Field(True, strict=True)
    """`false` accepts moments of inertia that no body has, and zero mass with moments, as in many robot files."""
    mass: NonNegative | None = None
    """Mass of the body, kg; above 0."""
    com: Vector3 | None = None
    """Centre of mass: x, y, z in the frame of the body, m; default: the origin."""
    inertia: Moments | None = None
    """Inertia about the centre of mass in the axes of the body, kg·m²: the diagonal, or the 3×3 matrix."""
    pseudo_inertia: Matrix4 | None = None
    """Pseudo-inertia about the origin of the frame, a 4×4 matrix in kg·m², kg·m and kg, instead of
    `mass`, `com` and `inertia`."""

    @property
    def has_inertia(self) -> bool:
        """Whether any key for mass, centre of mass or inertia is present."""
        return any(x is not None for x in (self.mass, self.com, self.inertia, self.pseudo_inertia))

    @field_validator("mass")
    @classmethod
    def _above_zero(cls, mass: AnyNumber | None, info: ValidationInfo) -> AnyNumber | None:
        if mass is not None and value_of(mass) == 0 and info.data.get("physical", True):
            raise ValueError(f"expected a number above 0, got {mass!r}")
        return mass

    @model_validator(mode="after")
    def _consistent(self) -> Inertial:
        if self.pseudo_inertia is not None:
            if any(x is not None for x in (self.mass, self.com, self.inertia)):
                raise ValueError("give pseudo_inertia alone, or mass, com and inertia")
            _check_pseudo_inertia(_matrix(self.pseudo_inertia), self.physical)
        elif self.has_inertia:
            _check_mass_and_inertia(self)
        return self

    def about_com(self) -> tuple[float, Array, Array]:
        """Return mass, centre of mass and inertia; zeros for a frame without mass.

        Returns
        -------
        mass : float
            Mass, kg.
        com : ndarray of shape (3,)
            Centre of mass in the link frame, m.
        inertia : ndarray of shape (3, 3)
            Inertia about the centre of mass in the axes of the link, kg·m².
        """
        if self.pseudo_inertia is not None:
            return _from_pseudo_inertia(_matrix(self.pseudo_inertia))
        numbers = np.vectorize(value_of, otypes=[float])
        inertia = numbers(self.inertia or (0.0, 0.0, 0.0))
        com = np.array(values_of(self.com or (0.0, 0.0, 0.0)))
        return value_of(self.mass or 0.0), com, np.diag(inertia) if inertia.ndim == 1 else inertia

    def numbers(self, of: Callable[[AnyNumber], S]) -> tuple[S, Sequence[S], Sequence[S]]:
        """Return mass, centre of mass and inertia as numbers or symbolic expressions; see `about_com`.

        The inertia has six entries: xx, yy, zz, xy, xz, yz.

        Parameters
        ----------
        of
            Function that converts a number of the description to a number or symbolic expression.
        """
        if self.pseudo_inertia is not None:
            return _numbers_of_pseudo_inertia([[of(x) for x in row] for row in self.pseudo_inertia])
        rows = np.array(self.inertia, dtype=object)
        rows = np.diag(rows) if rows.ndim == 1 else rows
        moments = [of(rows[i, j]) for i, j in _SIX]
        return of(self.mass or 0.0), [of(x) for x in self.com or (0.0, 0.0, 0.0)], moments


def _matrix(rows: Matrix4) -> Array:
    return np.array([values_of(row) for row in rows])


def _check_mass_and_inertia(part: Inertial) -> None:
    for key in ("mass", "inertia"):
        if getattr(part, key) is None:
            raise KeyProblem(key, "the key is missing; give both mass and inertia (or a beam, or pseudo_inertia)")
    inertia = part.about_com()[2]
    if not _is_symmetric(inertia):
        raise KeyProblem("inertia", "expected a symmetric 3×3 matrix")
    if part.physical:
        _check_moments("inertia", inertia)


def _check_pseudo_inertia(pseudo: Array, physical: bool) -> None:
    if not _is_symmetric(pseudo):
        raise KeyProblem("pseudo_inertia", "expected a symmetric 4×4 matrix")
    mass, moment = pseudo[3, 3], np.abs(pseudo[:3, 3]).max()
    if mass <= 0:
        raise KeyProblem("pseudo_inertia", f"expected a mass above 0 in the last row, got {mass:.6g}")
    if moment > FARTHEST * mass:
        raise KeyProblem(
            "pseudo_inertia",
            f"expected a centre of mass (first moment divided by mass) within {FARTHEST:g} m of the origin, got"
            f" the first moment {moment:.6g} kg·m and the mass {mass:.6g} kg in the last row",
        )
    if physical:
        _check_moments("pseudo_inertia", _from_pseudo_inertia(pseudo)[2])


def _check_moments(key: str, inertia: Array) -> None:
    """Raise KeyProblem if no physical body can have this inertia.

    The inertia, kg·m², is about the centre of mass.
    """
    smallest, middle, largest = np.linalg.eigvalsh(inertia)
    shown = f"[{smallest:.6g}, {middle:.6g}, {largest:.6g}] about the com"
    if smallest < -_ROUNDING * largest:
        raise KeyProblem(key, f"expected principal moments of at least 0, got {shown}")
    if largest > smallest + middle + _ROUNDING * largest:
        raise KeyProblem(
            key,
            f"no rigid body can have principal moments {shown};"
            " the largest must not exceed the sum of the other two",
        )


def _is_symmetric(matrix: Array) -> bool:
    return bool(np.abs(matrix - matrix.T).max() <= 1e-12 * np.abs(matrix).max())


def _from_pseudo_inertia(pseudo: Array) -> tuple[float, Array, Array]:
    mass = float(pseudo[3, 3])
    com = pseudo[:3, 3] / mass
    second = pseudo[:3, :3] - mass * np.outer(com, com)
    return mass, com, np.trace(second) * np.eye(3) - second


def _numbers_of_pseudo_inertia(rows: Sequence[Sequence[S]]) -> tuple[S, Sequence[S], Sequence[S]]:
    mass = rows[3][3]
    com = [rows[i][3] / mass for i in range(3)]
    second = {(i, j): rows[i][j] - mass * (com[i] * com[j]) for i, j in _SIX}
    trace = second[0, 0] + second[1, 1] + second[2, 2]
    return mass, com, [trace - second[i, j] if i == j else 0.0 - second[i, j] for i, j in _SIX]
