"""Path constraints on position and orientation of a point, and the target that moves along the path.

The equations are (28) and (29) of Jarzębowska et al. 2023.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from scipy.spatial.transform import Rotation

from ...core.errors import SolveError
from ...core.trajectory import Array
from ...description.fields.numbers import value_of, values_of
from ...description.tables.task import Path
from ..kinematics.jet import Number
from ..kinematics.quantities import KinematicState, Quantities
from .rows import Rows, Sizes, of_each

Steps: TypeAlias = tuple[Number, Number, Number]
# The array contains the negative permutation symbol −ε_imn.
_DIFFERENCES = np.array([np.cross(np.eye(3), e) for e in np.eye(3)])
# If the matrix Q rotates the prescribed axes to the actual axes, 1 + tr Q must be at least this value.
# Below this value of 1 + tr Q, the angle of the rotation matrix Q is within 1e-6 rad of 180°.
_OPPOSITE = 1e-12


class Target:
    """Target point of a path in the path's frame, w(t) = w_0 + Σ (w_k+1 − w_k) s_k(t).

    The function s_k rises from 0 to 1 during leg k, from waypoint w_k to w_k+1. The motions of
    overlapping legs add up.
    """

    def __init__(self, path: Path) -> None:
        self._waypoints = np.array([values_of(waypoint) for waypoint in path.waypoints])
        self._ways = np.diff(self._waypoints, axis=0)
        self._trapezoidal, self._ramp = path.profile == "trapezoidal", value_of(path.ramp_share)
        self._legs = path.legs(value_of)

    def motion(self, t: Number, since: float) -> tuple[Array, Array, Array]:
        """Return the target point w and its derivatives ẇ and ẅ at time t, each of shape (…, 3).

        Units are m, m/s and m/s²; times are in s. The argument `since` is the beginning of the current time
        segment. The phase of a leg at that time (acceleration, constant velocity or braking) is kept for
        the whole segment.
        """
        w, w_dot, w_ddot = np.moveaxis(self.steps(t, since) @ self._ways, -2, 0)
        return self._waypoints[0] + w, w_dot, w_ddot

    def steps(self, t: Number, since: float) -> Array:
        """Return the functions s_k, which rise from 0 to 1 during leg k of a path, with ṡ_k and s̈_k.

        The shape is (…, 3, legs) for times t of shape (…); units are 1, 1/s and 1/s².
        """
        step = self._trapezoid if self._trapezoidal else _quintic
        return np.array([step(t, since, *leg) for leg in self._legs]).T

    def _trapezoid(self, t: Number, since: float, begin: float, duration: float) -> Steps:
        """Return the transition from 0 to 1 during a leg of a path, with two time derivatives.

        A leg is the part of a path between two successive waypoints.

        The velocity profile is a trapezoid. The three phases are acceleration, constant velocity and
        braking. The phase at the beginning of a time segment is kept for the whole segment, even in trial
        steps beyond a switching time.
        """
        r, phase = self._ramp, sum(time <= since for time in self._switches(begin, duration))
        x, top = (t - begin) / duration, 1.0 / (1.0 - r)
        left, none = 1.0 - x, 0.0 * x
        if phase == 1:
            return top * x * x / (2.0 * r), top * x / r / duration, top / r / duration**2 + none
        if phase == 2:
            return top * (x - r / 2.0), top / duration + none, none
        if phase == 3:
            return 1.0 - top * left * left / (2.0 * r), top * left / r / duration, none - top / r / duration**2
        return float(phase == 4) + none, none, none

    def _switches(self, begin: float, duration: float) -> tuple[float, ...]:
        if not self._trapezoidal:
            return begin, begin + duration
        return begin, begin + self._ramp * duration, begin + (1.0 - self._ramp) * duration, begin + duration

    def stops(self) -> Iterator[float]:
        """Yield the times at which the acceleration or the jerk of the path's target point jumps, s."""
        return (time for leg in self._legs for time in self._switches(*leg))

    @property
    def visits(self) -> list[float]:
        """Times at which the target point of a path reaches each waypoint, s.

        A leg is the part of a path between two successive waypoints. If two legs overlap in time, the target
        passes near the waypoint between them. The time is then the middle of the overlap.
        """
        begins = [begin for begin, _ in self._legs]
        ends = [begin + duration for begin, duration in self._legs]
        between = [(begin + end) / 2.0 for begin, end in zip(begins[1:], ends[:-1], strict=True)]
        return [0.0, *between, ends[-1]]


def _quintic(t: Number, since: float, begin: float, duration: float) -> Steps:
    """Return the quintic transition from 0 to 1 during a leg of a path, with two time derivatives.

    A leg is the part of a path between two successive waypoints.

    Both derivatives are zero at both ends.
    """
    del since
    x = np.minimum(np.maximum((t - begin) / duration, 0.0), 1.0)
    return (
        x**3 * (10 - 15 * x + 6 * x * x),
        30 * (x * (1 - x)) ** 2 / duration,
        60 * x * (1 - x) * (1 - 2 * x) / duration**2,
    )


class PathRows:
    """Position constraints of a path: selected components of R_Pᵀ(r_E − o_P) − w(t) = 0.

    R_P contains the axes of the path's frame, and o_P is its origin. The guided point has the position
    r_E. The target point w(t) is given in the path's frame.
    """

    order = 0

    def __init__(self, name: str, path: Path, quantities: Quantities) -> None:
        self.names = tuple(f"{name}_{component}" for component in path.components)
        self._own = ["xyz".index(component) for component in path.components]
        self._rotation, self._origin = path.frame.rotation.T[self._own], path.frame.offset
        self._quantities, self._point = quantities, quantities.point(path.point)
        self._target = Target(path)

    def rows(self, state: KinematicState) -> Rows:
        R, used = self._rotation, self._point
        w, w_dot, w_ddot = self._prescribed(state)
        return Rows(
            (state.x[..., used] - self._origin) @ R.T - w,
            state.x_dot[..., used] @ R.T - w_dot,
            R @ state.jacobian[..., used, :],
            w_ddot - state.bias[..., used] @ R.T,
        )

    def sizes(self, state: KinematicState) -> Sizes:
        """Return the magnitudes of the terms that add up to the path's constraint values and Jacobian.

        Rounding errors are estimated as fractions of these magnitudes.
        """
        C = np.abs(self._rotation) @ self._quantities.jacobian_sizes(state)[self._point]
        far = np.linalg.norm(state.x[self._point]) + np.linalg.norm(self._origin)
        return Sizes(far + np.abs(self._prescribed(state)[0]), C)

    def slopes(self, state: KinematicState) -> Array:
        """Return the derivatives of a path's position constraints with respect to all kinematic quantities.

        The result has shape (rows, quantities).
        """
        slopes = np.zeros((len(self._own), len(state.x)))
        slopes[:, self._point] = self._rotation
        return slopes

    def stops(self) -> Iterator[float]:
        """Return the times at which the acceleration or the jerk of the path's target jumps, s."""
        return self._target.stops()

    def _prescribed(self, state: KinematicState) -> list[Array]:
        return [x[..., self._own] for x in self._target.motion(state.t, state.segment.begin)]


class Orientation:
    """Prescribed axes of a path, R_d(t) = R_P R_0 Π_k exp(s_k(t) W_k).

    R_P contains the axes of the path's frame, and R_0 is the first orientation. The function s_k rises
    from 0 to 1 during leg k. W_k is the cross product matrix of the leg's rotation vector. Each leg is
    therefore a rotation about a fixed axis, from one orientation of the path to the next.
    """

    def __init__(self, path: Path) -> None:
        assert path.orientations is not None
        given = Rotation.from_euler("ZYX", [values_of(rpy)[::-1] for rpy in path.orientations])
        self._steps = Target(path).steps
        self._first = path.frame.rotation @ given[0].as_matrix()
        self._turns = (given[:-1].inv() * given[1:]).as_rotvec()
        self._skew = [np.cross(np.eye(3), turn) for turn in self._turns]

    def motion(self, t: float, since: float) -> tuple[Array, Array, Array]:
        """Return the prescribed axes R_d with their first and second derivatives, shape (3, 3) each.

        The axes have components in the world frame. The argument t is the time, s, and `since` is the
        beginning of the current time segment, s.
        """
        found, steps = (self._first, np.zeros((3, 3)), np.zeros((3, 3))), self._steps(t, since)
        turned = Rotation.from_rotvec(steps[0][:, None] * self._turns).as_matrix()
        for W, E, (_, rate, second) in zip(self._skew, turned, steps.T, strict=True):
            found = _product(found, (E, rate * W @ E, (rate**2 * W + second * np.eye(3)) @ W @ E))
        return found


def _product(a: tuple[Array, Array, Array], b: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    """Return a product of two matrices with its first and second time derivatives.

    Each argument contains a matrix with its first and second time derivatives.
    """
    return a[0] @ b[0], a[1] @ b[0] + a[0] @ b[1], a[2] @ b[0] + 2.0 * a[1] @ b[1] + a[0] @ b[2]


class OrientationRows:
    """Orientation constraints of a path: φ = d/√(1 + tr Q) = 0 with Q = R_dᵀ R and d_i = −ε_imn Q_mn.

    R_d are the prescribed axes, R the axes of the guided point, and ε the permutation symbol. The
    length of φ is 2 sin(α/2) for an error of angle α. For small errors, φ contains the error angles
    about the axes of R_d, rad.
    """

    order = 0

    def __init__(self, name: str, path: Path, quantities: Quantities) -> None:
        self.names = tuple(f"{name}_r{axis}" for axis in "xyz")
        self._quantities, self._used = quantities, quantities.axes(path.point)
        self._orientation, self._target = Orientation(path), Target(path)
        self._text = f"the axes of {path.point} are rotated by 180° against the orientation of path {name}"

    def rows(self, state: KinematicState) -> Rows:
        """Evaluate the orientation constraints at one state, or at many states one by one."""
        if state.is_many:
            return of_each([self.rows(one) for one in state.each()])
        used = self._used
        R, R_dot, R_bias = (x[used] for x in (state.x, state.x_dot, state.bias))
        target = self._orientation.motion(state.t, state.segment.begin)
        prescribed = target[0].T, target[1].T, target[2].T
        Q, Q_dot, Q_bias = _product(prescribed, (R, R_dot, R_bias))
        d, d_dot, d_bias = (_differences(x) for x in (Q, Q_dot, Q_bias))
        s, (s_dot, s_bias) = self._sum(Q, state.t), (float(np.trace(x)) for x in (Q_dot, Q_bias))
        second = d_bias - d_dot * s_dot / s - d * s_bias / (2.0 * s) + 0.75 * d * (s_dot / s) ** 2
        C = np.tensordot(_by_axes(target[0], d, s), state.jacobian[used], 2)
        return Rows(d / np.sqrt(s), (d_dot - d * s_dot / (2.0 * s)) / np.sqrt(s), C, -second / np.sqrt(s))

    def sizes(self, state: KinematicState) -> Sizes:
        """Return the magnitudes of the terms in the orientation constraints and their Jacobian.

        Rounding errors are estimated as fractions of these magnitudes. The terms of the constraint values
        have magnitude 1, because axes are unit vectors.
        """
        turning = self._quantities.jacobian_sizes(state)[self._used].max(axis=(0, 1))
        return Sizes(np.ones(3), np.tile(turning, (3, 1)))

    def slopes(self, state: KinematicState) -> Array:
        """Return the derivatives of orientation constraints with respect to all kinematic quantities.

        The result has shape (3, quantities).
        """
        slopes = np.zeros((3, len(state.x)))
        prescribed = self._orientation.motion(state.t, state.segment.begin)[0]
        Q = prescribed.T @ state.x[self._used]
        slopes[:, self._used] = _by_axes(prescribed, _differences(Q), self._sum(Q, state.t))
        return slopes

    def stops(self) -> Iterator[float]:
        """Return the times at which the acceleration or the jerk of the target jumps, s."""
        return self._target.stops()

    def _sum(self, Q: Array, t: float) -> float:
        """Return 1 + tr Q = 4 cos²(α/2) for a rotation matrix Q with the rotation angle α.

        The matrix Q describes the rotation from the prescribed axes to the actual axes.

        Raises
        ------
        SolveError
            If α is 180° up to rounding. The rotation axis of the orientation error is then not unique.
        """
        s = 1.0 + float(np.trace(Q))
        if s < _OPPOSITE:
            raise SolveError(
                f"{self._text} at t = {t:.9g} s, so the axis of the orientation error is not unique; change the"
                " orientations of the path or the initial state, so that the error is less than half a turn"
            )
        return s


def _differences(Q: Array) -> Array:
    return np.asarray(np.tensordot(_DIFFERENCES, Q, 2))


def _by_axes(prescribed: Array, d: Array, s: float) -> Array:
    """Return the derivatives of the orientation constraints φ with respect to the actual axes R, shape (3, 3, 3).

    The constraints are φ = d/√s with s = 1 + tr Q, Q = R_dᵀ R and the prescribed axes R_d. The
    vector d contains the differences of off-diagonal entries of Q.
    """
    by_axes = np.einsum("amj,im->aij", _DIFFERENCES, prescribed) - np.multiply.outer(d, prescribed) / (2.0 * s)
    return np.asarray(by_axes / np.sqrt(s))
