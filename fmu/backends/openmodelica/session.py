"""Connection to the OpenModelica compiler omc through OMPython: one interactive session for
all statements.
"""

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
    """Log handler that collects omc's warnings, which OMPython only logs.

    Without a handler, OMPython would print the warnings to the terminal.
    """

    def __init__(self) -> None:
        super().__init__()
        self._thread = threading.get_ident()
        self._heard: list[Message] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._thread:
            self._heard += logged_messages(record.getMessage())

    def heard(self) -> tuple[Message, ...]:
        """Return the messages since the previous call."""
        heard, self._heard = tuple(self._heard), []
        return heard


class Session:
    """Interactive session with omc.

    Raises
    ------
    SessionRefused
        If omc refuses a session.
    """

    name = "session"

    def __init__(self, omc: Omc, folder: Path, deadline: Deadline, log: Log) -> None:
        self._log = log
        self._server: Server = (Container if omc.image else LocalServer)(omc, folder, deadline)
        self._listener = _Listener()
        logging.getLogger("OMPython").addHandler(self._listener)

    def ask(self, statement: str, *, keep: bool = False) -> Answer:
        """Return omc's answer to a statement.

        `keep` has no effect, because a session keeps the effects of all statements.

        Raises
        ------
        OmcTimeout
            If omc exceeds the time limit.
        OmcDied
            If omc ends without an answer.
        """
        self._server.check(statement)
        session = self._server.session
        session.socket.watch = lambda: self._server.check(statement)
        try:
            value = unquoted(session.sendExpression(statement, parsed=False))
            answer = Answer(value, self._listener.heard())
        except OMSessionException as error:
            self._server.check(statement)
            answer = Answer("", session_messages(str(error)))
            self._listener.heard()  # the log repeats the messages without their places
            if not answer.messages:
                raise OmcDied(statement, None, str(error)) from None
        self._log.exchange(statement, answer)
        return answer

    def close(self) -> None:
        """Terminate omc and all processes that it started."""
        # The socket or OMPython raises an exception if a statement is still being executed or omc has ended.
        with contextlib.suppress(OMSessionException, zmq.ZMQError, BuildError):
            self._server.check("quit()")
            self._server.session.sendExpression("quit()")
        self._server.session.abandon()
        self._server.end()
        logging.getLogger("OMPython").removeHandler(self._listener)
