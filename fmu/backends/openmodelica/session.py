"""omc driven through OMPython: one session for all statements."""

from __future__ import annotations

import contextlib
import logging
import threading
from pathlib import Path

import zmq
from OMPython import OMSessionException

from ....core.errors import BuildError
from .answers import Answer, Message, logged_messages, session_messages, unquoted
from .deadline import Deadline
from .errors import OmcDied
from .installation import Omc
from .log import Log
from .server import Container, LocalServer, Server


class _Listener(logging.Handler):
    """Hears omc's warnings, which OMPython only logs; without a handler they would go to the terminal."""

    def __init__(self) -> None:
        super().__init__()
        self._thread = threading.get_ident()
        self._heard: list[Message] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._thread:
            self._heard += logged_messages(record.getMessage())

    def heard(self) -> tuple[Message, ...]:
        """Return the messages since the last question."""
        heard, self._heard = tuple(self._heard), []
        return heard


class Session:
    """A session; raises SessionRefused as soon as omc does."""

    name = "session"

    def __init__(self, omc: Omc, folder: Path, deadline: Deadline, log: Log) -> None:
        self._log = log
        self._server: Server = (Container if omc.image else LocalServer)(omc, folder, deadline)
        self._listener = _Listener()
        logging.getLogger("OMPython").addHandler(self._listener)

    def ask(self, statement: str, *, keep: bool = False) -> Answer:
        """Answer of omc; `keep` is for scripts, a session keeps everything. Raises OmcTimeout or OmcDied."""
        self._server.check(statement)
        session = self._server.session
        session.socket.watch = lambda: self._server.check(statement)
        try:
            value = unquoted(session.sendExpression(statement, parsed=False))
            answer = Answer(value, self._listener.heard())
        except OMSessionException as error:
            self._server.check(statement)
            answer = Answer("", session_messages(str(error)))
            self._listener.heard()  # the same once more, without its places
            if not answer.messages:
                raise OmcDied(statement, None, str(error)) from None
        self._log.exchange(statement, answer)
        return answer

    def close(self) -> None:
        """End omc and everything that it has started."""
        # in the middle of a statement, or without omc, the socket refuses or OMPython gives up
        with contextlib.suppress(OMSessionException, zmq.ZMQError, BuildError):
            self._server.check("quit()")
            self._server.session.sendExpression("quit()")
        self._server.session.abandon()
        self._server.end()
        logging.getLogger("OMPython").removeHandler(self._listener)
