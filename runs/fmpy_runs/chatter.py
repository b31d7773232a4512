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
_SUNDIALS = "SUNLOGGER_ERROR_FILENAME"  # where FMPy's CVODE writes its errors, else to standard error
_OWNER = threading.Lock()  # standard output belongs to the whole process


@contextmanager
def captured(log: Path | None) -> Iterator[None]:
    """Inside, standard output of C code, and of everything else, goes to the end of a file; without one, nowhere.

    omc's FMUs print there, whatever logger they are given, and inside FMPy's CVODE does. One thread at a time is.
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
    """Inside, a variable has the value, unless it has one already."""
    before = os.environ.setdefault(name, value)
    try:
        yield
    finally:
        if before is value:
            del os.environ[name]


def _flush() -> None:
    """Python's and C's buffers."""
    if sys.stdout is not None:
        sys.stdout.flush()
    if sys.platform != "win32":  # where each library has buffers of its own
        ctypes.CDLL(None).fflush(None)
