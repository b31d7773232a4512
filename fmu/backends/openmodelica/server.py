"""OpenModelica compiler omc as a server on this machine or in docker, and OMPython's
connection to it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any, Protocol

from .deadline import Deadline
from .errors import OmcDied, OmcTimeout
from .installation import Omc, mounted
from .process import POLL, Child

_START = 30.0  # The start of omc fails if omc does not open its port within this time, s.
_CONNECT = 10.0  # The start of omc fails if OMPython does not connect to omc within this time, s.
_PORT_FILE = re.compile(r"Dumped server port in file: (.*)")


class SessionRefused(Exception):
    """Error raised if omc refuses an interactive session; the message contains the reason."""


class Server(Protocol):
    """Interface of a running omc to which OMPython can connect.

    If omc does not become ready for a connection, the constructor terminates omc and raises
    SessionRefused.
    """

    options: dict[str, Any]  # The options are keyword arguments of OMPython's session class.

    def check(self, statement: str) -> None:
        """Raise OmcTimeout if the time limit of the build has passed, or OmcDied if omc has ended."""

    def end(self) -> None:
        """Terminate omc and all processes that it started."""


class LocalServer:
    """omc on this machine, started by this package.

    OMPython can also start omc, but would wait for minutes if omc refuses the session.
    """

    def __init__(self, omc: Omc, folder: Path, deadline: Deadline) -> None:
        self._deadline = deadline
        key = uuid.uuid4().hex
        command = [*omc.command(folder), "--interactive=zmq", f"-z={key}"]
        self._child = Child(command, folder, "session.out", omc.environment)
        try:
            self.options = {"omc_port": self._address(key), "timeout": _CONNECT}
        except BaseException:
            self._child.end()
            raise

    def check(self, statement: str) -> None:
        """Raise OmcTimeout if the time limit of the build has passed, or OmcDied if omc has ended."""
        self._child.check(self._deadline, statement)
        if self._child.status is not None:
            raise OmcDied(statement, self._child.status, self._said())

    def end(self) -> None:
        """Terminate omc and all processes that it started."""
        self._child.end()

    def _address(self, key: str) -> str:
        opening = Deadline(_START)
        while True:
            # The exit status is read before the output, so that no output is missed if omc ends.
            status = self._child.status
            found = _PORT_FILE.search(self._child.text())
            # omc prints the name of its port file without a newline; a complete name ends with the session key.
            if found and found[1].endswith(key) and (port := Path(found[1])).is_file():
                address = port.read_text("utf-8").strip()
                port.unlink()
                return address
            if status is not None:
                raise SessionRefused(" ".join(self._said().split()) or f"exit status {status}")
            self._child.check(self._deadline, "start")
            if opening.passed:
                raise SessionRefused(f"no port after {_START:g} s")
            time.sleep(POLL)

    def _said(self) -> str:
        return f"{self._child.text()}\n{self._child.complaints()}"


class Container:
    """omc in a docker container, started by OMPython."""

    def __init__(self, omc: Omc, folder: Path, deadline: Deadline) -> None:
        if sys.platform == "win32" or os.getuid() == 0:
            raise SessionRefused("in docker, omc serves neither root nor Windows")
        self._deadline = deadline
        self._name = f"gpmelica-{uuid.uuid4().hex}"
        extra = ["--name", self._name, *mounted(folder)]
        self.options = {"docker": omc.image, "dockerExtraArgs": extra, "timeout": _START}

    def check(self, statement: str) -> None:
        """Raise OmcTimeout if the time limit of the build has passed."""
        if self._deadline.passed:
            raise OmcTimeout(f"omc in docker took longer than {self._deadline.seconds:g} s ({statement})")

    def end(self) -> None:
        """Terminate the docker container."""
        subprocess.run(["docker", "kill", self._name], capture_output=True, check=False)
