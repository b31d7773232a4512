"""A child process and everything it starts, ended together."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ....core.errors import MissingToolError
from .deadline import Deadline
from .errors import OmcTimeout

POLL = 0.02  # s
_GRACE = 2.0  # s that a process has to end by itself


class Child:
    """A running command with its output in files.

    Parameters:
        command      what to run, the executable first
        folder       working directory
        output       file for standard output, in `folder`
        environment  variables that differ from ours
        stdin        standard input; a pipe for `tell`

    Raises MissingToolError if the command cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        output: str,
        environment: dict[str, str],
        stdin: int = subprocess.DEVNULL,
    ) -> None:
        self.output, self._errors = folder / output, folder / f"{output}.err"
        try:
            with self.output.open("wb") as out, self._errors.open("wb") as err:
                self._process = subprocess.Popen(
                    command,
                    cwd=folder,
                    env=os.environ | environment,
                    stdin=stdin,
                    bufsize=0,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,  # its own process group, so that compilers it starts end with it
                )
        except OSError as error:
            raise MissingToolError(f"omc cannot be started: {command[0]}: {error.strerror}") from None

    @property
    def status(self) -> int | None:
        """Exit status, or None while it runs; negative: ended by that signal."""
        return self._process.poll()

    def text(self) -> str:
        """Standard output so far."""
        return self.output.read_text("utf-8", "replace")

    def lines(self) -> list[str]:
        """Return the complete lines of standard output so far."""
        return self.text().split("\n")[:-1]

    def tell(self, line: str) -> None:
        """Write a line to standard input; without effect if the process has ended."""
        with contextlib.suppress(BrokenPipeError):
            assert self._process.stdin is not None
            self._process.stdin.write(f"{line}\n".encode())

    def complaints(self) -> str:
        """Standard error so far, without the spaces around it."""
        return self._errors.read_text("utf-8", "replace").strip()

    def wait(self, deadline: Deadline, what: str) -> int:
        """Exit status; raises OmcTimeout at the deadline. Nothing that it has started is left in any case."""
        try:
            while (status := self.status) is None:
                self.check(deadline, what)
                time.sleep(POLL)
            return status
        finally:
            self.end()

    def check(self, deadline: Deadline, what: str) -> None:
        """Raise OmcTimeout if the deadline has passed."""
        if deadline.passed:
            raise OmcTimeout(
                f"omc took longer than {deadline.seconds:g} s ({what}) and has been ended; allow it more time or"
                " take a smaller model, such as fewer beam elements"
            )

    def end(self) -> None:
        """End the process and all that it has started; harmless if there is none left."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        if sys.platform == "win32":
            if self.status is None:
                command = ["taskkill", "/T", "/F", "/PID", str(self._process.pid)]
                subprocess.run(command, capture_output=True, check=False)
            return
        self._signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)
