"""`docs/extending.md` shows all that a new joint, closure, force, output or backend takes: its changes work."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers_cli import process

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
NOT_OF_THE_PACKAGE = ".* tests docs benchmarks examples build site __pycache__ *.egg-info"


def _blocks(language: str) -> str:
    return "".join(re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git to apply the changes")
def test_the_changes_of_the_page_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "gpmelica"
    shutil.copytree(ROOT, package, ignore=shutil.ignore_patterns(*NOT_OF_THE_PACKAGE.split()))
    subprocess.run(["git", "apply", "-"], input=_blocks("diff"), text=True, cwd=package, check=True)
    (tmp_path / "screw.toml").write_text(_blocks("toml"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    answer = process("run", "screw.toml", "--compiler", "trapping", "--json", PYTHONPATH=str(tmp_path))
    assert answer.status == 0, answer.out + answer.err
    runs = answer.json["runs"]
    assert {"fmu-trapping-me", "fmu-trapping-cs"} < {run["name"] for run in runs}
    for run in runs:
        assert {"bar_position", "bar_angle", "E_speed"} <= set(run["max_abs_error"])
