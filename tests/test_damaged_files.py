"""Damaged files of all kinds are read or refused in words (`benchmarks/damaged_files.py` tries 5,000)."""

from __future__ import annotations

import copy
import datetime
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from damaged_files import KINDS, outcome
from helpers_backends import Compiled, CompileData, driven
from helpers_cli import Command
from hypothesis import given, settings
from hypothesis import strategies as st

from gpmelica.errors import DescriptionError, GpmelicaError, SolveError
from gpmelica.fmu.backends import native
from gpmelica.fmu.compilers import binaries
from gpmelica.fmu.runs.simulate import read_or_simulate
from gpmelica.generator.description.load import from_data


@pytest.fixture(scope="module")
def fmu(compile_data: CompileData) -> Path:
    return compile_data(driven()).fmu


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files(kind: str, tmp_path: Path, fmu: Path) -> None:
    """Forty of each kind: no other error than the package's, and most of them are refused."""
    first = list(KINDS).index(kind)
    found = [outcome(first + len(KINDS) * k, tmp_path, fmu) for k in range(40)]
    assert [o for o in found if o.amiss] == []
    assert 15 <= sum(o.refused for o in found) < 40


# ---- FMUs that FMPy cannot run ----------------------------------------------------------------------------------


Change = Callable[[str, bytes], bytes | None]


def _changed(fmu: Path, folder: Path, change: Change) -> Path:
    """A copy of an archive in which each file is what `change` makes of its name and bytes; None: left out."""
    copy = folder / "Changed.fmu"
    with zipfile.ZipFile(fmu) as source, zipfile.ZipFile(copy, "w") as target:
        for name in source.namelist():
            data = change(name, source.read(name))
            if data is not None:
                target.writestr(name, data)
    return copy


def _in_description(old: bytes, new: bytes) -> Change:
    return lambda name, data: data.replace(old, new) if name == "modelDescription.xml" else data


def _in_binaries(change: Callable[[bytes], bytes | None]) -> Change:
    return lambda name, data: change(data) if name.startswith("binaries") else data


@pytest.mark.parametrize(
    ("change", "kind", "match"),
    [
        (_in_binaries(lambda data: None), SolveError, "FMPy: "),
        (_in_binaries(lambda data: data[:100]), SolveError, "FMPy: Failed to load"),
        (_in_description(b'guid="{', b'guid="{0'), SolveError, r"fmu: fmi2Instantiate: the token is \{0"),
        (_in_description(b'stopTime="', b'stopTime="-'), DescriptionError, "stopTime: is '-.*', expected a"),
        (_in_description(b'stepSize="0.', b'stepSize="0.0000000'), DescriptionError, "at most 50000 steps"),
        (_in_description(b"<ModelVariables>", b"<Variables>"), DescriptionError, "is not an FMU that FMPy can"),
        (lambda name, data: None if name == "modelDescription.xml" else data, DescriptionError, "is not an FMU"),
    ],
)
def test_what_is_wrong_is_said(
    hanging: Compiled, tmp_path: Path, change: Change, kind: type[GpmelicaError], match: str
) -> None:
    with pytest.raises(kind, match=match):
        read_or_simulate(_changed(hanging.fmu, tmp_path, change))


def test_one_that_crashes_takes_nothing_with_it(hanging: Compiled, tmp_path: Path, gpmelica: Command) -> None:
    """A null pointer in the FMU's step: a message, exit status 1, and no temporary file."""
    sources = native.generate(hanging.model.native_program, hanging.model.chain, "2.0")
    step = sources.files["cosimulation.c"].replace("inputs_begin_step(model);", "*(volatile int *)0 = 0;")
    assert step != sources.files["cosimulation.c"]
    crashing = replace(sources, files={**sources.files, "cosimulation.c": step})
    fmu = tmp_path / "crashing.fmu"
    native.build(crashing, fmu, binaries.toolchains("2.0"), {})
    done = gpmelica("compare", hanging.fmu, fmu)
    assert done.status == 1 and "Traceback" not in done.err
    assert "crashing.fmu: the FMU took the process that it ran in with it" in done.err


# ---- Descriptions broken at random ------------------------------------------------------------------------------


JUNK = (
    *(True, 0, -1, 1.5, float("nan"), float("inf"), 10**400, 16**5000, 1e308, 5e-324),
    *("", "E.x", "1 +", "a.b.c", "base", "ground", "lower", "9**9**9", "\x1b[31m", "*", "é" * 100),
    *([], [1.0], [[1]], [[]], ["a"], [{"name": "q"}], [[1.0] * 4] * 4),
    *({}, {"a": 1}, {"": 2}, {"number": 1}, {"name": "upper"}),
    *(datetime.date(2024, 2, 29), datetime.time(1)),
)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Key paths of everything inside."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield (*path, key)
        yield from _paths(member, (*path, key))


DATA = Path(__file__).parent / "data"
FULL = tomllib.loads((DATA / "every_table.toml").read_text(encoding="utf-8"))
for table in FULL["tables"].values():
    table["file"] = str(DATA / table["file"])
PLACES = list(_paths(FULL))
changes = st.tuples(st.sampled_from(PLACES), st.sampled_from(("set", "delete", "add")), st.sampled_from(JUNK))


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.lists(changes, min_size=1, max_size=3))
def test_random_damage(damage: list[tuple[tuple[Any, ...], str, Any]]) -> None:
    """Whatever is broken, the answer is a description or a list of problems, each once and with a reason."""
    data = copy.deepcopy(FULL)
    for path, action, junk in damage:
        _damage(data, path, action, copy.deepcopy(junk))
    try:
        from_data(data)
    except DescriptionError as error:
        assert error.problems
        assert all(problem.message for problem in error.problems)
        assert len(set(error.problems)) == len(error.problems)
        assert "object at 0x" not in str(error)


def _damage(data: Any, path: tuple[Any, ...], action: str, junk: Any) -> None:
    *above, last = path
    try:
        for key in above:
            data = data[key]
        if action == "delete":
            del data[last]
        elif action == "set":
            data[last] = junk
        elif isinstance(data, list):
            data.append(junk)
        else:
            data[str(junk)[:5]] = junk
    except (LookupError, TypeError, ValueError):
        pass  # an earlier change has taken the place away


def test_the_full_one() -> None:
    """What the damage is done to is sound, and gives a value to every key of the whole."""
    assert set(type(from_data(FULL)).model_fields) == {"version", *FULL} - {"schema"}
