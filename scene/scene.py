"""Scene of a mechanism for pictures: shapes, connections and forces in one pose or over runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .. import analysis
from ..analysis import ForceArrow
from ..core.trajectory import Array, Trajectory
from ..mechanism import Mechanism, Place
from .motion import RecordedMotion, motion, sampled, scales_of, times_of
from .shapes import Solid, shapes
from .skeleton import extent, frames_of

Start = tuple[Array, Array]


@dataclass(frozen=True)
class Bar:
    """Drawn connection of two points: a cut joint, or the path along which a sliding joint has
    moved.
    """

    name: str
    kind: Literal["closure", "rod", "slide"]
    a: Place
    b: Place


@dataclass(frozen=True)
class Scene:
    """Visible parts of a mechanism at K times of its runs or modes.

    Attributes
    ----------
    mechanism : Mechanism
        Mechanism that is drawn.
    time : ndarray, shape (K,)
        Times, s; in a cyclic scene, fractions of a cycle from 0 to 1.
    extent : float
        Size of the mechanism, m.
    scales : tuple of float
        Scale factors of the beam deformation, or of a mode's amplitude.
    motions : tuple of RecordedMotion
        Runs or modes, which are shown one at a time. The last one is also drawn transparently
        behind them.
    shapes, bars, marks : tuple
        Solids of the bodies, drawn connections, and arrows of forces.
    acting : ndarray, shape (K, marks, 3)
        Force at point a of each arrow, world axes, N; N·m for a moment.
    cyclic : bool
        Whether the motions are modes, which repeat after one cycle.
    """

    mechanism: Mechanism
    time: Array
    extent: float
    scales: tuple[float, ...]
    motions: tuple[RecordedMotion, ...]
    shapes: tuple[Solid, ...]
    bars: tuple[Bar, ...]
    marks: tuple[ForceArrow, ...]
    acting: Array
    cyclic: bool = False

    def peak(self, moments: bool) -> float:
        """Return the largest force, N, or moment, N·m, of all arrows over time; 1 if there is none."""
        own = [k for k, mark in enumerate(self.marks) if (mark.kind == "moment") == moments]
        return float(np.linalg.norm(self.acting[:, own], axis=2).max(initial=0.0)) or 1.0


def film(problem: analysis.InitialValueProblem, runs: Sequence[Trajectory]) -> Scene:
    """Return the animated scene of runs that contain all coordinates and velocities.

    The first run is shown first. Forces are those of the last run.

    Parameters
    ----------
    problem : InitialValueProblem
        Equations of motion of the runs.
    runs : sequence of Trajectory
        The runs.

    Raises
    ------
    DescriptionError
        If a mesh file cannot be read.
    """
    mechanism, truth = problem.mechanism, runs[-1]
    scales = scales_of(mechanism, truth)
    times = times_of(truth, len(mechanism.bodies), len(scales) * len(runs))
    found = analysis.course(problem, sampled(mechanism, truth, times)[0], most=len(times))
    motions = tuple(motion(mechanism, run, times, scales) for run in runs)
    return scene_of(mechanism, times, scales, motions, (found.marks, found.acting))


def still(problem: analysis.InitialValueProblem) -> Scene:
    """Return the scene of a mechanism in its initial state."""
    mechanism, start = problem.mechanism, problem.start
    signals = {
        coordinate.signal(quantity).name: values[k : k + 1]
        for quantity, values in zip(("position", "velocity"), start, strict=True)
        for k, coordinate in enumerate(mechanism.coordinates)
    }
    pose = Trajectory("start", np.zeros(1), signals)
    found = analysis.course(problem, pose)
    motions = (RecordedMotion("start", 1, frames_of(mechanism, np.asarray(start[0])[None, None])),)
    return scene_of(mechanism, pose.time, (1.0,), motions, (found.marks, found.acting))


def scene_of(
    mechanism: Mechanism,
    time: Array,
    scales: tuple[float, ...],
    motions: tuple[RecordedMotion, ...],
    forces: tuple[tuple[ForceArrow, ...], Array],
    *,
    cyclic: bool = False,
) -> Scene:
    """Return a scene of motions with the shapes and connections of the mechanism.

    The argument `forces` contains the arrows, and the force vectors at them as in `Scene.acting`.
    """
    q = np.array([c.position for c in mechanism.coordinates])
    return Scene(
        mechanism,
        time,
        extent(mechanism, q),
        scales,
        motions,
        tuple(shapes(mechanism, q)),
        tuple(bars_of(mechanism)),
        *forces,
        cyclic,
    )


def bars_of(mechanism: Mechanism) -> list[Bar]:
    """Return the cut joints that are constraints, and the paths of the sliding joints, as drawn
    connections.
    """
    closures = [
        Bar(c.name, "rod" if c.length is not None else "closure", c.a.place, c.b.place)
        for c in mechanism.closures
        if c.stiffness is None
    ]
    slides = [
        Bar(body.name, "slide", Place(body.parent, body.offset), Place(b, np.zeros(3)))
        for b, body in enumerate(mechanism.bodies)
        if [mechanism.coordinates[k].unit for k in body.coordinates].count("m") == 1
    ]
    return closures + slides
