"""Output of the command `check`: bodies, coordinates, constraints, partition and initial state."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

from rich.console import Console
from rich.table import Table

from .. import analysis, plausibility
from ..analysis.system import System
from ..core.html_table import html_lines
from ..description.tables.frame import angles_of
from ..mechanism import GROUND
from ..runs.compare.findings import start_consistency
from ..scene import axes_in_world, frames_of, in_world
from . import reactions
from .initial_state import initial_data, initial_tables


@dataclass(frozen=True)
class Summary:
    """Summary of a model before any simulation.

    Parameters
    ----------
    model
        Equations of motion with the initial state.

    Examples
    --------
    >>> import gpmelica as gp
    >>> summary = gp.load("examples/four_bar_3d.toml").check()
    >>> summary.consistent
    True
    >>> summary.data()["left_out_rows"]
    ['pin_z', 'pin_xz', 'pin_yz']
    """

    model: System

    def data(self) -> dict[str, Any]:
        """Return the summary as plain data.

        Returns
        -------
        dict
            Bodies, coordinates, constraint equations, partition, initial state, warnings and remarks, as values
            that the module `json` accepts.
        """
        return facts(self.model) | {
            "initial_state": initial_data(self.model, self.initial),
            "plausible": [remark.data() for remark in self.plausible],
        }

    def tables(self) -> list[Table | str]:
        """Return the summary as tables for a terminal.

        Returns
        -------
        list of rich.table.Table or str
            Tables and lines in the order of presentation.
        """
        data = self.data()
        return [
            *tables(self.model, data),
            *initial_tables(data["initial_state"]),
            f"{plausibility.word(self.plausible)}: {plausibility.sentence(self.plausible)}",
            *(f"look at {remark.text}" for remark in self.plausible),
        ]

    @cached_property
    def plausible(self) -> tuple[plausibility.Remark, ...]:
        """Remarks on unusual values that are found without a simulation."""
        return plausibility.of_description(self.model, self.initial)

    @cached_property
    def initial(self) -> plausibility.InitialState:
        """Forces and accelerations at the initial time t = 0."""
        return plausibility.initial_state(self.model, self.model.problem)

    @property
    def consistent(self) -> bool:
        """Whether the initial state fulfils all constraints that are not declared as `starts_violated`."""
        return start_consistency(self.model).ok

    def _repr_html_(self) -> str:
        return html_lines(f"Summary of {self.model.name}") + f"<pre>{escape(str(self))}</pre>"

    def __str__(self) -> str:
        text = io.StringIO()
        console = Console(width=120, file=text, color_system=None, force_jupyter=False)
        for table in self.tables():
            console.print(table)
        return text.getvalue()


def facts(model: System) -> dict[str, Any]:
    """Return bodies, coordinates, constraints and coordinate partition of a model as JSON-ready data."""
    mechanism, constraints, start = model.mechanism, model.solvability, start_consistency(model)
    return {
        "model": model.name,
        "n": mechanism.n,
        "dof": model.degrees_of_freedom,
        "rank": constraints.rank,
        "rank_tolerance": constraints.tolerance,
        "bodies": [
            {
                "name": body.name,
                "parent": "ground" if body.parent == GROUND else mechanism.bodies[body.parent].name,
                "mass": float(body.mass),
            }
            for body in mechanism.bodies
        ],
        "coordinates": [
            {"name": c.name, "role": c.role, "unit": c.unit, "start": float(q)}
            for c, q in zip(mechanism.coordinates, model.start[0], strict=True)
        ],
        "frames": [_pose_of(model, name) for name in mechanism.frames],
        "formulation": model.program.formulation,
        "accelerations": model.accelerations,
        "constraints": list(model.rows),
        "dependent": list(model.dependent),
        "redundant_rows": [list(group) for group in constraints.redundant],
        "left_out_rows": list(model.left_out),
        "tables": [_table_of(model, name) for name in model.chain.tables],
        "events": [relation.description for relation in model.program.relations],
        "consistent": start.ok,
        "start": start.text,
        "warnings": reactions.warnings_of(model),
    }


def _pose_of(model: System, name: str) -> dict[str, Any]:
    frame, frames = model.mechanism.frames[name], frames_of(model.mechanism, model.start[0])
    place, axes = in_world(frames, frame.place), axes_in_world(frames, frame)
    return {"name": name, "position": place.tolist(), "rpy": list(angles_of(axes))}


def _at(frame: Mapping[str, Any]) -> str:
    position, rpy = (", ".join(f"{x + 0.0:.9g}" for x in frame[key]) for key in ("position", "rpy"))
    return f"frame {frame['name']} at the start, in the world: [{position}] m, rpy [{rpy}] rad"


def _table_of(model: System, name: str) -> dict[str, Any]:
    table, stop = model.chain.tables[name], model.chain.simulation.stop
    (first, last), points = table.span, len(table.points[0])
    return {
        "name": name,
        "points": points,
        "interpolation": table.interpolation,
        "first": first,
        "last": last,
        "ends_before_run": last < stop,
    }


def _words_of(table: Mapping[str, Any]) -> str:
    span = f"{table['points']} points from {table['first']:.6g} to {table['last']:.6g} s"
    beyond = ", constant after the last point" if table["ends_before_run"] else ""
    return f"table {table['name']}: {span}, {table['interpolation']}{beyond}"


def tables(model: System, data: dict[str, Any]) -> list[Table | str]:
    """Return the facts about a model as tables and lines for a terminal.

    The argument `data` is the result of the function `facts`.
    """
    constraints = model.solvability
    bodies = Table("body", "parent", "mass kg", title=f"{data['model']}: bodies")
    for body in data["bodies"]:
        bodies.add_row(body["name"], body["parent"], f"{body['mass']:.6g}")
    coordinates = Table("coordinate", "role", "start", "unit", "partition", title="coordinates")
    for c in data["coordinates"]:
        kind = "dependent" if c["name"] in data["dependent"] else "independent"
        coordinates.add_row(c["name"], c["role"], f"{c['start']:.6g}", c["unit"], kind)
    rows = ", ".join(data["constraints"]) or "none"
    line = (
        f"{data['n']} coordinates, {len(data['constraints'])} constraint equations ({rows}) of rank {data['rank']}"
    )
    rank = analysis.Rank(constraints.rank, constraints.tolerance, *constraints.gap)
    return [
        bodies,
        coordinates,
        f"{line}, {data['dof']} degrees of freedom",
        *([reactions.gap(rank)] if constraints.redundant else []),
        *(f"{what}: {names}" for what, names in reactions.redundancy_of(model).items()),
        *map(_at, data["frames"]),
        f"equations: {data['formulation']}",
        *([f"accelerations of the native FMU: {data['accelerations']}"] if data["accelerations"] else []),
        *(_words_of(table) for table in data["tables"]),
        *([f"events: {', '.join(dict.fromkeys(data['events']))}"] if data["events"] else []),
        f"start: {data['start']}",
        *data["warnings"],
    ]
