"""Verdict on a description by `check` and by the reference solver."""

from __future__ import annotations

import json
from dataclasses import dataclass

import helpers_problem as solving

from gpmelica.analysis.system import assemble_system
from gpmelica.core.errors import DescriptionError, SolveError
from gpmelica.description.load import from_data
from gpmelica.tasks.check import facts

from .parts import Awkward, Table


@dataclass(frozen=True)
class Answer:
    """Verdict, degrees of freedom if they were found, and everything that was said."""

    verdict: str
    dof: int | None
    said: str

    def faults(self, machine: Awkward) -> list[str]:
        """Return the differences between the results and the expected results of a mechanism."""
        wrong = [f"{self.verdict} instead of {machine.verdict}"] * (self.verdict != machine.verdict)
        wrong += [f"{self.dof} degrees of freedom instead of {machine.dof}"] * (
            machine.dof not in (None, self.dof)
        )
        return wrong + [f"does not say {words!r}" for words in machine.says if words not in self.said]


def by_reference(data: Table) -> Answer:
    """Check a description and run the reference solver, without compilation."""
    try:
        prepared = assemble_system(from_data(data))
    except DescriptionError as error:
        return Answer("refused", None, str(error))
    found = facts(prepared)
    said = json.dumps(found, ensure_ascii=False)
    verdict = "ok" if found.get("consistent", True) else "not consistent"
    try:
        run = solving.simulate(prepared.mechanism, start=prepared.start)
    except SolveError as error:
        return Answer("stops", found["dof"], f"{said} {error}")
    return Answer(verdict, found["dof"], f"{said} {run.note}")


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
