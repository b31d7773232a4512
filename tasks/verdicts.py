"""Removal of outdated verdicts.

A command removes the verdicts of earlier commands before it starts work. If the command fails, no
outdated verdict remains.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from ..core.errors import DescriptionError
from ..core.input_files import read_text
from ..runs.compare.result import withdraw_verdict

_LARGEST = 1_000_000  # Maximum size of a description file, bytes.
_NAME = re.compile(r"""^\s*name\s*=\s*["'](\w+)["']""", re.MULTILINE)


def withdraw_run(file: Path, case: str | None, out: Path | str | None) -> None:
    """Remove the verdict that an earlier command `gpmelica run` wrote for a description.

    Parameters
    ----------
    file
        Description, which need not be valid.
    case
        Name of a case, or None.
    out
        Folder of the run; None for the folder that is named after the model and the case.
    """
    for folder in _folders(file, out, f"_{case}" if case else ""):
        withdraw_verdict(folder)


def withdraw_study(file: Path, out: Path | str | None) -> None:
    """Remove the verdicts that an earlier command `gpmelica study` wrote.

    The function removes the comparison of the cases and the verdict of each compared case.
    """
    for folder in _folders(file, out, "_study"):
        for case in _cases(folder / "cases.json"):
            withdraw_verdict(folder / case)
        _remove(folder, "cases.html", "cases.json")


def withdraw_sweep(file: Path, case: str | None, out: Path | str | None) -> None:
    """Remove the page of an earlier `sweep`, and add the prefix `earlier_` to the names of its result files.

    Finished runs and the file `sweep.json`, which identifies the sweep, are kept, so that the sweep can
    be resumed. A folder in which another process works is left unchanged.
    """
    from ..sweeps.parts import is_held
    from ..sweeps.results import mark_as_earlier

    for folder in _folders(file, out, f"_{case}_sweep" if case else "_sweep"):
        if not is_held(folder):
            _remove(folder, "sweep.html")
            mark_as_earlier(folder)


def withdraw_cosim(system: Path, out: Path | str | None) -> None:
    """Remove the results that an earlier command `gpmelica cosim` wrote for an SSP archive."""
    _remove(Path(out or system.stem), "report.html", "result.json", "report.txt", "signals.csv")


def withdraw_optimum(file: Path, case: str | None, out: Path | str | None) -> None:
    """Remove the result that an earlier command `gpmelica optimize` wrote.

    The verdict on the run with the best values is also removed.
    """
    for folder in _folders(file, out, f"_{case}_optimum" if case else "_optimum"):
        _remove(folder, "optimum.json")
        withdraw_verdict(folder / "run")


def _folders(file: Path, out: Path | str | None, ending: str) -> Iterator[Path]:
    if out is not None:
        yield Path(out)
    elif name := _name(file):
        yield Path(f"{name}{ending}")


def _name(file: Path) -> str:
    try:
        text = read_text(file, _LARGEST)
    except DescriptionError:
        return ""
    try:
        name = tomllib.loads(text).get("name", "")
    except (ValueError, RecursionError):
        found = _NAME.search(text.partition("\n[")[0])
        return found[1] if found else ""
    return name if isinstance(name, str) and re.fullmatch(r"\w+", name) else ""


def _cases(path: Path) -> list[str]:
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    names = listed.get("cases") if isinstance(listed, dict) else None
    if not isinstance(names, dict):
        return []
    return [name for name in names if Path(name).name == name]


def _remove(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).unlink(missing_ok=True)
