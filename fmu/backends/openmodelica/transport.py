"""Connection to omc: a session if possible, scripts otherwise."""

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
    """One omc that answers statements of its scripting language, in a working directory of its own."""

    name: str

    def ask(self, statement: str, *, keep: bool = False) -> Answer:
        """Answer to a statement without semicolon; keep: later statements rely on its effect."""

    def close(self) -> None:
        """End omc."""


@contextmanager
def connected(
    omc: Omc, folder: Path, deadline: Deadline, log: Log, *, sessions: bool = True
) -> Iterator[Transport]:
    """A transport, closed at the end: scripts if omc refuses a session, as for root, or `sessions` is off."""
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
