"""Visible parts of a mechanism in one pose or over runs, as data for figures, films and the player."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
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
    """Connection of two points that is drawn as a bar.

    The bar represents the joint of a loop closure, or the displacement of a sliding joint.
    """

    name: str
    kind: Literal["closure", "rod", "slide"]
    a: Place
    b: Place


@dataclass(frozen=True)
class Scene:
    """Mechanism at K instants of its runs, with the forces that act on it.

    Drawn parts are fixed to bodies and move with the body frames. Figures and films use the positions
    of the parts in the world frame at each instant. The player receives the scene itself, because the
    browser interpolates between instants and changes the viewpoint.

    Attributes
    ----------
    mechanism
        Mechanism with numerical values.
    time
        Instants, shape (K,), s; for a cyclic scene, fractions of a cycle from 0 to 1.
    scales
        Available magnification factors of the beam deformation or of the mode amplitude.
    motions
        Runs or modes that can be shown. The last motion is the reference run, which is also drawn
        translucent behind the other motions.
    marks
        Forces and moments to draw, with the places at which they act.
    acting
        Force, N, or moment, N·m, of each entry in `marks` at each instant, shape (K, number of marks,
        3), world frame.
    cyclic
        Whether motions are modes, which start again after one cycle.
    """

    mechanism: Mechanism
    time: Array
    scales: tuple[float, ...]
    motions: tuple[RecordedMotion, ...]
    marks: tuple[ForceArrow, ...]
    acting: Array
    cyclic: bool = False

    @cached_property
    def extent(self) -> float:
        """Diagonal of the bounding box of the attachment points in the initial pose of the mechanism, m."""
        return extent(self.mechanism, self._described)

    @cached_property
    def shapes(self) -> tuple[Solid, ...]:
        """Solids fixed to the bodies. Raises DescriptionError for a mesh that cannot be read."""
        return tuple(shapes(self.mechanism, self._described))

    @cached_property
    def bars(self) -> tuple[Bar, ...]:
        """Bars in pictures: each bar represents a loop closure, or the displacement of a sliding joint."""
        return tuple(bars_of(self.mechanism))

    def peak(self, moments: bool) -> float:
        """Return the largest magnitude of all forces, N, or of all moments, N·m, over all instants.

        The result is 1 if no force or moment acts.
        """
        own = [k for k, mark in enumerate(self.marks) if (mark.kind == "moment") == moments]
        return float(np.linalg.norm(self.acting[:, own], axis=2).max(initial=0.0)) or 1.0

    @property
    def _described(self) -> Array:
        return np.array([c.position for c in self.mechanism.coordinates])


def film(problem: analysis.InitialValueProblem, runs: Sequence[Trajectory]) -> Scene:
    """Return the scene of several runs, with the forces that act in the last run.

    Parameters
    ----------
    problem
        Mechanism and equations that the runs have solved.
    runs
        Runs with all coordinates and their time derivatives.
    """
    mechanism, truth = problem.mechanism, runs[-1]
    scales = scales_of(mechanism, truth)
    times = times_of(truth, len(mechanism.bodies), len(scales) * len(runs))
    found = analysis.course(problem, sampled(mechanism, truth, times)[0], most=len(times))
    motions = tuple(motion(mechanism, run, times, scales) for run in runs)
    return Scene(mechanism, times, scales, motions, found.marks, found.acting)


def still(problem: analysis.InitialValueProblem) -> Scene:
    """Return the scene of a mechanism in its initial state, with the forces that act in this state."""
    mechanism, start = problem.mechanism, problem.start
    signals = {
        coordinate.signal(quantity).name: values[k : k + 1]
        for quantity, values in zip(("position", "velocity"), start, strict=True)
        for k, coordinate in enumerate(mechanism.coordinates)
    }
    found = analysis.course(problem, Trajectory("start", np.zeros(1), signals))
    return poses_of(mechanism, np.asarray(start[0])[None], found.marks, found.acting)


def poses_of(
    mechanism: Mechanism, q: Array, marks: tuple[ForceArrow, ...] = (), acting: Array | None = None
) -> Scene:
    """Return a scene that shows the mechanism in K poses q, shape (K, n), rad or m.

    The argument `marks` lists forces and moments to draw, with their points of application. The
    argument `acting` contains their components in each pose, shape (K, number of marks, 3), N or N·m.
    """
    motions = (RecordedMotion("start", len(q), frames_of(mechanism, q[None])),)
    forces = np.zeros((len(q), len(marks), 3)) if acting is None else acting
    return Scene(mechanism, np.arange(len(q), dtype=float), (1.0,), motions, marks, forces)


def bars_of(mechanism: Mechanism) -> list[Bar]:
    """Return the bars to draw: one for each loop closure by constraints, and one for each sliding joint.

    Loop closures by spring-dampers have no bar.
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
