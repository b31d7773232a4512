"""Connection to the OpenModelica compiler omc: an interactive session if possible, otherwise
scripts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from .answers import Answer
from .deadline import Deadline
from .installation import Omc
from .log import Log
from .script import Script
from .server import SessionRefused
from .session import Session


class Transport(Protocol):
    """Connection to omc, which executes statements of its scripting language in its working directory."""

    name: str

    def ask(self, statement: str, *, keep: bool = False) -> Answer:
        """Return omc's answer to a statement, which is given without a semicolon.

        The argument `keep` must be true if later statements depend on the effect of this statement.
        """

    def close(self) -> None: ...


@contextmanager
def connected(
    omc: Omc, folder: Path, deadline: Deadline, log: Log, *, sessions: bool = True
) -> Iterator[Transport]:
    """Yield a connection to omc, which is closed at the end of the context.

    Scripts are used if `sessions` is false, or if omc refuses a session. For example, omc refuses
    sessions of the user root.
    """
    transport = _session(omc, folder, deadline, log) if sessions else Script(omc, folder, deadline, log)
    log.add(f"{omc}, {transport.name}")
    try:
        yield transport
    finally:
        transport.close()


def _session(omc: Omc, folder: Path, deadline: Deadline, log: Log) -> Transport:
    try:
        return Session(omc, folder, deadline, log)
    except SessionRefused as refused:
        log.add(f"no session: {refused}")
        return Script(omc, folder, deadline, log)
