"""A stand-in for docker with one image, `fake`, in which `omc` is data/fake_omc.py; everything runs right here.

Knows what the OpenModelica backend and OMPython ask for: image inspect, run, top, exec … cat, kill. A container is
a process; its id is `container<pid>`. A named container has a file with its process number beside the trace.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

OMC = [sys.executable, str(Path(__file__).parent / "fake_omc.py")]
WITH_VALUE = ("--cidfile", "--name", "--user", "--volume", "--workdir", "--env")


def named(name: str) -> Path:
    return Path(os.environ["FAKE_OMC_TRACE"]).with_name(name)


def run(arguments: list[str]) -> None:
    """`run` options, the image, `omc` and its arguments."""
    options: dict[str, str] = {}
    while arguments[0].startswith("-"):
        option = arguments.pop(0)
        options[option] = arguments.pop(0) if option in WITH_VALUE else ""
    image, program, *rest = arguments
    if (image, program) != ("fake", "omc"):
        sys.exit(f"docker: no {program} in {image}")
    if "--cidfile" in options:
        Path(options["--cidfile"]).write_text(f"container{os.getpid()}")
    if "--name" in options:
        named(options["--name"]).write_text(str(os.getpid()))
    os.chdir(options["--workdir"])
    os.execv(OMC[0], [*OMC, *rest])


def main() -> None:
    command, *arguments = sys.argv[1:]
    match command:
        case "image":
            sys.exit(
                0 if arguments[-1] == "fake" else f"Error response from daemon: No such image: {arguments[-1]}"
            )
        case "run":
            run(arguments)
        case "top":
            pid = arguments[0].removeprefix("container")
            line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            sys.stdout.write(f"UID PID PPID CMD\nme {pid} 1 {line}\n")
        case "exec":
            sys.exit(subprocess.run(arguments[1:], check=False).returncode)
        case "kill":
            os.kill(int(named(arguments[0]).read_text()), signal.SIGKILL)


main()
