"""The order of the rooms: a folder uses those below it alone, no file needs itself, and no folder is crowded.

Python by its imports (inside functions and for types too), C by its includes and calls.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import gpmelica
import gpmelica.reference

ROOT = Path(gpmelica.__file__).parent
MOST_FILES = 15

# Lowest first: each line uses those above it. Folders are rooms, and so is each module that lies in the root.
ORDER = """
_version errors trajectory workers templates options
oracle.bodies
oracle.expressions
oracle.constraints
oracle.forces
oracle.equations
oracle.runs oracle.checks
oracle
input_files ranges
generator.types generator.language
generator.description.fields
generator.description.tables
generator.description
generator.mechanism generator.program
generator.equations.bodies
generator.equations.forces
generator.equations.constraints
generator.equations.solution
generator.equations
generator.modelica.arrays
generator.modelica
generator
reference.kinematics
reference.constraints
reference.forces
reference.solve
reference.integration
reference.analysis
reference
scene
prepared
plausibility
fmu.files fmu.compilers
fmu.code fmu.compare fmu.runs
fmu.ssp
fmu.report.plots
fmu.report.player
fmu.report
fmu.report.cases fmu.report.sweep
fmu.archive
fmu.report.fmu_page
fmu.backends.openmodelica
fmu.backends
linear sweeps
results
commands
model
console
exchange studies
gpmelica
cli
__main__
"""
C_ORDER = ("algebra", "core", "evaluation", "events", "constraints", "solvers", "cosimulation", "instance")
C_ORDER = (*C_ORDER, "fmi2", "fmi3")
APART = {("fmi3", "fmi2")}  # an FMU has one of them

Graph = Mapping[str, set[str]]


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or "gpmelica"


def _folders(folder: Path) -> Iterator[Path]:
    """A package and the packages inside it: not tests, and no environment that lies in the root."""
    yield folder
    for inner in sorted(folder.iterdir()):
        if (inner / "__init__.py").is_file():
            yield from _folders(inner)


MODULES = {_name(path): path for folder in _folders(ROOT) for path in sorted(folder.glob("*.py"))}


def imports(path: Path) -> set[str]:
    """Modules of the package that a module takes something from."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    found = {
        f"{base}.{alias.name}".lstrip(".")
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.level > 0
        for base in [".".join([*path.relative_to(ROOT).parts[: -node.level], *filter(None, [node.module])])]
        for alias in node.names
    }
    modules = {name if name in MODULES else name.rpartition(".")[0] or "gpmelica" for name in found}
    return modules - {_name(path)}


def room(module: str) -> str:
    """Its folder, or itself in the root."""
    folder = MODULES[module].parent
    return module if folder == ROOT else _name(folder / "__init__.py")


@pytest.fixture(scope="module")
def python_graph() -> Graph:
    """Module → modules that it imports."""
    return {name: imports(path) for name, path in MODULES.items()}


def cycle(graph: Graph) -> list[str]:
    """One, or an empty list."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


# ---- Python ----------------------------------------------------------------------------------------------------


def test_imports_are_found(python_graph: Graph) -> None:
    """Of modules, of names in them, from packages; what is looked at is the package."""
    graph = python_graph
    assert {"errors", "model", "generator.description"} <= graph["cli"]
    assert "fmu.code.stages" in graph["fmu.backends.native"]
    assert all(used in MODULES for uses in graph.values() for used in uses)
    assert len(MODULES) > 150


def test_an_environment_in_the_root_is_no_room(tmp_path: Path) -> None:
    """CONTRIBUTING.md puts one there, and its packages are not ours."""
    for folder in (".", "room", "room/inner", ".venv/lib/site-packages/foreign", "build/lib/gpmelica"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "__init__.py").touch()
    assert [*_folders(tmp_path)] == [tmp_path, tmp_path / "room", tmp_path / "room" / "inner"]


def test_no_module_imports_itself(python_graph: Graph) -> None:
    """Not by way of others either."""
    assert cycle(python_graph) == []


def test_rooms_use_those_below(python_graph: Graph) -> None:
    """Every import stays in its room or goes to one further up in the list; every room is in it."""
    level = {name: k for k, line in enumerate(ORDER.split("\n")) for name in line.split()}
    graph = python_graph
    assert {room(module) for module in MODULES} - set(level) == {"fmu", "modelica_templates"}  # no code
    wrong = {
        f"{module} imports {used}"
        for module, uses in graph.items()
        for used in uses
        if room(module) != room(used) and level[room(used)] >= level[room(module)]
    }
    assert wrong == set()


# ---- C ---------------------------------------------------------------------------------------------------------

SOURCES = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "fmu" / "sources").glob("*/*.[ch]"))}
_FUNCTION = re.compile(r"^(static )?\w[\w *]*?\b(\w+)\([^;{}]*\) \{", re.MULTILINE)
_CONSTANT = re.compile(r"^const \w+ (\w+) =", re.MULTILINE)


def _code(text: str) -> str:
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def defined(text: str) -> tuple[set[str], set[str]]:
    """Functions and constants that a source shows others, and functions of its own."""
    found = _FUNCTION.findall(_code(text))
    shown = {name for static, name in found if not static} | set(_CONSTANT.findall(_code(text)))
    return shown, {name for static, name in found if static}


def include_graph() -> Graph:
    """File name without extension → those that its header or source includes."""
    stems = {path.stem for path in SOURCES if path.suffix == ".h"}
    graph: dict[str, set[str]] = {path.stem: set() for path in SOURCES}
    for path, text in SOURCES.items():
        graph[path.stem] |= ({*re.findall(r'#include "(\w+)\.h"', text)} & stems) - {path.stem}
    return graph


def call_graph() -> Graph:
    """Source → sources whose functions it names."""
    sources = {path.stem: text for path, text in SOURCES.items() if path.suffix == ".c"}
    owner = {name: stem for stem, text in sources.items() for name in defined(text)[0]}
    return {
        stem: {
            owner[name]
            for name in {*re.findall(r"\w+", _code(text))} & set(owner) - defined(text)[1]
            if owner[name] != stem
        }
        for stem, text in sources.items()
    }


def test_includes_and_calls_are_found() -> None:
    """By the standard's functions and the layer's own."""
    includes, calls = include_graph(), call_graph()
    assert {"calls", "model"} <= includes["fmi2_instance"] | includes["calls"]
    assert {"checks", "evaluation", "life"} <= calls["fmi2"]
    assert {"rk4", "rosenbrock", "dormand_prince", "bdf", "solver_choice"} <= calls["methods"]
    assert len(calls) > 20


def test_no_c_file_needs_itself() -> None:
    """Neither what it includes nor what it calls leads back to it."""
    assert cycle(include_graph()) == []
    assert cycle(call_graph()) == []


def test_c_rooms_use_those_below() -> None:
    """The table of the inner solvers knows them; they do not know it, nor a solver the FMI layer."""
    rooms = {path.stem: path.parent.name for path in SOURCES}
    assert set(rooms.values()) == set(C_ORDER)
    wrong = {
        f"{stem} uses {used}"
        for graph in (include_graph(), call_graph())
        for stem, uses in graph.items()
        for used in uses
        if C_ORDER.index(rooms[used]) > C_ORDER.index(rooms[stem]) or (rooms[stem], rooms[used]) in APART
    }
    assert wrong == set()


# ---- Both ------------------------------------------------------------------------------------------------------


def _crowded(folders: Iterable[Path]) -> dict[str, int]:
    counts = {str(f.relative_to(ROOT)): len([p for p in f.iterdir() if p.is_file()]) for f in folders}
    return {name: count for name, count in counts.items() if count > MOST_FILES}


def test_no_room_is_crowded() -> None:
    """Code, templates and C; the root has the files of the project beside its modules."""
    folders = {path.parent for path in [*MODULES.values(), *SOURCES]} - {ROOT}
    assert _crowded(folders) == {}
    assert len(list(ROOT.glob("*.py"))) <= MOST_FILES


# ---- What makes an agreement with the reference mean something --------------------------------------------------


FOLDER = Path(gpmelica.reference.__file__).parent
SHARED = {"errors", "trajectory", "generator.language.expressions", "generator.mechanism", "generator.types"}
SHARED |= {"generator.language.ir.Expr"}  # the node alone, not what simplifies it
SHARED |= {"generator.language.pace"}  # how long steps may be; tests/test_pulses.py holds it against impulses


def imported(path: Path) -> set[str]:
    """Modules of gpmelica that a module of the reference takes something from, outside the reference."""
    depth = len(path.relative_to(FOLDER).parts)
    outside = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level > depth
    ]
    return {
        f"{node.module}.{alias.name}" if node.module else alias.name for node in outside for alias in node.names
    }


def test_imports() -> None:
    """The reference takes the mechanism's data and description, expressions, joint and closure types."""
    found = set().union(*map(imported, FOLDER.rglob("*.py")))
    assert {"generator.mechanism.Mechanism", "errors.SolveError"} <= found
    tables = "generator.description.tables."
    foreign = {
        name for name in found if not name.startswith((tables, *(f"{s}." for s in SHARED))) and name not in SHARED
    }
    assert foreign == set()


def test_the_oracle_shares_nothing(python_graph: Graph) -> None:
    """The oracle takes errors and trajectories from the package, and nothing that makes or judges models."""
    own = {name: uses for name, uses in python_graph.items() if room(name).split(".")[0] == "oracle"}
    assert len(own) > 30
    foreign = {used for uses in own.values() for used in uses if room(used).split(".")[0] != "oracle"}
    assert foreign == {"errors", "trajectory"}
