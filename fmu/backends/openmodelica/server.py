"""omc as a server, on this machine or in docker, and OMPython's connection to it."""

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

_START = 30.0  # s that omc has to open its port
_CONNECT = 10.0  # s that OMPython has to reach it
_POLL = 0.02  # s
_LISTEN = 100  # ms between looks at omc while it works
_PORT_FILE = re.compile(r"Dumped server port in file: (.*)")


class SessionRefused(Exception):
    """omc gives no session; the text says why."""


class _PatientSocket(zmq.Socket[bytes]):
    """Waits for an answer as long as `watch` does not raise; ZeroMQ itself would wait for a dead omc for ever."""

    watch: Callable[[], None] | None = None

    def recv_string(self, flags: int = 0, encoding: str = "utf-8") -> str:
        """Next message."""
        while not self.poll(_LISTEN):
            if self.watch is not None:
                self.watch()
        return super().recv_string(flags, encoding)


class PatientSession(OMCSessionABC):
    """OMPython's session with a patient socket, made the way OMPython 4.1 makes its own."""

    def __post_init__(self) -> None:
        self.socket = _PatientSocket(zmq.Context.instance(), zmq.REQ)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.IMMEDIATE, True)
        self.socket.connect(str(self.get_port()))
        self._omc_zmq = self.socket

    def abandon(self) -> None:
        """Give up the connection, also in the middle of a statement."""
        self.socket.close(linger=0)
        self._omc_zmq = None
        if self._omc_loghandle is not None:
            self._omc_loghandle.close()
        for file in self._temp_dir.glob(f"{self._omc_filebase}*"):  # OMPython would leave them behind
            file.unlink()


class _Port(PatientSession, OMCSessionPort):
    pass


class _Docker(PatientSession, OMCSessionDocker):
    pass


class Server(Protocol):
    """A running omc with its connection; ends itself where its start fails, with SessionRefused."""

    @property
    def session(self) -> PatientSession:
        """OMPython's side of it."""

    def check(self, statement: str) -> None:
        """Raise OmcTimeout or OmcDied if there is nothing to wait for any more."""

    def end(self) -> None:
        """End omc and everything that it has started."""


class LocalServer:
    """On this machine: started here, as OMPython would wait for minutes for one that has refused."""

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
        """See `Server`."""
        self._child.check(self._deadline, statement)
        if self._child.status is not None:
            raise OmcDied(statement, self._child.status, self._said())

    def end(self) -> None:
        """See `Server`."""
        self._child.end()

    def _address(self, key: str) -> str:
        opening = Deadline(_START)
        while True:
            status = self._child.status  # before the text, so that the text of an ended omc is complete
            found = _PORT_FILE.search(self._child.text())
            # printed without a newline: complete once it ends with the key
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
    """In docker, by OMPython's own means."""

    def __init__(self, omc: Omc, folder: Path, deadline: Deadline) -> None:
        self._deadline = deadline
        if sys.platform == "win32" or os.getuid() == 0:
            raise SessionRefused("in docker, omc serves neither root nor Windows")
        try:
            self.session = _Docker(docker=omc.image, dockerExtraArgs=mounted(folder), timeout=_START)
        except (OMSessionException, subprocess.CalledProcessError) as error:
            raise SessionRefused(str(error)) from None

    def check(self, statement: str) -> None:
        """See `Server`."""
        if self._deadline.passed:
            raise OmcTimeout(f"omc in docker took longer than {self._deadline.seconds:g} s ({statement})")

    def end(self) -> None:
        """See `Server`."""
        command = ["docker", "kill", self.session.get_docker_container_id()]
        subprocess.run(command, capture_output=True, check=False)
