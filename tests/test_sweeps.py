"""Sweeps: runs in an instance that is used again, what is kept, resumption, workers, best values, wrong use."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from awkward_machines.judge import toml
from helpers_backends import Compiled, pendulum
from helpers_cli import Command
from helpers_parts import X, Y, Z, body, link, machine
from helpers_sweeps import dies_once

import gpmelica as gp
from gpmelica.api.model import Model
from gpmelica.core.errors import DescriptionError, SolveError
from gpmelica.description.load import from_data, tables_of
from gpmelica.fmu.compilers import compiler, kept
from gpmelica.runs.fmpy_runs.repeated import Repeated, Span
from gpmelica.runs.fmpy_runs.simulate import simulate
from gpmelica.sweeps.parts import held
from gpmelica.sweeps.pools import WorkerCrash, Workers, processes, results
from gpmelica.sweeps.sweep import check_workers

SPAN = Span(0.6, 0.01, 1e-8)
SWING = machine(
    link("rod", "revolute", Y, position=1.2, stiffness=4.0, damping=0.1)
    | body("load", [0.5, 0.0, 0.0], [0.01, 0.09, 0.09]),
    name="Swing",
    parameters={"load": {"value": 1.0, "min": 0.1, "max": 9.0}},
    points={"E": {"link": "rod", "position": X}},
    simulation={"stop": 0.3, "output_step": 0.01, "start": "description", "tolerance": 1e-7},
)


# ---- An instance that is used again -----------------------------------------------------------------------------


def test_reused_instance_is_a_fresh_one_to_the_last_bit(hanging: Compiled) -> None:
    """Reused and fresh instances equal FMPy's own loop bit by bit; a failed run leaves no trace."""
    names, other = ["E_x", "E_z", "rod_angle_dot", "cart_mass"], {"cart_mass": 3.5, "moment": 2.0}
    with Repeated(hanging.fmu, names, SPAN) as fresh:
        expected = fresh.run(other)
    with Repeated(hanging.fmu, names, SPAN) as reused:
        default = reused.run({})
        assert np.array_equal(reused.run(other), expected)
        with pytest.raises(SolveError, match="cart_mass is -1, expected a number above 0"):
            reused.run({"cart_mass": -1.0})
        assert np.array_equal(reused.run(other), expected) and np.array_equal(reused.run({}), default)
    assert not np.array_equal(default, expected)
    run = simulate(
        hanging.fmu, "cs", names, name="fmu", stop=0.6, output_step=0.01, tolerance=1e-8, parameters=other
    )
    assert np.array_equal(run.columns(names), expected)


@pytest.mark.slow
def test_failed_run_reports_the_time(hanging: Compiled) -> None:
    """A run with too few inner steps has no results, and the next run is unaffected."""
    with Repeated(hanging.fmu, ["E_x"], SPAN) as repeated:
        with pytest.raises(SolveError, match=r"t = "):
            repeated.run({"moment": 1e30})
        assert np.all(np.isfinite(repeated.run({})))


# ---- Sweeps -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def swing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The description's file."""
    path = tmp_path_factory.mktemp("swing") / "swing.toml"
    path.write_text(toml(SWING), encoding="utf-8")
    return path


SETTINGS = ["load=0.5:2:2", "links.rod.joint.stiffness=uniform(2,6)"]
ASKED = ["top=peak(E_z)", "late=final(rod_angle)"]


@pytest.fixture(scope="module")
def finished(swing: Path) -> gp.Sweep:
    """Two loads with eight samples each."""
    return gp.sweep(
        gp.load(swing), SETTINGS, ASKED, swing.parent / "out", samples=8, scheduler="here", minimize="top"
    )


def test_runs_are_reproducible_outside_the_sweep(finished: gp.Sweep) -> None:
    """A single FMPy run of the sweep's FMU with a row's values agrees bit by bit with table and
    array file.
    """
    (fmu,) = finished.folder.glob("fmu/*/Swing.fmu")
    table, data = finished.table, finished.data
    assert table["run"].tolist() == list(range(16)) and set(table["load"]) == {0.5, 2.0}
    for row in (0, 11):
        given = {
            "load": table["load"][row],
            "set_links_rod_joint_stiffness": table["links.rod.joint.stiffness"][row],
        }
        alone = simulate(
            fmu, "cs", ["E_z", "rod_angle"], name="x", stop=0.3, output_step=0.01, tolerance=1e-8, parameters=given
        )
        assert np.array_equal(data["E_z"][row], alone.signals["E_z"])
        assert table["top"][row] == np.abs(alone.signals["E_z"]).max()
        assert table["late"][row] == alone.signals["rod_angle"][-1]
    assert data["E_z"].attrs["units"] == "m" and data.sizes == {"run": 16, "time": 31}


def test_rows_agree_with_the_reference_solver(finished: gp.Sweep, swing: Path) -> None:
    """A row of the table agrees with the reference solver for the description with the row's
    values.
    """
    row = finished.table.iloc[13]
    changes = {key: float(row[key]) for key in ("links.rod.joint.stiffness",)}
    model = gp.load(swing, **changes, **{"parameters.load": float(row["load"])}, simulation={"tolerance": 1e-10})
    truth = model.simulate()["rod_angle"]
    assert row["late"] == pytest.approx(truth[-1], abs=1e-6)


@pytest.mark.slow
def test_command_filters_start_at_rest(tmp_path: Path) -> None:
    """A rope with varied free length hangs at rest in each run, as with a modified description."""
    rope = {"name": "rope", "a": {"link": "ground", "point": [0.0, 0.0, 3.0]}, "b": {"link": "load"}}
    rope |= {"stiffness": 1e3, "damping": 10.0, "rest": {"input": "hoist", "cutoff": 1.0, "start": "drop"}}
    data = machine(
        link("load", "prismatic", Z) | body(5.0), lines=[rope], parameters={"drop": 2.0}, statics={"locked": []}
    )
    asked, model = ["first=start(load_position)", "moved=range(load_position)"], Model(from_data(data))
    found = gp.sweep(model, {"drop": [1.5, 2.5]}, asked, tmp_path, scheduler="here").table
    assert found["first"].tolist() == pytest.approx([1.5 - 5 * 9.81e-3, 0.5 - 5 * 9.81e-3], abs=1e-9)
    assert found["moved"].max() < 1e-9


@pytest.mark.slow
def test_resumed_is_uninterrupted(finished: gp.Sweep, swing: Path) -> None:
    """One part missing, another damaged: these runs alone are done again, and the table is the same."""
    parts = sorted((finished.folder / "parts").glob("*.npz"))
    kept = {path: path.stat().st_mtime_ns for path in parts[2:]}
    before, signals = finished.table, finished.data.load()
    parts[0].unlink()
    parts[1].write_bytes(parts[1].read_bytes()[:200])
    again = gp.sweep(gp.load(swing), SETTINGS, ASKED, finished.folder, samples=8, scheduler="here", minimize="top")
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
    exact = [name for name in before.columns if name != "cpu_s"]
    assert before[exact].equals(again.table[exact]) and signals.equals(again.data.load())


def test_another_sweep_does_not_take_the_folder(finished: gp.Sweep, swing: Path) -> None:
    """The message names the differences, and no file is changed."""
    before = (finished.folder / "sweep.json").read_bytes()
    with pytest.raises(DescriptionError, match=r"contains a different sweep \(differences: objectives, signals\)"):
        gp.sweep(gp.load(swing), SETTINGS, ["rms(E_x)"], finished.folder, samples=8, scheduler="here")
    assert (finished.folder / "sweep.json").read_bytes() == before


def test_two_at_once_do_not_share_a_folder(finished: gp.Sweep, swing: Path) -> None:
    """The second one is told so; when the first is over, or was killed, the folder is free."""
    with held(finished.folder), pytest.raises(DescriptionError, match="another process uses this folder"):
        gp.sweep(gp.load(swing), SETTINGS, ASKED, finished.folder, samples=8, scheduler="here")
    with held(finished.folder):
        pass


def test_workers_import_little() -> None:
    """A worker of a sweep imports neither the reference solver nor the schema of descriptions."""
    code = "import sys, gpmelica.sweeps.runs; print(*(name for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    known = set(done.stdout.split())
    assert "gpmelica.sweeps.runs" in known
    assert not known & {"pydantic", "scipy", "matplotlib", "casadi", "gpmelica.analysis"}


def test_page_of_a_sweep(finished: gp.Sweep) -> None:
    """Figures and tables, nothing from outside, every link's file is there."""
    assert finished.report is not None
    text = finished.report.read_text(encoding="utf-8")
    assert text.count("<svg") == 4 and "://" not in text and "<script" not in text
    assert "Worst runs: largest top" in text and "Best runs: smallest top" in text
    assert "None of 16 runs failed." in text and "this sweep combines samples with a grid" in text
    assert all((finished.folder / "figures" / f"{name}.png").is_file() for name in ("parallel", "map_top"))


def test_the_goal_decides_which_run_is_the_best(finished: gp.Sweep) -> None:
    table = finished.table
    assert finished.goals == {"top": "minimize"}
    assert finished.best()["top"] == table["top"].min() and finished.worst("top")["top"] == table["top"].max()
    with pytest.raises(gp.UnknownNameError, match="there is no objective with a goal 'late'"):
        finished.best("late")
    assert "<td>top</td>" in finished._repr_html_()


def test_the_table_is_also_a_csv_file(finished: gp.Sweep) -> None:
    with (finished.folder / "table.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    table = finished.table
    assert header == list(table.columns) and len(rows) == len(table)
    for row, (_, expected) in zip(rows, table.iterrows(), strict=True):
        assert [type(value)(text) for text, value in zip(row, expected, strict=True)] == list(expected)


@pytest.mark.slow
def test_failures_are_rows(gpmelica: Command, swing: Path) -> None:
    """A rejected description or failed run yields a row with its reason; each model structure is compiled once."""
    out = swing.parent / "failing"
    answer = gpmelica(
        "sweep", swing, "--set", "load=normal(0.5,0.4)", "--set", "links.rod.inertia.2=uniform(0.06,0.12)",
        "--set", "links.rod.joint.position=1.2,1.3", "--samples", 8, "--objective", "top=max(E_z)/load",
        "--signal", "E_x", "--scheduler", "here", "--out", out, "--json",
    )  # fmt: skip
    assert answer.status == 0, answer
    table = gp.Sweep(out, (), (), 0, 0, 0).table
    assert answer.json["runs"] == len(table) == 16 and answer.json["table"] == str(out / "table.parquet")
    bad = table[table["failed"] != ""]
    assert answer.json["failed"] == len(bad) and 0 < len(bad) < 16
    assert any(
        "the first is run" in reason and "expected at least 0.1" in reason for reason in answer.json["reasons"]
    )
    assert bad["top"].isna().all() and table[table["failed"] == ""]["top"].notna().all()
    said = set(bad["failed"])
    assert any("load" in text and "expected at least 0.1" in text for text in said)
    assert (table[table["links.rod.inertia.2"] > 0.1]["failed"] != "").all()
    assert any("links[0].inertia (rod)" in text for text in said)
    assert len(list(out.glob("fmu/*/Swing.fmu"))) == 2
    assert np.isnan(gp.Sweep(out, (), (), 0, 0, 0).data["E_x"][bad.index[0]]).all()


@pytest.mark.parametrize(
    ("settings", "asked", "said"),
    [
        (["laod=1,2"], ["peak(E_z)"], "there is no parameter or key 'laod'; did you mean 'load'?"),
        (["links.rob.mass=1,2"], ["peak(E_z)"], "--set links.rob.mass: there is no key 'rob'; known are: rod"),
        (["links.rod.mass=1,-2"], ["peak(E_z)"], "(rod): expected at least 0, got -2"),
        (["links.rod.joint.position=normal(1,1)"], ["peak(E_z)"], "or set rod_angle_start"),
        (["simulation.stop=uniform(1,2)"], ["peak(E_z)"], "is part of the FMU's structure and cannot be drawn"),
        (["simulation.stop=1,2"], ["peak(E_z)"], "output times differ between runs"),
        (["load=x,y"], ["peak(E_z)"], "expected numbers, got 'x'"),
        (["load=1,2"], ["peak(E_zz)"], "there is no output or parameter 'E_zz'; did you mean 'E_z'?"),
        (["load=1,2"], ["E_z"], "--objective E_z: changes over time"),
        (["load=1,2"], [], "the sweep has no result"),
        (["load=1,2"], ["run=peak(E_z)"], "is the name of another column of the table"),
        (["load=1,2", "parameters.load=3"], ["peak(E_z)"], "sets the same parameter as --set load"),
    ],
)
def test_wrong_sweeps(swing: Path, settings: list[str], asked: list[str], said: str) -> None:
    """Nothing is compiled or written."""
    samples = 4 if "(" in settings[0] else None
    with pytest.raises(DescriptionError) as caught:
        gp.sweep(gp.load(swing), settings, asked, swing.parent / "wrong", samples=samples, scheduler="here")
    assert said in str(caught.value)
    assert not (swing.parent / "wrong").exists()


@pytest.mark.parametrize(
    ("scheduler", "workers", "said"),
    [
        ("processes", 0, "--workers: expected at least 1, got 0"),
        ("here", 2, "--workers: the scheduler here decides the number of workers"),
        ("tcp://host:8786", 2, "--workers: the scheduler tcp://host:8786 decides the number of workers"),
    ],
)
def test_wrong_numbers_of_workers(scheduler: str, workers: int, said: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        check_workers(scheduler, workers)
    assert said in str(caught.value)
    check_workers(scheduler, None)


def test_all_errors_are_reported_together(swing: Path) -> None:
    """Errors of the arguments are reported first, then those of keys and signals, which require
    the model.
    """
    wrong = {"samples": 0, "sampler": "halton", "seed": -1, "scheduler": "farm"}
    with pytest.raises(DescriptionError) as caught:
        gp.sweep(gp.load(swing), ["load=uniform(1,2)"], ["peek(E_z)", "top=max(E_z"], swing.parent / "no", **wrong)
    where = [problem.where for problem in caught.value.problems]
    assert where == [
        "--objective 'peek(E_z)'", "--objective 'top=max(E_z'", "--seed", "--sampler", "--samples", "--scheduler",
    ]  # fmt: skip
    with pytest.raises(DescriptionError) as caught:
        gp.sweep(gp.load(swing), ["laod=1", "links.rod.mess=2"], "peak(E_zz)", swing.parent / "no", signals="E_w")
    assert len(caught.value.problems) == 4 and "did you mean 'E_z'?" in str(caught.value)
    with pytest.raises(DescriptionError) as caught:
        gp.optimize(
            gp.load(swing), "load=1", "peek(E_z)", swing.parent / "no", constraints=["a <", "peek(E_z) < 1"]
        )
    assert len(caught.value.problems) == 4
    assert not (swing.parent / "no").exists()


def test_descriptions_give_their_tables_back() -> None:
    """A sweep changes a description by its tables, which no file keeps."""
    chain = from_data(pendulum(cases=[{"name": "a", "set": {"links.rod.mass": 2.0}}]))
    assert from_data(json.loads(json.dumps(tables_of(chain)))).model_copy(update={"cases": chain.cases}) == chain
    assert Model(chain).description is chain


# ---- Workers ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
@pytest.mark.parametrize("ahead", [True, False])
def test_a_worker_that_dies_costs_nothing(tmp_path: Path, ahead: bool) -> None:
    """Each task has one result; one that kills its process each time is told, and harms no other."""
    tasks = [(str(tmp_path), number) for number in range(8)]
    found = [(task[1], came) for task, came in results(processes(ahead=ahead), dies_once, tasks)]
    assert sorted(number for number, _ in found) == list(range(8))
    died = dict(found).pop(5)
    assert isinstance(died, WorkerCrash) and "died 3 times" in died.reason
    assert all(came == 2 * number for number, came in found if number != 5)


class _Breaking(ThreadPoolExecutor):
    """Pool that loses its workers after two tasks."""

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Any:
        if self._work_queue.qsize() + len(self._threads) >= 2:
            raise BrokenProcessPool("a worker has died")
        return super().submit(function, *arguments, **named)


def _breakable() -> Workers:
    """Workers whose first executor breaks at the third task."""
    pools = iter([_Breaking(1)])

    @contextmanager
    def opened(most: int | None) -> Iterator[Executor]:
        with next(pools, None) or ThreadPoolExecutor(1) as pool:
            yield pool

    return Workers(2, opened, lost=(BrokenProcessPool,))


def test_a_task_that_finds_no_workers_is_not_lost() -> None:
    """Workers may be gone when the next task is given to them."""
    found = dict(results(_breakable(), abs, iter([-1, -2, -3, -4])))
    assert found == {-1: 1, -2: 2, -3: 3, -4: 4}


def test_object_files_are_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By several at once the same bytes, gone at the end; a folder that is not there is no harm."""
    by, really, made = compiler.find(), compiler.compile_object, list[str]()

    def counted(by: compiler.Compiler, source: str, *rest: Any, folder: Path) -> None:
        made.append(source)
        really(by, source, *rest, folder=folder)

    def built(name: str) -> bytes:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "a.c").write_text("int f(void);\nint f(void) { return 3; }\n", encoding="utf-8")
        kept.compile_object(by, "a.c", "a.o", ["-O1"], folder=folder)
        return (folder / "a.o").read_bytes()

    monkeypatch.setattr(compiler, "compile_object", counted)
    monkeypatch.delenv("GPMELICA_OBJECTS")
    with kept.kept_objects():
        place = Path(os.environ["GPMELICA_OBJECTS"])
        with ThreadPoolExecutor(4) as pool:
            assert len(set(pool.map(built, "abcd"))) == 1
        before = len(made)
        assert built("e") == built("f") and len(made) == before
    assert not place.exists() and "GPMELICA_OBJECTS" not in os.environ
    monkeypatch.setenv("GPMELICA_OBJECTS", str(tmp_path / "missing" / "folder"))
    with kept.kept_objects():
        assert built("g") == built("h")


@pytest.mark.slow
def test_dask_results_agree_with_processes(
    finished: gp.Sweep, swing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two workers of a scheduler, given by its address, yield the results of processes."""
    distributed = pytest.importorskip("distributed", reason="needs Dask: pip install gpmelica[sweep]")
    cluster_module = import_module("gpmelica.sweeps.cluster")
    really, connections = cluster_module._connected, list[str]()

    def connected(address: str) -> Any:
        connections.append(address)
        return really(address)

    monkeypatch.setattr(cluster_module, "_connected", connected)
    out = swing.parent / "dask"
    shutil.copytree(finished.folder / "fmu", out / "fmu")
    options = {"dashboard_address": None, "processes": False, "n_workers": 1, "threads_per_worker": 2}
    with distributed.LocalCluster(**options) as cluster:
        again = gp.sweep(gp.load(swing), SETTINGS, ASKED, out, samples=8, scheduler=cluster.scheduler_address)
        assert connections == 2 * [cluster.scheduler_address]
    exact = [name for name in again.table.columns if name != "cpu_s"]
    assert finished.table[exact].equals(again.table[exact])


# ---- Optima -----------------------------------------------------------------------------------------------------


def test_the_stiffness_that_hits_a_height(finished: gp.Sweep, swing: Path) -> None:
    """A smooth problem of one key: both methods find the same place, and the run there has that value."""
    model, goal = gp.load(swing), float(finished.table["late"][3])
    model = gp.load(swing, **{"parameters.load": 0.5})
    key, out = "links.rod.joint.stiffness", swing.parent / "optimum"
    asked: Any = ({key: (2.0, 6.0)}, f"(final(rod_angle) - {goal!r})^2", out)
    found = [
        gp.optimize(model, *asked, method=method, evaluations=evaluations, scheduler="here")
        for method, evaluations in (("evolution", 320), ("simplex", 60))
    ]
    right = finished.table[key][3]
    for optimum in found:
        assert optimum.values["links.rod.joint.stiffness"] == pytest.approx(right, rel=1e-3)
        assert optimum.objective < 1e-8 and optimum.feasible and not optimum.failures
    assert found[1].converged and found[1].runs <= 60


def test_constraints_bind(gpmelica: Command, swing: Path) -> None:
    """The least stiffness with a bounded fall is where it falls so far; impossible ones say so with status 1."""
    (held, impossible) = (
        gpmelica(
            "optimize", swing, "--set", "links.rod.joint.stiffness=uniform(2,6)", "--objective",
            "final(set_links_rod_joint_stiffness)", "--constraint", limit, "--method", "simplex",
            "--evaluations", 60, "--scheduler", "here", "--out", swing.parent / "optimum", "--json",
        )
        for limit in ("final(rod_angle_dot) <= -1.5", "final(rod_angle_dot) <= -1e3")
    )  # fmt: skip
    (value,) = held.json["constraints"].values()
    assert held.status == 0 and value == pytest.approx(-1.5, rel=1e-3) and value <= -1.5
    assert impossible.status == 1 and not impossible.json["feasible"]


@pytest.mark.parametrize(
    ("bounds", "options", "said"),
    [
        (["load=1,2"], {}, "--set load: expected the bounds of the key, as in uniform(100,1000)"),
        (["load=uniform(1,2)"], {"constraints": ["peak(E_z) = 2"]}, "of the form: expression <= number"),
        (["load=uniform(1,2)"], {"constraints": ["E_z <= 2"]}, "--objective constraint1: changes over time"),
        (["load=uniform(1,2)"], {"method": "newton"}, "expected one of evolution, simplex, got 'newton'"),
        (["load=uniform(1,2)"], {"evaluations": 3}, "expected 16 or more for 1 keys by evolution, got 3"),
    ],
)
def test_wrong_searches(swing: Path, bounds: list[str], options: dict[str, Any], said: str) -> None:
    """Nothing is compiled or written."""
    with pytest.raises(DescriptionError) as caught:
        gp.optimize(gp.load(swing), bounds, "peak(E_z)", swing.parent / "wrong", scheduler="here", **options)
    assert said in str(caught.value) and not (swing.parent / "wrong").exists()
