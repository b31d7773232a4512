"""Closure types: each is a list of scalar conditions between two frames a and b.

A condition is zero where the loop is closed. To add a closure type, add a row to `CLOSURE_TYPES`; constraint
rows and every backend follow. Spring-dampers take the same conditions as deformations (Urbaś 2016 (4)–(12)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

X, Y, Z = 0, 1, 2


@dataclass(frozen=True)
class Condition:
    """One scalar between frame a (axes x_a, y_a, z_a, origin r_a) and frame b; ρ = r_b − r_a.

    kind  along      ρ·axis_a, m: ρ's component along an axis of frame a
          along_world  ρ's component along a world axis, m
          between    axis_a·axis_b: cosine of the angle between two axes; a small angle for deformations
          distance   (ρ·ρ − length²)/(2·length), m
    a, b  axis numbers 0, 1, 2 of frame a (or the world's) and of frame b, as far as the kind has them
    """

    kind: Literal["along", "along_world", "between", "distance"]
    a: int = 0
    b: int = 0

    @property
    def name(self) -> str:
        """Suffix of the row's name: `x`, or `yz` for y_a·z_b."""
        if self.kind == "distance":
            return "distance"
        return "xyz"[self.a] + ("xyz"[self.b] if self.kind == "between" else "")

    @property
    def unit(self) -> str:
        """Unit of the condition: m, or rad for a cosine that stands for a small angle."""
        return "rad" if self.kind == "between" else "m"


def _along(axis: int) -> Condition:
    return Condition("along", axis)


def _between(a: int, b: int) -> Condition:
    return Condition("between", a, b)


_SAME_ORIGIN = (_along(X), _along(Y), _along(Z))
_SAME_AXES = (_between(Z, Y), _between(X, Z), _between(Y, X))  # Urbaś 2016 (12): d_φ, d_θ, d_ψ

CLOSURE_TYPES: dict[str, tuple[Condition, ...]] = {
    "revolute": (*_SAME_ORIGIN, _between(X, Z), _between(Y, Z)),
    "spherical": _SAME_ORIGIN,
    "universal": (*_SAME_ORIGIN, _between(Z, Z)),
    "prismatic": (_along(X), _along(Y), *_SAME_AXES),
    "fixed": (*_SAME_ORIGIN, *_SAME_AXES),
    "distance": (Condition("distance"),),
    "point_on_line": (_along(X), _along(Y)),
}

# x y z φ θ ψ: what `stiffness` and `damping` of a spring-damper refer to
DEFORMATIONS: dict[str, tuple[Condition, ...]] = {
    "local": (*_SAME_ORIGIN, *_SAME_AXES),
    "world": (*(Condition("along_world", axis) for axis in (X, Y, Z)), *_SAME_AXES),
}
