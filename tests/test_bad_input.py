"""Wrong descriptions: each ends with exit status 2, the key and what was expected, and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers_bad_input import ARM, BARS, WRONG, CommandLine, changed, wrong_text
from helpers_cli import Command


@pytest.fixture
def run(tmp_path: Path, gpmelica: Command) -> CommandLine:
    """The command line in this process."""
    return CommandLine(gpmelica, tmp_path)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_descriptions(run: CommandLine, name: str) -> None:
    """Each problem is a line with the key and what was expected; there are no others."""
    expected = WRONG[name]["says"]
    outcome = run.on_text(wrong_text(name))
    assert outcome.status == 2
    assert [line[: len(words)] for line, words in zip(outcome.problems, expected, strict=False)] == expected
    assert len(outcome.problems) == len(expected), outcome.problems
    assert outcome.files == []
    assert bool(outcome.out) == ("case" in WRONG[name])


EXCESSES = {
    "integer of 5000 digits": (
        ("mass = 1.5", f"mass = 0x{'f' * 5000}"),
        "links[1].mass (lower): expected a number, got a number of thousands of digits",
    ),
    "decimal integer of 5000 digits": (
        ("mass = 1.5", f"mass = {'1' * 5000}"),
        "the file is not valid TOML: Exceeds the",
    ),
    "10,000 parentheses": (
        ("E.z - start(E.z)", "(" * 10_000 + "E.z" + ")" * 10_000),
        "programmed[0].expression (height): expected at most 10000 characters, got 20003",
    ),
    "3,000 signs": (
        ("E.z - start(E.z)", "-" * 3000 + "E.z"),
        "programmed[0].expression (height): expected at most 50 levels;",
    ),
    "no links": (
        (ARM[ARM.index("[[links]]") :], ""),
        "links: nothing can move: all joints are fixed",
    ),
    "links is a table": (
        (ARM[ARM.index("[[links]]") : ARM.index("[points]")], "[links]\n"),
        "links: expected an array, got {}",
    ),
}


@pytest.mark.parametrize("name", EXCESSES)
def test_excessive_input_gets_a_short_message(run: CommandLine, name: str) -> None:
    """Extremely large or empty input is answered with a message of normal length."""
    replacement, expected = EXCESSES[name]
    outcome = run.on_text(changed(replacement))
    assert (outcome.status, outcome.out, outcome.files) == (2, "", [])
    assert outcome.problems[0].startswith(expected)
    assert len(" ".join(outcome.problems)) < 400


LOADS = ("[simulation]", '[outputs]\nloads = "all"\n\n[simulation]')
RUBBING = (
    "position = 0.7 }",
    "position = 0.7, friction = { model = 'dahl', sigma0 = 1e3, mu_s = 0.2, diameter = 0.1 } }",
)
SOFT = (
    'type = "point_on_line"',
    'type = "spherical"\nmodel = "spring_damper"\nstiffness = [1e6, 1e6, 1e6, 0.0, 0.0, 0.0]',
)


@pytest.mark.parametrize("text", [ARM, BARS, changed(LOADS, RUBBING, text=BARS), changed(SOFT, text=BARS)])
def test_the_sound_ones(run: CommandLine, text: str) -> None:
    """The descriptions that the others are made from are right: it is the change that is wrong."""
    outcome = run.on_text(text)
    assert (outcome.status, outcome.problems, outcome.files) == (0, [], [])


def test_redundant_loop(run: CommandLine) -> None:
    """A planar linkage closed by a spatial revolute joint: of its five rows two count, and the others are named.

    The same where there are fewer coordinates than rows.
    """
    free = "\n".join(
        f'[[links]]\nname = "free{i}"\nparent = "ground"\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\n'
        'joint = { type = "revolute", axis = [0.0, 0.0, 1.0] }\n'
        for i in range(3)
    )
    spatial = changed(('type = "point_on_line"', 'type = "revolute"'), text=BARS)
    for text in (spatial, changed(("[[closures]]", f"{free}\n[[closures]]"), text=spatial)):
        outcome = run.on_text(text)
        assert (outcome.status, outcome.problems) == (0, [])
        assert "of rank 2" in outcome.out
        assert all(row in outcome.out.split("of rank 2")[1] for row in ("pin_z", "pin_xz", "pin_yz"))


@pytest.mark.parametrize("command", ["check", "modelica", "build", "run", "statics"])
def test_every_command(run: CommandLine, command: str) -> None:
    """All commands refuse the same way, and do not make their folder."""
    options = ["--out", "results"] if command in ("modelica", "build", "run") else []
    outcome = run.on_text(changed(("mass = 1.5", "mass = 0.0")), command, *options)
    assert (outcome.status, outcome.files) == (2, [])
    assert outcome.problems == ["links[1].mass (lower): expected a number above 0, got 0.0"]


def test_all_problems_at_once(run: CommandLine) -> None:
    """Faults of parts, wrong references between sound parts, and those of cases are reported together.

    Keys count from the file, not from what is left of it; faulty parts are known by their names.
    """
    text = changed(
        ('parent = "ground"', 'parent = "ground"\nmas = 1.0'),
        ('parent = "upper"', 'parent = "column"'),
        ("[points]", '[points]\nF = { link = "upper", place = [0, 0, 0] }\nG = { link = "nowhere" }'),
        ('"E.z - start(E.z)"', '"H.z + F.z + upper.angle"'),
        ("stop = 1.0", "stop = -1.0"),
        ("", '[[forces]]\nname = "f"\njoint = "elbow"\neffort = "1 +"'),
        ("", '[[cases]]\nname = "c"\nset = { "links.*.mass" = 0.0, "links.jib.mass" = 1.0 }'),
    )
    outcome = run.on_text(text)
    assert outcome.status == 2
    expected = (
        "links[0].mas (upper): unknown key; did you mean 'mass'?",
        "points.F.place: unknown key; known are: link, position, rpy",
        "simulation.stop: expected a number above 0, got -1.0",
        "links[1].parent (lower): there is no link 'column'; known are: ground, upper, lower",
        "points.G.link: there is no link 'nowhere'; known are: ground, upper, lower",
        "programmed[0].expression (height): unknown name 'H.z'; known are: t, pi, a, F.x, F.y, F.z",
        "forces[0].joint (f): there is no link 'elbow'; known are: upper, lower",
        "forces[0].effort (f): cannot read '1 +': invalid syntax at its end",
        "cases[0].set.\"links.jib.mass\": there is no key 'jib'; known are: upper, lower",
        "cases[0].set: leads to links[0].mass (upper): expected a number above 0, got 0.0",
        "cases[0].set: leads to links[1].mass (lower): expected a number above 0, got 0.0",
    )
    assert [line[:60] for line in outcome.problems] == [line[:60] for line in expected]


def test_forces_without_a_value_at_the_start(run: CommandLine) -> None:
    """An expression that has no value where the run begins is named with the time."""
    for text in ("1/t", "sqrt(E.x - 10)", "log(t)"):
        outcome = run.on_text(changed(("", f'[[forces]]\nname = "f"\njoint = "lower"\neffort = "{text}"')))
        assert outcome.status == 2
        assert "force f has no value at t = 0 s: " in outcome.problems[0]
        assert len(outcome.problems) == 1


def test_unknown_case(run: CommandLine) -> None:
    """A case that the file does not have is named with those that it has."""
    two = ARM + '[[cases]]\nname = "light"\n[[cases]]\nname = "heavy"\n'
    hints = "did you mean 'heavy'?", "known are: light, heavy", "known are: none"
    for text, case, hint in zip((two, two, ARM), ("hevy", "wide", "light"), hints, strict=True):
        outcome = run.on_text(text, "check", "--case", case)
        assert (outcome.status, outcome.problems) == (2, [f"cases: there is no case '{case}'; {hint}"])


FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "schema: the key is missing"),
    "not TOML": (
        b"schema: 1\n",
        "the file is not valid TOML: Expected '=' after a key in a key/value pair (at line 1",
    ),
    "URDF": (
        b'<?xml version="1.0"?>\n<!-- an arm -->\n<robot name="arm"/>\n',
        "expected a description in TOML, got a URDF file, which the command import urdf takes",
    ),
    "XML": (b"<!-- -->\n<robots/>\n", "expected a description in TOML, got an XML file"),
    "JSON": (b'{"schema": 1}\n', "expected a description in TOML, got a JSON file"),
    "not UTF-8": (b'schema = 1\nname = "Kr\xe1n"\n', "is not UTF-8 text (byte 21)"),
    "UTF-16": ("schema = 1".encode("utf-16"), "is not UTF-8 text (byte 0)"),
    "garbage": (bytes(range(256)) * 100, "is not UTF-8 text (byte 128)"),
    "10 MB of garbage": (b"\x00\xff" * 5_000_000, "is too large; expected at most 1000000 bytes"),
    "key twice": (b"schema = 1\nschema = 1\n", "the file is not valid TOML: Cannot overwrite a value (at line 2"),
    "100,000 brackets": (b"a = " + b"[" * 100_000, "the file is not valid TOML: "),
    "30 brackets": (b"a = " + b"[" * 30 + b"]" * 30, "expected tables and arrays nested in at most 20 levels"),
    "200 tables": (
        b"[" + b".".join([b"a"] * 200) + b"]",
        "expected tables and arrays nested in at most 20 levels",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_files(run: CommandLine, name: str) -> None:
    """Files that are no descriptions at all."""
    content, expected = FILES[name]
    run.input.write_bytes(content)
    outcome = run("check", str(run.input))
    assert (outcome.status, outcome.out, outcome.files) == (2, "", [])
    assert outcome.problems[0].startswith(expected)
    assert all(len(line) < 300 for line in outcome.problems)


def test_no_file(run: CommandLine) -> None:
    """A file that is not there, a folder in its place, and a link that leads to itself."""
    assert run("check", str(run.input)).problems == ["cannot be read: No such file or directory"]
    run.input.mkdir()
    assert run("check", str(run.input)).problems == ["cannot be read: Is a directory"]
    run.input.rmdir()
    run.input.symlink_to(run.input)
    outcome = run("check", str(run.input))
    assert outcome.problems == ["cannot be read: Too many levels of symbolic links"]
    assert outcome.status == 2


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(run: CommandLine) -> None:
    """A file without permission to read it."""
    run.input.write_text(ARM, encoding="utf-8")
    run.input.chmod(0)
    assert run("check", str(run.input)).problems == ["cannot be read: Permission denied"]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless file here")
def test_endless_file(run: CommandLine) -> None:
    """A file without an end is not read to it."""
    outcome = run("check", "/dev/zero")
    assert outcome.problems == ["/dev/zero: is too large; expected at most 1000000 bytes"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("unknown key", ["check"]),
        ("import", ["check", "--json"]),
        ("nan", ["run", "--out", "results"]),
        ("unreachable waypoint", ["run", "--out", "results"]),
        ("huge power", ["modelica"]),
    ],
)
def test_as_a_command(tmp_path: Path, name: str, arguments: list[str]) -> None:
    """The program itself, as users call it: status 2, one line on standard error, no traceback, no file."""
    file, folder = tmp_path / "arm.toml", tmp_path / "work"
    file.write_text(wrong_text(name), encoding="utf-8")
    folder.mkdir()
    command = [sys.executable, "-m", "gpmelica", arguments[0], str(file), *arguments[1:]]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith(f"{file}: {WRONG[name]['says'][0]}")
    assert len(ended.stderr.splitlines()) == 1
    assert list(folder.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arm.toml", "work"]
