"""Root mean square and peak of joint reactions over a run (Jarzębowska et al. 2023, equation (34))."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from rich.table import Table

from ..analysis.system import System
from ..core.recalled import reusing
from ..core.trajectory import Trajectory, rms
from ..description.types.origin import closure_load, joint_load, row_force, support_load
from ..mechanism import Mechanism
from ..options.model import MotionOptions
from ..reference.forces.joint_loads import COMPONENTS
from ..runs.fmpy_runs.inputs import inputs_of, problem_with
from .reactions import NOT_UNIQUE, not_unique
from .reference_run import reference_runs

_ROUNDING = 1e-9  # A load below this fraction of the largest load is a rounding error.
_PARTS = ("axial", "normal", *COMPONENTS)
_FORCE = COMPONENTS[:3]

# A row contains an element, its kind, a quantity, the statistics `rms` and `max`, and the unit.
_Row = tuple[str, str, str, dict[str, float], str]


@dataclass(frozen=True)
class LoadSummary:
    """Root mean square and peak of the joint reactions over one simulation.

    Parameters
    ----------
    run
        Run of the reference solver with all joint reactions among its signals.
    joints
        Statistics `rms` and `max` of each component (`axial`, `fx`, …) by link, N or N·m.
    drives
        Statistics `rms` and `max` of the effort of each drive by coordinate, N or N·m.
    base
        Statistics `rms` and `max` of the reactions of a fixed base by coordinate, N or N·m.
    closures
        Force (x, y, z), N, and moment (x, y, z), N·m, on frame b of each closure at the final time,
        world frame.
    edges
        Statistics `rms` and `max` of the normal force of each knife edge, N.
    not_unique
        Components of reactions that a model of rigid bodies does not determine [1]_, by link, closure
        or knife edge. Components are named fx … nz (in the axes of the joint), `axial`, `normal` and
        `force`.
    closure_loads
        Statistics `rms` and `max` of each component (`fx` … `nz`) of the wrench on frame b by closure,
        N or N·m, world axes.
    supports
        Statistics `rms` and `max` of each component (`fx` `fy` `fz`) of the force on the base by
        support, N, world axes.
    units
        Units in FMI notation, by the keys of `data()`. The values for `joints`, `closure_loads` and
        `supports` are mappings from components to units. The values for `drives` and `base` are mappings
        from coordinates to units. The value for `closures` is a list of six units, three of the force
        and three of the moment. The value for `knife_edges` is one unit.

    References
    ----------
    .. [1] Wojtyra and Frączek 2013, see docs/bibliography.md.

    Examples
    --------
    >>> import gpmelica as gp
    >>> found = gp.load("examples/four_bar_3d.toml", simulation={"stop": 0.02}).loads()
    >>> round(found.joints["rocker"]["axial"]["rms"], 2)
    2.84
    >>> sorted(found.data())
    ['base', 'closure_loads', 'closures', 'drives', 'joints', 'knife_edges', 'not_unique', 'supports', 'units']
    """

    run: Trajectory
    joints: dict[str, dict[str, dict[str, float]]]
    drives: dict[str, dict[str, float]]
    base: dict[str, dict[str, float]]
    closures: dict[str, list[float]]
    edges: dict[str, dict[str, float]]
    not_unique: dict[str, list[str]]
    closure_loads: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    supports: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    units: dict[str, Any] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        """Return the statistics as plain data.

        Returns
        -------
        dict
            Values that the module `json` accepts.
        """
        return {
            "joints": self.joints,
            "drives": self.drives,
            "base": self.base,
            "closures": self.closures,
            "closure_loads": self.closure_loads,
            "supports": self.supports,
            "knife_edges": self.edges,
            "not_unique": self.not_unique,
            "units": self.units,
        }

    def marked_run(self) -> Trajectory:
        """Return the run with a mark in the name of each signal that is not unique.

        An example of a marked name is `crank_load_fz (not unique)`.

        Returns
        -------
        Trajectory
            Signals under their new names.
        """
        marked = {joint_load(link, part).name for link, parts in self.not_unique.items() for part in parts}
        marked |= {
            closure_load(name, part).name
            for name in self.closure_loads
            if name in self.not_unique
            for part in COMPONENTS
        }
        marked |= {row_force(edge).name for edge in self.edges if edge in self.not_unique}
        names = {name: f"{name} ({NOT_UNIQUE})" if name in marked else name for name in self.run.signals}
        return replace(self.run, signals={names[name]: values for name, values in self.run.signals.items()})

    def notes(self) -> list[str]:
        """Return one note for each joint, closure and knife edge with reactions that are not unique.

        Returns
        -------
        list of str
            One sentence per joint, closure or knife edge with reactions that are not unique.
        """
        return [
            f"* {name}: {' '.join(parts)} {'is' if len(parts) == 1 else 'are'} {NOT_UNIQUE} in a model of rigid"
            " bodies; the value is one of many solutions, see gpmelica reactions"
            for name, parts in self.not_unique.items()
        ]

    def table(self) -> Table:
        """Return the statistics as a table for a terminal.

        Returns
        -------
        rich.table.Table
            One row per joint and knife edge.
        """
        table = Table("joint", "axial rms N", "normal rms N", "force max N", "moment max N.m")
        peaks = self._peaks()
        largest = _largest(peaks)
        for link, parts in self.joints.items():
            lost = self.not_unique.get(link, [])
            rms = [
                _marked(_shown(parts[key]["rms"], largest["f"]), key in lost) if key in parts else ""
                for key in ("axial", "normal")
            ]
            peak = [
                _marked(_shown(value, largest[letter]), any(f"{letter}{axis}" in lost for axis in "xyz"))
                for letter, value in peaks[link].items()
            ]
            table.add_row(link, *rms, *peak)
        for edge, numbers in self.edges.items():
            table.add_row(
                edge, "", *(_marked(numbers[key], edge in self.not_unique) for key in ("rms", "max")), ""
            )
        return table

    def _peaks(self) -> dict[str, dict[str, float]]:
        """Return the largest force (`f`), N, and moment (`n`), N·m, of each joint, by link."""
        return {link: {letter: _peak(parts, letter) for letter in "fn"} for link, parts in self.joints.items()}

    def other_table(self) -> Table:
        """Return the efforts of drives and a fixed base, and the forces of supports and closures, as a table.

        The maximum of a force or moment is the largest magnitude of the vector at an output time.

        Returns
        -------
        rich.table.Table
            One row per drive, coordinate of a fixed base, support and closure force or moment; no row if
            the mechanism has none of these.
        """
        table = Table("element", "kind", "quantity", "rms", "max", "unit")
        rows = [*self._effort_rows(), *self._vector_rows()]
        of_joints = _largest(self._peaks())
        largest = {"N": of_joints["f"], "N.m": of_joints["n"]}
        for *_, numbers, unit in rows:
            largest[unit] = max(largest.get(unit, 0.0), numbers["max"])
        for name, kind, quantity, numbers, unit in rows:
            letter = {"force": "f", "moment": "n"}.get(quantity)
            doubtful = any(part[0] == letter for part in self.not_unique.get(name, []))
            shown = (_marked(_shown(numbers[key], largest[unit]), doubtful) for key in ("rms", "max"))
            table.add_row(name, kind, quantity, *shown, unit)
        return table

    def _effort_rows(self) -> list[_Row]:
        of_drives = [(name, "drive", numbers, self.units["drives"][name]) for name, numbers in self.drives.items()]
        of_base = [(name, "fixed base", numbers, self.units["base"][name]) for name, numbers in self.base.items()]
        return [(name, kind, "effort", numbers, unit) for name, kind, numbers, unit in (*of_drives, *of_base)]

    def _vector_rows(self) -> list[_Row]:
        rows: list[_Row] = []
        for name in self.supports:
            force = [support_load(name, part).name for part in _FORCE]
            rows.append((name, "support", "force", _of_vector(self.run, force), "N"))
        for name in self.closure_loads:
            parts = [closure_load(name, part).name for part in COMPONENTS]
            rows.append((name, "closure", "force", _of_vector(self.run, parts[:3]), "N"))
            rows.append((name, "closure", "moment", _of_vector(self.run, parts[3:]), "N.m"))
        return rows


def _peak(parts: dict[str, dict[str, float]], letter: str) -> float:
    """Return an upper bound of the magnitude of a force (letter f) or moment (n) from peaks of its components."""
    return float(np.linalg.norm([parts[f"{letter}{axis}"]["max"] for axis in "xyz"]))


def _largest(peaks: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    return {letter: max((of[letter] for of in peaks.values()), default=0.0) for letter in "fn"}


def _shown(value: float, largest: float) -> float:
    """Return the value, or 0 if the value is smaller than the rounding error of the largest value."""
    return 0.0 if value <= _ROUNDING * largest else value


def _marked(value: float, doubtful: bool) -> str:
    return f"{value:.4g} *" if doubtful else f"{value:.4g}"


def loads(model: System, options: MotionOptions) -> LoadSummary:
    """Return root mean squares and peaks of joint reactions over a run of the reference solver."""
    problem = problem_with(model, inputs_of(model, options.inputs))
    with reusing(options.fresh):
        _, run = reference_runs(model, problem, options.progress)
    mechanism = model.mechanism
    links = dict.fromkeys(body.link for body in mechanism.bodies if body.link != "base")
    closures = {c.name: {part: closure_load(c.name, part).name for part in COMPONENTS} for c in mechanism.closures}
    supports = {s.name: {part: support_load(s.name, part).name for part in _FORCE} for s in mechanism.supports}
    return LoadSummary(
        run=run,
        joints={link: _of_joint(run, link) for link in links},
        drives=_efforts(run, mechanism, "joint"),
        base=_efforts(run, mechanism, "base"),
        closures={name: [float(run.signals[key][-1]) for key in own.values()] for name, own in closures.items()},
        edges={edge.name: _numbers(run, row_force(edge.name).name) for edge in mechanism.nonholonomic},
        not_unique=not_unique(model),
        closure_loads={name: _by_component(run, own) for name, own in closures.items()},
        supports={name: _by_component(run, own) for name, own in supports.items()},
        units=_units(mechanism),
    )


def _units(mechanism: Mechanism) -> dict[str, Any]:
    """Return the units of all statistics; see `LoadSummary.units`."""
    wrench = {part: "N" if part.startswith("f") else "N.m" for part in COMPONENTS}
    return {
        "joints": wrench | {"axial": "N", "normal": "N"},
        "drives": _effort_units(mechanism, "joint"),
        "base": _effort_units(mechanism, "base"),
        "closure_loads": wrench,
        "closures": list(wrench.values()),
        "supports": dict.fromkeys(_FORCE, "N"),
        "knife_edges": "N",
    }


def _effort_units(mechanism: Mechanism, role: str) -> dict[str, str]:
    driven = [mechanism.coordinates[k] for k in mechanism.driven]
    return {c.name: c.effort_unit for c in driven if c.role == role}


def _efforts(run: Trajectory, mechanism: Mechanism, role: str) -> dict[str, dict[str, float]]:
    efforts = {c.name: c.signal("effort").name for c in mechanism.coordinates if c.role == role}
    return {name: _numbers(run, signal) for name, signal in efforts.items() if signal in run.signals}


def _of_joint(run: Trajectory, link: str) -> dict[str, dict[str, float]]:
    names = {part: joint_load(link, part).name for part in _PARTS}
    return _by_component(run, {part: name for part, name in names.items() if name in run.signals})


def _by_component(run: Trajectory, names: Mapping[str, str]) -> dict[str, dict[str, float]]:
    return {part: _numbers(run, name) for part, name in names.items()}


def _numbers(run: Trajectory, name: str) -> dict[str, float]:
    values = run.signals[name]
    return {"rms": rms(run.time, values), "max": float(np.max(np.abs(values)))}


def _of_vector(run: Trajectory, names: Sequence[str]) -> dict[str, float]:
    """Return root mean square and maximum of the magnitude of a vector over a run."""
    magnitude = np.linalg.norm([run.signals[name] for name in names], axis=0)
    return {"rms": rms(run.time, magnitude), "max": float(np.max(magnitude))}
