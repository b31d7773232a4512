"""Closure types: each type is a list of scalar conditions between two frames a and b.

A condition is zero if the loop is closed. All constraint equations are derived from
`CLOSURE_TYPES`, so a new closure type requires only one entry. For a closure by spring-dampers, the
conditions are the deformations (Urbaś 2016, equations (4) to (12)).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Literal

X, Y, Z = 0, 1, 2

# Largest initial rotation between two frames that a closure aligns, rad.
# At larger rotations, springs and constraints on direction cosines no longer align the two frames.
MOST_TURNED = pi / 2


@dataclass(frozen=True)
class Condition:
    """Scalar condition between frames a and b with origins r_a and r_b, where ρ = r_b − r_a.

    Parameters
    ----------
    kind
        `along`: component ρ·axis_a of ρ along an axis of frame a, m.
        `along_world`: component of ρ along an axis of the world frame, m.
        `between`: cosine axis_a·axis_b of two axes. If the axes are nearly perpendicular, the cosine
        is approximately the small deviation of their angle from π/2, rad.
        `distance`: (ρ·ρ − length²)/(2·length), m.
    a
        Axis of frame a, or of the world frame for `along_world`: 0, 1 or 2 for x, y or z.
    b
        Axis of frame b for `between`: 0, 1 or 2 for x, y or z.
    """

    kind: Literal["along", "along_world", "between", "distance"]
    a: int = 0
    b: int = 0

    @property
    def name(self) -> str:
        """Suffix of the constraint equation's name, such as `x` for ρ·x_a, or `yz` for y_a·z_b."""
        if self.kind == "distance":
            return "distance"
        return "xyz"[self.a] + ("xyz"[self.b] if self.kind == "between" else "")

    @property
    def unit(self) -> str:
        """Unit of the condition: m, or rad for a cosine that represents a small angle."""
        return "rad" if self.kind == "between" else "m"


def _along(axis: int) -> Condition:
    return Condition("along", axis)


def _between(a: int, b: int) -> Condition:
    return Condition("between", a, b)


_SAME_ORIGIN = (_along(X), _along(Y), _along(Z))
# These conditions are d_φ, d_θ and d_ψ in equation (12) of Urbaś 2016.
_SAME_AXES = (_between(Z, Y), _between(X, Z), _between(Y, X))

CLOSURE_TYPES: dict[str, tuple[Condition, ...]] = {
    "revolute": (*_SAME_ORIGIN, _between(X, Z), _between(Y, Z)),
    "spherical": _SAME_ORIGIN,
    "universal": (*_SAME_ORIGIN, _between(Z, Z)),
    "prismatic": (_along(X), _along(Y), *_SAME_AXES),
    "fixed": (*_SAME_ORIGIN, *_SAME_AXES),
    "distance": (Condition("distance"),),
    "point_on_line": (_along(X), _along(Y)),
}

# Deformations x, y, z, φ, θ, ψ of a spring-damper; `stiffness` and `damping` have one value for each.
DEFORMATIONS: dict[str, tuple[Condition, ...]] = {
    "local": (*_SAME_ORIGIN, *_SAME_AXES),
    "world": (*(Condition("along_world", axis) for axis in (X, Y, Z)), *_SAME_AXES),
}
