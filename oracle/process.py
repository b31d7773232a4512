"""Separate process of the independent Python solver: `python -m gpmelica.oracle.process FOLDER`.

The folder contains the input file `given.json`. The process first writes messages about the initial
state to `said.json`. It then writes the trajectory to `run.pickle`, or the error that ended the
simulation. During the simulation, the file `part.txt` contains the completed fraction, 0 to 1.
"""

from __future__ import annotations

import json
import math
import pickle
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import SolveError
from .checks.start import check_start
from .equations.claims import Claims
from .runs.inputs import Input
from .runs.simulate import simulate

GIVEN, SAID, PART, RUN = "given.json", "said.json", "part.txt", "run.pickle"
EFFORT = 120  # On Unix, the operating system ends the simulation after this processor time, s.
_PERIOD = 0.5  # The completed fraction of the simulation is written at most once per this time, s.
# On Unix, this signal ends a process that reaches its limit of processor time; on Windows, the value is 0.
OVER = int(getattr(signal, "SIGXCPU", 0))


def write_given(
    folder: Path,
    data: dict[str, Any],
    claims: Claims,
    inputs: dict[str, list[list[float]]],
    tolerance: float | None = None,
) -> None:
    """Write the input file for the process of the independent Python solver.

    Parameters
    ----------
    folder : Path
        Working folder of the process.
    data : dict
        Description as nested dictionaries.
    claims : Claims
        Initial state and choices of the model generator.
    inputs : dict
        For each input, by name: a list of times, s, and a list of values.
    tolerance : float or None
        Relative tolerance of the simulation; None for a tenth of the description's tolerance.
    """
    given = {"data": data, "claims": asdict(claims), "inputs": inputs, "tolerance": tolerance}
    (folder / GIVEN).write_text(json.dumps(given), "utf-8")


def main(folder: Path) -> None:
    """Check the initial state, simulate the mechanism, and write the results to the working folder."""
    if OVER:
        _limit()
    given = json.loads((folder / GIVEN).read_text("utf-8"))
    claims = _claims(given["claims"])
    inputs = {name: Input(np.array(times), np.array(values)) for name, (times, values) in given["inputs"].items()}
    try:
        _write(folder / SAID, json.dumps(check_start(given["data"], claims)).encode())
        progress = _reporter(folder / PART)
        run = simulate(given["data"], claims, inputs, tolerance=given["tolerance"], progress=progress)
        _write(folder / RUN, pickle.dumps(run))
    except SolveError as error:
        _write(folder / RUN, pickle.dumps(error))


def completed(folder: Path) -> float:
    """Return the completed fraction of the simulation in a working folder, 0 to 1."""
    try:
        return float((folder / PART).read_text("ascii"))
    except OSError:  # The file that reports the progress of a run does not exist before the run begins.
        return 0.0


def _reporter(path: Path) -> Callable[[float], None]:
    latest = -math.inf

    def report(fraction: float) -> None:
        nonlocal latest
        if time.monotonic() > latest + _PERIOD:
            latest = time.monotonic()
            with suppress(OSError):  # Windows cannot replace a file while another process reads the file.
                _write(path, repr(fraction).encode())

    return report


def _limit() -> None:
    """Limit the processor time of this process.

    At the limit, the operating system ends the process with the signal SIGXCPU.
    """
    import resource  # noqa: PLC0415 - exists on Unix only

    most = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (EFFORT if most < 0 else min(EFFORT, most), most))


def _claims(table: dict[str, Any]) -> Claims:
    own: dict[str, Any] = {key: tuple(x) if isinstance(x, list) else x for key, x in table.items()}
    return Claims(**own)


def _write(path: Path, content: bytes) -> None:
    """Write a file atomically: write a temporary file, then rename it."""
    unfinished = path.with_suffix(".part")
    unfinished.write_bytes(content)
    unfinished.replace(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
