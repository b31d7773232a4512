"""Separate process that runs an OMPython session with the OpenModelica compiler omc.

The process reads one statement per line of standard input and writes one answer per line. If omc
ends unexpectedly, OMPython waits for an answer without a time limit. A separate process can then be
terminated. The process imports no module of this package, because such an import takes longer than
most statements.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from typing import Any

from OMPython import OMCSessionABC, OMCSessionDocker, OMCSessionPort, OMSessionException


class _Listener(logging.Handler):
    """Collector of omc's warnings, which OMPython logs."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append(record.getMessage())


def main(options: str) -> None:
    """Open an OMPython session and answer statements from standard input until the input ends.

    The first answer reports whether the session was opened.

    Parameters
    ----------
    options : str
        Keyword arguments of OMPython's session class, in JSON.
    """
    listener = _Listener()
    logging.getLogger("OMPython").addHandler(listener)
    try:
        session = _opened(**json.loads(options))
    except (OMSessionException, subprocess.CalledProcessError) as error:
        _answer(error=str(error))
        return
    _answer()
    for line in sys.stdin:
        listener.heard.clear()
        try:
            value = session.sendExpression(json.loads(line), parsed=False)
            _answer(value=value, logged=listener.heard)
        except OMSessionException as error:
            _answer(error=str(error))


def _opened(**options: Any) -> OMCSessionABC:
    return OMCSessionDocker(**options) if "docker" in options else OMCSessionPort(**options)


def _answer(value: str = "", error: str = "", logged: list[str] | None = None) -> None:
    """Write an answer as a line of JSON.

    The answer contains omc's value and the messages that OMPython has logged, or the message of
    OMPython's exception.
    """
    print(json.dumps({"value": value, "error": error, "logged": logged or []}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
