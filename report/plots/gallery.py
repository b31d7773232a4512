"""All figures of a run, with captions, in the order of the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ... import analysis
from ...core.files import write_all
from ...runs.compare.context import RunReport
from ...scene import extent
from . import energy, loads, logarithmic, time_series
from .path import point_path
from .schematic import schematic
from .style import render, styled

_STILL = 1e-6  # of the mechanism's extent: a path is not drawn larger than this
# File name, title, caption, and how to draw it.
Entry = tuple[str, str, str, Callable[[], Figure | None]]


@dataclass(frozen=True)
class Picture:
    """A finished figure.

    Parameters:
        name            file name without ending
        title, caption  for people
        png, svg        the files' contents
    """

    name: str
    title: str
    caption: str
    png: bytes
    svg: str


def pictures(report: RunReport) -> Iterator[Picture]:
    """Draw the figures that make sense for this mechanism, one after the other."""
    return drawn(chain(_of_the_motion(report), _of_the_agreement(report)))


def drawn(entries: Iterable[Entry]) -> Iterator[Picture]:
    """Draw figures in the common style, one after the other; those that come to nothing are left out."""
    for name, title, caption, draw in entries:
        with styled():
            figure = draw()
            if figure is not None:
                yield Picture(name, title, caption, *render(figure))


def save(picture: Picture, folder: Path) -> None:
    """Write the figure as PNG and SVG into the folder."""
    write_all(folder, {f"{picture.name}.png": picture.png, f"{picture.name}.svg": picture.svg})


def _of_the_motion(report: RunReport) -> Iterator[Entry]:
    size = extent(report.mechanism, report.model.start[0])
    mechanism, of_runs = report.mechanism, (report.mechanism, report.reference, report.runs)
    yield (
        "schematic",
        "The mechanism",
        "Bodies as lines from their origins to all that they hold, at the start (labelled) and at later times of"
        " the reference run. Circles are joints, dots lie between rigid finite elements, squares are closures,"
        " triangles supports, diamonds points; a dashed line is the path of a point, a dotted one joins two places"
        " between which a force acts.",
        partial(schematic, mechanism, report.reference, report.course.marks),
    )
    yield "joint_coordinates", "Joint coordinates", "", partial(time_series.joint_coordinates, *of_runs)
    yield (
        "expressions",
        "Outputs by expressions",
        "What the description asks for under names of its own.",
        partial(time_series.expressions, *of_runs),
    )
    for point in mechanism.points:
        target, gravity = report.targets.get(point), np.asarray(mechanism.gravity)
        yield (
            f"path_{point}",
            f"Path of point {point}",
            "In space, with equal scales, and by components." + ("" if target is None else " Dotted: programmed."),
            partial(point_path, point, report.reference, report.runs, target, gravity, _STILL * size),
        )
    yield (
        "base_motion",
        "Motion of the base",
        "Displacement from the place where the supports are relaxed, and angles.",
        partial(time_series.base_motion, *of_runs),
    )
    yield (
        "elastic_coordinates",
        "Elastic coordinates",
        "Angles between neighbouring rigid finite elements of the flexible links, from the joint outwards.",
        partial(time_series.elastic_coordinates, *of_runs),
    )
    yield (
        "driving_efforts",
        "Driving efforts",
        "What the joints' drives must exert so that the task is fulfilled, on top of the applied forces.",
        partial(time_series.driving_efforts, *of_runs),
    )
    yield (
        "joint_loads",
        "Joint loads",
        "Magnitudes of the force and the moment, about the joint's origin, that each joint transmits to what it"
        " carries.",
        partial(loads.joint_loads, *of_runs, report.not_unique),
    )
    yield (
        "forces",
        "Forces",
        "Magnitudes of what force elements exert, supports apart, by the reference.",
        partial(energy.forces, report.course, report.reference),
    )
    units = {entry.name: entry.unit for entry in report.model.program.inputs}
    yield (
        "inputs",
        "Inputs",
        "What the FMUs and the reference were given over time.",
        partial(energy.inputs, report.problem.inputs or {}, units, report.reference),
    )
    yield "energy", "Energy", "Of the reference run; gravity and springs.", partial(energy.energy, report.course)
    yield (
        "power",
        "Power of force elements",
        "What each gives to the mechanism, negative where it takes, by the reference; drives, and joint friction"
        " with bristles, apart.",
        partial(energy.power, report.course, report.reference),
    )
    yield (
        "friction",
        "Friction",
        "Deflection of the bristles and the effort of friction against the motion.",
        partial(loads.friction, *of_runs, partial(analysis.friction_efforts, mechanism)),
    )


def _of_the_agreement(report: RunReport) -> Iterator[Entry]:
    yield (
        "violations",
        "Constraint violation",
        "Euclidean norms over all constraint rows, logarithmic. Zeros leave gaps.",
        partial(logarithmic.violations, report.reference, report.runs),
    )
    yield (
        "errors",
        "Error against the reference",
        "At each instant the signal that is worst then, logarithmic. Zeros leave gaps.",
        partial(logarithmic.errors, report.reference, report.runs, report.comparisons, report.model.units),
    )
