"""What comes of a description: by `check` and the reference alone, or end to end."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from gpmelica import reference
from gpmelica.commands.check import facts
from gpmelica.errors import DescriptionError, SolveError
from gpmelica.generator.description.load import from_data
from gpmelica.prepared import prepare

from .parts import Awkward, Table


@dataclass(frozen=True)
class Answer:
    """Verdict, degrees of freedom if they were found, and everything that was said."""

    verdict: str
    dof: int | None
    said: str

    def faults(self, machine: Awkward) -> list[str]:
        """What differs from what the machine deserves."""
        wrong = [f"{self.verdict} instead of {machine.verdict}"] * (self.verdict != machine.verdict)
        wrong += [f"{self.dof} degrees of freedom instead of {machine.dof}"] * (
            machine.dof not in (None, self.dof)
        )
        return wrong + [f"does not say {words!r}" for words in machine.says if words not in self.said]


def by_reference(data: Table) -> Answer:
    """Of the description's checks and the reference's run: nothing is compiled."""
    try:
        prepared = prepare(from_data(data))
    except DescriptionError as error:
        return Answer("refused", None, str(error))
    found = facts(prepared)
    said = json.dumps(found, ensure_ascii=False)
    verdict = "ok" if found.get("consistent", True) else "not consistent"
    try:
        run = reference.simulate(prepared.mechanism, start=prepared.start)
    except SolveError as error:
        return Answer("stops", found["dof"], f"{said} {error}")
    return Answer(verdict, found["dof"], f"{said} {run.note}")


def end_to_end(data: Table, folder: Path, seconds: float) -> Answer:
    """Of `gpmelica run`, which builds and runs the FMU."""
    file = folder / "machine.toml"
    file.write_text(toml(data), encoding="utf-8")
    checked, run = (
        _gpmelica(command, folder, seconds) for command in (["check"], ["run", "--no-rumoca", "--out", "out"])
    )
    said = "\n".join((checked.stdout, checked.stderr, run.stdout, run.stderr))
    if checked.returncode:
        return Answer("refused" if checked.returncode == 2 else "crashed", None, said)
    dof = int(json.loads(_gpmelica(["check", "--json"], folder, seconds).stdout)["dof"])
    return Answer(_ending(run, folder / "out" / "result.json"), dof, said)


def _ending(run: subprocess.CompletedProcess[str], file: Path) -> str:
    if run.returncode not in (0, 1) or "Traceback" in run.stderr:
        return "crashed"
    if not file.exists():
        return "stops" if run.returncode else "no result"
    result = json.loads(file.read_text(encoding="utf-8"))
    if result["ok"] != (run.returncode == 0):
        return "status against result"
    if not result.get("consistent", True):
        return "not consistent"
    if not all(entry["ok"] for entry in result["runs"]):
        return "disagrees"
    return "ok" if result.get("holds", True) else "does not hold"


def _gpmelica(command: list[str], folder: Path, seconds: float) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-m", "gpmelica", command[0], "machine.toml", *command[1:]]
    try:
        return subprocess.run(arguments, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, -1, "", f"no answer within {seconds:g} s")


def toml(data: Table) -> str:
    """A description as a file's text, a key a line."""
    return "".join(f"{key} = {_value(value)}\n" for key, value in data.items())


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_value(member)}" for key, member in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=True) if value.isprintable() and value.isascii() else _escaped(value)
    return json.dumps(value) if isinstance(value, bool | int) else repr(float(value))  # type: ignore[arg-type]


def _escaped(value: str) -> str:
    """Characters beyond ASCII by their numbers: JSON's pairs of surrogates are no TOML."""
    plain = {'"': '\\"', "\\": "\\\\"}
    return '"' + "".join(plain.get(c, c if " " <= c <= "~" else f"\\U{ord(c):08X}") for c in value) + '"'
