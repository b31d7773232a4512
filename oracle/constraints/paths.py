"""Programmed paths: a target moves between waypoints, and constraints keep a point on the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ...core.trajectory import Array
from ..bodies.frames import frame, rotation
from ..bodies.motion import cross
from ..expressions.jets import Jet, quintic
from ..expressions.setting import Setting
from ..expressions.state import State
from .rows import Equation, Group, of_positions


@dataclass(frozen=True)
class Leg:
    """Motion of a path's target between two consecutive waypoints.

    Parameters
    ----------
    begin, duration : float
        Begin and duration of the motion, s.
    ramp : float
        Acceleration time of a trapezoidal speed profile as a fraction of the duration; the braking
        time is equal to the acceleration time. The value 0 selects a quintic profile.
    """

    begin: float
    duration: float
    ramp: float

    @property
    def switches(self) -> list[float]:
        """Times, s, at which acceleration or jerk of this motion is discontinuous."""
        shares = (0.0, self.ramp, 1.0 - self.ramp, 1.0) if self.ramp else (0.0, 1.0)
        return [self.begin + share * self.duration for share in shares]

    def progress(self, t: float, instant: float) -> Jet:
        """Return the fraction of the way to the next waypoint that the target has covered at time t.

        The fraction is returned with its time derivatives.

        Parameters
        ----------
        t : float
            Time, s.
        instant : float
            Time in the time segment that is being integrated, s; it selects the phase of a trapezoidal profile.
        """
        share = (Jet(t, 0.0, 1.0) - self.begin) / self.duration
        if not self.ramp:
            return quintic(share, 0.0, 1.0, 0.0, 1.0)  # type: ignore[return-value]
        phase = sum(time <= instant for time in self.switches)
        if phase in (0, 4):
            return Jet(phase / 4.0)
        if phase == 2:
            return (share - 0.5 * self.ramp) / (1.0 - self.ramp)
        left = share if phase == 1 else 1.0 - share
        risen = left * left / (2.0 * self.ramp * (1.0 - self.ramp))
        return risen if phase == 1 else 1.0 - risen


def legs(table: Mapping[str, Any]) -> list[Leg]:
    """Return the legs of a path; a leg is the motion of the target between consecutive waypoints.

    Each leg overlaps the end of the previous leg by the blend time.
    """
    count = len(table["waypoints"]) - 1
    durations, blends = _each(table["leg_time"], count), [*_each(table["blend_time"], count - 1), 0.0]
    ramp = (0.25 if table["ramp"] is None else table["ramp"]) if table["profile"] == "trapezoidal" else 0.0
    found, begin = list[Leg](), 0.0
    for duration, blend in zip(durations, blends, strict=True):
        found.append(Leg(begin, duration, ramp))
        begin += duration - blend
    return found


def _each(numbers: Any, count: int) -> list[float]:
    return list(numbers) if isinstance(numbers, list | tuple) else [numbers] * count


class PathPositions(Group):
    """Constraint equations that keep a point on the moving target of a path.

    The equations constrain only the components that the path prescribes, along the axes of the path's
    frame.
    """

    order: int = 0

    def __init__(self, name: str, table: Mapping[str, Any], point: int) -> None:
        self.names = tuple(f"{name}_{component}" for component in table["components"])
        own = frame(table["frame"])
        axes = own.rotation.as_matrix()
        self._axes = [axes[:, "xyz".index(component)] for component in table["components"]]
        self._components = ["xyz".index(component) for component in table["components"]]
        self._origin, self._point = own.origin, point
        self._waypoints, self._legs = np.array(table["waypoints"], dtype=float), legs(table)
        self.switches = [time for leg in self._legs for time in leg.switches]

    def equations(self, state: State) -> list[Equation]:
        n = len(state.motion.q)
        progress = [leg.progress(state.t, state.sides.instant) for leg in self._legs]
        ways = np.diff(self._waypoints, axis=0)
        found = []
        for axis, i in zip(self._axes, self._components, strict=True):
            target = sum(
                (s * way for s, way in zip(progress, ways[:, i], strict=True)), Jet(self._waypoints[0, i])
            )
            place = state.along(self._point, axis) + -float(self._origin @ axis)
            found.append(of_positions(place - target, n))
        return found

    def magnitudes(self, state: State, size: float, units: Array) -> list[float]:
        return [size] * len(self.names)


class PathOrientations(Group):
    """Constraint equations that align the axes of a point with the axes of its target.

    The residual is twice the vector part of a quaternion, in the target's axes. The quaternion
    describes the rotation from the target's axes to the point's axes.
    """

    order: int = 0

    def __init__(self, name: str, table: Mapping[str, Any], body: int, axes: Rotation) -> None:
        self.names = tuple(f"{name}_r{axis}" for axis in "xyz")
        self._body, self._axes, self._legs = body, axes, legs(table)
        self.switches = [time for leg in self._legs for time in leg.switches]
        given = [rotation(rpy) for rpy in table["orientations"]]
        self._first = frame(table["frame"]).rotation * given[0]
        self._turns = [(a.inv() * b).as_rotvec() for a, b in pairwise(given)]

    def equations(self, state: State) -> list[Equation]:
        m, b = state.motion, self._body
        target, omega, alpha = self._target(state.t, state.sides.instant)
        back = target.as_matrix().T
        *vector, scalar = (target.inv() * Rotation.from_matrix(m.R[b]) * self._axes).as_quat(canonical=True)
        q, q0 = np.array(vector), float(scalar)
        spin = back @ (m.omega[b] - omega)
        spin_rate = back @ (m.alpha[b] - alpha - cross(omega, m.omega[b] - omega))
        rate = q0 * spin - cross(q, spin)
        bias = q0 * spin_rate - cross(q, spin_rate) - 0.5 * (q @ spin) * spin - 0.5 * cross(rate, spin)
        slopes = q0 * back - np.cross(q, back, axisb=0, axisc=0)
        C = slopes @ m.turning[:, b].T
        return [Equation(2.0 * q[i], rate[i], C[i], -bias[i]) for i in range(3)]

    def magnitudes(self, state: State, size: float, units: Array) -> list[float]:
        return [1.0] * len(self.names)

    def _target(self, t: float, instant: float) -> tuple[Rotation, Array, Array]:
        """Return orientation, angular velocity and angular acceleration of the target at time t, in world axes."""
        found, omega, alpha = self._first, np.zeros(3), np.zeros(3)
        for leg, turn in zip(self._legs, self._turns, strict=True):
            progress, axis = leg.progress(t, instant), found.apply(turn)
            alpha = alpha + progress.bias * axis + progress.rate * cross(omega, axis)
            omega = omega + progress.rate * axis
            found = found * Rotation.from_rotvec(progress.value * turn)
        return found, omega, alpha


def path_groups(
    name: str, table: Mapping[str, Any], setting: Setting, points: Mapping[str, int]
) -> Sequence[PathPositions | PathOrientations]:
    """Return the position constraints of a path, and its orientation constraints if it prescribes any."""
    point = points[table["point"]]
    found: list[PathPositions | PathOrientations] = [PathPositions(name, table, point)]
    if table["orientations"] is not None:
        axes = rotation(setting.data["points"][table["point"]]["rpy"])
        found.append(PathOrientations(name, table, setting.places[point].body, axes))
    return found
