"""Command lines that cannot be understood: a verdict of an earlier command must not stay in their folder."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from ..tasks.verdicts import withdraw_optimum, withdraw_run, withdraw_study, withdraw_sweep

_WITHDRAW: dict[str, Callable[[Path, str | None, Path | None], None]] = {
    "run": withdraw_run,
    "study": lambda file, case, out: withdraw_study(file, out),
    "sweep": withdraw_sweep,
    "optimize": withdraw_optimum,
}


def withdraw_misused(arguments: Sequence[str]) -> None:
    """Remove the earlier verdict of a command with wrong options, as far as its folder can be told from the rest.

    Parameters
    ----------
    arguments : sequence of str
        Command and its arguments.
    """
    if not arguments or arguments[0] not in _WITHDRAW:
        return
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--case")
    try:
        known, rest = parser.parse_known_args(list(arguments[1:]))
    except argparse.ArgumentError:
        return
    for file in (Path(word) for word in rest if Path(word).is_file()):
        _WITHDRAW[arguments[0]](file, known.case, known.out)
