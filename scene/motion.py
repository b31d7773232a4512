"""Frames of all bodies over the time of a film, by the reference's kinematics from a run's coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from ..core.errors import DescriptionError
from ..core.trajectory import Array, Trajectory
from ..mechanism import Mechanism, signal_names
from .skeleton import frames_of

_RATE = 60.0  # frames in a second of the model
_LEAST, _MOST = 240, 1800
_NUMBERS = 40_000  # frames times bodies, of all films on a page: 28 bytes each
_SCALES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
_FARTHEST = 1e9  # rad or m, and per second: a run that goes beyond has diverged
_BENT = 0.6  # rad: what a beam may bend from end to end when its deformation is drawn larger


@dataclass(frozen=True)
class RecordedMotion:
    """A run as frames of bodies.

    name    of the run
    count   frames that it has; the others repeat its last one, where it broke off
    frames  shape (S, K, 1 + bodies, 4, 4), world frames, m, the ground first: at S scales of the beams'
            deformation, K times
    """

    name: str
    count: int
    frames: Array


def times_of(run: Trajectory, bodies: int, films: int) -> Array:
    """Times of the frames, evenly over a run, s; fewer where there is much to move."""
    begin, end = float(run.time[0]), float(run.time[-1])
    wanted = int(np.clip(_RATE * (end - begin), _LEAST, _MOST))
    return np.linspace(begin, end, 1 + max(min(wanted, _NUMBERS // (max(bodies, 1) * films)), 1))


def scales_of(mechanism: Mechanism, run: Trajectory) -> tuple[float, ...]:
    """Factors by which the beams' deformation can be drawn, 1 first; 1 alone without beams."""
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
    """Raise DescriptionError where the run, such as one of a file, lacks a coordinate or its rate."""
    wanted = [n for quantity in ("position", "velocity") for n in signal_names(mechanism.coordinates, quantity)]
    missing = [name for name in wanted if name not in run.signals]
    if missing:
        lacks = f"lacks {', '.join(missing[:5])}: it is no run of {mechanism.name}"
        raise DescriptionError(run.name, lacks)


def sampled(mechanism: Mechanism, run: Trajectory, times: Array) -> tuple[Trajectory, int]:
    """The run's coordinates and rates at other times, and how many of these it reaches before it breaks off."""
    names = [signal_names(mechanism.coordinates, quantity) for quantity in ("position", "velocity")]
    for led in mechanism.filters:
        if led.signal("offset_rate").name in run.signals:  # their states are as smooth as coordinates
            names[0].append(led.signal("offset").name)
            names[1].append(led.signal("offset_rate").name)
    q, qd = (run.columns(each) for each in names)
    lost = np.flatnonzero(~(np.abs(np.hstack([q, qd])) < _FARTHEST).all(axis=1))
    last = int(lost[0]) if len(lost) else len(run.time)
    reached = int(np.count_nonzero(times <= run.time[max(last - 1, 0)] * (1 + 1e-9)))
    # impacts and switches have two samples at one time
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
    """Frames of a run at the times, s, with the beams' deformation at each scale."""
    taken, reached = sampled(mechanism, run, times)
    q = taken.columns(signal_names(mechanism.coordinates, "position"))
    elastic = np.array([c.role == "elastic" for c in mechanism.coordinates], dtype=bool)
    scaled = np.array([q * np.where(elastic, scale, 1.0) for scale in scales])
    return RecordedMotion(run.name, reached, frames_of(mechanism, scaled))
