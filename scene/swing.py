"""Animation of an undamped oscillation of a mechanism about a pose, such as a vibration mode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import analysis
from ..core.errors import SolveError
from ..core.trajectory import Array
from ..mechanism import Mechanism
from .motion import RecordedMotion
from .scene import Scene
from .skeleton import extent, frames_of, held_places, in_world

# The number of animation frames in a cycle of an oscillation has these upper and lower limits.
_MOST, _LEAST = 48, 16
_NUMBERS = 40_000  # An HTML page contains at most about this number of poses (frames times bodies).
_SCALES = (1.0, 0.5, 2.0, 4.0)
_SEEN = 0.08  # The largest displacement of a drawn oscillation is at most this fraction of the mechanism's size.
_TURNED = 0.5  # A drawn oscillation rotates no coordinate by more than this angle, rad.
_SMALL = 1e-4  # Numerical derivatives of point positions change the coordinates by this increment, rad or m.


@dataclass(frozen=True)
class Swing:
    """Harmonic motion q + Re(shape·exp(2πi·cycles)) about a pose q.

    `cycles` is the elapsed number of cycles.

    Attributes
    ----------
    name : str
        Name in the list of modes on the page.
    shape : ndarray of complex, shape (n,)
        Complex mode shape, rad or m.
    """

    name: str
    shape: NDArray[np.complex128]


def swinging(model: analysis.ReferenceModel, pose: Array, swings: Sequence[Swing], t: float = 0.0) -> Scene:
    """Return the animated scene of harmonic motions about a pose.

    The last motion of the scene shows the mechanism at rest. The pose consists of coordinates, shape
    (n,), rad or m, at time t, s. Kinematic loops are closed by the smallest possible change of the
    coordinates. The loops remain open if no such change is found.

    Raises
    ------
    DescriptionError
        If a mesh file cannot be read.
    """
    mechanism = model.mechanism
    films = (len(swings) + 1) * len(_SCALES) * max(len(mechanism.bodies), 1)
    cycles = np.linspace(0.0, 1.0, 1 + int(np.clip(_NUMBERS // films, _LEAST, _MOST)))
    motions = [_motion(model, pose, swing, cycles, t) for swing in swings]
    rest = RecordedMotion("rest", len(cycles), frames_of(mechanism, np.tile(pose, (len(_SCALES), len(cycles), 1))))
    marks = model.forces.marks
    nothing = np.zeros((len(cycles), len(marks), 3))
    return Scene(mechanism, cycles, _SCALES, (*motions, rest), marks, nothing, cyclic=True)


def seen_well(mechanism: Mechanism, pose: Array, shape: NDArray[np.complex128]) -> float:
    """Return the factor by which a mode shape is scaled so that its motion about a pose is well visible.

    The mode shape is an array of shape (n,), rad or m.
    """
    turned = [abs(part) for part, c in zip(shape, mechanism.coordinates, strict=True) if c.unit == "rad"]
    poses = pose + _SMALL * _parts(shape, np.linspace(0.0, 1.0, 9))
    frames = frames_of(mechanism, np.vstack([pose, poses]))
    places = np.array([in_world(frames, place) for place in held_places(mechanism)]).reshape(-1, len(frames), 3)
    moved = np.linalg.norm(places[:, 1:] - places[:, :1], axis=-1).max(initial=0.0) / _SMALL
    limits = [_SEEN * extent(mechanism, pose) / moved if moved else np.inf, *(_TURNED / t for t in turned if t)]
    return float(min(limits)) if np.isfinite(min(limits)) else 1.0


def _parts(shape: NDArray[np.complex128], cycles: Array) -> Array:
    """Return the oscillating part Re(shape·exp(2πi·cycles)) of a harmonic motion.

    The mode shape has n components; `cycles` contains K numbers of elapsed cycles. The result is an
    array of shape (K, n).
    """
    return np.asarray((shape * np.exp(2j * np.pi * cycles)[:, None]).real)


def _motion(model: analysis.ReferenceModel, pose: Array, swing: Swing, cycles: Array, t: float) -> RecordedMotion:
    q = pose + np.multiply.outer(_SCALES, _parts(swing.shape, cycles))
    if any(closure.rows for closure in model.mechanism.closures):
        q = np.array([[_closed(model, at, t) for at in film] for film in q])
    return RecordedMotion(swing.name, len(cycles), frames_of(model.mechanism, q))


def _closed(model: analysis.ReferenceModel, q: Array, t: float) -> Array:
    try:
        return analysis.project(model, q, 0.0 * q, t)[0]
    except SolveError:
        return q
