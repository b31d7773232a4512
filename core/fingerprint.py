"""Checksums of the program and of this computer, by which stored results are recognised as outdated.

A checksum changes if simulations might give other results than before.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from .beginning import BEGUN, is_set_back
from .workers import environment_now

_ROOT = Path(__file__).resolve().parent.parent
_NAME = re.compile(r"[\w.-]+")
# Dependencies of pip extras other than `check` and `cross` are not needed for simulations.
_OTHERS = re.compile(r"extra\s*==\s*['\"](?!check|cross)")
# An environment variable with a listed prefix selects compilers, headers, libraries or linear algebra kernels.
_VARIABLES = (
    *("LD_", "DYLD_", "OMP_", "MKL_", "OPENBLAS_", "BLIS_", "VECLIB_", "NPY_", "ZIG_", "GCC_", "SUNDIALS_"),
    *("CPATH", "C_INCLUDE_PATH", "COMPILER_PATH", "LIBRARY_PATH", "SDKROOT", "MACOSX_DEPLOYMENT_TARGET"),
)
_RECORD = re.compile(r"^([^,\n]*/RECORD),", re.MULTILINE)
_CPU = re.compile(r"^(?:model name|cpu model|flags|Features|CPU \w+)\s*:.*$", re.MULTILINE)


def program_fingerprint() -> str | None:
    """Return a checksum of gpmelica's source code, its dependencies, Python and this computer.

    The result is None in three cases: a file has changed since this process started, the clock was set
    back, or a package has no recorded checksums. In these cases, changes of the program might go
    unnoticed.
    """
    if is_set_back() or not all(map(_has_checksums, _packages())):
        return None
    if any(_changed(path) for path in (*_sources(_ROOT), *_records())):
        return None
    return hashlib.sha256(f"{machine_fingerprint()}\n{_program_digest()}".encode()).hexdigest()


@cache
def _program_digest() -> str:
    found = hashlib.sha256(f"{sys.version}\n".encode())
    for path in sorted(_sources(_ROOT)):
        found.update(path.relative_to(_ROOT).as_posix().encode() + b"\n")
        found.update(hashlib.sha256(path.read_bytes()).digest())
    for package in _packages():
        # The metadata file RECORD contains the checksum of each file of an installed package.
        found.update(f"{package.name} {package.version}\n{package.read_text('RECORD') or ''}".encode())
    return found.hexdigest()


def machine_fingerprint() -> str:
    """Return a checksum of the operating system, the processor and the C library.

    The checksum includes the environment variables that select compilers and libraries.
    """
    # The environment variables are read at each call, because a Python program may change them.
    chosen = sorted((name, value) for name, value in environment_now().items() if name.startswith(_VARIABLES))
    return hashlib.sha256(repr((_machine(), chosen)).encode()).hexdigest()


@cache
def _machine() -> tuple[object, ...]:
    return (*platform.uname(), *platform.libc_ver(), platform.processor(), _processor())


def _processor() -> tuple[str, ...]:
    """Return the models and instruction sets of the processors; empty if /proc/cpuinfo does not exist."""
    try:
        return tuple(sorted(set(_CPU.findall(Path("/proc/cpuinfo").read_text("utf-8", "replace")))))
    except OSError:
        return ()


def _sources(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        inner = list(entries)
    for entry in inner:
        if entry.name.endswith(".py"):
            yield Path(entry.path)
        elif entry.is_dir() and os.path.isfile(os.path.join(entry.path, "__init__.py")):
            yield from _sources(Path(entry.path))


def _changed(path: Path) -> bool:
    try:
        found = path.stat()
    except OSError:
        return True
    return max(found.st_mtime, found.st_ctime) > BEGUN


@cache
def _packages() -> tuple[Distribution, ...]:
    """Return the installed packages that gpmelica needs for simulations, sorted by name."""
    needed = [text for text in distribution("gpmelica").requires or () if not _OTHERS.search(text)]
    names = {match[0] for match in map(_NAME.match, needed) if match}
    return tuple(found for name in sorted(names) for found in _installed(name))


@cache
def _records() -> tuple[Path, ...]:
    """Return the paths of the RECORD files of the required packages, which list all installed files."""
    texts = ((package, package.read_text("RECORD") or "") for package in _packages())
    return tuple(Path(str(package.locate_file(path))) for package, text in texts for path in _RECORD.findall(text))


@cache
def _has_checksums(package: Distribution) -> bool:
    """Return whether the checksums of a package's files are recorded.

    They are not recorded if the package is installed in editable mode, or by some Linux distributions.
    """
    origin = json.loads(package.read_text("direct_url.json") or "{}")
    return bool(package.read_text("RECORD")) and not origin.get("dir_info", {}).get("editable")


def _installed(name: str) -> Iterator[Distribution]:
    try:
        yield distribution(name)
    except PackageNotFoundError:
        return
