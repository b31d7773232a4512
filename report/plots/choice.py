"""Functions that choose figures and captions for a report of one case or a comparison of cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

import numpy as np

from ... import analysis
from ...runs.compare.context import RunReport
from ...runs.compare.outcome import CaseRun
from ...scene import extent
from . import case_figures, energy, loads, logarithmic, time_series
from .gallery import Entry, Picture, drawn
from .overlay import Overlay, case_overlay, run_overlay
from .path import point_path
from .schematic import schematic

_STILL = 1e-6  # Smallest range of the axes in a figure of a path, relative to the mechanism's size.
_TRANSIENT = "The axes leave out the transient of the constraint stabilisation right after the initial time."

Groups = Mapping[str, Iterator[Picture]]


def pictures(report: RunReport) -> Iterator[Picture]:
    """Draw the figures of one case for which there are data, one after the other."""
    return chain.from_iterable(of_one_case(report).values())


def of_one_case(report: RunReport) -> Groups:
    """Return the figures of one case's page, as one iterator for each section of the page.

    A figure is drawn only when its iterator reaches it.
    """
    overlay = run_overlay(report.mechanism, report.reference, report.runs, report.targets, report.not_unique)
    least = _STILL * extent(report.mechanism, report.model.start[0])
    return {
        "model": drawn(_of_model(report)),
        "motion": drawn(_of_motion(overlay, least)),
        "loads": drawn([_joint_loads(overlay)]),
        "forces": drawn(_of_forces(report, overlay)),
        "violations": drawn([_violations(overlay)]),
        "errors": drawn([_errors(report)]),
    }


def of_cases(cases: Sequence[CaseRun]) -> Groups:
    """Return the figures of the page that compares cases, as one iterator for each section of the page.

    A figure is drawn only when its iterator reaches it.
    """
    overlay = case_overlay(cases)
    shapes = (_beam_shapes(overlay, shape) for shape in case_figures.shapes_of(overlay))
    return {
        "motion": drawn(_of_motion(overlay, 0.0)),
        "differences": drawn([_differences(overlay)]),
        "loads": drawn([_joint_forces(overlay), _load_bars(overlay), *shapes]),
        "violations": drawn([_violations(overlay)]),
    }


def _with_transient(overlay: Overlay, caption: str) -> str:
    """Return a caption; add a remark if the axes do not show the initial transient of a run."""
    leave_out = any(c.stabilisation.settled > c.run.time[0] for c in overlay.references)
    return f"{caption} {_TRANSIENT}" if leave_out else caption


def _of_model(report: RunReport) -> Iterator[Entry]:
    yield (
        "schematic",
        "The mechanism",
        "Each body is drawn as lines from its origin to its joints and points, at the initial time (labelled) and"
        " at later times of the reference run. Circles are joints, dots connect rigid finite elements, squares are"
        " loop closures, triangles are supports, diamonds are points. A dashed line is the path of a point. A"
        " dotted line connects two places between which a force acts.",
        partial(schematic, report.mechanism, report.reference, report.course.marks),
    )


def _of_motion(overlay: Overlay, least: float) -> Iterator[Entry]:
    compared = overlay.compares_cases
    yield (
        "joint_coordinates",
        "Joint coordinates",
        "Coordinates that all cases have." if compared else "",
        partial(time_series.joint_coordinates, overlay),
    )
    yield (
        "expressions",
        "Outputs by expressions",
        "Outputs that the description defines by expressions.",
        partial(time_series.expressions, overlay),
    )
    yield (
        "controllers",
        "Controllers",
        "Outputs, parts and states of the controllers; an output with limits is also shown before the limits.",
        partial(time_series.controllers, overlay),
    )
    for curves in overlay.references[:1]:
        for point in curves.mechanism.points:
            caption = "In space, with equal scales, and by components; a dot marks the initial position."
            gravity = np.asarray(curves.mechanism.gravity)
            yield (
                f"path_{point}",
                f"Path of point {point}",
                caption + (" Dotted: programmed path." if point in overlay.targets else ""),
                partial(point_path, point, overlay, gravity, least),
            )
    yield (
        "base_motion",
        "Motion of the base",
        "Displacement and rotation since the initial time, for cases whose base can move."
        if compared
        else "Displacement from the position in which the supports are relaxed, and rotation.",
        partial(time_series.base_motion, overlay),
    )
    yield (
        "elastic_coordinates",
        "Elastic coordinates",
        "Angles between neighbouring rigid finite elements of the flexible links, from the joint outwards.",
        partial(time_series.elastic_coordinates, overlay),
    )
    yield (
        "driving_efforts",
        "Driving efforts",
        _with_transient(
            overlay,
            "Efforts that the drives of the joints must exert in addition to the applied forces, so that the task"
            " is fulfilled.",
        ),
        partial(time_series.driving_efforts, overlay),
    )


def _differences(overlay: Overlay) -> Entry:
    return (
        "joint_differences",
        "Differences of the joint coordinates",
        f"Each case minus {overlay.references[0].label}." if overlay.references else "",
        partial(time_series.joint_differences, overlay),
    )


def _joint_loads(overlay: Overlay) -> Entry:
    return (
        "joint_loads",
        "Joint reactions",
        _with_transient(
            overlay,
            "Magnitudes of the force and of the moment about the joint's origin that each joint transmits to its"
            " link.",
        ),
        partial(loads.joint_loads, overlay),
    )


def _joint_forces(overlay: Overlay) -> Entry:
    return (
        "joint_forces",
        "Forces in the joints",
        _with_transient(overlay, "Magnitude of the force that each joint transmits to its link."),
        partial(loads.joint_loads, overlay, ("force",)),
    )


def _load_bars(overlay: Overlay) -> Entry:
    return (
        "load_rms",
        "Axial and normal forces",
        "Root mean square over the run of the force along the joint's axis and of the force perpendicular to the"
        " axis, without the initial transient of the constraint stabilisation.",
        partial(case_figures.load_bars, overlay),
    )


def _beam_shapes(overlay: Overlay, shapes: case_figures.BeamShapes) -> Entry:
    return (
        f"shape_{shapes.link}",
        f"Deformed {shapes.link}",
        "Deflections in the frame of the link's first element; dots connect rigid finite elements.",
        partial(case_figures.beam_shapes, overlay, shapes),
    )


def _of_forces(report: RunReport, overlay: Overlay) -> Iterator[Entry]:
    yield (
        "forces",
        "Forces",
        "Magnitudes of the forces of all force elements except supports, by the reference solver.",
        partial(energy.forces, report.course, overlay),
    )
    units = {entry.name: entry.unit for entry in report.model.program.inputs}
    yield (
        "inputs",
        "Inputs",
        "Inputs of the FMUs and of the reference solver over time.",
        partial(energy.inputs, report.problem.inputs or {}, units, overlay),
    )
    yield (
        "energy",
        "Energy",
        "Energies of the reference run; the potential energy is that of gravity and springs.",
        partial(energy.energy, report.course),
    )
    yield (
        "power",
        "Power of force elements",
        "Power that each element gives to the mechanism by the reference solver; negative power is taken from the"
        " mechanism. Drives and joint friction with bristle states are not included.",
        partial(energy.power, report.course, overlay),
    )
    yield (
        "friction",
        "Friction",
        "Deflection of the bristles in each joint with friction, and the effort of friction against the motion.",
        partial(loads.friction, overlay, analysis.friction_efforts),
    )


def _violations(overlay: Overlay) -> Entry:
    return (
        "violations",
        "Constraint violation",
        "Euclidean norms over all constraint equations, logarithmic. Violations of stabilised constraints decay"
        " along the dashed slope down to rounding errors and the solver's tolerance. Zeros leave gaps.",
        partial(logarithmic.violations, overlay),
    )


def _errors(report: RunReport) -> Entry:
    return (
        "errors",
        "Error relative to the reference solver",
        "Largest relative error of all signals at each instant, logarithmic. Zeros leave gaps.",
        partial(logarithmic.errors, report.reference, report.runs, report.comparisons, report.model.units),
    )
