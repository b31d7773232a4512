"""Root mean square and peak of joint reactions over a run (Jarzębowska et al. 2023, equation (34))."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from rich.table import Table

from .. import analysis
from ..analysis.system import System
from ..core.recalled import reusing
from ..core.trajectory import Trajectory, rms
from ..description.types.origin import joint_load, row_force
from ..mechanism import Mechanism, signal_names
from ..options.model import MotionOptions
from ..runs.fmpy_runs.inputs import inputs_of, problem_with
from .reactions import NOT_UNIQUE, not_unique
from .reference_run import reference_runs

_ROUNDING = 1e-9  # A load below this fraction of the largest load is a rounding error.
_PARTS = ("axial", "normal", "fx", "fy", "fz", "nx", "ny", "nz")


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
    ['base', 'closures', 'drives', 'joints', 'knife_edges', 'not_unique']
    """

    run: Trajectory
    joints: dict[str, dict[str, dict[str, float]]]
    drives: dict[str, dict[str, float]]
    base: dict[str, dict[str, float]]
    closures: dict[str, list[float]]
    edges: dict[str, dict[str, float]]
    not_unique: dict[str, list[str]]

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
            "knife_edges": self.edges,
            "not_unique": self.not_unique,
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
        peaks = {link: {letter: _peak(parts, letter) for letter in "fn"} for link, parts in self.joints.items()}
        largest = {letter: max((of[letter] for of in peaks.values()), default=0.0) for letter in "fn"}
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


def _peak(parts: dict[str, dict[str, float]], letter: str) -> float:
    """Return an upper bound of the magnitude of a force (letter f) or moment (n) from peaks of its components."""
    return float(np.linalg.norm([parts[f"{letter}{axis}"]["max"] for axis in "xyz"]))


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
    links = dict.fromkeys(body.link for body in model.mechanism.bodies if body.link != "base")
    joints = {link: _of_joint(run, link) for link in links}
    drives, base = (_efforts(run, model.mechanism, role) for role in ("joint", "base"))
    edges = {edge.name: _numbers(run, row_force(edge.name).name) for edge in model.mechanism.nonholonomic}
    return LoadSummary(run, joints, drives, base, _closures(problem, run), edges, not_unique(model))


def _efforts(run: Trajectory, mechanism: Mechanism, role: str) -> dict[str, dict[str, float]]:
    efforts = {c.name: c.signal("effort").name for c in mechanism.coordinates if c.role == role}
    return {name: _numbers(run, signal) for name, signal in efforts.items() if signal in run.signals}


def _of_joint(run: Trajectory, link: str) -> dict[str, dict[str, float]]:
    names = {part: joint_load(link, part).name for part in _PARTS}
    return {part: _numbers(run, name) for part, name in names.items() if name in run.signals}


def _numbers(run: Trajectory, name: str) -> dict[str, float]:
    values = run.signals[name]
    return {"rms": rms(run.time, values), "max": float(np.max(np.abs(values)))}


def _closures(problem: analysis.InitialValueProblem, run: Trajectory) -> dict[str, list[float]]:
    if not problem.mechanism.closures:
        return {}
    coordinates = problem.mechanism.coordinates
    q, qd = (run.columns(signal_names(coordinates, level))[-1] for level in ("position", "velocity"))
    z = run.columns(signal_names([c for c in coordinates if c.friction is not None], "bristle"))[-1]
    end = float(run.time[-1])
    wrenches = analysis.closure_wrenches(problem, end, q, qd, z)
    return {name: wrench.tolist() for name, wrench in wrenches.items()}
