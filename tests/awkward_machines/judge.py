"""What comes of a description: by `check` and the reference alone, or end to end."""

from __future__ import annotations

import io
import json
import os
import sys
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path

from helpers_time import alarm

from gpmelica import cli, reference
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


@dataclass(frozen=True)
class Ended:
    """How a command ended: exit status (−1: it did not end as commands do), and what it printed."""

    status: int
    out: str
    err: str


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
    """Of `gpmelica check` and `gpmelica run`, which builds and runs the FMU; each may take so long."""
    (folder / "machine.toml").write_text(toml(data), encoding="utf-8")
    checked = gpmelica(["check", "machine.toml", "--json"], folder, seconds)
    if checked.status not in (0, 1):  # 1: not consistent, which the run says too
        return Answer("refused" if checked.status == 2 else "crashed", None, checked.err)
    run = gpmelica(["run", "machine.toml", "--no-rumoca", "--out", "out"], folder, seconds)
    said = "\n".join((checked.out, run.out, run.err))
    return Answer(_ending(run, folder / "out" / "result.json"), int(json.loads(checked.out)["dof"]), said)


def _ending(run: Ended, file: Path) -> str:
    if run.status not in (0, 1) or any(word in run.err for word in ("Traceback", "Warning")):
        return "crashed"
    if not file.exists():
        return "stops" if run.status else "no result"
    result = json.loads(file.read_text(encoding="utf-8"))
    if result["ok"] != (run.status == 0):
        return "status against result"
    if not result.get("consistent", True):
        return "not consistent"
    if not all(entry["ok"] for entry in result["runs"]):
        return "disagrees"
    return "ok" if result.get("holds", True) else "does not hold"


def gpmelica(arguments: list[str], folder: Path, seconds: float) -> Ended:
    """A command in this process, in a folder, by the clock where the system has one that rings."""
    out, err, before = io.StringIO(), io.StringIO(), (Path.cwd(), sys.argv, sys.stdout, sys.stderr)
    os.chdir(folder)
    sys.argv, sys.stdout, sys.stderr = ["gpmelica", *arguments], out, err
    try:
        with alarm(seconds), warnings.catch_warnings():
            warnings.simplefilter("always")
            cli.main()
    except SystemExit as ended:
        return Ended(int(ended.code or 0), out.getvalue(), err.getvalue())
    except TimeoutError:
        return Ended(-1, out.getvalue(), f"no answer within {seconds:g} s")
    except Exception:
        return Ended(-1, out.getvalue(), err.getvalue() + traceback.format_exc())
    finally:
        os.chdir(before[0])
        sys.argv, sys.stdout, sys.stderr = before[1:]


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
