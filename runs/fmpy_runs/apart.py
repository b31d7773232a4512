"""Execution of FMUs in a separate process, so that a crash of an FMU does not end this process."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from ...core.errors import GpmelicaError, SolveError
from ...core.files import write_atomically
from ...core.progress import Progress, silent
from ...core.workers import alone

T = TypeVar("T")
_JOB, _DONE, _FRACTION = "job", "done", "fraction"


def apart(name: str, action: Callable[..., T], progress: Progress = silent) -> T:
    """Run `action(progress=…)` in a separate process and return its result.

    Parameters
    ----------
    name : str
        Name of the run in messages.
    action : callable
        Function that can be pickled: a function of a module, or a `partial` of such a function.
    progress : callable
        Callback with the name and the completed fraction.

    Raises
    ------
    SolveError
        If the process crashes.
    GpmelicaError
        If the action raises this error.
    """
    with TemporaryDirectory(prefix="gpmelica-", ignore_cleanup_errors=True) as place:
        folder = Path(place)
        (folder / _JOB).write_bytes(pickle.dumps(action))
        status = alone(__name__, folder, meanwhile=lambda: _tell(folder, name, progress))
        if not (folder / _DONE).exists():
            raise SolveError(f"{name}: the process of the FMU crashed: it ended {_how(status or 0)}")
        done: T | GpmelicaError = pickle.loads((folder / _DONE).read_bytes())
    if isinstance(done, GpmelicaError):
        raise done
    return done


def _tell(folder: Path, name: str, progress: Progress) -> None:
    # At first, the file that reports the progress of a run is missing or incomplete.
    with suppress(OSError, ValueError):
        progress(name, float((folder / _FRACTION).read_text("ascii")))


def _how(status: int) -> str:
    """Return a phrase about the end of a process, such as `by signal 11, SIGSEGV` or `with exit status 3`."""
    if status >= 0:
        return f"with exit status {status}"
    known = {number.value: f", {number.name}" for number in signal.Signals}
    return f"by signal {-status}{known.get(-status, '')}"


def main(folder: Path) -> None:
    """Execute the job that is stored in a folder, and write the result to the folder."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    action = pickle.loads((folder / _JOB).read_bytes())
    try:
        done = action(progress=lambda what, fraction: write_atomically(folder / _FRACTION, repr(float(fraction))))
    except GpmelicaError as error:
        done = error
    write_atomically(folder / _DONE, pickle.dumps(done))


def _end_with(parent: int) -> None:
    """End this process as soon as its parent process has ended.

    A parent that is killed cannot end its child processes.
    """
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
