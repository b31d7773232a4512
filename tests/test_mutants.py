"""Faults that `benchmarks/mutants.py` applies: each can be applied, and the tool tells which are noticed."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
AREAS = {
    "applied forces",
    "beam",
    "C layer",
    "closure table",
    "constraints",
    "contact",
    "dynamics",
    "events",
    "exchange",
    "friction",
    "generated C",
    "joint springs",
    "joint table",
    "kinematics",
    "linear models",
    "lines",
    "Modelica",
    "motor",
    "motions",
    "oracle",
    "path timing",
    "reactions",
    "redundant constraints",
    "replacement joints",
    "start",
    "statics",
    "stops",
    "supports",
    "verdict",
}
FAULT = """\
[[mutant]]
name = "without_effect"
area = "test"
file = "exchange/urdf.py"
old = "_LONGEST_NAME = 200"
new = "_LONGEST_NAME = 201"
tests = ["tests/test_urdf.py::test_axes"]

[[mutant]]
name = "sign"
area = "test"
file = "exchange/urdf.py"
old = "axis[2] / length"
new = "-axis[2] / length"
tests = ["tests/test_urdf.py::test_axes"]
"""


def _tool() -> ModuleType:
    name = "mutants_of_the_benchmarks"
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / "mutants.py")
    assert spec is not None and spec.loader is not None
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


tool = _tool()
MUTANTS = tool.mutants()


def test_no_mutant_is_stale() -> None:
    assert tool.stale(MUTANTS, ROOT) == []


def test_missing_source_line_makes_a_mutant_stale() -> None:
    first = MUTANTS[0]
    changed = [replace(first, old="no such text"), replace(first, file="none.py"), replace(first, old="return")]
    gone, missing, several = tool.stale(changed, ROOT)
    assert "found it 0 times" in gone
    assert "found it 0 times" in missing
    assert "found it 0 times" not in several


def test_mutants_are_many_and_of_every_kind() -> None:
    assert len(MUTANTS) >= 150
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert {mutant.area for mutant in MUTANTS} >= AREAS
    assert [mutant.name for mutant in MUTANTS if mutant.old == mutant.new] == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name for mutant in MUTANTS])
def test_detectors_of_all_mutants_exist(mutant: Any) -> None:
    """A mutant names either tests or a run of a file, but not both."""
    assert bool(mutant.tests) != bool(mutant.run)
    for test in mutant.tests:
        file, _, function = test.partition("::")
        assert not function or f"def {function.partition('[')[0]}(" in (ROOT / file).read_text(encoding="utf-8")
    for file in mutant.run[:1]:
        assert (ROOT / file).is_file()


@pytest.mark.campaign
@pytest.mark.slow
def test_the_tool_tells_which_mutants_survive(tmp_path: Path) -> None:
    """A fault without effect survives, and the tool fails; a sign is noticed."""
    table = tmp_path / "mutants.toml"
    table.write_text(FAULT, encoding="utf-8")
    tool = [sys.executable, str(ROOT / "benchmarks" / "mutants.py")]
    command = [*tool, "--table", str(table), "--workers", "1", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = {outcome["name"]: outcome for outcome in json.loads(done.stdout)}
    assert {name: outcome["noticed"] for name, outcome in found.items()} == {
        "without_effect": False,
        "sign": True,
    }
    assert found["sign"]["by"].startswith("tests/test_urdf.py::test_axes[")
    assert done.returncode == 1
