"""A small sound description, and the command line run on changed copies of it."""

from __future__ import annotations

import os
import tomllib
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers_cli import Command

ARM = """\
schema = 1
name = "Arm"

[parameters]
a = 1.0

[[links]]
name = "upper"
parent = "ground"
mass = 2.0
com = [0.4, 0.0, 0.0]
inertia = [0.02, 0.1, 0.11]
joint = { type = "revolute", axis = [0.0, -1.0, 0.0], position = 0.4 }

[[links]]
name = "lower"
parent = "upper"
frame = { xyz = [1.0, 0.0, 0.0] }
mass = 1.5
com = [0.3, 0.0, 0.0]
inertia = [0.01, 0.08, 0.08]
joint = { type = "revolute", axis = [0.0, -1.0, 0.0], position = 0.9 }

[points]
E = { link = "lower", position = [0.8, 0.0, 0.0] }

[[programmed]]
name = "height"
expression = "E.z - start(E.z)"

[simulation]
stop = 1.0
"""

BARS = """\
schema = 1
name = "Bars"
gravity = [0.0, -9.81, 0.0]

[[links]]
name = "crank"
parent = "ground"
mass = 0.8
inertia = [0.01, 0.08, 0.08]
joint = { type = "revolute", axis = [0.0, 0.0, 1.0], position = 0.7 }

[[links]]
name = "coupler"
parent = "crank"
frame = { xyz = [0.4, 0.0, 0.0] }
mass = 2.0
inertia = [0.01, 0.2, 0.2]
joint = { type = "revolute", axis = [0.0, 0.0, 1.0], position = -0.2 }

[[links]]
name = "rocker"
parent = "ground"
frame = { xyz = [1.0, 0.0, 0.0] }
mass = 1.6
inertia = [0.01, 0.16, 0.16]
joint = { type = "revolute", axis = [0.0, 0.0, 1.0], position = 1.3 }

[[closures]]
name = "pin"
type = "point_on_line"
a = { link = "coupler", xyz = [1.0, 0.0, 0.0] }
b = { link = "rocker", xyz = [0.8, 0.0, 0.0] }

[simulation]
stop = 1.0
"""

# by their names: what is changed in it, and what is said to that
WRONG: dict[str, dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "data" / "wrong_descriptions.toml").read_text(encoding="utf-8")
)
_EXPRESSION = 'expression = "E.z - start(E.z)"'
_PATH = 'path = { point = "E", components = ["x", "z"], waypoints = [[1, 0, 0], [1.2, 0, 0]], leg_time = 1.0 }'
# what the changes stand for: a piece of the text (or "", its end), and what takes its place
_SHORTHANDS = {
    "append": ("", "{}"),
    "body": ("mass = 1.5\ncom = [0.3, 0.0, 0.0]\ninertia = [0.01, 0.08, 0.08]", "{}"),
    "closure": ('type = "point_on_line"', "{}"),
    "friction": ("position = 0.7 }", "position = 0.7, friction = {{ {} }} }}"),
    "joint": ('{ type = "revolute", axis = [0.0, -1.0, 0.0], position = 0.9 }', "{{ {} }}"),
    "expression": (_EXPRESSION, "expression = '''{}'''"),
    "order": ('name = "height"', 'name = "height"\norder = {}'),
    "force": ("", '[[forces]]\nname = "f"\n{}'),
    "motion": ("", '[[motions]]\nname = "lifting"\njoint = "upper"\n{}'),
    "case": ("", '[[cases]]\nname = "varied"\nset = {{ {} }}'),
}


def wrong_text(name: str) -> str:
    """One of the wrong descriptions."""
    entry = WRONG[name]
    pieces = [(old, new) for old, new in entry.get("replace", ())]
    pieces += [(old, new.format(entry[key])) for key, (old, new) in _SHORTHANDS.items() if key in entry]
    if "path" in entry:
        old, new = entry["path"]
        assert _PATH.count(old) == 1
        pieces.append((_EXPRESSION, _PATH.replace(old, new)))
    return changed(*pieces, text=BARS if entry.get("of") == "bars" else ARM)


def changed(*replacements: tuple[str, str], text: str = ARM) -> str:
    """A description with pieces of its text replaced; each must be there once. "" stands for the end."""
    for old, new in replacements:
        assert not old or text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
        text = text.replace(old, new) if old else text + new + "\n"
    return text


@dataclass(frozen=True)
class Outcome:
    """Result of a command: exit status, printed text, and the files left in its initially empty folder."""

    status: int
    out: str
    problems: list[str]
    files: list[str]


class CommandLine:
    """Runs commands in this process, in an empty folder each; descriptions lie elsewhere."""

    def __init__(self, gpmelica: Command, folder: Path) -> None:
        self.input, self._work, self._gpmelica = folder / "input.toml", folder / "work", gpmelica
        self._work.mkdir()

    def on_text(self, text: str, command: str = "check", *options: str) -> Outcome:
        """A command on a description."""
        self.input.write_text(text, encoding="utf-8")
        return self(command, str(self.input), *options)

    def __call__(self, *arguments: str) -> Outcome:
        """`gpmelica ARGUMENTS`."""
        with chdir(self._work):
            answer = self._gpmelica(*arguments)
        files = [name for _, folders, names in os.walk(self._work) for name in (*folders, *names)]
        problems = [line.removeprefix(f"{self.input}: ") for line in answer.err.splitlines()]
        return Outcome(answer.status, answer.out, problems, files)
