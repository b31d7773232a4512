"""Remarks on inputs that stay at their initial values, and on drives that move nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from .. import analysis
from ..analysis import Input
from ..analysis.system import System
from ..core.trajectory import Array, Trajectory, rms
from ..language import expressions
from ..mechanism import Coordinate
from .geometry import extent
from .places import by_law, member
from .remark import Remark

# A motion is a rounding error if its RMS is at most this value times max(1, largest |position|).
_ROUNDING = 1e-12
# A change of a force is irrelevant up to this fraction of the mechanism's weight.
# A change of a moment is irrelevant up to this fraction of the mechanism's weight times its extent.
_CHANGE = 1e-9
_GRAVITY = 9.80665  # m/s²
# A prescribed motion is sampled at 60 instants in the run and at 60 later instants, up to 100 run durations.
_SAMPLES, _LATER = 60, 100.0


def constant_inputs(model: System, run: Trajectory, inputs: Mapping[str, Input] | None = None) -> Iterator[Remark]:
    """Yield one remark on all FMU inputs that stay at their initial values during the run.

    Parameters
    ----------
    model : System
        Mechanism with its equations.
    run : Trajectory
        Trajectory at whose output times the inputs are checked.
    inputs : mapping, optional
        FMU inputs of the run, by name; a missing input keeps its initial value.
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
            f"FMU inputs keep their initial values in all runs ({values})",
            "the comparison does not test them; specify them over time with --input",
            begins[kept[0].name] if len(kept) == 1 else None,
            kept[0].unit if len(kept) == 1 else "",
        )


def input_starts(model: System) -> dict[str, float]:
    """Return the initial value of each FMU input.

    For a filtered input, this value is the initial output of the filter.
    """
    mechanism = model.mechanism
    begins = zip(mechanism.filters, model.problem.model.filters.begins(model.start[0]), strict=True)
    return {entry.name: entry.start for entry in model.program.inputs} | {f.name: begin for f, begin in begins}


def _values(given: Input, times: Array) -> Array:
    return np.array([analysis.input_value(given, t) for t in times.tolist()])


def _place(model: System, name: str) -> str:
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


def idle_drives(model: System, run: Trajectory, course: analysis.EnergyHistory) -> Iterator[Remark]:
    """Yield remarks on drives that vary with time but do not move their joint.

    A drive is a prescribed motion, or an applied force or moment on a joint.

    Parameters
    ----------
    model : System
        Mechanism with its equations.
    run : Trajectory
        Simulated motion of the mechanism.
    course : EnergyHistory
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


def _changes(model: System, course: analysis.EnergyHistory) -> Iterator[tuple[str, float, float]]:
    """Yield the name, the change and the smallest relevant change of each applied force or moment.

    Forces are in N, moments in N·m. The change is the difference between the largest and the smallest
    magnitude during the run.
    """
    mass = sum(float(body.mass) for body in model.mechanism.bodies)
    least = {"force": _CHANGE * mass * _GRAVITY, "moment": _CHANGE * mass * _GRAVITY * extent(model)}
    for mark, acting in zip(course.marks, course.acting.transpose(1, 0, 2), strict=True):
        if mark.kind in least:
            yield mark.name, float(np.ptp(np.linalg.norm(acting, axis=1))), least[mark.kind]


def _varies(model: System, numbers: analysis.ReferenceModel, position: str | float) -> bool:
    """Whether the value of an expression changes with time.

    The expression is sampled from t = 0 to 100 times the duration of the run.
    """
    tree = expressions.parse(position)
    reading = numbers.reader.reading("motion", tree)
    stop = model.chain.simulation.stop
    times = [*np.linspace(0.0, stop, _SAMPLES), *np.geomspace(stop, _LATER * stop, _SAMPLES)]
    return float(np.ptp([reading.number(numbers.state(t, *model.start)) for t in times])) > 0.0


def _idle(model: System, run: Trajectory, joint: str, where: str) -> Iterator[Remark]:
    coordinate = _coordinate(model, joint)
    position = run.signals[coordinate.signal("position").name]
    moved = rms(run.time, position - position[0])
    limit = _ROUNDING * max(1.0, float(np.abs(position).max()))
    if moved <= limit:
        yield Remark(
            "drive_without_motion",
            where,
            f"{coordinate.name} is driven, but moves by no more than {moved:.2g} {coordinate.unit} during the run",
            "does the drive begin after simulation.stop, is its table or amplitude too small, or is the joint"
            " locked?",
            moved,
            coordinate.unit,
            limit,
        )


def _coordinate(model: System, joint: str) -> Coordinate:
    return next(c for c in model.mechanism.coordinates if joint in (c.name, c.owner))
