"""`gpmelica new`: templates, and the examples as they come with the package."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers_cli import Command
from helpers_examples import EXAMPLES

import gpmelica as gp
from gpmelica.tasks.new import examples, kinds, write_start


def test_every_example_comes_with_the_package() -> None:
    assert sorted(examples()) == sorted(path.stem for path in EXAMPLES.rglob("*.toml"))


@pytest.mark.parametrize(
    ("name", "files"),
    [("crane", ["crane.toml"]), ("tower_crane", ["commands.csv", "slew.csv", "tower_crane.toml"])],
)
def test_new_copies_an_example_with_its_data(
    gpmelica: Command, tmp_path: Path, name: str, files: list[str]
) -> None:
    answer = gpmelica("new", name, "--out", tmp_path / "own")
    assert answer.status == 0, answer.err
    assert sorted(path.name for path in (tmp_path / "own").iterdir()) == files
    original = next(EXAMPLES.rglob(f"{name}.toml")).read_bytes()
    assert (tmp_path / "own" / f"{name}.toml").read_bytes() == original


def test_new_does_not_overwrite(gpmelica: Command, tmp_path: Path) -> None:
    (tmp_path / "crane.toml").write_text("mine", encoding="utf-8")
    answer = gpmelica("new", "crane", "--out", tmp_path)
    assert answer.status == 2
    assert "crane.toml: the file exists; choose another --out" in answer.err
    assert (tmp_path / "crane.toml").read_text(encoding="utf-8") == "mine"


def test_new_suggests_a_name(gpmelica: Command, tmp_path: Path) -> None:
    answer = gpmelica("new", "tower_crain", "--out", tmp_path)
    assert answer.status == 2
    assert "did you mean 'tower_crane'?" in answer.err
    assert list(tmp_path.iterdir()) == []


def test_start_files_are_those_that_the_help_names(gpmelica: Command) -> None:
    assert sorted(kinds()) == ["arm", "crane", "empty", "linkage"]
    assert "crane, arm, linkage or empty" in " ".join(gpmelica("new", "--help").out.replace("│", "").split())


@pytest.mark.parametrize("kind", ["arm", "crane", "empty", "linkage"])
def test_start_file_checks_clean(kind: str, tmp_path: Path) -> None:
    """The mechanism has the chosen name, a consistent initial state and no unusual value."""
    path = write_start(kind, "Mine", tmp_path / "own")
    assert path == tmp_path / "own" / "Mine.toml"
    summary = gp.load(path).check()
    assert summary.data()["model"] == "Mine"
    assert summary.consistent
    assert summary.plausible == ()
    assert "gpmelica view Mine.toml " in path.read_text(encoding="utf-8")


def test_every_number_of_a_start_file_has_a_unit_nearby() -> None:
    """Lines of lengths, masses and inertias come with a comment on the unit at their first use."""
    for path in kinds().values():
        lines = path.read_text(encoding="utf-8").splitlines()
        for key, unit in (("mass", "kg"), ("com", "m, "), ("inertia", "kg·m²")):
            first = next(line for line in lines if line.startswith(f"{key} = "))
            assert unit in first, (path.name, first)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tower_crane", "Mine"), "to copy an example, leave the name out"),
        (("linkge", "Mine"), "did you mean 'linkage'?"),
        (("linkage",), "give a name: gpmelica new linkage Mine"),
        (("crane", "my-crane"), "NAME: expected a name of at most 64 letters"),
        (("crane", "CON"), "name of a device on Windows"),
    ],
)
def test_wrong_kinds_and_names(
    gpmelica: Command, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    answer = gpmelica("new", *arguments, "--out", tmp_path)
    assert answer.status == 2
    assert message in answer.err
    assert list(tmp_path.iterdir()) == []


def test_start_file_does_not_overwrite(gpmelica: Command, tmp_path: Path) -> None:
    (tmp_path / "Mine.toml").write_text("mine", encoding="utf-8")
    answer = gpmelica("new", "arm", "Mine", "--out", tmp_path)
    assert answer.status == 2
    assert "Mine.toml: the file exists; choose another --out" in answer.err
    assert (tmp_path / "Mine.toml").read_text(encoding="utf-8") == "mine"
