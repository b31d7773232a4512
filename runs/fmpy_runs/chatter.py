"""Redirection of an FMU's stdout, so that it does not mix with a command's output."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_STDOUT = 1
# Variable with the file for errors of FMPy's CVODE, by default standard error.
_SUNDIALS = "SUNLOGGER_ERROR_FILENAME"
_OWNER = threading.Lock()  # lock, because standard output belongs to the whole process


@contextmanager
def captured(log: Path | None) -> Iterator[None]:
    """Redirect standard output of the process to the end of a file, or discard it without a file.

    FMUs of omc, and FMPy's CVODE inside them, print to standard output regardless of the logger. Only
    one thread at a time can redirect.
    """
    with _OWNER, (log or Path(os.devnull)).open("ab") as file, _environment(_SUNDIALS, "stdout"):
        _flush()
        terminal = os.dup(_STDOUT)
        os.dup2(file.fileno(), _STDOUT)
        try:
            yield
        finally:
            _flush()
            os.dup2(terminal, _STDOUT)
            os.close(terminal)


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Set an environment variable within the context, unless it is already set."""
    before = os.environ.setdefault(name, value)
    try:
        yield
    finally:
        if before is value:
            del os.environ[name]


def _flush() -> None:
    """Flush the output buffers of Python and of the C library."""
    if sys.stdout is not None:
        sys.stdout.flush()
    if sys.platform != "win32":  # on Windows, each library has its own buffers
        ctypes.CDLL(None).fflush(None)
