"""Inputs that keep their start values, and drives that move nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from .. import analysis
from ..analysis import Input
from ..analysis.prepared import Prepared
from ..core.trajectory import Array, Trajectory, rms
from ..language import expressions
from ..mechanism import Coordinate
from .geometry import extent
from .places import by_law, member
from .remark import Remark

_ROUNDING = 1e-12  # rad or m, and of the coordinate's own value
_CHANGE = 1e-9  # of the weight on earth, times the extent for a moment: a control that acts on rounding
_EARTH = 9.80665  # m/s²
_SAMPLES, _LATER = 60, 100.0  # instants of the run and after it; in runs' durations


def constant_inputs(
    model: Prepared, run: Trajectory, inputs: Mapping[str, Input] | None = None
) -> Iterator[Remark]:
    """FMU inputs that have their start value all the time: one remark for all, since they have one cause.

    Parameters
    ----------
    model : Prepared
        The mechanism.
    run : Trajectory
        Run whose output times count.
    inputs : mapping, optional
        FMU inputs by name, as in the run; inputs without data keep their start values.
    """
    given, begins = inputs or {}, input_starts(model)
    kept = [
        entry
        for entry in model.program.inputs
        if entry.name not in given or not np.any(_values(given[entry.name], run.time) != begins[entry.name])
    ]
    if kept:
        values = ", ".join(f"{entry.name} = {begins[entry.name]:.4g} {entry.unit}" for entry in kept)
        yield Remark(
            "input_constant",
            ", ".join(_place(model, entry.name) for entry in kept),
            f"FMU inputs keep their start values in all runs ({values})",
            "the comparison does not exercise them; give them over time with --input",
            begins[kept[0].name] if len(kept) == 1 else None,
            kept[0].unit if len(kept) == 1 else "",
        )


def input_starts(model: Prepared) -> dict[str, float]:
    """Return the start value of each FMU input: where its filter begins, else 0."""
    mechanism = model.mechanism
    begins = zip(mechanism.filters, model.problem.model.filters.begins(model.start[0]), strict=True)
    return {entry.name: entry.start for entry in model.program.inputs} | {f.name: begin for f, begin in begins}


def _values(given: Input, times: Array) -> Array:
    return np.array([analysis.input_value(given, t) for t in times.tolist()])


def _place(model: Prepared, name: str) -> str:
    """Key of the motion, line, force or element with a law that has an input."""
    chain = model.chain
    for force in model.mechanism.forces:
        if name in force.symbols:
            return member("forces", chain.forces, force.name)
    for line in model.mechanism.lines:
        if name == line.name or (line.filter is not None and line.filter.name == name):
            return member("lines", chain.lines, line.name)
    for element in model.mechanism.elements:
        if name in {given.name for given in element.inputs}:
            return by_law(model, element.name)
    return member("motions", chain.motions, name)


def idle_drives(model: Prepared, run: Trajectory, course: analysis.EnergyHistory) -> Iterator[Remark]:
    """Motions and efforts that change with time while their joint stays where it is.

    Parameters
    ----------
    model : Prepared
        The mechanism.
    run : Trajectory
        Run of it.
    course : Course
        Forces along the run.
    """
    motions, forces = model.chain.motions, model.chain.forces
    numbers = model.problem.model
    for motion in motions:
        if not motion.input and motion.position is not None and _varies(model, numbers, motion.position):
            yield from _idle(model, run, motion.joint, member("motions", motions, motion.name))
    joints = {force.name: force.joint for force in forces if force.joint is not None}
    for name, change, least in _changes(model, course):
        if name in joints and change > least:
            yield from _idle(model, run, joints[name], member("forces", forces, name))


def _changes(model: Prepared, course: analysis.EnergyHistory) -> Iterator[tuple[str, float, float]]:
    """Name of each applied force, by how much it changes, and the change that counts, N or N·m."""
    mass = sum(float(body.mass) for body in model.mechanism.bodies)
    least = {"force": _CHANGE * mass * _EARTH, "moment": _CHANGE * mass * _EARTH * extent(model)}
    for mark, acting in zip(course.marks, course.acting.transpose(1, 0, 2), strict=True):
        if mark.kind in least:
            yield mark.name, float(np.ptp(np.linalg.norm(acting, axis=1))), least[mark.kind]


def _varies(model: Prepared, numbers: analysis.ReferenceModel, position: str | float) -> bool:
    """Whether an expression of time changes, in the run or later."""
    tree = expressions.parse(position)
    reading = numbers.reader.reading("motion", tree)
    stop = model.chain.simulation.stop
    times = [*np.linspace(0.0, stop, _SAMPLES), *np.geomspace(stop, _LATER * stop, _SAMPLES)]
    return float(np.ptp([reading.number(numbers.state(t, *model.start)) for t in times])) > 0.0


def _idle(model: Prepared, run: Trajectory, joint: str, where: str) -> Iterator[Remark]:
    coordinate = _coordinate(model, joint)
    position = run.signals[coordinate.signal("position").name]
    moved = rms(run.time, position - position[0])
    limit = _ROUNDING * max(1.0, float(np.abs(position).max()))
    if moved <= limit:
        yield Remark(
            "drive_without_motion",
            where,
            f"{coordinate.name} is driven, but moves by no more than {moved:.2g} {coordinate.unit} during the run",
            "the drive begins after simulation.stop, its table or amplitude is too small, or the joint is held?",
            moved,
            coordinate.unit,
            limit,
        )


def _coordinate(model: Prepared, joint: str) -> Coordinate:
    """Coordinate that a joint's name stands for: `column`, or `wrist.psi`."""
    return next(c for c in model.mechanism.coordinates if joint in (c.name, c.owner))
