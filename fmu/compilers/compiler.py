"""Functions that find C compilers, compile C sources and link shared libraries."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from ...core.errors import BuildError, MissingToolError

STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
_TIMEOUT = 600.0  # A call of a C compiler fails after this time, s.

# Without -mcpu=baseline, zig compiles for this computer's processor, and FMUs may crash on older processors.
_ZIG = (sys.executable, "-m", "ziglang", "cc", "-mcpu=baseline")


@dataclass(frozen=True)
class Compiler:
    """C compiler.

    `command` starts the compiler. `version` is the first line of the compiler's version text.
    """

    command: tuple[str, ...]
    version: str
    is_zig: bool = False

    def march(self, name: str) -> tuple[str, ...]:
        """Return the compiler option for the oldest processor on which the binary has to run.

        The processor is named as in gcc's option -march.
        """
        # Processor names of zig contain underscores; the last option -mcpu overrides the earlier -mcpu=baseline.
        return (f"-mcpu={name.replace('-', '_')}",) if self.is_zig else (f"-march={name}",)

    def knows(self, flags: Sequence[str]) -> bool:
        """Return whether the compiler accepts the options on this machine."""
        with TemporaryDirectory() as temporary:
            (Path(temporary) / "probe.c").write_text("int probe;\n", encoding="utf-8")
            try:
                compile_object(self, "probe.c", "probe.o", flags, folder=Path(temporary))
            except BuildError:
                return False
        return True


def find() -> Compiler:
    """Return a C compiler for this machine.

    The search order is the environment variable `CC`, then cc, gcc and clang, then the package ziglang.

    Raises
    ------
    MissingToolError
        If no compiler is found.
    """
    if os.environ.get("CC"):
        return _checked(tuple(shlex.split(os.environ["CC"])), "the compiler that CC names")
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return _checked((name,), name)
    if has_zig():
        return zig()
    raise MissingToolError(
        "no C compiler: looked for CC, cc, gcc, clang and the package ziglang;"
        " install one of them, for example with: pip install ziglang"
    )


def has_zig() -> bool:
    return importlib.util.find_spec("ziglang") is not None


def zig(target: str | None = None) -> Compiler:
    """Return ziglang's C compiler for a target such as `x86_64-windows-gnu`, or for this machine."""
    command = _ZIG if target is None else (*_ZIG, "-target", target)
    return Compiler(command, _zig_version(), is_zig=True)


@cache
def _zig_version() -> str:
    return f"ziglang, {_checked(_ZIG, 'ziglang').version}"


def _checked(command: tuple[str, ...], what: str) -> Compiler:
    # The compiler runs in another working folder, so a relative path of the compiler must become absolute.
    command = (shutil.which(command[0]) or command[0], *command[1:])
    if os.sep in command[0]:
        command = (os.path.abspath(command[0]), *command[1:])
    try:
        answer = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except OSError as error:
        raise MissingToolError(f"{what} cannot be started ({command[0]}: {error.strerror})") from None
    if answer.returncode != 0:
        raise MissingToolError(f"{what} does not accept --version; its output: {answer.stderr.strip()[:200]}")
    return Compiler(command, answer.stdout.splitlines()[0] if answer.stdout else what)


def compile_object(
    compiler: Compiler, source: str, object_file: str, flags: Sequence[str], *, folder: Path
) -> None:
    """Compile a C file to an object file.

    All names are relative to `folder`, so that the object file contains no absolute path.

    Raises
    ------
    BuildError
        If the compiler fails; the text includes its output.
    """
    call([*compiler.command, "-std=c99", "-c", *flags, source, "-o", object_file], folder)


def link(compiler: Compiler, objects: Sequence[str], library: str, *, folder: Path) -> None:
    """Link object files to a shared library; all names are relative to `folder`.

    Raises
    ------
    BuildError
        If the linker fails; the text includes its output.
    """
    # Options -s and -Brepro make the libraries that zig builds reproducible.
    # By default, zig stores the working folder in debug information and the build time in Windows libraries.
    same = ["-s", *(["-Wl,-Brepro"] if library.endswith(".dll") else [])] if compiler.is_zig else []
    call([*compiler.command, "-shared", *same, *objects, "-o", library, "-lm"], folder)


def call(command: list[str], folder: Path) -> None:
    """Run a compiler in a folder.

    Raises
    ------
    BuildError
        If the compiler cannot be started, takes too long or fails; the text includes its output.
    """
    try:
        answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise BuildError(f"the C compiler took longer than {_TIMEOUT:.0f} s: {shlex.join(command)}") from None
    except OSError as error:
        raise BuildError(f"the C compiler cannot be started: {error.strerror}: {shlex.join(command)}") from None
    if answer.returncode != 0:
        raise BuildError(f"the C compiler failed: {shlex.join(command)}\n{answer.stderr.strip()[-4000:]}")
