"""Order of the rooms: a folder imports those above it in the list alone, and no file imports itself.

Python by its imports (inside functions and for types too), C by its includes and calls.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import gpmelica

ROOT = Path(gpmelica.__file__).parent

# A line may import from the lines above it. Folders are rooms; CONTRIBUTING.md says what is in each.
ORDER = """
core
options
oracle.bodies
oracle.expressions
oracle.constraints
oracle.forces
oracle.elements
oracle.equations
oracle.runs oracle.checks
oracle
language
description.types
description.fields
description.elements
description.tables
description
laws
mechanism
reference.kinematics
reference.constraints
reference.forces
reference.solve
reference.integration
reference
generator.program
generator.equations.bodies
generator.equations.forces
generator.equations.constraints
generator.equations.solution
generator.equations
generator.modelica.arrays
generator.modelica
generator
analysis.start
analysis.along analysis.at_one_state
analysis
scene
plausibility
fmu.compilers
fmu.code
fmu.archive
fmu.component
fmu.backends.openmodelica
fmu.backends
browser
runs.fmpy_runs
runs.compare
runs
report.plots
report.player
report
report.sweep
report.fmu_page
linear
sweeps
exchange
exchange.ssp
coupling
coupling.page
cutting
tasks
preview
api
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
    """Return the folder of a module, or the module itself in the root."""
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
    """Imports of modules, of names and from packages are found in the package."""
    graph = python_graph
    assert {"core.errors", "api.model", "description"} <= graph["cli.app"]
    assert "fmu.code.stages" in graph["fmu.backends.native"]
    assert all(used in MODULES for uses in graph.values() for used in uses)
    assert len(MODULES) > 150


def test_an_environment_in_the_root_is_no_room(tmp_path: Path) -> None:
    """CONTRIBUTING.md puts one there, and its packages are not ours."""
    for folder in (".", "room", "room/inner", ".venv/lib/site-packages/foreign", "build/lib/gpmelica"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "__init__.py").touch()
    assert [*_folders(tmp_path)] == [tmp_path, tmp_path / "room", tmp_path / "room" / "inner"]


def test_root_contains_entry_points_only() -> None:
    """The root contains `__init__.py` and `__main__.py`; every other module is in a folder."""
    assert {path.name for path in ROOT.glob("*.py")} == {"__init__.py", "__main__.py"}


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


# ---- What makes an agreement with the reference mean something --------------------------------------------------


REFERENCE_USES = """
core.errors core.trajectory
language.expressions language.held language.ir language.pace
description.types description.tables description.fields.numbers
mechanism
"""


def _foreign(graph: Graph, own: str) -> set[str]:
    """Modules outside a room that its modules import."""
    inside = {name: uses for name, uses in graph.items() if room(name).split(".")[0] == own}
    return {used for uses in inside.values() for used in uses if room(used).split(".")[0] != own}


def test_the_reference_shares_no_equations(python_graph: Graph) -> None:
    """The reference takes the data of the mechanism, expressions, joint and closure types, and no equations."""
    allowed = REFERENCE_USES.split()
    foreign = _foreign(python_graph, "reference")
    assert {"mechanism", "core.errors"} <= foreign
    assert {name for name in foreign if not any(f"{name}.".startswith(f"{use}.") for use in allowed)} == set()


def test_the_generator_takes_nothing_from_the_reference(python_graph: Graph) -> None:
    """The generator takes no number of the solver that its models are compared with."""
    foreign = _foreign(python_graph, "generator")
    assert {name for name in foreign if name.startswith(("reference", "analysis"))} == set()


def test_the_oracle_shares_nothing(python_graph: Graph) -> None:
    """The oracle takes errors and trajectories from the package, and nothing that makes or judges models."""
    assert len([name for name in python_graph if name.startswith("oracle.")]) > 30
    assert _foreign(python_graph, "oracle") == {"core.errors", "core.trajectory"}
