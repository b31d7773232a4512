"""Everything that is to be seen of a mechanism, in one pose or over a run."""

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
    """Connection of two points: a cut joint, or the path along which a sliding joint has moved."""

    name: str
    kind: Literal["closure", "rod", "slide"]
    a: Place
    b: Place


@dataclass(frozen=True)
class Scene:
    """A mechanism and K instants of its runs.

    time     shape (K,), s; of a cyclic scene in cycles, 0 to 1
    extent   m, the mechanism's size
    scales   factors of the beams' deformation, or of a mode's amplitude, that the motions have
    motions  runs or modes that are looked at, one at a time, the last one as a ghost beside them
    acting   shape (K, marks, 3), force at each mark's place a, world axes, N, or N·m of a moment
    cyclic   whether motions are modes, each of which goes through a cycle and begins again
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
        """Largest force, N, or moment, N·m, that any mark ever has; 1 where there is none."""
        own = [k for k, mark in enumerate(self.marks) if (mark.kind == "moment") == moments]
        return float(np.linalg.norm(self.acting[:, own], axis=2).max(initial=0.0)) or 1.0


def film(problem: analysis.InitialValueProblem, runs: Sequence[Trajectory]) -> Scene:
    """Film of runs with all coordinates and rates: the first one is looked at; forces are those of the last.

    problem  equations that the runs fulfil
    Raises DescriptionError for a mesh that cannot be read.
    """
    mechanism, truth = problem.mechanism, runs[-1]
    scales = scales_of(mechanism, truth)
    times = times_of(truth, len(mechanism.bodies), len(scales) * len(runs))
    found = analysis.course(problem, sampled(mechanism, truth, times)[0], most=len(times))
    motions = tuple(motion(mechanism, run, times, scales) for run in runs)
    return scene_of(mechanism, times, scales, motions, (found.marks, found.acting))


def still(problem: analysis.InitialValueProblem) -> Scene:
    """The instant t = 0 of a mechanism, at its initial state."""
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
    """Motions with everything that is fixed to the bodies; forces: marks, and what acts there, see `Scene`."""
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
    """Closures that are constraints, and ways of the sliding joints."""
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
