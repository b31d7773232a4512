"""Loop closures: scalar conditions between a frame a and a frame b on two bodies.

The vector ρ points from the origin of frame a to the origin of frame b.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.trajectory import Array
from ..bodies.frames import frame
from ..bodies.machine import GROUND
from ..bodies.motion import Motion, cross
from ..expressions.jets import Jet
from ..expressions.setting import Setting
from ..expressions.state import State
from .rows import Equation, Group, Wrench, by_wrenches

# The loop-closure condition `x` is the x component, in frame a, of the position of frame b relative to frame a.
# The loop-closure condition `zy` is the scalar product of the unit vectors z of frame a and y of frame b.
CONDITIONS: Mapping[str, tuple[str, ...]] = {
    "revolute": ("x", "y", "z", "xz", "yz"),
    "prismatic": ("x", "y", "zy", "xz", "yx"),
    "universal": ("x", "y", "z", "zz"),
    "spherical": ("x", "y", "z"),
    "fixed": ("x", "y", "z", "zy", "xz", "yx"),
    "point_on_line": ("x", "y"),
    "distance": ("distance",),
}
DEFORMATIONS = CONDITIONS["fixed"]


@dataclass(frozen=True)
class _Vector:
    """Vector that moves with a mechanism, with time derivatives.

    `rate` is the first derivative; `bias` is the second derivative for q̈ = 0.
    """

    value: Array
    rate: Array
    bias: Array


@dataclass(frozen=True)
class _Mount:
    """Attachment frame of a loop closure on a body.

    Parameters
    ----------
    point : int
        Index of the point at the frame's origin.
    body : int
        Index of the body.
    axes : ndarray, shape (3, 3)
        Axes of the frame as columns, in the body frame.
    """

    point: int
    body: int
    axes: Array

    def axis(self, motion: Motion, i: int) -> _Vector:
        """Return axis i of the attachment frame with its derivatives, in world axes."""
        u, omega = motion.R[self.body] @ self.axes[:, i], motion.omega[self.body]
        spin = cross(omega, u)
        return _Vector(u, spin, cross(motion.alpha[self.body], u) + cross(omega, spin))


class Closure:
    """Scalar conditions of a loop closure.

    A cut joint enforces the conditions by constraint equations. If spring-dampers replace the constraint
    equations, each condition has one spring-damper, whose deflection is the residual of the condition.
    """

    def __init__(self, table: Mapping[str, Any], setting: Setting) -> None:
        self.name = table["name"]
        is_spring = table["model"] == "spring_damper"
        self.conditions = DEFORMATIONS if is_spring else CONDITIONS[table["type"]]
        self._in_world, self._length = table["axes"] == "world", table["length"]
        self._a, self._b = (_mount(table[end], setting) for end in "ab")

    def equations(self, state: State) -> list[Equation]:
        return [self._equation(state, condition) for condition in self.conditions]

    def _equation(self, state: State, condition: str) -> Equation:
        if condition == "distance":
            return self._distance(state)
        if len(condition) == 2:
            return self._between(state, *("xyz".index(letter) for letter in condition))
        return self._along(state, "xyz".index(condition))

    def _along(self, state: State, i: int) -> Equation:
        way, a = self._way(state), self._a
        if self._in_world:
            fixed = np.eye(3)[i]
            u, turning = _Vector(fixed, 0.0 * fixed, 0.0 * fixed), np.zeros(3)
        else:
            u = a.axis(state.motion, i)
            turning = cross(u.value, way.value)
        wrenches = self._pulling(state, u.value)
        return by_wrenches(state.motion, _product(u, way), [*wrenches, Wrench(a.body, np.zeros(3), turning)])

    def _between(self, state: State, i: int, j: int) -> Equation:
        u, w = self._a.axis(state.motion, i), self._b.axis(state.motion, j)
        moment = cross(u.value, w.value)
        none = np.zeros(3)
        wrenches = [Wrench(self._a.body, none, moment), Wrench(self._b.body, none, -moment)]
        return by_wrenches(state.motion, _product(u, w), wrenches)

    def _distance(self, state: State) -> Equation:
        way, L = self._way(state), self._length
        x = _product(way, way) * (0.5 / L) + -0.5 * L
        return by_wrenches(state.motion, x, self._pulling(state, way.value / L))

    def _way(self, state: State) -> _Vector:
        p, a, b = state.points, self._a.point, self._b.point
        return _Vector(p.position[b] - p.position[a], p.velocity[b] - p.velocity[a], p.bias[b] - p.bias[a])

    def _pulling(self, state: State, force: Array) -> list[Wrench]:
        """Return the wrenches of two opposite forces: `force` on body b, and −`force` on body a.

        Each force acts at the origin of the attachment frame on its body.
        """
        arm = state.points.arm
        return [
            Wrench(self._b.body, force, cross(arm[self._b.point], force)),
            Wrench(self._a.body, -force, -cross(arm[self._a.point], force)),
        ]


class CutJoint(Closure, Group):
    """Loop closure that is enforced by constraint equations."""

    order: int = 0

    def __init__(self, table: Mapping[str, Any], setting: Setting) -> None:
        super().__init__(table, setting)
        self.names = tuple(f"{self.name}_{condition}" for condition in self.conditions)


def _mount(table: Mapping[str, Any], setting: Setting) -> _Mount:
    own = frame(table)
    point = setting.point(table["link"], own.origin.tolist())
    body = setting.places[point].body
    return _Mount(point, GROUND if table["link"] == "ground" else body, own.rotation.as_matrix())


def _product(u: _Vector, w: _Vector) -> Jet:
    """Return the scalar product of two vectors with its first and second time derivatives.

    The second derivative is computed for q̈ = 0.
    """
    rate = u.rate @ w.value + u.value @ w.rate
    bias = u.bias @ w.value + 2.0 * u.rate @ w.rate + u.value @ w.bias
    return Jet(float(u.value @ w.value), 0.0, float(rate), float(bias))
