"""The command line: what each command writes, its JSON, its messages and exit statuses (design section 6)."""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import helpers_problem as solving
import numpy as np
import pytest
import typer
from awkward_machines import MACHINES
from awkward_machines.judge import toml
from fmpy import read_model_description
from helpers_backends import Once
from helpers_cli import ARM, Answer, Command, fails, process
from helpers_parts import Z

import gpmelica as gp
from gpmelica.cli import app
from gpmelica.core.csv_file import read_csv
from gpmelica.core.trajectory import Array
from gpmelica.description import load
from gpmelica.mechanism import build
from gpmelica.runs import rumoca as rumoca_backend
from gpmelica.runs.fmpy_runs import simulate as runs

COMMANDS = "check modelica build run compare evaluate statics study sweep optimize schema linearize modes"


@pytest.fixture(scope="module")
def finished(once: Once) -> tuple[Path, Answer]:
    """Folder and answer of `run --json`, in a process of its own."""

    def run(folder: Path) -> None:
        (folder / "arm.toml").write_text(toml(ARM), encoding="utf-8")
        options = ("--case", "heavy", "--compiler", "native", "--out", folder / "out", "--json")
        answer = process("run", folder / "arm.toml", *options)
        (folder / "answer.json").write_text(json.dumps(asdict(answer)), encoding="utf-8")

    folder = once("cli_run", run)
    return folder / "out", Answer(**json.loads((folder / "answer.json").read_text(encoding="utf-8")))


# ---- check, modelica, build -------------------------------------------------------------------------------------


def test_check_shows_the_model(gpmelica: Command, arm: Path) -> None:
    """Bodies, coordinates, constraints and the partition are named; nothing is written."""
    answer = gpmelica("check", arm)
    assert (answer.status, answer.err) == (0, "")
    expected = ("upper", "lower.angle", "dependent", "height", "2 coordinates", "1 degrees of freedom", "GPME, 2n")
    for part in expected:
        assert part in answer.out
    assert [path.name for path in arm.parent.iterdir()] == ["arm.toml"]


def test_check_as_json(gpmelica: Command, arm: Path) -> None:
    """The JSON output has the facts of the printed text."""
    data = gpmelica("check", arm, "--case", "heavy", "--json").json
    assert [data[key] for key in ("model", "n", "dof", "rank")] == ["Arm", 2, 1, 1]
    assert data["constraints"] == ["height"]
    assert data["formulation"] == "GPME, 2n = 4 states, Baumgarte stabilisation"
    assert data["left_out_rows"] == data["redundant_rows"] == []
    assert len(data["dependent"]) == 1
    assert data["bodies"][0] == {"name": "upper", "parent": "ground", "mass": 4.0}
    assert [c["name"] for c in data["coordinates"]] == ["upper.angle", "lower.angle"]
    assert {type(c["start"]) for c in data["coordinates"]} == {float}


@pytest.mark.slow
def test_reactions_as_table_and_json(gpmelica: Command, arm: Path, tmp_path: Path) -> None:
    """Ranks, gap and one line per joint and row; with --out the same facts as a file."""
    answer = gpmelica("reactions", arm)
    assert (answer.status, answer.err) == (0, "")
    for part in ("5 constraint equations, 6 columns (planar: 3 per body), rank 5", "upper", "height", "unique"):
        assert part in answer.out
    assert "not unique" not in answer.out.split("components that are not unique")[1]
    data = gpmelica("reactions", arm, "--json", "--out", tmp_path / "there").json
    assert data == json.loads((tmp_path / "there" / "reactions.json").read_text(encoding="utf-8"))
    assert data["unique"] == {"upper": True, "lower": True, "height": True}
    assert (data["redundancy"], data["redundant_rows"], data["rank_elsewhere"]) == (0, [], 5)


def test_modelica_writes_text_and_script(
    gpmelica: Command, arm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Name.mo and its script, in --out or in a folder of the model's name."""
    monkeypatch.chdir(tmp_path)
    assert gpmelica("modelica", arm, "--out", tmp_path / "there", "--json").json == {
        "files": [str(tmp_path / "there" / name) for name in ("Arm.mo", "Arm.mos")]
    }
    answer = gpmelica("modelica", arm)
    assert answer.status == 0
    assert "wrote Arm/Arm.mo" in answer.out.replace(os.sep, "/")
    texts = [(tmp_path / folder / "Arm.mo").read_text(encoding="utf-8") for folder in ("Arm", "there")]
    assert texts[0] == texts[1]
    assert texts[0].rstrip().endswith("end Arm;")


def _values(fmu: Path, signal: str) -> Array:
    """Return the values of a short run in model exchange."""
    options = {"stop": 0.1, "output_step": 0.1, "tolerance": 1e-6}
    return runs.simulate(fmu, "me", [signal], name="me", **options).signals[signal]


@pytest.mark.slow
def test_build_writes_and_overwrites(gpmelica: Command, arm: Path, tmp_path: Path) -> None:
    """Name.mo, its script and Name.fmu; another build into the same folder replaces them."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "Arm.fmu").write_text("an old one")
    masses, files = [], ["Arm.mo", "Arm.mos", "Arm.fmu"]
    for case in ("light", "heavy"):
        answer = gpmelica("build", arm, "--compiler", "native", "--case", case, "--out", folder, "--json")
        assert answer.status == 0
        assert answer.json == {"files": [str(folder / name) for name in files]}
        masses.append(_values(folder / "Arm.fmu", "upper_mass")[0])
    assert masses == [2.0, 4.0]
    assert {path.name for path in folder.iterdir()} == set(files)


@pytest.mark.slow
def test_paths_may_have_spaces_and_letters_of_any_kind(gpmelica: Command, tmp_path: Path) -> None:
    """A description in a folder `Übung 起重机 'a'` builds into such a folder, and the FMU there runs."""
    folder = tmp_path / "Übung 起重机 'a'"
    folder.mkdir()
    (folder / "der Arm.toml").write_text(toml(ARM), encoding="utf-8")
    answer = gpmelica("build", folder / "der Arm.toml", "--compiler", "native", "--out", folder / "böm aus")
    assert answer.status == 0
    rise = np.ptp(_values(folder / "böm aus" / "Arm.fmu", "E_z"))
    assert rise == pytest.approx(0.1 * np.sin(0.3) ** 2, rel=1e-4)
    fails(gpmelica("check", folder / "ein Krän.toml"), 2, "ein Krän.toml: cannot be read")


# ---- run --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_run_writes_everything(finished: tuple[Path, Answer]) -> None:
    """Modelica, FMU, result, report, and a table per run."""
    folder, answer = finished
    assert answer.status == 0, answer
    names = {path.name for path in folder.iterdir()}
    assert {"Arm.mo", "Arm.fmu", "result.json", "report.html", "reference.csv"} <= names
    assert {"fmu-native-me.csv", "fmu-native-cs.csv"} <= names
    truth = read_csv(folder / "reference.csv")
    assert truth.time[-1] == pytest.approx(0.3)
    rise = truth.signals["E_z"] - truth.signals["E_z"][0]
    assert rise == pytest.approx(0.1 * np.sin(3 * truth.time) ** 2, abs=1e-6)


def test_json_output_equals_the_result_file(finished: tuple[Path, Answer]) -> None:
    """`result.json` is the output of --json; test_report checks the keys."""
    folder, answer = finished
    data = answer.json
    assert data == json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert (data["model"], data["case"], data["n"], data["dof"], data["ok"]) == ("Arm", "heavy", 2, 1, True)
    assert data["tolerance"] == 1e-6
    assert {"gpmelica", "Python", "FMPy", "casadi", "C compiler"} <= set(data["compilers"])
    expected = ["reference", "fmu-native-me", "fmu-native-cs"]
    assert [run["name"] for run in data["runs"]] == [
        *expected,
        *["modelica-rumoca"] * rumoca_backend.available(),
        "oracle",
    ]


@pytest.mark.slow
def test_run_that_disagrees_has_status_1(gpmelica: Command, tmp_path: Path) -> None:
    """A tolerance that no solver can keep: status 1, the table says so, result and report are there.

    Where the reference passed a singular position is said in all three.
    """
    folder, bars = tmp_path / "out", tmp_path / "bars.toml"
    bars.write_text(toml(MACHINES["parallelogram_through_its_change_point"].make()), encoding="utf-8")
    answer = gpmelica("run", bars, "--compiler", "native", "--tolerance", "1e-16", "--no-rumoca", "--out", folder)
    assert answer.status == 1
    assert "disagrees" in answer.out
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert result["ok"] is False
    said = "near-singular at t = 0.125 s, where the motion may continue in more than one way"
    assert (result["runs"][0]["name"], result["runs"][0]["note"]) == ("reference", said)
    assert said in (folder / "report.html").read_text(encoding="utf-8")
    assert f"note: reference: {said}" in " ".join(answer.out.split())


@pytest.mark.parametrize("option", ["--tolerance", "--timeout"])
def test_limits_above_zero(gpmelica: Command, arm: Path, tmp_path: Path, option: str) -> None:
    """Limits that cannot be met are rejected before any work begins."""
    for value in ("-1", "0", "nan"):
        answer = gpmelica("run", arm, option, value, "--out", tmp_path / "out")
        assert (answer.status, answer.err) == (2, f"{option[2:]}: expected a number above 0, got {value}\n")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_run_with_every_option(gpmelica: Command, arm: Path, tmp_path: Path) -> None:
    """The FMU is of the version that was asked for and agrees; the report repeats what was given, and no more.

    The terminal has the three findings and what was left out.
    """
    folder = tmp_path / "out"
    options = ["--case heavy", "--compiler native", "--fmi 3.0", "--tolerance 2e-06", "--timeout 60"]
    options.append("--no-rumoca")
    answer = gpmelica("run", arm, *" ".join(options).split(), "--out", folder)
    assert answer.status == 0, answer.err
    assert all(f"{word}: " in answer.out for word in ("consistent", "agrees", "holds"))
    assert "the Modelica source was not run in rumoca, as requested" in answer.out
    assert read_model_description(str(folder / "Arm.fmu")).fmiVersion == "3.0"
    page = html.unescape((folder / "report.html").read_text(encoding="utf-8"))
    assert [option for option in (*options, f"--out {folder}") if option not in page] == []
    assert "--omc" not in page


# ---- compare ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("names", [("reference.csv", "fmu-native-me.csv"), ("fmu-native-cs.csv", "Arm.fmu")])
def test_compare_files_and_fmus(gpmelica: Command, finished: tuple[Path, Answer], names: tuple[str, str]) -> None:
    """Two result files, or a file and an FMU, agree; with an impossible tolerance they do not: status 1."""
    first, second = (finished[0] / name for name in names)
    data = gpmelica("compare", first, second, "--json").json
    assert data["ok"] is True
    assert 0.0 < data["max_rel_error"] <= 1e-6
    assert data["horizon"] == pytest.approx(0.3)
    answer = gpmelica("compare", first, second, "--tolerance", "1e-16")
    assert answer.status == 1
    assert "upper_angle" in answer.out


def test_compare_of_a_part(gpmelica: Command, tmp_path: Path) -> None:
    """The answer names both time spans and the missing signals; with --complete the status is 1."""
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text("time,a,b\n0,0,1\n1,1,2\n2,2,1\n", encoding="utf-8")
    second.write_text("time,a\n0,0\n1,1\n", encoding="utf-8")
    answer = gpmelica("compare", first, second)
    assert answer.status == 0
    parts = ("agrees in part", "first file 0 to 2 s, second file 0 to 1 s", "signals missing from the run: b")
    assert [part for part in parts if part not in answer.out] == []
    assert gpmelica("compare", first, second, "--complete").status == 1
    data = gpmelica("compare", first, second, "--json").json
    assert (data["ok"], data["complete"]) == (True, False)
    assert (data["spans"], data["missing"]) == ([[0.0, 2.0], [0.0, 1.0]], {"first": [], "second": ["b"]})
    assert gpmelica("compare", first, first, "--json").json["complete"] is True


def test_compare_rejects_unreadable_files(
    gpmelica: Command, finished: tuple[Path, Answer], tmp_path: Path
) -> None:
    """A missing file, a table without a time column and an invalid FMU are invalid input."""
    good = finished[0] / "reference.csv"
    fails(gpmelica("compare", good, tmp_path / "none.csv"), 2, "none.csv: cannot be read: No such file")
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    fails(gpmelica("compare", tmp_path / "bad.csv", good), 2, "bad.csv: line 1", "'time'")
    (tmp_path / "bad.fmu").write_text("no archive")
    fails(gpmelica("compare", good, tmp_path / "bad.fmu"), 2, "bad.fmu: is not an FMU")


# ---- evaluate, statics, schema, study ---------------------------------------------------------------------------


@pytest.mark.slow
def test_evaluate_by_every_backend(gpmelica: Command, arm: Path, tmp_path: Path) -> None:
    """M, h, Q, Φ, C, γ and q̈ of the reference, q̈ of the others, and all q̈ agree."""
    (tmp_path / "state.json").write_text(json.dumps({"t": 0.05, "q": [0.5, 0.7], "qd": [1.0, -2.0], "z": []}))
    data = gpmelica("evaluate", arm, "--state", tmp_path / "state.json").json
    assert data["coordinates"] == ["upper.angle", "lower.angle"]
    backends = data["backends"]
    assert set(backends) == {"reference", "native", *(["modelica-rumoca"] if rumoca_backend.available() else [])}
    shapes: dict[str, tuple[int, ...]] = {"M": (2, 2), "C": (1, 2), "friction_residual": ()}
    shapes |= dict.fromkeys(("h", "Q", "qdd"), (2,)) | dict.fromkeys(("Phi", "gamma"), (1,))
    assert {key: np.shape(value) for key, value in backends["reference"].items()} == shapes
    for found in backends.values():
        assert found["qdd"] == pytest.approx(backends["reference"]["qdd"], rel=1e-9)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("{", ("is not JSON",)),
        ("[1]", ("expected an object",)),
        ('{"q": [1], "qd": [0, 0]}', ("q: expected a list of 2 finite number(s)",)),
        (f'{{"q": [{"9" * 400}, 0], "qd": [[0], 0]}}', ("q: expected a list of 2 finite", "qd: expected a list")),
        ("[" * 100_000, ("is not JSON",)),
        ('{"q": [0, NaN], "qd": [0, 0], "t": "x", "x": 1}', ("q: expected", "t: expected", "x: unknown key")),
    ],
)
def test_bad_states_are_refused(
    gpmelica: Command, arm: Path, tmp_path: Path, text: str, parts: tuple[str, ...]
) -> None:
    """All problems of a state file at once, each with its key."""
    (tmp_path / "state.json").write_text(text)
    fails(gpmelica("evaluate", arm, "--state", tmp_path / "state.json"), 2, "state.json", *parts)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full here")
def test_full_disk(arm: Path, tmp_path: Path) -> None:
    """Nothing is wrong with the input where there is no room: another status, and words; nothing half written."""
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "gpmelica", "schema"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (4, 1)
    assert "No space left on device; the input is valid" in done.stderr
    limited = (
        f"import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (999, 999)); from {app.__name__} import main; main()"
    )
    command = [sys.executable, "-c", limited, "modelica", str(arm), "--out", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, list((tmp_path / "out").iterdir())) == (4, "", [])
    assert "Arm.mo: File too large; the input is valid" in done.stderr


def test_statics(gpmelica: Command, arm: Path) -> None:
    """The equilibrium of the reference, as a table and as JSON."""
    expected = solving.equilibrium(build(load(arm)))
    data = gpmelica("statics", arm, "--json").json
    assert data == dict(zip(("upper.angle", "lower.angle"), expected.tolist(), strict=True))
    table = gpmelica("statics", arm)
    assert table.status == 0
    assert f"{expected[0]:.9g}" in table.out


@pytest.mark.slow
def test_study_of_cases_that_fail(gpmelica: Command, arm: Path, tmp_path: Path) -> None:
    """Status 1; every case of the description is in the answer, which is the file's, and on the page."""
    force = ARM["forces"][0] | {"effort": "sqrt(0 - 1 - push*t)"}
    faulty = {"name": "faulty", "set": {"links.uper.mass": 1.0}}
    arm.write_text(toml(ARM | {"forces": [force], "cases": [*ARM["cases"], faulty]}), encoding="utf-8")
    answer = gpmelica("study", arm, "--cases", "--no-rumoca", "--out", tmp_path / "study", "--json")
    assert answer.status == 1, answer
    assert answer.json == json.loads((tmp_path / "study" / "cases.json").read_text(encoding="utf-8"))
    assert answer.json["ok"] is False
    errors = {name: case["error"] for name, case in answer.json["cases"].items()}
    assert list(errors) == ["light", "heavy", "faulty"]
    assert all("force drive has no value at t = 0 s" in errors[name] for name in ("light", "heavy"))
    assert "cases[2].set.\"links.uper.mass\": there is no key 'uper'; did you mean 'upper'?" in errors["faulty"]
    assert list((tmp_path / "study").glob("*.html"))


def test_changes_on_the_command_line(gpmelica: Command, arm: Path) -> None:
    """`--set` takes values in the notation of TOML, expressions, and names of parameters, after the case."""
    changes = ("--set", "push=5", "--set", "links.lower.mass=2*push", "--set", "simulation.method=BDF")
    data = gpmelica("check", arm, "--case", "heavy", *changes, "--set", "gravity=[0, 0, -1.62]", "--json").json
    assert [body["mass"] for body in data["bodies"]] == [4.0, 10.0]
    model = gp.load(arm, "heavy", **{"push": 5.0, "links.lower.mass": "2*push", "gravity": [0, 0, -1.62]})
    assert [body["mass"] for body in model.check().data()["bodies"]] == [4.0, 10.0]
    fails(gpmelica("check", arm, "--set", "links.lowr.mass=2"), 2, "there is no key 'lowr'; did you mean 'lower'?")
    fails(gpmelica("check", arm, "--set", "push"), 2, "--set push: expected KEY=VALUE")
    fails(gpmelica("check", arm, "--set", "push=1", "--set", "push=2"), 2, "--set push: the key occurs twice")


def test_every_command_with_cases_takes_changes() -> None:
    """A user who changes a key for one command can do so for all."""
    commands = typer.main.get_command(app.app).commands
    options = {name: {o for p in command.params for o in p.opts} for name, command in commands.items()}
    assert "--set" in options["simulate"]
    assert [name for name, of in options.items() if "--case" in of and "--set" not in of] == []


def test_check_reports_faulty_cases(gpmelica: Command, arm: Path) -> None:
    """Status 2 and the problems after the summary; a sound case is checked without them."""
    faulty = {"name": "faulty", "set": {"simulaton.stop": 1.0}}
    arm.write_text(toml(ARM | {"cases": [*ARM["cases"], faulty]}), encoding="utf-8")
    answer = gpmelica("check", arm, "--json")
    problem = "cases[2].set: leads to simulaton: unknown key; did you mean 'simulation'?"
    assert (answer.status, answer.json["faulty_cases"]) == (2, {"faulty": [problem]})
    assert problem in answer.err
    assert gpmelica("check", arm, "--case", "heavy").status == 0


# ---- Exit statuses and messages ---------------------------------------------------------------------------------


def test_help_and_version(gpmelica: Command) -> None:
    """`--help`, and no command at all, show what there is and what statuses mean; `--version` prints it."""
    answer = gpmelica("--help")
    assert answer.status == 0
    words = " ".join(answer.out.split())
    assert all(command in words for command in COMMANDS.split())
    assert "Exit status: 0 ok; 1 a check or comparison failed; 2 invalid input" in words
    version = gpmelica("--version")
    assert (version.status, version.out) == (0, f"gpmelica {gp.__version__}\n")
    nothing = gpmelica()
    assert "Usage" in nothing.out + nothing.err


@pytest.mark.parametrize("options", [("--compiler", "javac"), ("--fmi", "4.0")])
def test_unknown_choices(gpmelica: Command, arm: Path, options: tuple[str, str]) -> None:
    """A compiler or an FMI version that is not there: status 2 and what there is."""
    fails(gpmelica("build", arm, *options), 2, f"{options[0][2:]}: expected one of", options[1])


def test_missing_compiler_has_status_3(
    gpmelica: Command, arm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without any C compiler: status 3 and what to install."""
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "ziglang", None)
    answer = gpmelica("build", arm, "--compiler", "native", "--out", tmp_path / "out")
    fails(answer, 3, "no C compiler: looked for CC, cc", "pip install ziglang")
    assert not list(tmp_path.rglob("*.fmu"))


def test_missing_openmodelica_has_status_3(gpmelica: Command, arm: Path, tmp_path: Path) -> None:
    """An omc that is asked for and not there: status 3, and its name."""
    answer = gpmelica(
        "build", arm, "--compiler", "openmodelica", "--omc", tmp_path / "omc", "--out", tmp_path / "out"
    )
    fails(answer, 3, str(tmp_path / "omc"))


def test_statics_that_fail_are_bad_input(gpmelica: Command, arm: Path) -> None:
    """A description without an equilibrium: status 2 as for `check`, and what is left on which coordinate."""
    upper, lower = ARM["links"]
    sliding = upper | {"joint": {"type": "prismatic", "axis": Z}}
    arm.write_text(toml(ARM | {"links": [sliding, lower], "statics": {"locked": []}}))
    fails(gpmelica("statics", arm), 2, "no static equilibrium", "upper.position")


@pytest.mark.slow
def test_folder_that_is_a_file(gpmelica: Command, arm: Path) -> None:
    """--out names a file: status 2 and its name; the file stays."""
    fails(gpmelica("modelica", arm, "--out", arm), 2, "arm.toml")
    assert arm.read_text(encoding="utf-8") == toml(ARM)


def test_folder_that_cannot_be_written(gpmelica: Command, arm: Path, tmp_path: Path) -> None:
    """--out without permission: status 2 and its name."""
    if os.name != "posix" or os.geteuid() == 0:
        pytest.skip("needs a user without the right to write everywhere")
    (tmp_path / "locked").mkdir(mode=0o500)
    fails(gpmelica("modelica", arm, "--out", tmp_path / "locked" / "out"), 2, "locked", "Permission denied")
