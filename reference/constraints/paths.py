"""Rows of a path, and how its target moves (P0 (28), (29))."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...generator.description.tables.task import Path
from ..kinematics.quantities import Quantities, State
from .rows import Rows, Sizes

Array = NDArray[np.float64]


class Target:
    """How a path's target moves in its frame: w(t) = w_0 + Σ (w_k+1 − w_k) s_k(t), s_k from 0 to 1 during leg k.

    Where legs overlap, their motions add up.
    """

    def __init__(self, path: Path) -> None:
        self._waypoints = np.array(path.waypoints, dtype=float)
        self._trapezoidal, self._ramp = path.profile == "trapezoidal", float(path.ramp_share)
        self._legs = [(float(begin), float(duration)) for begin, duration in path.legs()]

    def motion(self, t: float, since: float) -> tuple[Array, Array, Array]:
        """w, ẇ, ẅ, each of shape (3,), m and s, at t, s, in the time segment that began at `since`, s."""
        steps, ways = self.steps(t, since), np.diff(self._waypoints, axis=0)
        w, w_dot, w_ddot = steps @ ways
        return self._waypoints[0] + w, w_dot, w_ddot

    def steps(self, t: float, since: float) -> Array:
        """s_k, ṡ_k and s̈_k of all legs, shape (3, legs), 1/s and 1/s²."""
        step = self._trapezoid if self._trapezoidal else _quintic
        return np.array([step(t, since, *leg) for leg in self._legs]).T

    def _trapezoid(self, t: float, since: float, begin: float, duration: float) -> tuple[float, float, float]:
        """The phase is that of the segment; its acceleration holds also where a trial step reaches beyond it."""
        r, phase = self._ramp, sum(time <= since for time in self._switches(begin, duration))
        x, top = (t - begin) / duration, 1.0 / (1.0 - r)
        if phase == 1:
            return top * x * x / (2.0 * r), top * x / r / duration, top / r / duration**2
        if phase == 2:
            return top * (x - r / 2.0), top / duration, 0.0
        if phase == 3:
            left = 1.0 - x
            return 1.0 - top * left * left / (2.0 * r), top * left / r / duration, -top / r / duration**2
        return float(phase == 4), 0.0, 0.0

    def _switches(self, begin: float, duration: float) -> tuple[float, ...]:
        if not self._trapezoidal:
            return begin, begin + duration
        return begin, begin + self._ramp * duration, begin + (1.0 - self._ramp) * duration, begin + duration

    def stops(self) -> Iterator[float]:
        """Times at which the acceleration, or its derivative, jumps, s."""
        return (time for leg in self._legs for time in self._switches(*leg))

    @property
    def visits(self) -> list[float]:
        """When it is at each waypoint, or in the middle of rounding it, s."""
        begins = [begin for begin, _ in self._legs]
        ends = [begin + duration for begin, duration in self._legs]
        between = [(begin + end) / 2.0 for begin, end in zip(begins[1:], ends[:-1], strict=True)]
        return [0.0, *between, ends[-1]]


def _quintic(t: float, since: float, begin: float, duration: float) -> tuple[float, float, float]:
    """With clamped time: both derivatives vanish at the ends."""
    del since
    x = min(max((t - begin) / duration, 0.0), 1.0)
    return (
        x**3 * (10 - 15 * x + 6 * x * x),
        30 * (x * (1 - x)) ** 2 / duration,
        60 * x * (1 - x) * (1 - 2 * x) / duration**2,
    )


class PathRows:
    """Components of R_Pᵀ(r_E − r_P(t)) in the path's frame P, whose origin is o_P: R_Pᵀ(r_E − o_P) − w(t)."""

    order = 0

    def __init__(self, name: str, path: Path, quantities: Quantities) -> None:
        self.names = tuple(f"{name}_{component}" for component in path.components)
        self._own = ["xyz".index(component) for component in path.components]
        self._rotation, self._origin = path.frame.rotation.T[self._own], path.frame.offset
        self._quantities, self._point = quantities, quantities.point(path.point)
        self._target = Target(path)

    def rows(self, state: State) -> Rows:
        """The rows in the state."""
        R, used = self._rotation, self._point
        w, w_dot, w_ddot = self._wanted(state)
        return Rows(
            R @ (state.x[used] - self._origin) - w,
            R @ state.x_dot[used] - w_dot,
            R @ state.jacobian[used],
            w_ddot - R @ state.bias[used],
        )

    def sizes(self, state: State) -> Sizes:
        """What they are made of."""
        C = np.abs(self._rotation) @ self._quantities.jacobian_sizes(state)[self._point]
        far = np.linalg.norm(state.x[self._point]) + np.linalg.norm(self._origin)
        return Sizes(far + np.abs(self._wanted(state)[0]), C)

    def slopes(self, state: State) -> Array:
        """By the quantities."""
        slopes = np.zeros((len(self._own), len(state.x)))
        slopes[:, self._point] = self._rotation
        return slopes

    def stops(self) -> Iterator[float]:
        """Of the target."""
        return self._target.stops()

    def _wanted(self, state: State) -> list[Array]:
        return [x[self._own] for x in self._target.motion(state.t, state.segment.begin)]
