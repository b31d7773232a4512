"""Results of earlier commands are reused if everything that they depend on is unchanged, and only then."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from awkward_machines.judge import toml
from helpers_backends import driven, pendulum
from helpers_examples import EXAMPLES
from matplotlib import pyplot

import gpmelica as gp
from gpmelica import analysis
from gpmelica.api.model import Model
from gpmelica.core import beginning
from gpmelica.core import fingerprint as fingerprints
from gpmelica.core.errors import DescriptionError
from gpmelica.core.recalled import NoKeyError, Slot, fingerprint, object_folder, recalled, reusing
from gpmelica.core.store import Store, own_store
from gpmelica.core.trajectory import Event, Magnitude, Singular, Trajectory
from gpmelica.core.trajectory_bytes import read_trajectory, trajectory_bytes
from gpmelica.description.contents import contents
from gpmelica.description.load import from_data, load
from gpmelica.description.tables import table
from gpmelica.fmu.compilers import compiler, kept
from gpmelica.fmu.compilers.kept import compile_object, kept_objects
from gpmelica.runs.attempts import Attempt
from gpmelica.runs.fmpy_runs import simulate as fmu_runs
from gpmelica.runs.fmpy_runs.inputs import InputTable
from gpmelica.runs.fmpy_runs.opening import read_fmu
from gpmelica.runs.fmpy_runs.recallable import recalled_run
from gpmelica.tasks import second_opinion
from gpmelica.tasks.second_opinion import Opinion

PENDULUM = pendulum(simulation={"stop": 0.1, "start": "description", "output_step": 0.01})


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The user's store, in a folder of the test."""
    monkeypatch.setenv("GPMELICA_CACHE", str(tmp_path / "cache"))
    found = own_store()
    assert found is not None
    return found


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the simulations that really take place, in their order."""
    found = list[str]()

    def counted(owner: Any, name: str, label: str) -> None:
        original = getattr(owner, name)

        def call(*arguments: Any, **keywords: Any) -> Any:
            found.append(label)
            return original(*arguments, **keywords)

        monkeypatch.setattr(owner, name, call)

    counted(analysis, "simulate", "reference")
    counted(fmu_runs, "_simulated", "FMU")
    counted(second_opinion, "alone", "oracle")
    counted(compiler, "compile_object", "compiler")
    return found


def _run(name: str = "reference") -> Trajectory:
    time = np.linspace(0.0, 1.0, 5)
    return Trajectory(
        name,
        time,
        {"x": np.sin(time) / 3.0, "y": np.array([np.nan, np.inf, -0.0, 1e-310, 2.0])},
        0.25,
        7,
        "close to a singular configuration",
        {"tolerance": 1e-7},
        (Magnitude("x", "m", "rod", 0.1, 1e-9),),
        (Event(0.5, "contact deck", True, "touches"),),
        (Singular(0.7, ("pin_x", "pin_y"), (0.6, 0.8)), Singular(0.9, ("pin_x",))),
    )


def _keep(kind: str, parts: object) -> None:
    with reusing():
        recalled(kind, lambda: parts, _run)


def _is_known(kind: str, parts: object) -> bool:
    with reusing():
        return Slot(kind, lambda: parts).read() is not None


# The folder of results


def test_results_survive_exactly() -> None:
    run = _run()
    again = read_trajectory(trajectory_bytes(run))
    assert [*again.signals] == [*run.signals]
    for name, values in run.signals.items():
        assert again.signals[name].tobytes() == values.tobytes()
    assert again.time.tobytes() == run.time.tobytes()
    plain = ("name", "wall_s", "steps", "note", "extra", "natural", "events", "singular", "reused")
    assert all(getattr(again, key) == getattr(run, key) for key in plain)


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: b"", lambda data: data[:30] + data[31:]])
def test_damaged_results_are_removed_and_missing(store: Store, damage: Callable[[bytes], bytes]) -> None:
    store.write("ab" * 32, b"content")
    path = next(path for _, _, path in store.files())
    path.write_bytes(damage(path.read_bytes()))
    assert store.read("ab" * 32) is None
    assert not path.exists()


def test_each_changed_bit_is_noticed(store: Store) -> None:
    key = "ab" * 32
    store.write(key, b"content")
    path = next(path for _, _, path in store.files())
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert store.read(key) is None


def test_a_result_under_the_name_of_another_one_is_missing(store: Store) -> None:
    store.write("ab" * 32, b"content")
    path = next(path for _, _, path in store.files())
    shutil.copy(path, path.with_name("cd" * 31))
    assert store.read("ab" + "cd" * 31) is None
    assert store.read("ab" * 32) == b"content"


def test_the_results_that_were_used_least_recently_go_first(store: Store) -> None:
    small = dataclasses.replace(store, most=3500.0)
    for number in range(4):
        small.write(f"{number}" * 64, bytes(1000))
        os.utime(small.folder / (f"{number}" * 2) / (f"{number}" * 62), (number, number))
    assert small.read("0" * 64) is not None  # the oldest one has been used now
    small.shrink()
    assert [small.read(f"{number}" * 64) is not None for number in range(4)] == [True, False, False, True]


def test_abandoned_files_are_removed(store: Store) -> None:
    store.write("ab" * 32, b"content")
    unfinished = store.folder / "ab" / ".x.part"
    unfinished.write_bytes(b"half")
    store.shrink()
    assert unfinished.exists()  # another process may be writing it
    os.utime(unfinished, (0, 0))
    store.shrink()
    assert not unfinished.exists()
    assert store.read("ab" * 32) == b"content"


def test_files_of_the_user_are_never_removed(store: Store) -> None:
    mine = [
        store.folder / name for name in ("papers/thesis.pdf", "ab/notes.txt", "ab/x.part", "papers/" + "c" * 62)
    ]
    for path in mine:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(1000))
        os.utime(path, (0, 0))
    store.write("ab" * 32, b"content")
    assert len([*store.files()]) == 1
    dataclasses.replace(store, most=1.0).shrink()
    store.clear()
    assert all(path.exists() for path in mine)
    assert not [*store.files()]


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("GPMELICA_CACHE", str(tmp_path / "file"))
    _keep("reference", "x")
    assert not _is_known("reference", "x")


def test_a_folder_that_cannot_be_listed_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPMELICA_CACHE", "x" * 300)  # A longer name than file systems allow.
    _keep("reference", "x")
    assert not _is_known("reference", "x")
    store = own_store()
    assert store is not None and not [*store.files()]


def test_a_relative_folder_remains_the_same_in_another_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GPMELICA_CACHE", "cache")
    with reusing():
        slot = Slot("reference", lambda: "x")
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        slot.keep(_run())
    monkeypatch.chdir(tmp_path)
    assert _is_known("reference", "x")


def test_limit_and_switch_are_environment_variables(monkeypatch: pytest.MonkeyPatch, store: Store) -> None:
    monkeypatch.setenv("GPMELICA_CACHE_LIMIT", "5")
    assert own_store() == Store(store.folder, 5e6)
    monkeypatch.setenv("GPMELICA_CACHE_LIMIT", "much")
    with pytest.raises(DescriptionError, match="GPMELICA_CACHE_LIMIT: expected the limit of the cache in MB"):
        own_store()
    monkeypatch.setenv("GPMELICA_CACHE", "off")
    assert own_store() is None


# Keys: everything that a result depends on


def test_a_result_belongs_to_its_kind_and_parts(store: Store) -> None:
    _keep("reference", {"a": 1.0})
    assert _is_known("reference", {"a": 1.0})
    for other in ({"a": 1}, {"a": np.nextafter(1.0, 2.0)}, {"a": "1.0"}, {"b": 1.0}, [("a", 1.0)], {"a": [1.0]}):
        assert not _is_known("reference", other)
    assert not _is_known("FMU", {"a": 1.0})


def test_a_value_without_fingerprint_is_never_stored(store: Store) -> None:
    with pytest.raises(NoKeyError):
        fingerprint({"input": np.sin})
    _keep("reference", {"input": np.sin})
    assert not list(store.files())


def test_zeros_of_both_signs_and_shapes_of_arrays_differ() -> None:
    values = [0.0, -0.0, 0, False, None, "", np.zeros(1), np.zeros((1, 1)), np.zeros(1, int), b"", [], {}]
    assert len({fingerprint(value) for value in values}) == len(values)


def test_nothing_is_reused_outside_of_a_command(store: Store) -> None:
    _keep("reference", "x")
    assert recalled("reference", lambda: "x", lambda: _run("new")).name == "new"


def test_fresh_computes_and_stores(store: Store) -> None:
    _keep("reference", "x")
    with reusing(fresh=True):
        assert recalled("reference", lambda: "x", lambda: _run("new")).name == "new"
    with reusing():
        assert recalled("reference", lambda: "x", _run).name == "new"


def test_object_files_are_in_the_store_unless_everything_is_fresh(store: Store) -> None:
    assert object_folder() is None
    with reusing():
        assert object_folder() == store.folder
    with reusing(fresh=True):
        assert object_folder() is None


def test_a_failure_is_not_stored(store: Store) -> None:
    def fail() -> Trajectory:
        raise gp.SolveError("no solution")

    with reusing(), pytest.raises(gp.SolveError):
        recalled("reference", lambda: "x", fail)
    assert not _is_known("reference", "x")


def test_a_file_that_changes_during_the_computation_is_noticed(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "model.fmu"
    file.write_bytes(b"before")

    def compute() -> Trajectory:
        file.write_bytes(b"after")
        return _run()

    with reusing():
        recalled("FMU", file.read_bytes, compute)
    assert not list(store.files())


def test_another_program_or_machine_has_other_results(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    _keep("reference", "x")
    monkeypatch.setattr(fingerprints, "_program_digest", lambda: "another numpy")
    assert not _is_known("reference", "x")


def test_source_code_that_changed_after_the_start_makes_results_uncertain(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    _keep("reference", "x")
    monkeypatch.setattr(fingerprints, "BEGUN", 0.0)
    assert fingerprints.program_fingerprint() is None
    assert not _is_known("reference", "x")
    _keep("reference", "y")
    monkeypatch.undo()
    assert not _is_known("reference", "y")


@pytest.mark.parametrize("variable", ["CPATH", "OPENBLAS_NUM_THREADS"])
def test_environment_variables_that_change_between_runs_count(
    store: Store, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    _keep("reference", "x")
    before = fingerprints.machine_fingerprint()
    monkeypatch.setenv(variable, "1")
    assert fingerprints.machine_fingerprint() != before
    assert not _is_known("reference", "x")
    monkeypatch.delenv(variable)
    assert _is_known("reference", "x")


def test_a_clock_that_was_set_back_makes_results_uncertain(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    _keep("reference", "x")
    monkeypatch.setattr(beginning, "_SETTING", beginning._SETTING + 3600.0)
    assert not _is_known("reference", "x")


def test_the_time_of_the_first_import_counts() -> None:
    """The fingerprint may be imported long after other modules, for example in a notebook."""
    code = "import gpmelica, time; t = time.time(); import gpmelica.core.fingerprint as f; print(t >= f.BEGUN)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout == "True\n"


def test_the_program_is_its_source_code_and_the_packages_that_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {package.name.lower() for package in fingerprints._packages()}
    assert {"numpy", "scipy", "casadi", "fmpy"} <= names
    assert "pytest" not in names
    sources = {
        path.relative_to(fingerprints._ROOT).as_posix() for path in fingerprints._sources(fingerprints._ROOT)
    }
    assert {"reference/solve/solver.py", "runs/attempts.py", "oracle/process.py"} <= sources
    assert not any(name.startswith("tests/") for name in sources)
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("a = 1\n")
    monkeypatch.setattr(fingerprints, "_ROOT", package)
    before = fingerprints._program_digest.__wrapped__()
    (package / "__init__.py").write_text("a = 2\n")
    assert fingerprints._program_digest.__wrapped__() != before


@pytest.mark.parametrize(
    ("record", "origin", "is_certain"),
    [
        ("solver.py,sha256=1,5\n", None, True),
        ("solver.py,sha256=1,5\n", '{"url": "file:///solver", "dir_info": {}}', True),
        ("solver.pth,sha256=1,5\n", '{"url": "file:///solver", "dir_info": {"editable": true}}', False),
        (None, None, False),
    ],
)
def test_a_package_without_checksums_of_its_files_makes_results_uncertain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: str | None, origin: str | None, is_certain: bool
) -> None:
    package = tmp_path / "solver-1.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Name: solver\nVersion: 1\n")
    for name, text in (("RECORD", record), ("direct_url.json", origin)):
        if text is not None:
            (package / name).write_text(text)
    monkeypatch.setattr(fingerprints, "_packages", lambda: (Distribution.at(package),))
    assert (fingerprints.program_fingerprint() is not None) == is_certain


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.toml")), ids=lambda path: path.stem)
def test_every_example_has_a_fingerprint(path: Path) -> None:
    assert fingerprint(contents(load(path))) == fingerprint(contents(load(path)))


def test_every_key_of_a_description_counts() -> None:
    """Changes of the pendulum, some of which leave the number of every other key unchanged."""
    changes: list[dict[str, Any]] = [
        {},
        {"links.rod.mass": 1.0 + 1e-15},
        {"links.rod.joint.position": 0.4},
        {"simulation.stop": 0.2},
        {"simulation.tolerance": 1e-9},
        {"simulation.method": "Radau"},
        {"parameters.moment": 6.0},
        {"points.E.position": [1.1, 0.0, 0.0]},
    ]
    found = {fingerprint(contents(from_data(PENDULUM, changes=change))) for change in changes}
    assert len(found) == len(changes)


def test_the_numbers_of_a_lookup_table_count_whatever_the_date_of_its_file(tmp_path: Path) -> None:
    push = {"name": "drive", "joint": "rod", "effort": "table(push, t)"}
    data = PENDULUM | {"tables": {"push": {"file": "push.csv", "value": "force"}}, "forces": [push]}
    (tmp_path / "machine.toml").write_text(toml(data))
    found = []
    for number in ("1.0", "2.0"):
        (tmp_path / "push.csv").write_text(f"time,force\n0,0\n0.05,{number}\n1,0\n")
        os.utime(tmp_path / "push.csv", (1, 1))
        table._read.cache_clear()
        found.append(fingerprint(contents(load(tmp_path / "machine.toml"))))
    assert found[0] != found[1]


# Simulations


@pytest.fixture
def hanging_rod(tmp_path: Path) -> Path:
    (tmp_path / "pendulum.toml").write_text(toml(PENDULUM))
    return tmp_path / "pendulum.toml"


def test_a_second_simulation_is_the_first_one(store: Store, computed: list[str], hanging_rod: Path) -> None:
    first = gp.load(hanging_rod).simulate()
    second = gp.load(hanging_rod).simulate()
    assert computed == ["reference"]
    assert (first.reused, bool(second.reused)) == ("", True)
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert gp.load(hanging_rod).simulate(fresh=True).reused == ""
    assert gp.load(hanging_rod, links={"rod": {"mass": 2.0}}).simulate().reused == ""
    assert gp.load(hanging_rod).simulate(stop=0.05).reused == ""
    assert computed == ["reference"] * 4


def test_loads_and_animations_reuse_the_reference_run(
    store: Store, computed: list[str], hanging_rod: Path, tmp_path: Path, gpmelica: Any
) -> None:
    gp.load(hanging_rod).simulate()
    assert gp.load(hanging_rod).loads().run.reused
    answer = gpmelica("animate", hanging_rod, "--out", tmp_path)
    assert "reused runs of earlier commands: reference of " in answer.out
    assert computed == ["reference"]
    gpmelica("loads", hanging_rod, "--out", tmp_path, "--fresh")
    assert computed == ["reference"] * 2


def test_inputs_over_time_are_part_of_the_key(store: Store, computed: list[str]) -> None:
    model = Model(from_data(driven() | {"simulation": PENDULUM["simulation"]}))
    still = {f"wind_{axis}": [0.0, 0.0] for axis in "xyz"}
    for value in (1.0, 2.0, 1.0):
        model.simulate(inputs={"time": [0.0, 1.0], "push": [0.0, value], **still})
    model.simulate()
    assert computed == ["reference"] * 3


def test_the_store_can_be_shown_and_cleared(store: Store, hanging_rod: Path, gpmelica: Any) -> None:
    gp.load(hanging_rod).simulate()
    assert json.loads(gpmelica("cache", "--json").out)["files"] == 1
    assert "1 files" in gpmelica("cache").out
    assert "0 files" in gpmelica("cache", "--clear").out
    assert gp.load(hanging_rod).simulate().reused == ""


# The oracle


def test_an_objection_of_the_oracle_is_never_stored(store: Store) -> None:
    attempt = Attempt("oracle", 1e-5, _run("oracle"))
    with reusing():
        slot = Slot("oracle", lambda: "x")
        second_opinion._keep(slot, Opinion(("the loop is open",), (attempt,)))
        assert slot.read() is None
        second_opinion._keep(slot, Opinion((), (), "did not finish in its time limit"))
        assert slot.read() is None
        second_opinion._keep(slot, Opinion((), (attempt,)))
        assert slot.read() is not None


# FMUs and compilers


def _fmu(
    path: Path, tool: str = "gpmelica 1", date: str = "2026-01-01T00:00:00Z", library: bytes = b"code"
) -> Path:
    text = (
        '<?xml version="1.0" encoding="UTF-8"?><fmiModelDescription fmiVersion="2.0" modelName="m" guid="g"'
        f' generationTool="{tool}" generationDateAndTime="{date}"><CoSimulation modelIdentifier="m"/>'
        '<ModelVariables><ScalarVariable name="x" valueReference="0"><Real/></ScalarVariable></ModelVariables>'
        "<ModelStructure/></fmiModelDescription>"
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", text)
        archive.writestr("binaries/linux64/m.so", library)
        archive.writestr("documentation/index.html", date)
    return path


def _recall(fmu: Path, **settings: Any) -> Trajectory:
    whole = {"name": "n", "stop": 1.0, "output_step": 0.1, "tolerance": 1e-6} | settings
    run = fmu_runs.FmuRun("cs", ["x"], **whole)
    with reusing():
        return recalled_run(fmu, read_fmu(fmu), run, _run)


def test_runs_of_an_fmu_depend_on_its_files_and_settings(store: Store, tmp_path: Path) -> None:
    assert not _recall(_fmu(tmp_path / "a.fmu")).reused
    assert _recall(_fmu(tmp_path / "b.fmu", date="2027-01-01T00:00:00Z"), name="other").name == "other"
    assert _recall(tmp_path / "b.fmu").reused
    assert not _recall(_fmu(tmp_path / "c.fmu", library=b"codf")).reused
    inputs = InputTable(np.array([0.0, 1.0]), {"u": np.array([0.0, 1.0])})
    changes: list[dict[str, Any]] = [
        {"stop": 2.0},
        {"tolerance": 1e-7},
        {"output_step": 0.2},
        {"parameters": {"m": 1.0}},
        {"nominals": {"x": 1.0}},
        {"inputs": inputs},
        {"inputs": dataclasses.replace(inputs, values={"u": np.array([0.0, 2.0])})},
    ]
    assert not any(_recall(tmp_path / "a.fmu", **change).reused for change in changes)


def test_runs_of_fmus_by_other_tools_are_never_reused(store: Store, tmp_path: Path) -> None:
    fmu = _fmu(tmp_path / "a.fmu", tool="Other 1")
    assert not _recall(fmu).reused
    assert not _recall(fmu).reused
    assert not list(store.files())


def test_object_files_depend_on_compiler_options_source_and_headers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = list[str]()

    def compile_it(by: Any, source: str, object_file: str, flags: Any, *, folder: Path) -> None:
        found.append(source)
        (folder / object_file).write_bytes(b"object")

    monkeypatch.setattr(compiler, "compile_object", compile_it)
    program = tmp_path / "cc"
    program.write_text("compiler")
    (tmp_path / "a.h").write_text("int a;\n")
    (tmp_path / "a.c").write_text('#include "a.h"\n')

    def count(*flags: str, version: str = "cc 1") -> int:
        before = len(found)
        by = compiler.Compiler((str(program),), version)
        compile_object(by, "a.c", "a.o", flags, folder=tmp_path)
        return len(found) - before

    monkeypatch.delenv("GPMELICA_OBJECTS", raising=False)
    with kept_objects(tmp_path / "objects"):
        assert (count(), count(), count("-O2"), count(version="cc 2")) == (1, 0, 1, 1)
        (tmp_path / "a.h").write_text("int b;\n")
        assert (count(), count()) == (1, 0)
        program.write_text("compiler, with the same version but other contents")
        assert (count(), count()) == (1, 0)
        monkeypatch.setattr(kept, "machine_fingerprint", lambda: "another machine")
        assert (count(), count()) == (1, 0)
        for _, _, path in Store(tmp_path / "objects").files():
            path.write_bytes(path.read_bytes()[:-1])
        assert count() == 1  # damaged object files are compiled again


@pytest.mark.slow
def test_a_second_run_computes_nothing_and_a_changed_one_everything(
    store: Store, computed: list[str], hanging_rod: Path, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"rumoca": False, "compiler": "native"}
    first = gp.load(hanging_rod).run(tmp_path / "first", **options)
    assert {"reference", "FMU", "oracle"} <= {*computed}
    computed.clear()
    second = gp.load(hanging_rod).run(tmp_path / "second", **options)
    assert computed == []
    assert [*second.reused] == ["reference", "fmu-native-me", "fmu-native-cs", "oracle"]
    assert [c.max_rel_error for c in second.comparisons] == [c.max_rel_error for c in first.comparisons]
    told = json.loads((tmp_path / "second" / "result.json").read_text())
    assert told["ok"] and [*told["reused"]] == [*second.reused]
    assert "reused runs of earlier commands" in (tmp_path / "second" / "report.html").read_text()
    changed = gp.load(hanging_rod, links={"rod": {"mass": 1.1}}).run(tmp_path / "changed", **options)
    assert not changed.reused
    assert computed.count("reference") == 1
    assert computed.count("FMU") == 2
    assert computed.count("oracle") == 1


@pytest.mark.slow
def test_the_fmu_simulates_as_the_reference_solver(store: Store, computed: list[str], hanging_rod: Path) -> None:
    model = gp.load(hanging_rod)
    run, truth = model.simulate(solver="fmu", stop=0.08), model.simulate(stop=0.08)
    assert run.name == "fmu-native-cs"
    assert run.time[-1] == truth.time[-1] == pytest.approx(0.08)
    assert run.compare(truth).ok
    computed.clear()
    assert gp.load(hanging_rod).simulate(solver="fmu", stop=0.08).reused
    assert computed == []


def test_wrong_options_of_a_simulation_are_refused(hanging_rod: Path) -> None:
    model = gp.load(hanging_rod)
    with pytest.raises(DescriptionError, match="solver: expected one of reference, fmu, got 'fmus'"):
        model.simulate(solver="fmus")
    with pytest.raises(DescriptionError, match="stop: expected a number above 0, got -1"):
        model.simulate(stop=-1.0)


# Python


def test_runs_are_compared_and_drawn_together(hanging_rod: Path) -> None:
    light, heavy = gp.load(hanging_rod).simulate(), gp.load(hanging_rod, links={"rod": {"mass": 2.0}}).simulate()
    found = light.compare(heavy)
    assert not found.ok and found.worst_signal in light
    assert light.compare(light, tolerance=1e-15).ok
    axes = gp.plot({"light": light, "heavy": heavy}, "rod_angle", "E_x")
    legends = [[text.get_text() for text in panel.get_legend().get_texts()] for panel in axes]
    assert legends == [["rod_angle, light", "rod_angle, heavy"], ["E_x, light", "E_x, heavy"]]
    assert np.array_equal(np.asarray(axes[0].lines[1].get_ydata()), heavy["rod_angle"])
    (panel,) = gp.plot([light, heavy], "E_x")
    assert [text.get_text() for text in panel.get_legend().get_texts()] == ["E_x, reference 1", "E_x, reference 2"]
    with pytest.raises(gp.UnknownNameError, match="expected at least one run to plot, got none"):
        gp.plot({}, "E_x")
    pyplot.close("all")


def test_texts_of_results_are_short(hanging_rod: Path) -> None:
    """A result in an interactive session is one line, not its arrays."""
    run = gp.load(hanging_rod).simulate()
    assert repr(run.compare(run)) == "<Comparison reference: agrees, largest relative error 0>"


def test_notebooks_show_tables(hanging_rod: Path) -> None:
    model = gp.load(hanging_rod, description="a <b> & c")
    assert "a &lt;b&gt; &amp; c" in model._repr_html_()
    assert "<td>rod_angle</td><td>rad</td>" in model.simulate()._repr_html_()
    assert "<pre>" in model.check()._repr_html_()
