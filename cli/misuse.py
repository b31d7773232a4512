"""Invalidation of earlier result files after an invalid command line.

Users could otherwise mistake the earlier files for results of the invalid command.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from ..tasks.verdicts import withdraw_cosim, withdraw_optimum, withdraw_run, withdraw_study, withdraw_sweep

_WITHDRAW: dict[str, Callable[[Path, str | None, Path | None], None]] = {
    "run": withdraw_run,
    "study": lambda file, case, out: withdraw_study(file, out),
    "sweep": withdraw_sweep,
    "optimize": withdraw_optimum,
    "cosim": lambda file, case, out: withdraw_cosim(file, out),
}


def withdraw_misused(arguments: Sequence[str]) -> None:
    """Remove or rename the results of an earlier command if the same command is given with invalid options.

    For `sweep`, the report page is removed, and the result table and the signals are renamed. For other
    commands, results are removed. If the output folder cannot be determined from the arguments, no file
    is changed.

    Parameters
    ----------
    arguments
        Name of the command, followed by its arguments.
    """
    if not arguments or arguments[0] not in _WITHDRAW or "--help" in arguments:
        return
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--case")
    try:
        known, rest = parser.parse_known_args(list(arguments[1:]))
    except argparse.ArgumentError:
        return
    files = [Path(word) for word in rest if word.endswith((".toml", ".ssp")) and os.path.isfile(word)]
    if len(files) != 1:  # The output folder is known only if exactly one description file is given.
        return
    with suppress(OSError):
        _WITHDRAW[arguments[0]](files[0], known.case, known.out)
