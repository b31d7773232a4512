"""Process of its own for the second opinion: `python -m gpmelica.oracle.process FOLDER`.

The folder has `given.json`. The process writes `said.json`, what it says against the start, and then `run.pickle`:
its trajectory, or the error that ended the motion.
"""

from __future__ import annotations

import json
import pickle
import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import SolveError
from .checks.start import check_start
from .equations.claims import Claims
from .runs.inputs import Input
from .runs.simulate import simulate

GIVEN, SAID, RUN = "given.json", "said.json", "run.pickle"
EFFORT = 120  # s of processor time, where the system counts it
OVER = int(getattr(signal, "SIGXCPU", 0))  # signal that ends a process whose time is over


def write_given(
    folder: Path,
    data: dict[str, Any],
    claims: Claims,
    inputs: dict[str, list[list[float]]],
    tolerance: float | None = None,
) -> None:
    """Write what the process needs.

    Parameters
    ----------
    folder : Path
        Folder of the process.
    data : dict
        Description as plain tables.
    claims : Claims
        Initial state and choices of production.
    inputs : dict
        Name of an input to its times and values, s and the input's unit.
    tolerance : float or None
        Relative tolerance of the run; None: a tenth of the description's.
    """
    given = {"data": data, "claims": asdict(claims), "inputs": inputs, "tolerance": tolerance}
    (folder / GIVEN).write_text(json.dumps(given), "utf-8")


def main(folder: Path) -> None:
    """Check the start, and run."""
    if OVER:
        _limit()
    given = json.loads((folder / GIVEN).read_text("utf-8"))
    claims = _claims(given["claims"])
    inputs = {name: Input(np.array(time), np.array(values)) for name, (time, values) in given["inputs"].items()}
    try:
        _write(folder / SAID, json.dumps(check_start(given["data"], claims)).encode())
        run = simulate(given["data"], claims, inputs, tolerance=given["tolerance"])
        _write(folder / RUN, pickle.dumps(run))
    except SolveError as error:
        _write(folder / RUN, pickle.dumps(error))


def _limit() -> None:
    """Let this process end with SIGXCPU after its processor time."""
    import resource  # noqa: PLC0415 - of Unix alone

    most = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (EFFORT if most < 0 else min(EFFORT, most), most))


def _claims(table: dict[str, Any]) -> Claims:
    """Return the claims, whose names JSON has as lists."""
    own: dict[str, Any] = {key: tuple(x) if isinstance(x, list) else x for key, x in table.items()}
    return Claims(**own)


def _write(path: Path, content: bytes) -> None:
    """Write a file that is whole as soon as it has its name."""
    unfinished = path.with_suffix(".part")
    unfinished.write_bytes(content)
    unfinished.replace(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
