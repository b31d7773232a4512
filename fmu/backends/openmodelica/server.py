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
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import zmq
from OMPython import OMCSessionABC, OMCSessionDocker, OMCSessionPort, OMSessionException

from .deadline import Deadline
from .errors import OmcDied, OmcTimeout
from .installation import Omc, mounted
from .process import Child

_START = 30.0  # Maximum time until omc opens its port, s.
_CONNECT = 10.0  # Maximum time until OMPython is connected, s.
_POLL = 0.02  # Interval between checks during the start of omc, s.
_LISTEN = 100  # Interval between checks of omc during a statement, ms.
_PORT_FILE = re.compile(r"Dumped server port in file: (.*)")


class SessionRefused(Exception):
    """Error for an omc that refuses an interactive session; the text contains the reason."""


class _PatientSocket(zmq.Socket[bytes]):
    """ZeroMQ socket that waits for an answer until `watch` raises an exception.

    ZeroMQ itself would wait forever for an omc that has ended.
    """

    watch: Callable[[], None] | None = None

    def recv_string(self, flags: int = 0, encoding: str = "utf-8") -> str:
        """Return the next message as text, as soon as ZeroMQ has received it."""
        while not self.poll(_LISTEN):
            if self.watch is not None:
                self.watch()
        return super().recv_string(flags, encoding)


class PatientSession(OMCSessionABC):
    """OMPython session with a `_PatientSocket`, created like the sessions of OMPython 4.1."""

    def __post_init__(self) -> None:
        self.socket = _PatientSocket(zmq.Context.instance(), zmq.REQ)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.IMMEDIATE, True)
        self.socket.connect(str(self.get_port()))
        self._omc_zmq = self.socket

    def abandon(self) -> None:
        """Close the connection, even while omc executes a statement."""
        self.socket.close(linger=0)
        self._omc_zmq = None
        if self._omc_loghandle is not None:
            self._omc_loghandle.close()
        for file in self._temp_dir.glob(f"{self._omc_filebase}*"):  # OMPython does not remove these files
            file.unlink()


class _Port(PatientSession, OMCSessionPort):
    pass


class _Docker(PatientSession, OMCSessionDocker):
    pass


class Server(Protocol):
    """Interface of a running omc and its connection.

    If the start fails, the object terminates omc and raises SessionRefused.
    """

    @property
    def session(self) -> PatientSession:
        """OMPython's session."""

    def check(self, statement: str) -> None:
        """Raise OmcTimeout or OmcDied if no answer can be expected any more."""

    def end(self) -> None:
        """Terminate omc and all processes that it started."""


class LocalServer:
    """omc on this machine, started by this package.

    OMPython's own start would wait for minutes for an omc that has refused a session.
    """

    def __init__(self, omc: Omc, folder: Path, deadline: Deadline) -> None:
        self._deadline = deadline
        key = uuid.uuid4().hex
        command = [*omc.command(folder), "--interactive=zmq", f"-z={key}"]
        self._child = Child(command, folder, "session.out", omc.environment)
        try:
            self.session = _Port(omc_port=self._address(key), timeout=_CONNECT)
        except BaseException:
            self._child.end()
            raise
        self.session.socket.watch = lambda: self.check("session")

    def check(self, statement: str) -> None:
        """Raise OmcTimeout or OmcDied if no answer can be expected any more."""
        self._child.check(self._deadline, statement)
        if self._child.status is not None:
            raise OmcDied(statement, self._child.status, self._said())

    def end(self) -> None:
        """Terminate omc and all processes that it started."""
        self._child.end()

    def _address(self, key: str) -> str:
        opening = Deadline(_START)
        while True:
            # Read before the output, so that the output of an omc that has ended is complete.
            status = self._child.status
            found = _PORT_FILE.search(self._child.text())
            # The file name is printed without a newline; it is complete once it ends with the key.
            if found and found[1].endswith(key) and (port := Path(found[1])).is_file():
                address = port.read_text("utf-8").strip()
                port.unlink()
                return address
            if status is not None:
                raise SessionRefused(" ".join(self._said().split()) or f"exit status {status}")
            self._child.check(self._deadline, "start")
            if opening.passed:
                raise SessionRefused(f"no port after {_START:g} s")
            time.sleep(_POLL)

    def _said(self) -> str:
        return f"{self._child.text()}\n{self._child.complaints()}"


class Container:
    """omc in a docker container, started by OMPython."""

    def __init__(self, omc: Omc, folder: Path, deadline: Deadline) -> None:
        self._deadline = deadline
        if sys.platform == "win32" or os.getuid() == 0:
            raise SessionRefused("omc in docker does not support sessions for root or on Windows")
        try:
            self.session = _Docker(docker=omc.image, dockerExtraArgs=mounted(folder), timeout=_START)
        except (OMSessionException, subprocess.CalledProcessError) as error:
            raise SessionRefused(str(error)) from None

    def check(self, statement: str) -> None:
        """Raise OmcTimeout if the time limit is exceeded."""
        if self._deadline.passed:
            raise OmcTimeout(f"omc in docker took longer than {self._deadline.seconds:g} s ({statement})")

    def end(self) -> None:
        """Terminate the docker container."""
        command = ["docker", "kill", self.session.get_docker_container_id()]
        subprocess.run(command, capture_output=True, check=False)
