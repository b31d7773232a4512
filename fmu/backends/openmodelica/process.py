"""Child process that is terminated together with all processes that it started."""

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

POLL = 0.02  # The state of the omc process is checked at intervals of this length, s.
_GRACE = 2.0  # A process that ignores SIGTERM receives SIGKILL after this time, s.


class Child:
    """Running command whose output is written to files.

    Parameters
    ----------
    command : sequence of str
        Executable and its arguments.
    folder : Path
        Working directory.
    output : str
        Name of the file for standard output, in `folder`.
    environment : dict
        Environment variables that differ from those of this process.
    stdin : int
        Standard input, as in `subprocess.Popen`; a pipe is required by `tell`.

    Raises
    ------
    MissingToolError
        If the command cannot be started.
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
                    # In a separate session, omc and its compilers form a process group that one signal can end.
                    start_new_session=True,
                )
        except OSError as error:
            raise MissingToolError(f"omc cannot be started: {command[0]}: {error.strerror}") from None

    @property
    def status(self) -> int | None:
        """Exit status, or the negative signal number if a signal ended the command.

        The value is None while the command runs.
        """
        return self._process.poll()

    def text(self) -> str:
        """Return the text that the command has written to standard output so far."""
        return self.output.read_text("utf-8", "replace")

    def lines(self) -> list[str]:
        """Return the complete lines that the command has written to standard output so far."""
        return self.text().split("\n")[:-1]

    def tell(self, line: str) -> None:
        """Write a line to standard input; the call has no effect if the process has ended."""
        with contextlib.suppress(BrokenPipeError):
            assert self._process.stdin is not None
            self._process.stdin.write(f"{line}\n".encode())

    def complaints(self) -> str:
        """Return the text that the command has written to standard error so far.

        Leading and trailing white space is removed.
        """
        return self._errors.read_text("utf-8", "replace").strip()

    def wait(self, deadline: Deadline, what: str) -> int:
        """Wait for the end of the command and return its exit status.

        All processes that the command started are terminated in any case.

        Raises
        ------
        OmcTimeout
            If the command is still running at the deadline.
        """
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
                f"omc took longer than {deadline.seconds:g} s ({what}) and has been terminated; increase the time"
                " limit or reduce the model, for example by fewer beam elements"
            )

    def end(self) -> None:
        """Terminate the command and all processes that it started.

        The call has no effect if none of them is running.
        """
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
