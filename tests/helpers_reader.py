"""Pages as a reader follows them: files written, commands run one by one, and what appears on the screen.

A block with `title="NAME"` is the file NAME. One with `title="NAME, added"` is added to the file. One with
`title="NAME, changed"` has pairs of lines: `-` and an old part of the file, `+` and the new part.

Each line of a block `sh` is a command. Each line of a block `text` is a part of its output, in which `…` stands
for anything. The title of such a block may give the exit status.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from helpers_cli import Answer

ROOT = Path(__file__).resolve().parent.parent
_BLOCK = re.compile(r'^( *)```(\w+)(?: title="([^"]*)")?\n(.*?)^ *```$', re.MULTILINE | re.DOTALL)
_INSTALLATION = ("python3 -m venv", ".venv/bin/pip", "pip install")


@dataclass(frozen=True)
class Block:
    """A fenced block of a tutorial."""

    language: str
    title: str
    content: str


def blocks(page: Path) -> Iterator[Block]:
    for match in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        indent, language, title, content = match.groups()
        yield Block(language, title or "", re.sub(f"^{indent}", "", content, flags=re.MULTILINE))


class Reader:
    """Follows a tutorial in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answers: list[Answer] = []

    def follow(self, block: Block) -> None:
        """Do what a block asks for, and compare the screen with what it shows."""
        if block.language == "sh":
            self.answers = [self._run(line) for line in _commands(block.content)]
        elif block.language == "text":
            self._compare(block)
        elif block.title:
            self._write(block)

    def _run(self, line: str) -> Answer:
        words = shlex.split(line, comments=True)
        if not words or line.startswith(_INSTALLATION):
            return Answer(0, "", "")
        programs = {"gpmelica": [sys.executable, "-m", "gpmelica"], "python": [sys.executable]}
        command = programs.get(words[0]) or [str(Path(sys.executable).with_name(words[0]))]
        done = subprocess.run(
            [*command, *words[1:]], cwd=self.folder, capture_output=True, encoding="utf-8", check=False
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def _compare(self, block: Block) -> None:
        status = int(block.title.rpartition(" ")[2]) if block.title else 0
        screen = " ".join("".join(answer.out + answer.err for answer in self.answers).split())
        assert [answer.status for answer in self.answers] == [0] * (len(self.answers) - 1) + [status], screen
        for line in block.content.splitlines():
            for part in line.split("…"):
                assert " ".join(part.split()) in screen, f"expected {part!r}, found {screen}"

    def _write(self, block: Block) -> None:
        name, _, manner = block.title.partition(", ")
        path = self.folder / name
        before = path.read_text(encoding="utf-8") if manner else ""
        text = _changed(before, block.content) if manner == "changed" else before + block.content
        path.write_text(text, encoding="utf-8")


def _commands(content: str) -> list[str]:
    return [line for line in content.replace("\\\n", " ").splitlines() if line]


def _changed(text: str, changes: str) -> str:
    """Apply pairs of an old and a new line."""
    lines = changes.splitlines()
    for old, new in zip(lines[::2], lines[1::2], strict=True):
        assert (old[0], new[0]) == ("-", "+")
        assert text.count(old[1:]) == 1, f"expected once: {old[1:]}"
        text = text.replace(old[1:], new[1:])
    return text
