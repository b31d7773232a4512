"""`gpmelica new`: the examples as they come with the package."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers_cli import Command
from helpers_examples import EXAMPLES

from gpmelica.tasks.new import examples


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
    assert "crane.toml: exists; choose another --out" in answer.err
    assert (tmp_path / "crane.toml").read_text(encoding="utf-8") == "mine"


def test_new_suggests_a_name(gpmelica: Command, tmp_path: Path) -> None:
    answer = gpmelica("new", "tower_crain", "--out", tmp_path)
    assert answer.status == 2
    assert "did you mean 'tower_crane'?" in answer.err
    assert list(tmp_path.iterdir()) == []
