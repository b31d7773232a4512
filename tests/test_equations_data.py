"""The generated C against the contract that it is made for."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from helpers_backends import driven
from helpers_c_layer import SOURCES, STRICT, compiler
from helpers_projection import ON

from gpmelica.fmu.backends import native
from gpmelica.generator.description.load import from_data
from gpmelica.generator.program.program import Parameter
from gpmelica.prepared import prepare

STRUCTS = ("LinearSystem", "ConstrainedSystem", "TreeSystem", "StageDerivative", "Stage", "StageGroup", "Variable")
STRUCTS = (*STRUCTS, "Equations")


@pytest.fixture(scope="module")
def tables() -> list[str]:
    """Of the driven pendulum, by recursion, and with a task that is there twice and a projection: all systems."""
    task = "cart.position + 0.3*sin(rod.angle) - start(cart.position + 0.3*sin(rod.angle)) - 0.1*t^3"
    rows = [{"name": "task", "expression": task}, {"name": "again", "expression": f"2*({task})"}]
    rules = {"redundant": "minimum_norm", **ON}
    recursion = {"simulation": {"accelerations": "recursion"}}
    changes = ({}, recursion, {"programmed": rows, "constraints": rules})
    models = [prepare(from_data(driven() | more)) for more in changes]
    return [native.generate(m.native_program, m.chain, "3.0").files["equations_data.c"] for m in models]


def _members(struct: str) -> list[str]:
    header = re.sub(r"/\*.*?\*/", "", (SOURCES / "core" / "equations.h").read_text(), flags=re.DOTALL)
    body = re.search(rf"typedef struct \{{([^{{}}]*)\}} {struct};", header)
    assert body is not None
    return re.findall(r"(\w+)(?:\[\w+\])?[,;]", body[1])


@pytest.mark.parametrize("struct", STRUCTS)
def test_every_member_is_given(tables: list[str], struct: str) -> None:
    """What the contract declares the generated part fills, by name."""
    members = _members(struct)
    assert len(members) >= 2
    assert [name for name in members if f".{name} =" not in "".join(tables)] == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SETTING_PROJECTION_TOLERANCE,", "SETTING_PROJECTION_TOLERANCE, SETTING_MORE,"),
        ("COUNTER_PROJECTIONS,", ""),
        ("GROUP_VIOLATIONS,", "GROUP_VIOLATIONS, GROUP_MORE,"),
        ("int event_times;", "int event_times, more;"),
        ("int pivots;", "int pivots, more;"),
        ("int right;", "int rhs;"),
        ("VARIABLE_CORRECTION,", "VARIABLE_CORRECTED,"),
    ],
)
def test_a_contract_that_differs_does_not_compile(tables: list[str], tmp_path: Path, old: str, new: str) -> None:
    """An enumerator or a member more, fewer or with another name is the compiler's error."""
    cc = compiler()
    if cc is None:
        pytest.skip("no C compiler: CC, cc, gcc, clang and ziglang are missing")
    (tmp_path / "data.c").write_text(tables[-1])
    header = (SOURCES / "core" / "equations.h").read_text()
    assert old in header
    codes = []
    for text in (header, header.replace(old, new, 1)):
        (tmp_path / "equations.h").write_text(text)
        line = [
            *cc,
            *STRICT[:5],
            f"-I{tmp_path}",
            f"-I{SOURCES / 'algebra'}",
            "-fsyntax-only",
            str(tmp_path / "data.c"),
        ]
        codes.append(subprocess.run(line, capture_output=True, check=False).returncode)
    assert codes[0] == 0
    assert codes[1] != 0


def test_flags_are_of_files_that_there_are() -> None:
    """What is compiled with other flags is named as it is written; where it is long, with less effort."""
    model = prepare(from_data(driven()))
    files = native.generate(model.native_program, model.chain, "3.0").files
    flags = native.flags(files)
    assert (
        {name for name in files if name.startswith("equations_")} - {native.DATA} <= flags.keys() <= files.keys()
    )
    long = native.flags({name: text + " " * 1_000_000 for name, text in files.items()})
    parts = ("", "_forward", "_reverse")
    assert {name for name in long if long[name] != flags[name]} == {f"equations_dynamics{p}.c" for p in parts}


def test_parameters_are_numbers_or_vectors() -> None:
    """A matrix has no order of its elements that all backends share."""
    with pytest.raises(ValueError, match=r"inertia has the shape \(3, 3\)"):
        Parameter("inertia", np.eye(3), "kg.m2", "")
