"""Tables of the report of one case, with every cell as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeVar

import numpy as np

from ..analysis import LinearisedMode
from ..core.trajectory import Event, Trajectory
from ..description.fields.elements import Element, Quantity
from ..description.fields.numbers import AnyNumber, value_of
from ..description.tables.closure import Closure
from ..description.tables.contact import Contact, ContactLaw
from ..description.tables.line import Line, LineEnd
from ..description.tables.task import Force, Motion, Nonholonomic, Programmed
from ..mechanism import GROUND, Body, Coordinate, Mechanism
from ..runs.compare.compare import Comparison
from ..runs.compare.context import RunReport
from .plots.number_text import NOTHING, decimal, scientific, unit_text

T = TypeVar("T")
Kind = Literal["text", "code", "expression", "number", "verdict", "link", "open"]


@dataclass(frozen=True)
class TextTable:
    """Table with text in every cell.

    The attribute `kinds` contains the kind of content of each column, such as `number` or `code`.
    """

    headers: tuple[str, ...]
    kinds: tuple[Kind, ...]
    rows: tuple[tuple[str, ...], ...]


def verdicts(report: RunReport) -> TextTable:
    """Return a table of the comparison of each run with the reference solver."""
    columns: list[tuple[str, Kind, Callable[[Comparison], str]]] = [
        ("run", "code", lambda c: c.name),
        ("verdict", "verdict", lambda c: _verdict(c, report)),
        ("relative error", "number", lambda c: scientific(c.max_rel_error)),
        ("tolerance", "number", lambda c: scientific(c.tolerance)),
        ("worst signal", "code", lambda c: c.worst_signal or NOTHING),
        ("error of this signal", "number", lambda c: _worst_error(c, report.model.units)),
        ("largest ‖Φ‖", "number", lambda c: scientific(c.violation_position)),
        ("largest ‖dΦ/dt‖", "number", lambda c: scientific(c.violation_velocity)),
        ("compared time, s", "number", lambda c: decimal(c.horizon)),
        ("wall, s", "number", lambda c: decimal(c.wall_s, 2)),
        ("steps", "number", lambda c: str(c.steps or NOTHING)),
    ]
    return tabulate(columns, report.comparisons)


def events(run: Trajectory) -> TextTable:
    """Return a table of a run's events in the order of time."""
    columns: list[tuple[str, Kind, Callable[[Event], str]]] = [
        ("t, s", "number", lambda e: decimal(e.t, 6)),
        ("element", "text", lambda e: e.label),
        ("event", "text", lambda e: e.word),
    ]
    return tabulate(columns, run.events)


def lines(mechanism: Mechanism) -> TextTable:
    """Return a table of the two-point force elements."""
    columns: list[tuple[str, Kind, Callable[[Line], str]]] = [
        ("force element", "code", lambda e: e.name),
        ("from", "text", lambda e: _end(e.a)),
        ("to", "text", lambda e: _end(e.b)),
        ("force, N", "expression", partial(_law, mechanism)),
        ("pushes", "text", lambda e: "no" if e.tension_only else "yes"),
    ]
    return tabulate(columns, mechanism.chain.lines)


def contacts(mechanism: Mechanism) -> TextTable:
    """Return a table of the contacts between points and planes."""
    columns: list[tuple[str, Kind, Callable[[Contact], str]]] = [
        ("contact", "code", lambda e: e.name),
        ("point", "text", lambda e: f"{e.link} at {_numbers(e.point)} m"),
        ("plane through, m", "number", lambda e: _numbers(e.plane.point)),
        ("normal", "number", lambda e: _numbers(e.plane.normal)),
        ("stiffness, N/m", "number", lambda e: decimal(value_of(e.stiffness))),
        ("damping, N·s/m", "number", lambda e: NOTHING if e.law else decimal(value_of(e.damping))),
        ("exponent, loss in s/m", "number", lambda e: _smooth(e.law)),
        ("friction μ", "number", lambda e: NOTHING if e.friction is None else decimal(value_of(e.friction.mu))),
    ]
    return tabulate(columns, mechanism.chain.contacts)


def elements(mechanism: Mechanism) -> dict[str, TextTable]:
    """Return one table for each kind of force element.

    The dictionary keys are the headings of the tables. Only force elements whose law consists of
    expressions are included; see the package `laws`.
    """
    meanings = {(element.key, element.name): element.meanings for element in mechanism.elements}
    found: dict[str, list[tuple[Element, Mapping[str, Quantity]]]] = {}
    for key, element in mechanism.chain.elements:
        found.setdefault(key, []).append((element, meanings[key, element.name]))
    return {key.replace("_", " ").capitalize(): _of_kind(mechanism, members) for key, members in found.items()}


def _of_kind(mechanism: Mechanism, members: Sequence[tuple[Element, Mapping[str, Quantity]]]) -> TextTable:
    """Return a table of force elements of one kind. Each key that at least one element uses has a column."""
    kind = type(members[0][0])
    numbers = kind.marked(Quantity)
    used = {key for e, _ in members for key in kind.model_fields if getattr(e, key) is not None or key in e.inputs}
    headers = (kind.kind(), *(key for key in kind.model_fields if key in used - {"name"}))
    kinds: tuple[Kind, ...] = ("code", *("number" if key in numbers else "expression" for key in headers[1:]))
    rows = [
        (element.name, *(_value(mechanism, element, key, units.get(key)) for key in headers[1:]))
        for element, units in members
    ]
    return TextTable(headers, kinds, tuple(rows))


def _value(mechanism: Mechanism, element: Element, key: str, meaning: Quantity | None) -> str:
    value = getattr(element, key)
    if value is None:
        return _input(mechanism, element.inputs[key]) if key in element.inputs else NOTHING
    return str(value) if meaning is None else f"{decimal(value_of(value))} {unit_text(meaning.unit)}"


def _input(mechanism: Mechanism, name: str) -> str:
    """Return the name of the controller output that drives an input, or the phrase `input of the FMU`."""
    return mechanism.chain.driven.get(name, "input of the FMU").replace(".", "_")


def _smooth(law: ContactLaw | None) -> str:
    return NOTHING if law is None else _numbers((law.exponent, law.loss))


def _end(end: LineEnd) -> str:
    return f"{end.link} at {_numbers(end.point)} m"


def _law(mechanism: Mechanism, line: Line) -> str:
    if line.input:
        return _input(mechanism, line.name)
    if line.force is not None:
        return str(line.force)
    stiffness, damping = decimal(value_of(line.stiffness)), decimal(value_of(line.damping))
    return f"{stiffness}*(length - ({line.rest})) + {damping}*(rate - its rate)"


def bodies(mechanism: Mechanism) -> TextTable:
    """Return a table of the rigid bodies and rigid finite elements."""
    columns: list[tuple[str, Kind, Callable[[Body], str]]] = [
        ("body", "code", lambda b: b.name),
        ("parent", "code", lambda b: "ground" if b.parent == GROUND else mechanism.bodies[b.parent].name),
        ("joint", "text", lambda b: _held_by(mechanism, b)),
        ("mass, kg", "number", lambda b: decimal(float(b.mass))),
        ("centre of mass, m", "number", lambda b: _numbers(b.com)),
        (
            "Ixx, Iyy, Izz about the centre of mass, kg·m²",
            "number",
            lambda b: _numbers(np.diag(np.asarray(b.inertia))),
        ),
    ]
    return tabulate(columns, mechanism.bodies)


def coordinates(mechanism: Mechanism, reference: Trajectory, dependent: Iterable[str]) -> TextTable:
    """Return a table of the generalised coordinates with their ranges in the reference run."""
    chosen = set(dependent)
    columns: list[tuple[str, Kind, Callable[[Coordinate], str]]] = [
        ("coordinate", "code", lambda c: c.name),
        ("role", "text", lambda c: c.role),
        ("motion", "text", lambda c: c.motion.kind),
        ("in the partition", "text", lambda c: "dependent" if c.name in chosen else "independent"),
        ("unit", "text", lambda c: c.unit),
        ("as described", "number", lambda c: decimal(c.position, 4)),
        ("initial", "number", lambda c: _rounded(reference.signals[c.symbol][0])),
        ("smallest", "number", lambda c: _rounded(np.min(reference.signals[c.symbol]))),
        ("largest", "number", lambda c: _rounded(np.max(reference.signals[c.symbol]))),
    ]
    return tabulate(columns, mechanism.coordinates)


def task(mechanism: Mechanism) -> TextTable:
    """Return a table of the programmed constraints and motions."""
    columns: list[tuple[str, Kind, Callable[[Programmed | Motion], str]]] = [
        ("programmed constraint", "code", lambda p: p.name),
        ("level", "text", lambda p: ("position", "velocity", "acceleration")[getattr(p, "order", 0)]),
        ("condition", "expression", _condition),
    ]
    return tabulate(columns, mechanism.chain.tasks)


def closures(mechanism: Mechanism) -> TextTable:
    """Return a table of the loop closures.

    A cut joint closes a loop by constraints. A replacement joint closes a loop by spring-dampers.
    """
    columns: list[tuple[str, Kind, Callable[[Closure], str]]] = [
        ("closure", "code", lambda c: c.name),
        ("type", "text", lambda c: c.type.replace("_", " ")),
        ("between", "code", lambda c: f"{c.a.link}, {c.b.link}"),
        ("model", "text", lambda c: {"constraint": "cut joint", "spring_damper": "replacement joint"}[c.model]),
        ("stiffness, N/m and N·m/rad", "number", lambda c: _numbers(c.stiffness or ()) or NOTHING),
        ("damping, N·s/m and N·m·s/rad", "number", lambda c: _numbers(c.damping or ()) or NOTHING),
    ]
    return tabulate(columns, mechanism.chain.closures)


def knife_edges(mechanism: Mechanism) -> TextTable:
    """Return a table of the knife edges.

    A knife edge is a point whose velocity along a normal direction is zero.
    """
    columns: list[tuple[str, Kind, Callable[[Nonholonomic], str]]] = [
        ("knife edge", "code", lambda e: e.name),
        ("link", "code", lambda e: e.link),
        ("point, m", "number", lambda e: _numbers(e.point)),
        ("no velocity along", "number", lambda e: _numbers(e.normal)),
    ]
    return tabulate(columns, mechanism.chain.nonholonomic)


def mode_text(mode: LinearisedMode) -> str:
    """Return a text about a mode: coordinate with the largest motion, frequency and time constant."""
    whose = "stabilisation of the constraints" if mode.violating else mode.coordinate
    if mode.rigid_body:
        return f"{whose}: rigid-body motion"
    swings = f"{decimal(mode.frequency, 3)} Hz undamped" if mode.damped_frequency else "no oscillation"
    if not math.isfinite(mode.time_constant):
        return f"{whose}: {swings}, no damping"
    return f"{whose}: {swings}, time constant {scientific(mode.time_constant)} s"


def forces(mechanism: Mechanism) -> TextTable:
    """Return a table of the applied forces."""
    columns: list[tuple[str, Kind, Callable[[Force], str]]] = [
        ("force", "code", lambda f: f.name),
        ("acts on", "code", lambda f: str(f.joint or f.link)),
        ("value, N or N·m", "expression", partial(_force_value, mechanism)),
    ]
    return tabulate(columns, mechanism.chain.forces)


def supports(mechanism: Mechanism) -> TextTable:
    """Return a table of the spring-dampers between the base and the ground."""
    rows = [
        (str(k), _numbers(s.position), _numbers(s.stiffness), _numbers(s.damping))
        for k, s in enumerate(mechanism.supports, start=1)
    ]
    headers = ("support", "position, m", "stiffness, N/m", "damping, N·s/m")
    return TextTable(headers, ("number",) * 4, tuple(rows))


def signals(report: RunReport, relative: bool) -> TextTable:
    """Return a table of the largest error of each signal in each run.

    The errors are relative if `relative` is true; otherwise they are in the unit of the signal.
    """
    runs = [c for c in report.comparisons if c.max_abs_error and c.name != report.reference.name]
    errors = [c.rel_error if relative else c.max_abs_error for c in runs]
    names = dict.fromkeys(name for of_run in errors for name in of_run)
    rows = [
        (
            name,
            unit_text(report.model.units.get(name, NOTHING)),
            *(scientific(of_run.get(name)) for of_run in errors),
        )
        for name in names
    ]
    headers = ("signal", "unit", *(run.name for run in runs))
    numbers: tuple[Kind, ...] = tuple("number" for _ in runs)
    return TextTable(headers, ("code", "text", *numbers), tuple(rows))


def pairs(left: str, right: str, kinds: tuple[Kind, Kind], content: Mapping[str, str]) -> TextTable:
    """Return a table of two columns: names and their values."""
    return TextTable((left, right), kinds, tuple(content.items()))


def tabulate(columns: Iterable[tuple[str, Kind, Callable[[T], str]]], items: Iterable[T]) -> TextTable:
    """Return a table with one row per item.

    The argument `columns` contains, for each column, a header, the kind of content, and a function
    that returns the text of an item.
    """
    headers, kinds, cells = zip(*columns, strict=True)
    return TextTable(headers, kinds, tuple(tuple(cell(item) for cell in cells) for item in items))


def _verdict(comparison: Comparison, report: RunReport) -> str:
    if not comparison.ok:
        return "disagrees"
    return "reference" if comparison.name == report.reference.name else "agrees"


def _worst_error(comparison: Comparison, units: Mapping[str, str]) -> str:
    error = comparison.max_abs_error.get(comparison.worst_signal)
    return f"{scientific(error)} {unit_text(units.get(comparison.worst_signal, ''))}" if error else NOTHING


def _rounded(value: float) -> str:
    """Return a number with four digits, or `≈ 0` for a value that is a rounding error of zero."""
    return "≈ 0" if 0 < abs(value) < 1e-15 else decimal(value_of(value), 4)


def _held_by(mechanism: Mechanism, body: Body) -> str:
    if body.link == "base":
        return "springs" if mechanism.supports else "fixed"
    if any(mechanism.coordinates[k].role == "elastic" for k in body.coordinates):
        return "elastic element"
    return next(link.joint.type for link in mechanism.chain.links if link.name == body.link)


def _condition(programmed: Programmed | Motion) -> str:
    if isinstance(programmed, Motion):
        return f"{programmed.joint} = {programmed.position}"
    if programmed.path is None:
        return f"{programmed.expression} = 0"
    path = programmed.path
    components = ", ".join(f"{path.point}.{component}" for component in path.components)
    turning = f" and orientation of {path.point}" if path.orientations is not None else ""
    blending = f", blending for {_listed(path.blend_time)} s" if any(path.blends(value_of)) else ""
    legs = f"{len(path.legs(value_of))} legs of {_listed(path.leg_time)} s ({path.profile})"
    return f"{components}{turning} along {legs}{blending}"


def _listed(given: AnyNumber | tuple[AnyNumber, ...]) -> str:
    return ", ".join(decimal(value_of(x)) for x in (given if isinstance(given, tuple) else (given,)))


def _force_value(mechanism: Mechanism, force: Force) -> str:
    if force.input:
        return ", ".join(dict.fromkeys(_input(mechanism, name) for name in force.components))
    if force.force is None:
        return str(force.effort)
    return f"{', '.join(str(value) for value in force.force)} ({force.frame} frame)"


def _numbers(values: Iterable[AnyNumber]) -> str:
    return ", ".join(decimal(value_of(value), 4) for value in values)
