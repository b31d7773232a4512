"""A command that fails leaves no verdict of an earlier one, whatever it fails of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from awkward_machines.judge import toml
from helpers_cli import ARM, Command

from gpmelica.options.many import StudyOptions
from gpmelica.sweeps import parts
from gpmelica.tasks import study

_VERDICT = ("result.json", "report.html")
_BROKEN = {
    "mass": ARM | {"links": [ARM["links"][0] | {"mass": -1.0}, ARM["links"][1]]},
    "key": ARM | {"gravitation": [0.0, 0.0, 0.0]},
    "start": ARM | {"simulation": {"stop": -1.0}},
}


def _leave(folder: Path, *names: str) -> list[Path]:
    """Files of an earlier command."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text('{"ok": true, "cases": {"light": {}, "former": {}}}', encoding="utf-8")
    return [folder / name for name in names]


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("broken", [*_BROKEN, "syntax"])
@pytest.mark.parametrize("options", [(), ("--out", "here"), ("--case", "light")])
def test_run_of_an_invalid_description(gpmelica: Command, broken: str, options: tuple[str, ...]) -> None:
    text = toml(ARM) + "\nstop = = 2\n" if broken == "syntax" else toml(_BROKEN[broken])
    Path("arm.toml").write_text(text, encoding="utf-8")
    folder = Path({(): "Arm", ("--out", "here"): "here"}.get(options, "Arm_light"))
    older, kept = _leave(folder, *_VERDICT), _leave(Path("Arm_heavy"), *_VERDICT)
    assert gpmelica("run", "arm.toml", *options).status == 2
    assert not [path for path in older if path.exists()]
    assert all(path.exists() for path in kept)


@pytest.mark.parametrize("option", [("--tolerance", "-1"), ("--input", "none.csv"), ("--fmi", "4.0")])
def test_run_with_a_wrong_option(gpmelica: Command, option: tuple[str, str]) -> None:
    Path("arm.toml").write_text(toml(ARM), encoding="utf-8")
    older = _leave(Path("Arm"), *_VERDICT)
    assert gpmelica("run", "arm.toml", *option).status == 2
    assert not [path for path in older if path.exists()]


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "arm.toml", "--nonsense"),
        ("run", "--nonsense", "arm.toml", "--out", "Arm"),
        ("run", "arm.toml", "--timeout", "soon"),
        ("run", "arm.toml", "another.toml"),
        ("run", "--tolerance", "1e-6", "arm.toml", "--fmi"),
    ],
)
def test_run_with_arguments_that_no_command_has(gpmelica: Command, arguments: tuple[str, ...]) -> None:
    """A command that cannot begin leaves no verdict either, as far as its folder is known."""
    Path("arm.toml").write_text(toml(ARM), encoding="utf-8")
    older, kept = _leave(Path("Arm"), *_VERDICT), _leave(Path("Other"), *_VERDICT)
    assert gpmelica(*arguments).status == 2
    assert not [path for path in older if path.exists()]
    assert all(path.exists() for path in kept)


def test_cosim_with_a_wrong_option(gpmelica: Command) -> None:
    Path("pair.ssp").write_bytes(b"")
    older = _leave(Path("pair"), "report.html", "result.json", "report.txt", "signals.csv")
    assert gpmelica("cosim", "pair.ssp", "--step", "soon").status == 2
    assert not [path for path in older if path.exists()]


def test_help_and_other_commands_leave_verdicts_alone(gpmelica: Command) -> None:
    for name in ("Arm", "Other"):
        Path(f"{name.lower()}.toml").write_text(toml(ARM | {"name": name}), encoding="utf-8")
    kept = _leave(Path("Arm"), *_VERDICT) + _leave(Path("Other"), *_VERDICT)
    assert gpmelica("run", "arm.toml", "--nonsense", "--help").status in (0, 2)
    assert gpmelica("run", "arm.toml", "other.toml").status == 2  # it is not known which of them was meant
    assert gpmelica("sweep", "--set", f"push={','.join(['1.5'] * 200)}", "--nonsense").status == 2
    assert gpmelica("run", "arm.toml", "--help").status == 0
    assert gpmelica("check", "arm.toml", "--nonsense").status == 2
    assert gpmelica("run", "--nonsense").status == 2
    assert all(path.exists() for path in kept)


def test_study_of_an_invalid_description(gpmelica: Command) -> None:
    """Also the verdicts of its cases, of those that are no longer described too; other folders are left alone."""
    Path("arm.toml").write_text(toml(_BROKEN["mass"]), encoding="utf-8")
    older = _leave(Path("Arm_study"), "cases.json", "cases.html")
    older += [path for case in ("light", "former") for path in _leave(Path("Arm_study") / case, *_VERDICT)]
    kept = _leave(Path("Arm_study") / "mine", *_VERDICT)
    assert gpmelica("study", "arm.toml", "--cases").status == 2
    assert not [path for path in older if path.exists()]
    assert all(path.exists() for path in kept)


def test_sweep_and_optimize_of_an_invalid_description(gpmelica: Command) -> None:
    Path("arm.toml").write_text(toml(_BROKEN["mass"]), encoding="utf-8")
    older = _leave(Path("Arm_sweep"), "sweep.html", "table.parquet") + _leave(Path("Arm_optimum"), "optimum.json")
    older += _leave(Path("Arm_optimum") / "run", *_VERDICT) + _leave(
        Path("Arm_sweep") / "signals.zarr", "zarr.json"
    )
    settings = ("--set", "push=uniform(1,2)")
    assert gpmelica("sweep", "arm.toml", *settings, "--objective", "top=peak(E_z)").status == 2
    assert gpmelica("optimize", "arm.toml", *settings, "--objective", "peak(E_z)").status == 2
    assert not [path for path in older if path.exists()]
    assert {path.name for path in Path("Arm_sweep").iterdir()} == {"earlier_table.parquet", "earlier_signals.zarr"}


def test_a_folder_at_which_another_process_is_at_work_stays_as_it_is(gpmelica: Command) -> None:
    Path("arm.toml").write_text(toml(ARM), encoding="utf-8")
    kept = _leave(Path("Arm_sweep"), "sweep.html", "table.parquet")
    with parts.held(Path("Arm_sweep")):
        assert gpmelica("sweep", "arm.toml", "--set", "push=1,2", "--objective", "top=peak(E_z)").status == 2
    assert all(path.exists() for path in kept)


def test_an_interrupted_study_has_no_older_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cases' verdicts go before the first case runs."""
    Path("arm.toml").write_text(toml(ARM), encoding="utf-8")
    older = [path for case in ("light", "heavy") for path in _leave(Path("Arm_study") / case, *_VERDICT)]

    def interrupt(what: str, fraction: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.study_cases(Path("arm.toml"), StudyOptions(progress=interrupt))
    assert not [path for path in older if path.exists()]


def test_a_damaged_list_of_cases_does_no_harm(gpmelica: Command) -> None:
    Path("arm.toml").write_text(toml(_BROKEN["mass"]), encoding="utf-8")
    kept = _leave(Path("elsewhere"), *_VERDICT)
    for content in ("[", "[1]", json.dumps({"cases": 3}), json.dumps({"cases": {"../elsewhere": {}}})):
        Path("Arm_study").mkdir(exist_ok=True)
        Path("Arm_study/cases.json").write_text(content, encoding="utf-8")
        assert gpmelica("study", "arm.toml", "--cases").status == 2
        assert not Path("Arm_study/cases.json").exists()
    assert all(path.exists() for path in kept)
