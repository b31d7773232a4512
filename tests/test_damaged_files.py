"""Damaged files of all kinds are read or refused in words (`benchmarks/damaged_files.py` tries 5,000)."""

from __future__ import annotations

import copy
import datetime
import random
import re
import time
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

from gpmelica.api.exchange import convert_urdf
from gpmelica.core.errors import DescriptionError, GpmelicaError, SolveError
from gpmelica.description.load import from_data
from gpmelica.fmu.backends import native
from gpmelica.fmu.compilers import binaries
from gpmelica.runs.fmpy_runs.simulate import read_or_simulate


@pytest.fixture(scope="module")
def fmu(compile_data: CompileData) -> Path:
    return compile_data(driven()).fmu


_LONG = {"FMU": [pytest.mark.campaign]}  # each damaged FMU is run in a process of its own


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param(kind, marks=_LONG.get(kind, [])) for kind in KINDS])
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "kind", "match"),
    [
        (_in_binaries(lambda data: None), SolveError, "FMPy: "),
        (_in_binaries(lambda data: data[:100]), SolveError, "FMPy: Failed to load"),
        (_in_description(b'guid="{', b'guid="{0'), SolveError, r"fmu: fmi2Instantiate: the token is \{0"),
        (
            _in_description(b'stopTime="', b'stopTime="-'),
            DescriptionError,
            "stopTime: expected a number greater than 0, got '-",
        ),
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


@pytest.mark.slow
def test_crash_of_an_fmu_is_reported(hanging: Compiled, tmp_path: Path, gpmelica: Command) -> None:
    """A null pointer in the FMU's step results in a message, exit status 1 and no temporary files."""
    sources = native.generate(hanging.model.native_program, hanging.model.chain, "2.0")
    step = sources.files["cosimulation.c"].replace("inputs_begin_step(model);", "*(volatile int *)0 = 0;")
    assert step != sources.files["cosimulation.c"]
    crashing = replace(sources, files={**sources.files, "cosimulation.c": step})
    fmu = tmp_path / "crashing.fmu"
    native.build(crashing, fmu, binaries.toolchains("2.0"), {})
    done = gpmelica("compare", hanging.fmu, fmu)
    assert done.status == 1 and "Traceback" not in done.err
    assert "crashing.fmu: the process of the FMU crashed: it ended" in done.err


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


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True, database=None)
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
    """The undamaged file is valid and has a value for every key."""
    assert set(type(from_data(FULL)).model_fields) == {"version", *FULL} - {"schema"}


# ---- Damaged URDF -----------------------------------------------------------------------------------------------


LINK = """<link name="{name}"><inertial><origin xyz="0.1 0 0" rpy="0 0 0"/><mass value="1.5"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.025"/></inertial></link>"""
JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="0 0 0.5" rpy="0.1 0 0"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="9" velocity="3"/>
<dynamics damping="0.7" friction="0"/></joint>"""
MIMIC = '<mimic joint="elbow" multiplier="2" offset="0.1"/></joint>'
PARTS = [
    *(LINK.format(name=name) for name in ("root", "upper", "lower", "hand")),
    JOINT.format(name="shoulder", parent="root", child="upper"),
    JOINT.format(name="elbow", parent="upper", child="lower"),
    JOINT.format(name="wrist", parent="lower", child="hand").replace("</joint>", MIMIC),
]
ROBOT = "\n".join(['<robot name="arm">', *PARTS, "</robot>"])
_NUMBERS = ("xyz", "rpy", "value", "ixx", "ixy", "ixz", "iyy", "iyz", "izz", "damping", "friction", "multiplier")
_NO_NUMBERS = "|nan|inf|-inf|1e400|one|1,5|0x10|1_0|٣|1 2|1 2 3 4|${L}|--1"
_NEEDED = ("name", "type", "link", "joint", "value", "ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def _damaged() -> Iterator[str]:
    """Wrong numbers, names and types; what is needed taken out; elements twice or missing; text cut off."""
    attributes = list(re.finditer(r'(\w+)="([^"]*)"', ROBOT))
    rng = random.Random(5)
    for found in attributes:
        key, before, after = found[1], ROBOT[: found.start()], ROBOT[found.end() :]
        if key in _NUMBERS:
            yield f'{before}{key}="{rng.choice(_NO_NUMBERS.split("|"))}"{after}'
        if key in _NEEDED:
            yield before + after
            yield f'{before}{key}="?"{after}' if key in ("type", "link", "joint") else f'{before}{key}=""{after}'
    for tag in ("inertia", "mass", "parent", "child"):
        for found in re.finditer(f"<{tag} [^>]*/>", ROBOT):
            yield ROBOT[: found.start()] + ROBOT[found.end() :]
            yield ROBOT[: found.end()] + found[0] + ROBOT[found.end() :]
    for found in re.finditer(r'<(link|joint) name="\w+".*?</\1>', ROBOT, re.DOTALL):
        yield ROBOT[: found.start()] + ROBOT[found.end() :]
        yield ROBOT[: found.end()] + found[0] + ROBOT[found.end() :]
    for position in range(0, len(ROBOT), len(ROBOT) // 30):
        yield ROBOT[:position]
    yield from (
        ROBOT.replace("robot", "mujoco"),
        ROBOT.replace("</robot>", "</robot><robot/>"),
        ROBOT.replace('mimic joint="elbow"', 'mimic joint="wrist"'),
        ROBOT.replace('value="1.5"', 'value="-1.5"', 1),
        ROBOT.replace('axis xyz="0 1 0"', 'axis xyz="0 0 0"', 1),
        ROBOT.replace("0.7", "-0.7", 1),
        ROBOT.replace('"arm"', '"a\x01m"'),
        ROBOT.replace('"arm"', '"a&nbsp;m"'),
        ROBOT.replace('"arm"', '"a&#0;m"'),
        '<robot name="empty"/>',
        "<robot name='deep'>" + "<link name='a'>" * 5000,
        "",
        "\x00\x01\x02",
    )


DAMAGED = list(dict.fromkeys(_damaged()))


Refused = Callable[[str | bytes], list[str]]


@pytest.fixture
def refused(tmp_path: Path, gpmelica: Command) -> Refused:
    """Imports a text: what is said; the exit status has been looked at, and nothing is written."""

    def said(text: str | bytes) -> list[str]:
        path, out = tmp_path / "robot.urdf", tmp_path / "robot.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
        answer = gpmelica("import", "urdf", path, "--out", out)
        assert answer.status == 2, text
        assert not out.exists()
        assert "Traceback" not in answer.err
        lines = answer.err.replace(str(path), "FILE").splitlines()
        assert lines
        assert all(line.startswith("FILE: ") for line in lines), lines
        return [line.removeprefix("FILE: ") for line in lines]

    return said


@pytest.mark.slow
def test_two_hundred_damaged_files(refused: Refused, tmp_path: Path) -> None:
    """A message each, of a line, or of the file as a whole; one in ten by the command line, too."""
    assert len(DAMAGED) >= 200
    path = tmp_path / "damaged.urdf"
    for number, text in enumerate(DAMAGED):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DescriptionError) as caught:
            convert_urdf(path)
        lines = [line.removeprefix(f"{path}: ") for line in str(caught.value).splitlines()]
        assert number % 10 or refused(text) == lines
        for line in lines:
            place = r"line \d+: (robot|(link|joint) '.*?')(, <\w+>)?: .+"
            assert re.fullmatch(place + "|is not valid XML: .+|links: .+|.* moves no mass .+", line), (text, line)


MESSAGES = {
    "two faults": (
        ROBOT.replace('value="1.5"', 'value="heavy"', 1).replace('axis xyz="0 1 0"', 'axis xyz="0 1"', 1),
        "line 2: link 'root', <mass>: value: expected a number, got 'heavy'",
        "joint 'shoulder', <axis>: xyz: expected 3 numbers, got '0 1'",
    ),
    "unknown type": (
        ROBOT.replace('"revolute"', '"hinge"', 1),
        "expected a type among revolute, continuous, prismatic, fixed, floating, planar, got 'hinge'",
    ),
    "SDF": (ROBOT.replace("robot", "sdf"), "this is SDF, which is not supported; convert it to URDF"),
    "xacro": (
        '<robot name="x" xmlns:xacro="http://wiki.ros.org/xacro"><xacro:macro name="m"/></robot>',
        "expand the macros first: xacro robot.urdf.xacro > robot.urdf",
    ),
    "xacro around a link": (
        ROBOT.replace("<link", '<xacro:arm xmlns:xacro="http://www.ros.org/wiki/xacro" side="left"/>\n<link', 1),
        "<arm>: is an xacro macro; expand the macros first: xacro robot.urdf.xacro > robot.urdf",
    ),
    "ring": (
        ROBOT.replace('link="upper"/><child', 'link="hand"/><child'),
        "line 1: robot: these links form a closed loop: 'lower', 'hand'; links must form one tree",
    ),
    "two roots": (
        ROBOT[: ROBOT.index('<joint name="shoulder"')] + ROBOT[ROBOT.index('<joint name="elbow"') :],
        "line 1: robot: several links have no parent: 'root', 'upper'; links must form one tree",
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_messages(refused: Refused, name: str) -> None:
    """All faults are reported at their places."""
    text, *said = MESSAGES[name]
    lines = refused(text)
    assert [words for words in said if not any(line.endswith(words) for line in lines)] == []


LAUGHS = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 12))
TRICKS = {
    "billion laughs": f'<!DOCTYPE r [<!ENTITY l0 "ha">{LAUGHS}]>' + ROBOT.replace('"arm"', '"&l11;"'),
    "in text": f'<!DOCTYPE r [<!ENTITY l0 "ha">{LAUGHS}]>' + ROBOT.replace("</robot>", "&l11;</robot>"),
    "external entity": '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + ROBOT.replace('"arm"', '"&x;"'),
    "external subset": '<!DOCTYPE r SYSTEM "http://localhost:9/robot.dtd">' + ROBOT,
    "parameter entity": '<!DOCTYPE r [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]>' + ROBOT,
    "behind comments": "<?xml version='1.0'?><!-- <!-> --> <?p <!-- ?>\n<!DOCTYPE r [<!ENTITY a 'b'>]>" + ROBOT,
    "another encoding": ("<?xml version='1.0' encoding='utf-16'?><!DOCTYPE r [<!ENTITY a 'b'>]>" + ROBOT).encode(
        "utf-16"
    ),
    "many comments": "<!---->" * 50_000 + "<!DOCTYPE r>" + ROBOT,
}


@pytest.mark.parametrize("name", TRICKS)
def test_no_entities(refused: Refused, name: str) -> None:
    """A document type is refused before anything in it is looked at; what is not UTF-8 is not read."""
    begin = time.process_time()
    (line,) = refused(TRICKS[name])
    assert line.startswith(("has a document type", "is not UTF-8 text"))
    assert time.process_time() - begin < 2


def test_other_files_are_not_included(refused: Refused, tmp_path: Path) -> None:
    """XInclude is not followed: its element is one that nobody knows."""
    secret = tmp_path / "secret.txt"
    secret.write_text("<link name='stolen'/>", encoding="utf-8")
    include = f'<robot name="x"><xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{secret}"/></robot>'
    assert refused(include) == ["line 1: robot: has no links; expected at least one"]


def test_names_stay_in_comments(tmp_path: Path, gpmelica: Command) -> None:
    """A line break in a name does not end the comment that the name is in."""
    path, out = tmp_path / "robot.urdf", tmp_path / "robot.toml"
    broken = ROBOT.replace('"elbow"', '"el&#10;gravity = [0, 0, 0]&#10;bow"')
    path.write_text(broken, encoding="utf-8")
    assert gpmelica("import", "urdf", path, "--out", out).status == 0
    lines = out.read_text(encoding="utf-8").splitlines()
    assert not any(line.startswith("gravity") for line in lines)
    assert any("el?gravity = [0, 0, 0]?bow" in line for line in lines)
