"""Preview of a description file. The module computes the data that the page shows for the current file."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.system import assemble_system
from ..core.errors import DescriptionError, GpmelicaError, Problem
from ..description import Description
from ..description.load import from_data, read, tables_of
from ..tasks.check import Summary
from .machine import PreviewMachine, machine_of
from .picture import pose_data, scene_data
from .places import path_of
from .posing import Move, posed, settled
from .tree import tree
from .watching import FileWatch, files_of

_AROUND = 2  # The page shows this many lines before and after the line of a syntax error.
_KEPT = 8  # Number of mechanisms with changed parameters that are kept in memory.


@dataclass(frozen=True)
class View:
    """Settings of the preview page.

    Attributes
    ----------
    case
        Name of a case of the description, or empty.
    parameters, inputs, coordinates
        Values of the sliders that the user has moved, by name.
    move
        Coordinate whose slider the user is moving, with the new value.
    settle
        Whether the mechanism moves to the static equilibrium near its pose.
    scene
        Identifier of the scene that the page shows.
    """

    case: str = ""
    parameters: Mapping[str, float] = field(default_factory=dict)
    inputs: Mapping[str, float] = field(default_factory=dict)
    coordinates: Mapping[str, float] = field(default_factory=dict)
    move: Move | None = None
    settle: bool = False
    scene: int = 0


class Preview:
    """Content of a description file that is watched for changes, and its last valid mechanism.

    Parameters
    ----------
    path : Path
        Description file. OSError is raised if the file does not exist.
    case : str
        Name of a case that the page shows at first, or empty.
    """

    def __init__(self, path: Path, case: str = "") -> None:
        path.stat()
        self.path, self.case = path, case
        self.version, self._changes, self._busy = 0, threading.Condition(), threading.Lock()
        self._numbers = count(1)
        self._watch = FileWatch([path])
        self._tables: Mapping[str, Any] = {}
        self._unreadable: DescriptionError | None = None
        self._excerpt: list[dict[str, Any]] = []
        self._chains: dict[str, Description] = {}
        self._machines: dict[tuple[Any, ...], tuple[int, PreviewMachine]] = {}
        self._last: tuple[int, PreviewMachine] | None = None
        self._read()

    def poll(self) -> bool:
        """Read the description again if the description file, or a file named in it, has changed.

        The result is True if a file has changed.
        """
        if not self._watch.changed():
            return False
        with self._busy:
            self._read()
        with self._changes:
            self._changes.notify_all()
        return True

    def wait(self, version: int, seconds: float) -> int:
        """Wait until the version number of the content differs from `version`, and return the present number.

        The function waits at most `seconds`.
        """
        with self._changes:
            self._changes.wait_for(lambda: self.version != version, seconds)
        return self.version

    def _read(self) -> None:
        self.version += 1
        self._chains, self._machines, self._unreadable, self._excerpt = {}, {}, None, []
        try:
            self._tables = read(self.path)
        except DescriptionError as error:
            self._unreadable, self._excerpt = error, _excerpt(self.path, error)
        self._watch.watch([self.path, *files_of(self._tables)])

    def show(self, view: View) -> dict[str, Any]:
        """Return all data that the preview page shows: problems, tree, scene, sliders, pose and forces.

        Scene and sliders are omitted if the page already has them. If the file is faulty, scene and
        sliders are those of the last valid mechanism.
        """
        with self._busy, np.errstate(all="ignore"):
            problems: list[Problem] = []
            is_present = True
            try:
                self._last = self._machine(view.case, view.parameters)
            except DescriptionError as error:
                problems, is_present = list(error.problems), False
            answer = {
                "version": self.version,
                "file": self.path.name,
                "tree": tree(self._tables),
                "cases": self._cases(),
                "excerpt": self._excerpt,
                "is_present": is_present,
            }
            if self._last is not None:
                number, machine = self._last
                answer |= self._name(machine) | {"number": number}
                answer |= {} if number == view.scene else scene_data(machine)
                answer["pose"], obstacles = self._pose(machine, view)
                problems += obstacles
            return answer | {"problems": [self._placed(problem) for problem in problems]}

    def check(self, case: str = "") -> dict[str, Any]:
        """Return problems, remarks and initial state of the current file, as `gpmelica check` reports them."""
        try:
            with self._busy:
                chain = self._chain(case)
            data = Summary(assemble_system(chain, self.path.name)).data()
        except DescriptionError as error:
            return {"version": self.version, "problems": [self._placed(problem) for problem in error.problems]}
        except GpmelicaError as error:
            return {"version": self.version, "problems": [self._placed(Problem("", str(error)))]}
        remarks = [
            {"path": path_of(remark["where"], "", self._tables), "where": "", "text": remark["text"]}
            for remark in data["plausible"]
        ]
        facts = {key: data[key] for key in ("dof", "start", "consistent", "initial_state")}
        return {"version": self.version, "problems": [], "remarks": remarks} | facts

    def _name(self, machine: PreviewMachine) -> dict[str, Any]:
        chain = machine.mechanism.chain
        return {"name": chain.name, "description": chain.description}

    def _cases(self) -> list[str]:
        found = self._tables.get("cases", [])
        entries = found if isinstance(found, list) else []
        return [
            name for case in entries if isinstance(case, Mapping) and isinstance(name := case.get("name"), str)
        ]

    def _chain(self, case: str) -> Description:
        if self._unreadable is not None:
            raise self._unreadable
        if case not in self._chains:
            self._chains[case] = from_data(dict(self._tables), case or None, self.path.name)
        return self._chains[case]

    def _machine(self, case: str, parameters: Mapping[str, float]) -> tuple[int, PreviewMachine]:
        """Return the mechanism of a case with changed parameter values.

        The first result is an integer that identifies the mechanism. The second result is the mechanism.
        """
        key = (case, *sorted(parameters.items()))
        if key not in self._machines:
            made = machine_of(_changed(self._chain(case), parameters))
            self._machines = dict([*self._machines.items(), (key, (next(self._numbers), made))][-_KEPT:])
        return self._machines[key]

    def _pose(self, machine: PreviewMachine, view: View) -> tuple[dict[str, Any], list[Problem]]:
        pose = posed(machine, view.coordinates, view.move)
        if view.settle:
            pose = settled(machine, pose, view.inputs)
        return pose_data(machine, pose, view.inputs), [Problem("", machine.obstacle)] if machine.obstacle else []

    def _placed(self, problem: Problem) -> dict[str, Any]:
        path = path_of(problem.where, problem.message, self._tables)
        return {"path": path, "where": problem.where, "text": problem.message}


def _excerpt(path: Path, error: DescriptionError) -> list[dict[str, Any]]:
    found = re.search(r"at line (\d+)", str(error))
    if not found:
        return []
    lines, line = path.read_text(encoding="utf-8-sig").splitlines(), int(found[1])
    first, last = max(line - _AROUND, 1), min(line + _AROUND, len(lines))
    return [{"number": n, "text": lines[n - 1], "is_faulty": n == line} for n in range(first, last + 1)]


def _changed(chain: Description, parameters: Mapping[str, float]) -> Description:
    known = {name: value for name, value in parameters.items() if name in chain.parameters}
    if not known:
        return chain
    tables = tables_of(chain)
    for name, value in known.items():
        tables["parameters"][name]["value"] = value
    return from_data(tables)
