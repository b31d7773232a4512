"""Computation of the world frames of all bodies in an animation, from the coordinates of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from ..core.errors import DescriptionError
from ..core.trajectory import Array, Trajectory
from ..mechanism import Mechanism, signal_names
from .skeleton import frames_of

_RATE = 60.0  # An animation has this number of frames per second of simulated time.
_LEAST, _MOST = 240, 1800
_NUMBERS = 40_000  # An HTML page contains at most this number of poses (frames times bodies), each with 28 bytes.
_SCALES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
_FARTHEST = 1e9  # A run has diverged if a coordinate (rad or m) or a velocity (rad/s or m/s) exceeds this value.
# The magnification of drawn deflections is limited to this angle, rad, between the two ends of a beam.
_BENT = 0.6


@dataclass(frozen=True)
class RecordedMotion:
    """Animation of a run as world frames of the bodies.

    Attributes
    ----------
    name : str
        Name of the run.
    count : int
        Number of valid animation frames. If the run broke off early, all later frames repeat the last
        valid frame.
    frames : ndarray, shape (S, K, 1 + bodies, 4, 4)
        World frames of the ground and the bodies, m. S is the number of scale factors of the beam
        deformation, K the number of times.
    """

    name: str
    count: int
    frames: Array


def times_of(run: Trajectory, bodies: int, films: int) -> Array:
    """Return evenly spaced times of the animation frames of a run, s.

    The number of frames decreases with the number of bodies and of animations on the page.
    """
    begin, end = float(run.time[0]), float(run.time[-1])
    count = int(np.clip(_RATE * (end - begin), _LEAST, _MOST))
    return np.linspace(begin, end, 1 + max(min(count, _NUMBERS // (max(bodies, 1) * films)), 1))


def scales_of(mechanism: Mechanism, run: Trajectory) -> tuple[float, ...]:
    """Return the scale factors with which beam deformation can be drawn.

    The first factor is 1. If no beam deforms during the run, 1 is the only factor.
    """
    bent: dict[tuple[str, str], Array] = {}
    for c in mechanism.coordinates:
        if c.role == "elastic":
            key = (c.owner, c.motion.coordinate)
            bent[key] = bent.get(key, np.zeros(len(run.time))) + np.abs(run.signals[c.symbol])
    largest = max((float(np.nanmax(angles)) for angles in bent.values()), default=0.0)
    if not largest:
        return (1.0,)
    larger = [scale for scale in _SCALES[1:] if scale * largest <= _BENT]
    return (1.0, *larger[-3:])


def check_coordinates(mechanism: Mechanism, run: Trajectory) -> None:
    """Raise DescriptionError if a run lacks a coordinate of the mechanism or its time derivative."""
    required = [n for quantity in ("position", "velocity") for n in signal_names(mechanism.coordinates, quantity)]
    missing = [name for name in required if name not in run.signals]
    if missing:
        lacks = f"lacks {', '.join(missing[:5])}; expected a run of the mechanism {mechanism.name}"
        raise DescriptionError(run.name, lacks)


def sampled(mechanism: Mechanism, run: Trajectory, times: Array) -> tuple[Trajectory, int]:
    """Return coordinates and velocities of a run at given times, and the number of valid times.

    Times after the end of the run are not valid, nor are times after the motion has diverged.
    """
    names = [signal_names(mechanism.coordinates, quantity) for quantity in ("position", "velocity")]
    for led in mechanism.filters:
        # The states of input filters are interpolated between samples, like coordinates.
        if led.signal("offset_rate").name in run.signals:
            names[0].append(led.signal("offset").name)
            names[1].append(led.signal("offset_rate").name)
    q, qd = (run.columns(each) for each in names)
    lost = np.flatnonzero(~(np.abs(np.hstack([q, qd])) < _FARTHEST).all(axis=1))
    last = int(lost[0]) if len(lost) else len(run.time)
    reached = int(np.count_nonzero(times <= run.time[max(last - 1, 0)] * (1 + 1e-9)))
    # At an event, a run contains two samples with equal time, but an interpolation requires increasing times.
    kept = np.flatnonzero(np.append(True, np.diff(run.time[:last]) > 0))
    if len(kept) < 2:
        values = np.repeat(np.hstack([q[:1], qd[:1]]), len(times), axis=0)
    else:
        spline = CubicHermiteSpline(run.time[kept], q[kept], qd[kept])
        inside = np.minimum(times, run.time[kept[-1]])
        values = np.hstack([spline(inside), spline(inside, 1)])
    signals = dict(zip([*names[0], *names[1]], values.T, strict=True))
    return replace(run, time=times, signals=signals), reached


def motion(mechanism: Mechanism, run: Trajectory, times: Array, scales: Sequence[float]) -> RecordedMotion:
    """Return the world frames of the ground and all bodies in a run at given times, s.

    Beam deformations are multiplied by a scale factor. The result contains the frames for each of the
    factors in `scales`.
    """
    taken, reached = sampled(mechanism, run, times)
    q = taken.columns(signal_names(mechanism.coordinates, "position"))
    elastic = np.array([c.role == "elastic" for c in mechanism.coordinates], dtype=bool)
    scaled = np.array([q * np.where(elastic, scale, 1.0) for scale in scales])
    return RecordedMotion(run.name, reached, frames_of(mechanism, scaled))
