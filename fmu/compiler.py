"""Finds a C compiler and builds a shared library with it."""

from __future__ import annotations

import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import BuildError, MissingToolError

STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
_TIMEOUT = 600.0  # s


@dataclass(frozen=True)
class Compiler:
    """Command that stands for `cc`, and its version line."""

    command: tuple[str, ...]
    version: str


@dataclass(frozen=True)
class Target:
    """FMI 2.0 platform name, library suffix, and what the compiler needs to be told."""

    platform: str
    suffix: str
    flags: tuple[str, ...]


def target() -> Target:
    """This machine's."""
    system = platform.system()
    if system == "Windows":
        return Target("win64", ".dll", ("-shared",))
    if system == "Darwin":
        return Target("darwin64", ".dylib", ("-dynamiclib", "-fPIC"))
    return Target("linux64", ".so", ("-shared", "-fPIC"))


def find() -> Compiler:
    """`CC`, then cc, gcc, clang, then ziglang from PyPI.

    Raises MissingToolError if there is none.
    """
    if os.environ.get("CC"):
        return _checked(tuple(shlex.split(os.environ["CC"])), "the compiler that CC names")
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return _checked((name,), name)
    if importlib.util.find_spec("ziglang") is not None:
        # without -mcpu, zig compiles for this very processor, and the FMU may crash on another one
        return _checked((sys.executable, "-m", "ziglang", "cc", "-mcpu=baseline"), "ziglang")
    raise MissingToolError(
        "no C compiler: looked for CC, cc, gcc, clang and the package ziglang;"
        " install one of them, for example with: pip install ziglang"
    )


def _checked(command: tuple[str, ...], what: str) -> Compiler:
    try:
        answer = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except OSError as error:
        raise MissingToolError(f"{what} cannot be started ({command[0]}: {error.strerror})") from None
    if answer.returncode != 0:
        raise MissingToolError(f"{what} does not answer to --version: {answer.stderr.strip()[:200]}")
    return Compiler(command, answer.stdout.splitlines()[0] if answer.stdout else what)


def compile_object(compiler: Compiler, source: Path, object_file: Path, flags: Sequence[str]) -> None:
    """One C file to an object file. Raises BuildError with the compiler's output."""
    _run([*compiler.command, "-std=c99", "-c", *flags, str(source), "-o", str(object_file)])


def link(compiler: Compiler, objects: Sequence[Path], library: Path, flags: Sequence[str]) -> None:
    """Object files to a shared library. Raises BuildError with the compiler's output."""
    _run([*compiler.command, *flags, *map(str, objects), "-o", str(library), "-lm"])


def _run(command: list[str]) -> None:
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise BuildError(f"the C compiler took longer than {_TIMEOUT:.0f} s: {shlex.join(command)}") from None
    except OSError as error:
        raise BuildError(f"the C compiler cannot be started: {error.strerror}: {shlex.join(command)}") from None
    if answer.returncode != 0:
        raise BuildError(f"the C compiler failed: {shlex.join(command)}\n{answer.stderr.strip()[-4000:]}")
