"""Tasks for worker processes in the tests of sweeps, in a module that other processes can import."""

from __future__ import annotations

import os
import signal
from pathlib import Path


def dies_once(task: tuple[str, int]) -> int:
    """Twice the number; the first process that comes to 3 kills itself, and each one that comes to 5."""
    folder, number = task
    with (Path(folder) / "log").open("a") as log:
        log.write(f"{number}\n")
    flag = Path(folder) / "died"
    if number == 5 or (number == 3 and not flag.exists()):
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def answers_at_length(flag: str) -> bytes:
    """More than fits into a pipe by far; the flag is there when the answer is about to be sent."""
    answer = bytes(250_000_000)
    Path(flag).touch()
    return answer
