"""Connection to the OpenModelica compiler omc through OMPython: one interactive session for
all statements.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from ....core.workers import surroundings
from .answers import Answer, logged_messages, session_messages, unquoted
from .deadline import Deadline
from .errors import OmcDied
from .installation import Omc
from .log import Log
from .process import POLL, Child
from .server import Container, LocalServer, Server, SessionRefused

# The process of OMPython starts from a file, because starting a module would import the whole package.
# With option -P, Python does not search for imports in the folder of the started file.
_RELAY = ("-P", str(Path(__file__).with_name("relay.py")))


class Session:
    """Interactive session with omc.

    Raises
    ------
    SessionRefused
        If omc refuses a session.
    """

    name = "session"

    def __init__(self, omc: Omc, folder: Path, deadline: Deadline, log: Log) -> None:
        self._log, self._answers = log, 0
        self._server: Server = (Container if omc.image else LocalServer)(omc, folder, deadline)
        command = [sys.executable, *_RELAY, json.dumps(self._server.options)]
        try:
            self._relay = Child(command, folder, "relay.out", surroundings(folder), stdin=subprocess.PIPE)
        except BaseException:
            self._server.end()
            raise
        try:
            opening = self._answer("start")
            if opening["error"]:
                raise SessionRefused(opening["error"])
        except BaseException:
            self.close()
            raise

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
        self._relay.tell(json.dumps(statement))
        said = self._answer(statement)
        if said["error"]:
            answer = Answer("", session_messages(said["error"]))
            if not answer.messages:
                raise OmcDied(statement, None, said["error"])
        else:
            heard = [message for text in said["logged"] for message in logged_messages(text)]
            answer = Answer(unquoted(said["value"]), tuple(heard))
        self._log.exchange(statement, answer)
        return answer

    def close(self) -> None:
        """Terminate omc and all processes that it started."""
        self._relay.end()
        self._server.end()

    def _answer(self, statement: str) -> dict[str, Any]:
        """Return omc's next answer from the process that owns the OMPython session.

        Raises
        ------
        OmcTimeout
            If omc exceeds the time limit.
        OmcDied
            If omc or the process with the session has ended.
        """
        while True:
            # The exit status is read before the answers, so that no answer is missed when the process ends.
            status = self._relay.status
            answers = self._relay.lines()
            if len(answers) > self._answers:
                self._answers = len(answers)
                return json.loads(answers[-1])  # type: ignore[no-any-return]
            self._server.check(statement)
            if status is not None:
                raise OmcDied(statement, status, self._relay.complaints())
            time.sleep(POLL)
